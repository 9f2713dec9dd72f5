"""What stands behind a reading, item by item: one number for each word or sentence, whichever probe it comes from."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from tiltmeter.readings import Reading

Row = Mapping[str, Any]
#: The number of an item, by the column it stands in; the first that is there counts.
_VALUES: Mapping[str, Callable[[Row], float | None]] = {
    **{
        name: itemgetter(name)
        for name in (
            "lean",
            "effect",
            "gap",
            "association",
            "log_odds_men",
            "position",
            "inner_product",
            "cosine",
            "difference",
            "bias",
        )
    },
    "score_stereotyped": lambda row: row["score_stereotyped"] - row["score_other"],
    "score_stereotype": lambda row: row["score_stereotype"] - row["score_anti_stereotype"],
}
_NAMES = {
    "effect": "effect of the word",
    "gap": "P(he) - P(she)",
    "association": "association (log-odds with the attribute, less those without)",
    "log_odds_men": "log-odds of the masculine form",
    "position": "position on the axis",
    "inner_product": "inner product",
    "difference": "difference of the distances",
    "score_stereotyped": "log-probability of the stereotype, less that of the other",
    "score_stereotype": "log-probability of the stereotype, less that of the anti-stereotype",
}
_GROUPS = ("group", "expected", "kind")
_LABELS = ("word", "occupation", "target", "sentence", "text")


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """One word or sentence; ``n`` rows of the reading are behind its mean value."""

    label: str
    group: str
    value: float
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class Items:
    """The items of a reading from the highest value to the lowest, what the value is, and what its signs say."""

    name: str
    signs: str
    rows: tuple[Item, ...]

    def ends(self, n: int) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        """The items at both ends, the outermost first, none of them twice."""
        n = min(n, len(self.rows) // 2)
        return self.rows[:n], self.rows[::-1][:n]


def item_values(reading: Reading) -> Items | None:
    """The items with one number each; None where the reading has no such number.

    Rows about one word are averaged, because the word is the unit.
    """
    first = reading.items[0] if reading.items else {}
    column = next((name for name in _VALUES if name in first), None)
    label = next((name for name in _LABELS if name in first), None)
    if column is None or label is None:
        return None
    found: dict[tuple[str, str], list[float]] = {}
    value_of, group = _VALUES[column], next((name for name in _GROUPS if name in first), None)
    for row in reading.items:
        value = value_of(row)
        if value is not None:
            found.setdefault((str(row[label]), str(row[group] or "") if group else ""), []).append(value)
    rows = [Item(name, group, sum(each) / len(each), len(each)) for (name, group), each in found.items()]
    rows.sort(key=lambda item: (-item.value, item.label))
    return Items(_NAMES.get(column, column), _signs(reading, column), tuple(rows)) if rows else None


def _signs(reading: Reading, column: str) -> str:
    if column.startswith("score_"):
        return "positive: the model prefers the stereotype"
    poles: Sequence[str] | None = reading.details.get("poles") or reading.details.get("groups")
    if poles and len(poles) == 2:
        return f"positive: to {poles[0]}, negative: to {poles[1]}"
    return "positive: to what is named first, negative: to what is named second"
