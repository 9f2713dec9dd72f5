"""Models side by side: every probe that two of them share, corrected for all the tests that makes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.compare.difference import Difference, differ
from tiltmeter.compare.sides import Side
from tiltmeter.errors import BadInput
from tiltmeter.readings import Reading
from tiltmeter.statistics import Result, holm

if TYPE_CHECKING:
    import pandas as pd


@dataclasses.dataclass(frozen=True, slots=True)
class NotCompared(Result):
    """A probe that could not be compared, and why."""

    id: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class Comparison(Result):
    """Two models. ``differences`` come clearest first."""

    first: str
    second: str
    differences: tuple[Difference, ...]
    not_compared: tuple[NotCompared, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Comparisons(Result):
    """Every pair that was asked for; p-values are corrected for all their tests together (Holm)."""

    pairs: tuple[Comparison, ...]

    @property
    def tests(self) -> int:
        return sum(len(pair.differences) for pair in self.pairs)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a difference, ready for a table or a chart."""
        return [_row(pair, each) for pair in self.pairs for each in pair.differences]

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())


def compare(sides: Sequence[Side]) -> Comparisons:
    """Compare models on the probes they share: all pairs, in the order given.

    Sides of several models each are paired by the models' names.
    """
    found = [_pair(*pair) for pair in _pairs(sides)]
    if not any(pair.differences for pair in found):
        reasons = [f"{each.id}: {each.reason}" for pair in found for each in pair.not_compared]
        raise BadInput(f"nothing can be compared: {reasons[0] if reasons else 'the models share no probe'}")
    adjusted = iter(holm([each.p_value for pair in found for each in pair.differences]).tolist())
    return Comparisons(tuple(_with_p(pair, lambda: next(adjusted)) for pair in found))


def _pairs(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    singles = [single for side in sides for single in side.singles()]
    if len(sides) == 1 or len(singles) == len(sides):
        if len(singles) < 2:
            raise BadInput(f"{sides[0].label} holds one model: name a second folder to compare it with")
        yield from itertools.combinations(_distinct(singles), 2)
        return
    shared = [
        (one, two)
        for first, second in itertools.combinations(sides, 2)
        for one in first.singles()
        for two in second.singles()
        if one.models == two.models
    ]
    if not shared:
        raise BadInput("the folders share no model by name: choose one of each, as FOLDER:MODEL")
    names = iter(_distinct([side for pair in shared for side in pair]))
    yield from zip(names, names, strict=True)


def _distinct(sides: Sequence[Side]) -> list[Side]:
    """The sides under names that tell them apart: the models', or with their folders where those are the same."""
    names = [side.models[0] for side in sides]
    if len(set(names)) == len(names):
        return [dataclasses.replace(side, label=name) for side, name in zip(sides, names, strict=True)]
    return [dataclasses.replace(side, label=f"{side.folder}: {name}") for side, name in zip(sides, names, strict=True)]


def _pair(first: Side, second: Side) -> Comparison:
    theirs = {reading.id: reading for reading in second.readings}
    differences, left = list[Difference](), list[NotCompared]()
    for reading in first.readings:
        found = _differ(reading, theirs.pop(reading.id, None), second.label)
        if isinstance(found, Difference):
            differences.append(found)
        else:
            left.append(NotCompared(reading.id, found))
    left += [NotCompared(each, f"not measured on {first.label}") for each in theirs]
    return Comparison(first.label, second.label, tuple(differences), tuple(left))


def _differ(first: Reading, second: Reading | None, label: str) -> Difference | str:
    return f"not measured on {label}" if second is None else differ(first, second)


def _with_p(pair: Comparison, adjusted: Callable[[], float]) -> Comparison:
    tested = [dataclasses.replace(each, p_holm=adjusted()) for each in pair.differences]
    tested.sort(key=lambda each: (not each.is_real(), each.p_value, -abs(each.difference)))
    return dataclasses.replace(pair, differences=tuple(tested))


def _row(pair: Comparison, each: Difference) -> dict[str, Any]:
    return {
        "first_model": pair.first,
        "second_model": pair.second,
        "id": each.id,
        "probe": each.probe,
        "title": each.title,
        "statistic": each.statistic,
        "level": each.level,
        "better": each.better,
        "first": each.first,
        "second": each.second,
        "difference": each.difference,
        "ci_low": each.ci.low,
        "ci_high": each.ci.high,
        "growth": each.growth,
        "p_value": each.p_value,
        "p_holm": each.p_holm,
        "p_growth": each.p_growth,
        "really_different": each.is_real(),
        "method": each.method,
        "how": each.how,
        "n_units": each.n_units,
        "first_log_odds": each.margins.first if each.margins else None,
        "second_log_odds": each.margins.second if each.margins else None,
        "plain_words": in_words(pair, each),
    }


def in_words(pair: Comparison, each: Difference) -> str:
    """A difference in one sentence: which way, how far, and whether it is real."""
    digits = each.digits
    values = f"{each.first:.{digits}f} on {pair.first}, {each.second:.{digits}f} on {pair.second}"
    interval = f"95% interval {each.ci.low:+.{digits}f} to {each.ci.high:+.{digits}f}"
    moved = f"difference {each.difference:+.{digits}f}, {interval}"
    if not each.is_real():
        return f"No real difference ({values}; {moved}): noise could explain it."
    where = "further from" if each.growth > 0 else "nearer to"
    return f"Really different ({values}; {moved}): {pair.second} is {where} level."
