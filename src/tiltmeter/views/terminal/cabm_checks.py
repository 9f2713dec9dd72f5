"""The checks of a CABM reading as rows of a table: each number, published beside corrected, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.readings.wording import p_text
from tiltmeter.views.charts.cabm.colours import FORMS

#: A label, where the number stands in a validation, how it is written, and what it means.
_Check = tuple[str, str, Callable[[Any], str], str]


def check_rows(reading: Reading) -> list[tuple[str, list[str], str]]:
    """A label, the number of each form, and what it means."""
    found = [reading.details[form]["validation"] for form in FORMS]
    source = reading.details["labels_from"]
    checks = [*_SPREAD, *_separation("by_category", "own category (circular)", _CIRCULAR)]
    if source != "none":
        checks += [*_separation("by_label", source, _INDEPENDENT), _CHI_SQUARE]
    if any(each["unmasking"] for each in found):
        checks += _UNMASKING
    return [
        (label, ["-" if each[key] is None else written(each[key]) for each in found], meaning)
        for label, key, written, meaning in checks
    ]


def pair_rows(reading: Reading) -> list[tuple[str, list[str]]]:
    """Two scores of the same occupations: Pearson, Spearman, and the share in the same category."""
    details = reading.details
    pairs = [("", pair) for pair in details["published_and_corrected"]]
    for form in FORMS:
        pairs += [(f"{form}: ", pair) for pair in details[form]["between_weightings"]]
        pairs += [(f"{form}: ", pair) for pair in details[form]["validation"]["others"]]
    return [(f"{where}{pair['first']} - {pair['second']}", _pair(pair)) for where, pair in pairs]


def _pair(pair: Mapping[str, Any]) -> list[str]:
    found = [pair["pearson"], pair["spearman"]]
    return [*("-" if each is None else _correlation(each) for each in found), f"{pair['agreement']:.0%}"]


def _number(value: float | None, *, digits: int = 2) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _correlation(found: Mapping[str, Any]) -> str:
    return f"{found['r']:.2f} [{found['ci']['low']:.2f}, {found['ci']['high']:.2f}]"


def _share(found: Mapping[str, Any] | None) -> str:
    if found is None:
        return "-"
    return f"{found['value']:.0%} [{found['ci']['low']:.0%}, {found['ci']['high']:.0%}]"


_SPREAD: list[_Check] = [
    ("SD", "sd", _number, "how far occupations differ; lower is better. Published: in units of its own"),
    ("variance", "variance", lambda value: _number(value, digits=3), "the same, squared"),
    ("IQR", "iqr", _number, "how far the middle half of them differs; lower is better"),
    (
        "Shapiro-Wilk W",
        "normality",
        lambda found: f"{found['statistic']:.3f}\n{p_text(found['p_value'])}",
        "a small p: not a normal distribution; neither good nor bad",
    ),
]
_CIRCULAR = "as published, and circular: the groups are cut from these very scores, so it tells nothing"
_INDEPENDENT = "groups from elsewhere. All of them: the groups do not overlap; half: no difference, which is better"


def _separation(key: str, groups: str, meaning: str) -> list[_Check]:
    """Group 1 against group 2."""
    return [
        (
            f"Mann-Whitney U by {groups}",
            key,
            lambda found: f"{found['u']:g} of {found['n_1'] * found['n_2']}\n{p_text(found['p_value'])}",
            meaning,
        ),
        (f"Cohen's d by {groups}", key, lambda found: _number(found["cohens_d"]), "the same; 0: none, .8 is large"),
        (
            f"median difference by {groups}",
            key,
            lambda found: _number(found["median_difference"]),
            "the same in units of the score; 0: none",
        ),
    ]


_CHI_SQUARE: _Check = (
    "chi-square, category by label",
    "contingency",
    lambda found: f"{found['statistic']:.1f} (df {found['df']})\n{p_text(found['p_value'])}",
    "a small p: categories go with the labels, so the model repeats them",
)
_UNMASKING: list[_Check] = [
    (
        "agreement with unmasking",
        "unmasking",
        lambda found: _share(found["agreement"]),
        "occupations whose category is what the model fills in, neutral a miss; higher: the score tells what it does",
    ),
    ("the same of those not neutral", "unmasking", lambda found: _share(found["decided"]), "higher is better"),
    (
        "kappa with unmasking",
        "unmasking",
        lambda found: _number(found["kappa"]),
        "agreement beyond chance: 0 for a score that says one group of all; higher is better",
    ),
    (
        "Spearman with unmasking",
        "unmasking",
        lambda found: "-" if found["spearman"] is None else _correlation(found["spearman"]),
        "whether both rank the occupations alike; higher is better",
    ),
]
