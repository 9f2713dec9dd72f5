"""Readings of schema 1, in which items and details were mappings and the kind of an effect was its name.

What a probe of that time meant by its columns is written down here, and nowhere else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tiltmeter.readings.reading import Details
from tiltmeter.readings.scale import COHERENCE, CORRELATION, DIFFERENCE, DISTANCE, ETA, SHARE, SIZE, D

Values: TypeAlias = Mapping[str, Any]

_IDEA = "What counts as bias here: "
_SIZES = ("direct bias", "KL from even shares", "mean bias", "SD of the scores")
_LABELS = ("text", "sentence", "word", "target", "occupation")
_UNITS = ("word", "occupation", "target", "sentence")
_GROUPS = ("group", "expected", "kind")
_NO_LEAN = "no clear lean"
#: What people say of a word was called its label, which is now what an item is called.
_RENAMED = {"label": "known_label", "corrected_1": "repaired_1", "corrected_2": "repaired_2"}


@dataclasses.dataclass(frozen=True, slots=True)
class _OldItems:
    """What the items of a kind of probe were: the column of their value, what it means, and how the effect follows."""

    value: Callable[[Values], float | None]
    name: str
    statistic: Callable[[Values, Sequence[Values]], dict[str, Any] | None]
    #: Columns that have become the value.
    used: tuple[str, ...] = ()


def migrated(values: Values) -> dict[str, Any]:
    """The values of a reading of schema 1 as those of schema 2."""
    probe, items, details = str(values["probe"]), list(values["items"]), dict(values.get("details") or {})
    form = _form(values, items)
    caveats = [str(caveat) for caveat in values["caveats"]]
    provenance = values["provenance"]
    control = str(values["id"]).startswith("control")
    warnings = [str(warning) for warning in details.pop("warnings", ())]
    left_out = [each for each in values["left_out"] if each["what"] != "note"]
    return {
        "schema_version": 2,
        **{name: values[name] for name in ("id", "probe", "title", "model", "plain_words", "n_items", "n_units")},
        "dimension": "",
        "control": control,
        "family": "control" if control else "bias",
        "effect": _estimate(values["effect"]),
        "published": _estimate(values["published"]) if values["published"] else None,
        "repair": values["correction"],
        "poles": _poles(values, details),
        "items": [_item(item, form) for item in items],
        "item_meaning": {"name": form.name, "poles": _item_poles(probe, items, details)} if form else None,
        "statistic": form.statistic(values, items) if form else None,
        "left_out": left_out,
        "notes": [*dict.fromkeys([each["reason"] for each in values["left_out"] if each["what"] == "note"] + warnings)],
        "about": {
            "summary": "",
            "idea": next((each.removeprefix(_IDEA) for each in caveats if each.startswith(_IDEA)), ""),
            "citation": str(provenance.get("citation", "")),
            "caveats": [each for each in caveats if not each.startswith(_IDEA)],
        },
        "provenance": {
            "model": provenance["model"],
            "stimuli": provenance["stimuli"],
            "settings": provenance["settings"],
            "versions": provenance["versions"],
            "vectors": provenance.get("beside"),
        },
        "details": _details(probe, details) if details else None,
    }


def _details(probe: str, details: Values) -> dict[str, Any]:
    known = Details.known.get(probe)
    return {"kind": probe, **(known.from_schema_1(details) if known else details)}


def _estimate(old: Values) -> dict[str, Any]:
    values = {name: value for name, value in old.items() if name not in ("level", "better")}
    return {**values, "scale": _scale(str(old["name"]), float(old["level"]))}


def _scale(name: str, level: float) -> str:
    if name in ("effect size d", "combined effect size"):
        return D.name
    if level == 0.5:
        return SHARE.name
    if name.startswith("group effect"):
        return ETA.name
    if level == 0 and "correlation" in name.lower():
        return CORRELATION.name
    if level == 1:
        return COHERENCE.name if name == "coherence rho" else DISTANCE.name
    return SIZE.name if name in _SIZES else DIFFERENCE.name


def _poles(values: Values, details: Values) -> list[str] | None:
    """Schema 1 named only the side on which the effect lay; the other end has no words unless it can be told."""
    leans, effect = str(values["leans"]), values["effect"]
    if not leans:
        return None
    if leans == _NO_LEAN and effect["name"] in _SIZES:
        return ["", ""]  # a size is always on one side of level; where it leans was told apart from it
    if leans == _NO_LEAN:
        groups = details.get("poles") or details.get("groups")
        return [f"towards {group}" for group in groups[:2]] if groups and len(groups) >= 2 else ["", ""]
    return [leans, ""] if effect["value"] >= effect["level"] else ["", leans]


def _item_poles(probe: str, items: Sequence[Values], details: Values) -> list[str] | None:
    if probe in ("pairs", "stereoset"):
        return ["the stereotype", "the other"]
    groups = details.get("poles") or details.get("groups")
    return list(groups[:2]) if items and groups and len(groups) >= 2 else None


def _item(item: Values, form: _OldItems | None) -> dict[str, Any]:
    label, unit, group = (_first(item, names) for names in (_LABELS, _UNITS, _GROUPS))
    row = {"label": label, "unit": unit or label, "group": group, "value": form.value(item) if form else None}
    taken = {"text", "word", "group", *(form.used if form else ())}
    further = {_RENAMED.get(name, name): item[name] for name in item if name not in taken}
    return {**row, **further, **({"won": _won(item)} if _is_share(item) else {})}


def _first(item: Values, names: Sequence[str]) -> str:
    return next((str(item[name]) for name in names if item.get(name) is not None), "")


def _is_share(item: Values) -> bool:
    return bool({"prefers", "score_stereotype", "corrected_1", "first"} & set(item))


def _won(item: Values) -> float | None:
    """1 where the item is on the side that a share counts, 0 where it is not, one half for a tie; None: not counted."""
    if "corrected_1" in item:
        return None if item["lean"] == 0 else float(item["lean"] > 0)
    if "first" in item:
        votes = [vote for vote in (item["first"], item["second"]) if vote]
        return sum(vote == 1 for vote in votes) / len(votes) if votes else None
    if "score_stereotype" in item:
        one, two = item["score_stereotype"], item["score_anti_stereotype"]
        return 0.5 if one == two else float(one > two)
    wanted = item.get("expected", "stereotyped")
    return None if wanted is None else 0.5 if item["prefers"] == "neither" else float(item["prefers"] == wanted)


def _of(column: str, name: str, statistic: Callable[[Values, Sequence[Values]], dict[str, Any] | None]) -> _OldItems:
    """The form of items whose value was one of their columns."""
    return _OldItems(lambda item: item.get(column), name, statistic, (column,))


def _fixed(name: str, *of: str, **options: Any) -> Callable[[Values, Sequence[Values]], dict[str, Any] | None]:
    return lambda _values, _items: {"name": name, "of": list(of or ("value",)), **options}


def _between(name: str) -> Callable[[Values, Sequence[Values]], dict[str, Any] | None]:
    """d between the first two groups that occur, in the order in which they were measured."""

    def statistic(values: Values, items: Sequence[Values]) -> dict[str, Any] | None:
        groups = list(dict.fromkeys(item["group"] for item in items))
        by_d = values["effect"]["name"] == "effect size d"
        return {"name": name, "between": groups[:2]} if by_d and len(groups) >= 2 else {"name": "mean of units"}

    return statistic


def _named(prefix: str, name: str) -> Callable[[Values, Sequence[Values]], dict[str, Any] | None]:
    return lambda _values, items: {"name": name, "of": [each for each in items[0] if each.startswith(prefix)]}


def _distances(item: Values) -> float:
    far = [value for name, value in item.items() if name.startswith("distance to ")]
    return float(sum(far) / len(far))


def _unmasked(values: Values, _items: Sequence[Values]) -> dict[str, Any]:
    if values["effect"]["name"] == "correlation r":
        return {"name": "pearson", "of": ["share_he", "share_men"]}
    return {"name": "mean of units"}


def _scored(values: Values, _items: Sequence[Values]) -> dict[str, Any]:
    if "orrelation" in values["effect"]["name"]:
        return {"name": "spearman", "of": ["value", "share_men"]}
    return {"name": "sd of units"}


_SHARE = _fixed("mean", "won", margins="value")
_FORMS: Mapping[str, _OldItems] = {
    "weat": _of("lean", "lean", _between("d of units")),
    "seat": _of("lean", "lean", _between("d of rows")),
    "association": _of("lean", "lean", _between("d of rows")),
    "ceat": _of("lean", "lean", lambda _values, _items: None),
    "lpbs": _of("association", "association (log-odds with the attribute, less those without)", _between("d of units")),
    "rnd": _of("difference", "difference of the distances", _fixed("mean of units")),
    "ect": _OldItems(lambda _item: None, "similarity", _named("cos to ", "spearman")),
    "multi_weat": _OldItems(lambda _item: None, "lean", _named("lean to ", "eta")),
    "wefat": _of(
        "effect",
        "effect of the word",
        lambda _values, items: {"name": "pearson", "of": ["value", list(items[0])[-1]]},
    ),
    "semaxis": _of("position", "position on the axis", _fixed("mean of units")),
    "mac": _OldItems(_distances, "mean distance", _fixed("mean of units")),
    "same": _of("bias", "bias", _fixed("mean of units", absolute=True)),
    "rnsb": _of("negative_share", "share of negative sentiment", _fixed("kl from even")),
    "ripa": _of("inner_product", "inner product", _fixed("mean of units")),
    "direct_bias": _of("cosine", "cosine", _fixed("mean of units", absolute=True)),
    "cluster_bias": _of("lean", "lean", lambda _values, _items: None),
    "neighbour_bias": _of("lean", "lean", _fixed("pearson", "value", "neighbour_share")),
    "pairs": _OldItems(
        lambda item: item["score_stereotyped"] - item["score_other"],
        "log-probability of the stereotype, less that of the other",
        _SHARE,
    ),
    "stereoset": _OldItems(
        lambda item: item["score_stereotype"] - item["score_anti_stereotype"],
        "log-probability of the stereotype, less that of the anti-stereotype",
        _fixed("mean of units", "won", margins="value"),
    ),
    "cloze": _of("lean", "log-ratio of the two scores", _SHARE),
    "unmask": _of("gap", "P(he) - P(she)", _unmasked),
    "cabm": _of("lean", "score", _scored),
}


def _form(values: Values, items: Sequence[Values]) -> _OldItems | None:
    if not items:
        return None
    if values["probe"] == "pronouns":
        return _OldItems(_towards, "log-odds of the expected form", _SHARE)
    return _FORMS.get(str(values["probe"]))


def _towards(item: Values) -> float:
    """The log-odds of the form that is expected; of the masculine one where nothing is."""
    odds = float(item["log_odds_men"])
    return -odds if item["expected"] == "women" else odds
