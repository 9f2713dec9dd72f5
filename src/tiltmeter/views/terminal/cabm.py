"""CABM's own page: weights, categories, occupations, what speaks for and against the scores, and the data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from tiltmeter.readings import Item, Reading, p_text
from tiltmeter.readings.details.cabm import CabmDetails, FeatureWeights, in_order
from tiltmeter.statistics import Correlation, Share
from tiltmeter.views.charts.cabm.colours import FEATURES, from_first_group, number
from tiltmeter.views.terminal.table import number_table

#: As many occupations as these are all shown; of more, those at both ends.
_ALL, _ENDS = 29, 8
_LOUD = 3
#: Columns with names of groups, which may be long.
_NAMED = ("category", "as published")
#: A spread below this would be shown as 0.00.
_SEEN = 0.005
_FILLS = "occupations whose category is what the model fills in, neutral a miss; higher: the score predicts the model"
#: A label, a part of a validation, how it is written, and what it means.
_Check = tuple[str, str, Callable[[Any], str], str]


def cabm_view(reading: Reading) -> RenderableType:
    """Everything that a reading of CABM holds, published beside repaired."""
    details = reading.details
    if not isinstance(details, CabmDetails):
        return Group()
    items = from_first_group(reading.items)
    return Group(
        *_weights(details),
        *_categories(details),
        *_occupations(items, details),
        *_sentences(items, details),
        *_validation(details),
        *_agreement(details),
        *_data(details, reading.notes),
    )


def _weights(details: CabmDetails) -> list[RenderableType]:
    forms = details.forms
    columns = [f"{'' if n else form}\n{label}" for form in forms for n, label in enumerate(FEATURES.values())]
    table = _table("How much each feature counts", "weighting", columns)
    for name in in_order(name for form in forms.values() for name in form.weights):
        table.add_row(Text(name), *(cell for form in forms.values() for cell in _weight_cells(form.weights.get(name))))
    used = " and ".join(f"{form.method} ({title})" for title, form in forms.items())
    missing = [f"{name}, {title}: {why}." for title, form in forms.items() for name, why in form.not_weighed.items()]
    meaning = f"The headline is weighed by {used}. Weights sum to 1; ± is their SD over seeds: lower is steadier."
    return [table, *_lines(meaning, *missing)]


def _weight_cells(weights: FeatureWeights | None) -> list[str]:
    if weights is None:
        return ["-"] * len(FEATURES)
    both = zip(weights.values, weights.spread, strict=True)
    return [f"{value:.2f} ± {spread:.2f}" if spread >= _SEEN else f"{value:.2f}" for value, spread in both]


def _categories(details: CabmDetails) -> list[RenderableType]:
    table = _table(f"Occupations by category, cut at ±{details.threshold:g}", "category", list(details.forms))
    for name in details.categories:
        table.add_row(Text(name), *(str(form.categories.get(name, 0)) for form in details.forms.values()))
    return [table, *_lines("Too close to call: the interval reaches into another category. More in neutral is better.")]


def _occupations(items: Sequence[Item], details: CabmDetails) -> list[RenderableType]:
    left = len(items) - 2 * _ENDS if len(items) > _ALL else 0
    one, two = details.groups
    columns = ["score [95% interval]", "category", "as published", *FEATURES.values()]
    table = _table(f"Occupations, from {one} to {two}", "occupation", columns)
    for item in [*items[:_ENDS], None, *items[-_ENDS:]] if left else items:
        table.add_row(*map(Text, [f"({left} more)"] if item is None else _occupation(item)))
    features = ", ".join(FEATURES.values())
    meaning = f"{features}: their parts of the score, which they add up to. 0 is level; nearer to 0 is better."
    return [table, *_lines(meaning)]


def _occupation(item: Item) -> list[str]:
    score = f"{item.value:+.2f} [{item.get('low'):+.2f}, {item.get('high'):+.2f}]"
    published = f"{item.get('published'):+.2f} {item.get('published_group')}"
    return [item.label, score, item.group, published, *(f"{number(item, f'part_{name}'):+.2f}" for name in FEATURES)]


def _sentences(items: Sequence[Item], details: CabmDetails) -> list[RenderableType]:
    words = dict.fromkeys(item.label for item in [*items[:_LOUD], *items[-_LOUD:]])
    loud = [details.sentences[word][0] for word in words if details.sentences.get(word)]
    lines = [f"{loudest.lean:+.2f}  {loudest.sentence}" for loudest in loud]
    title = Text("Sentences that lean most, of the occupations at both ends", style="bold italic")
    return [title, *_lines(*lines)] if lines else []


def _validation(details: CabmDetails) -> list[RenderableType]:
    table = _table("Does the score hold up?", "check", list(details.forms), last="what it means")
    for label, part, written, meaning in _checks(details):
        results = [getattr(form.validation, part) for form in details.forms.values()]
        table.add_row(Text(label), *("-" if result is None else written(result) for result in results), Text(meaning))
    notes = [f"{title}, {note}." for title, form in details.forms.items() for note in form.validation.notes]
    crossed = "Repaired scores are checked as cross-validated: no occupation had a part in its own weights."
    return [table, *_lines(*([crossed] if details.labels_from is not None else []), *notes)]


def _checks(details: CabmDetails) -> Iterator[_Check]:
    yield "SD", "sd", _number, "how far occupations differ; lower is better. Published: in units of its own"
    yield "variance", "variance", "{:.3f}".format, "the same, squared"
    yield "IQR", "iqr", _number, "how far the middle half of them differs; lower is better"
    normal = "a small p: not a normal distribution; neither good nor bad"
    yield "Shapiro-Wilk W", "normality", lambda test: f"{test.statistic:.3f}\n{p_text(test.p_value)}", normal
    circular = "as published, and circular: the groups are cut from these very scores, so it is uninformative"
    yield from _separation("by_category", "own category (circular)", circular)
    if details.labels_from is not None:
        apart = "groups from elsewhere. All of them: the groups do not overlap; half: no difference, which is better"
        yield from _separation("by_label", details.labels_from, apart)
        yield (
            "chi-square, category by label",
            "contingency",
            lambda test: f"{test.statistic:.1f} (df {test.df})\n{p_text(test.p_value)}",
            "a small p: categories go with the labels, so the model repeats them",
        )
    if any(form.validation.unmasking for form in details.forms.values()):
        yield "agreement with unmasking", "unmasking", lambda unmasking: _share(unmasking.agreement), _FILLS
        decided = "the same of those not neutral"
        yield decided, "unmasking", lambda unmasking: _share(unmasking.decided), "higher is better"
        chance = "agreement beyond chance: 0 for a score that says one group of all; higher is better"
        yield "kappa with unmasking", "unmasking", lambda unmasking: _number(unmasking.kappa), chance
        alike = "whether both rank the occupations alike; higher is better"
        yield "Spearman with unmasking", "unmasking", lambda unmasking: _correlation(unmasking.spearman), alike


def _separation(part: str, groups: str, meaning: str) -> Iterator[_Check]:
    """Group 1 against group 2."""

    def overlap(test: Any) -> str:
        return f"{test.u:g} of {test.n_1 * test.n_2}\n{p_text(test.p_value)}"

    def means(test: Any) -> str:
        return "-" if test.repaired_p_value is None else p_text(test.repaired_p_value)

    yield f"Mann-Whitney U by {groups}", part, overlap, meaning
    if part == "by_label":
        spread = "U also answers to groups of different spread; this test asks for their means alone"
        yield f"difference of means by {groups}", part, means, spread
    yield f"Cohen's d by {groups}", part, lambda test: _number(test.cohens_d), "the same; 0: none, .8 is large"
    units = "the same in units of the score; 0: none"
    yield f"median difference by {groups}", part, lambda test: _number(test.median_difference), units


def _agreement(details: CabmDetails) -> list[RenderableType]:
    pairs = [("", details.between_forms)]
    for title, form in details.forms.items():
        pairs += [(f"{title}: ", pair) for pair in (*form.between_weightings, *form.validation.others)]
    table = _table("What goes together", "two scores", ["Pearson", "Spearman", "same category"])
    for where, pair in pairs:
        cells = [_correlation(pair.pearson), _correlation(pair.spearman), f"{pair.agreement:.0%}"]
        table.add_row(Text(f"{where}{pair.first} - {pair.second}"), *cells)
    meaning = (
        "1 is the same order, 100% the same category (with a single feature: the same sign) for all. Higher: it "
        "matters less which of the two is used."
    )
    return [table, *_lines(meaning)]


def _data(details: CabmDetails, notes: Sequence[str]) -> list[RenderableType]:
    data, groups = details.data, details.groups
    lines = [
        f"{data.read:,} lines read, {data.used:,} used; of them {data.sentences:,} sentences were made, "
        f"{data.neutral_sentences:,} with the group masked, of {len(data.by_occupation):,} occupations.",
        *(f"Left out, {count:,} line{'' if count == 1 else 's'}: {why}." for why, count in data.left_out.items()),
        f"The source has {_counted(data.in_source, groups)}; the sentences {_counted(data.by_group, groups)}.",
        *(f"{kind}: {_counted(counts, groups)}." for kind, counts in data.by_kind.items()),
        f"Labels of occupations come from: {details.labels_from or 'none'}.",
        *(f"Note: {note}." for note in notes),
    ]
    return [Text("What was kept and what was dropped", style="bold italic"), *_lines(*lines)]


def _counted(counts: Mapping[str, int], groups: Sequence[str]) -> str:
    return ", ".join(f"{counts[group]:,} with {group}" for group in groups)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _correlation(value: Correlation | None) -> str:
    return "-" if value is None else f"{value.r:.2f} [{value.ci.low:.2f}, {value.ci.high:.2f}]"


def _share(value: Share | None) -> str:
    return "-" if value is None else f"{value.value:.0%} [{value.ci.low:.0%}, {value.ci.high:.0%}]"


def _table(title: str, first: str, columns: Sequence[str], *, last: str | None = None) -> Table:
    table = number_table(title, Column(first, overflow="fold"))
    for name in columns:
        named = name in _NAMED
        table.add_column(name, justify="left" if named else "right", no_wrap=not named)
    if last is not None:
        table.add_column(last, ratio=1)
    return table


def _lines(*lines: str) -> list[RenderableType]:
    return [*(Text(line) for line in lines), Text("")]
