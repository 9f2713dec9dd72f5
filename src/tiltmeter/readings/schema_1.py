"""Readings of schema 1, in which items and details were mappings and the kind of an effect was its name.

What a probe of that time meant by its columns is written down here, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


def migrated(values: Values) -> dict[str, Any]:
    """The values of a reading of schema 1 as those of schema 2."""
    probe, items, details = str(values["probe"]), list(values["items"]), dict(values.get("details") or {})
    known = bool(items) and probe in _FORMS
    caveats = [str(caveat) for caveat in values["caveats"]]
    provenance = values["provenance"]
    control = str(values["id"]).startswith("control")
    warnings = [str(warning) for warning in details.pop("warnings", ())]
    left_out = [each for each in values["left_out"] if each["what"] != "note"]
    return {
        "schema_version": 2,
        **{name: values[name] for name in ("id", "probe", "title", "model", "n_items", "n_units")},
        "dimension": "",
        "control": control,
        "family": "control" if control else "bias",
        "effect": _estimate(values["effect"]),
        "published": _estimate(values["published"]) if values["published"] else None,
        "repair": values["correction"],
        "poles": _poles(values, details),
        "items": [_item(item, probe) for item in items],
        "item_meaning": {"name": _FORMS[probe][1], "poles": _item_poles(probe, items, details)} if known else None,
        "statistic": _statistic(probe, str(values["effect"]["name"]), items) if known else None,
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


def _item(item: Values, probe: str) -> dict[str, Any]:
    label, unit, group = (_first(item, names) for names in (_LABELS, _UNITS, _GROUPS))
    column = _FORMS[probe][0] if probe in _FORMS else ""
    row = {"label": label, "unit": unit or label, "group": group, "value": _value(item, probe, column)}
    further = {_RENAMED.get(name, name): item[name] for name in item if name not in ("text", "word", "group", column)}
    return {**row, **further, **({"won": _won(item)} if _is_share(item) else {})}


def _value(item: Values, probe: str, column: str) -> float | None:
    if probe == "pairs":
        return float(item["score_stereotyped"] - item["score_other"])
    if probe == "stereoset":
        return float(item["score_stereotype"] - item["score_anti_stereotype"])
    if probe == "pronouns":  # the log-odds of the form that is expected; of the masculine one where nothing is
        return float(-item["log_odds_men"] if item["expected"] == "women" else item["log_odds_men"])
    if probe == "mac":
        far = [value for name, value in item.items() if name.startswith("distance to ")]
        return float(sum(far) / len(far))
    return item.get(column)


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


def _statistic(probe: str, effect: str, items: Sequence[Values]) -> Mapping[str, Any] | None:
    """How the effect follows from the items; None where it does not."""
    if probe in _BETWEEN:  # d between the first two groups that occur, in the order in which they were measured
        groups = list(dict.fromkeys(item["group"] for item in items))[:2]
        by_d = effect == "effect size d" and len(groups) == 2
        return {"name": _BETWEEN[probe], "between": groups} if by_d else _MEAN
    if probe in _PREFIXES:
        return {**(_FORMS[probe][2] or {}), "of": [name for name in items[0] if name.startswith(_PREFIXES[probe])]}
    if probe == "wefat":
        return {"name": "pearson", "of": ["value", list(items[0])[-1]]}
    if probe == "unmask" and effect == "correlation r":
        return {"name": "pearson", "of": ["share_he", "share_men"]}
    if probe == "cabm" and "correlation" in effect.lower():
        return {"name": "spearman", "of": ["value", "share_men"]}
    return _FORMS[probe][2]


_BETWEEN = {"weat": "d of units", "seat": "d of rows", "association": "d of rows", "lpbs": "d of units"}
#: Of effects that are made of several columns, how the names of these begin.
_PREFIXES = {"ect": "cos to ", "multi_weat": "lean to "}
_MEAN = {"name": "mean of units"}
_SIZE = {"name": "mean of units", "absolute": True}
_WON = {"of": ["won"], "margins": "value"}
#: By kind of probe the column that has become the value of an item, what that means, and how the effect follows.
_FORMS: Mapping[str, tuple[str, str, Mapping[str, Any] | None]] = {
    "weat": ("lean", "lean", None),
    "seat": ("lean", "lean", None),
    "association": ("lean", "lean", None),
    "ceat": ("lean", "lean", None),
    "lpbs": ("association", "association (log-odds with the attribute, less those without)", None),
    "rnd": ("difference", "difference of the distances", _MEAN),
    "ect": ("", "similarity", {"name": "spearman"}),
    "multi_weat": ("", "lean", {"name": "eta"}),
    "wefat": ("effect", "effect of the word", None),
    "semaxis": ("position", "position on the axis", _MEAN),
    "mac": ("", "mean distance", _MEAN),
    "same": ("bias", "bias", _SIZE),
    "rnsb": ("negative_share", "share of negative sentiment", {"name": "kl from even"}),
    "ripa": ("inner_product", "inner product", _MEAN),
    "direct_bias": ("cosine", "cosine", _SIZE),
    "cluster_bias": ("lean", "lean", None),
    "neighbour_bias": ("lean", "lean", {"name": "pearson", "of": ["value", "neighbour_share"]}),
    "pairs": ("", "log-probability of the stereotype, less that of the other", {"name": "mean", **_WON}),
    "stereoset": ("", "log-probability of the stereotype, less that of the anti-stereotype", {**_MEAN, **_WON}),
    "cloze": ("lean", "log-ratio of the two scores", {"name": "mean", **_WON}),
    "pronouns": ("", "log-odds of the expected form", {"name": "mean", **_WON}),
    "unmask": ("gap", "P(he) - P(she)", _MEAN),
    "cabm": ("lean", "score", {"name": "sd of units"}),
}
