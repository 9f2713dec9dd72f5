"""Models side by side: every probe that two of them share, corrected for all the tests that makes."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.compare.difference import Difference, differ
from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics import Result, holm

if TYPE_CHECKING:
    import pandas as pd

#: What a row of a table has of a difference as it is.
_COLUMNS = (
    *("id", "probe", "title", "statistic", "level", "better", "first", "second", "difference", "growth"),
    *("p_value", "p_holm", "p_growth", "method", "how", "n_units"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """Readings of one model or several, and what to call them."""

    label: str
    folder: Path
    models: tuple[str, ...]
    readings: tuple[Reading, ...]

    def only(self, model: str) -> Side:
        """One model of it."""
        return Side(model, self.folder, (model,), tuple(each for each in self.readings if each.model == model))

    def singles(self) -> list[Side]:
        """One side for each model."""
        return [self.only(model) for model in self.models]


def load_side(address: str) -> Side:
    """FOLDER, or FOLDER:MODEL for one model of it."""
    folder, model = _split(address)
    audit = load_audit(folder)
    side = Side(str(folder), folder, tuple(dict.fromkeys(each.model for each in audit.readings)), audit.readings)
    if model is None:
        return side
    if model not in side.models:
        raise unknown(f"model of {folder}", model, side.models)
    return dataclasses.replace(side.only(model), label=address)


def load_audit(folder: Path) -> Audit:
    """The finished audit of a folder; whatever is wrong with it is said with its name."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder of results: run tiltmeter audit --out {folder}")
    try:
        return Audit.load(folder)
    except BadInput as error:
        if str(folder) in str(error):
            raise
        raise BadInput(f"{folder}: {error}: run the audit again") from None


def _split(address: str) -> tuple[Path, str | None]:
    """Where the folder ends: both a path and the name of a model may hold a colon."""
    folder, colon = address, ""
    while folder:
        if at_home(folder).is_dir():
            return at_home(folder), address[len(folder) + 1 :] if colon else None
        folder, colon, _ = folder.rpartition(":")
    return at_home(address), None


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
        """One flat row per difference, ready for a table or a chart."""
        return [_row(pair, difference) for pair in self.pairs for difference in pair.differences]

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())


def compare(sides: Sequence[Side]) -> Comparisons:
    """Compare models on the probes they share: all pairs, in the order given.

    Sides of several models each are paired by the models' names.
    """
    pairs = [_pair(*pair) for pair in _pairs(sides)]
    if not any(pair.differences for pair in pairs):
        reasons = [f"{left.id}: {left.reason}" for pair in pairs for left in pair.not_compared]
        raise BadInput(f"nothing can be compared: {reasons[0] if reasons else 'the models share no probe'}")
    adjusted = iter(holm([difference.p_value for pair in pairs for difference in pair.differences]).tolist())
    for place, pair in enumerate(pairs):
        tested = [dataclasses.replace(difference, p_holm=next(adjusted)) for difference in pair.differences]
        tested.sort(key=lambda tested: (not tested.is_real(), tested.p_value, -abs(tested.difference)))
        pairs[place] = dataclasses.replace(pair, differences=tuple(tested))
    return Comparisons(tuple(pairs))


def _pairs(sides: Sequence[Side]) -> Iterator[tuple[Side, Side]]:
    singles = [single for side in sides for single in side.singles()]
    if len(sides) == 1 or len(singles) == len(sides):
        if len(singles) < 2:
            raise BadInput(f"{sides[0].label} holds one model: name a second folder to compare it with")
        yield from itertools.combinations(_distinct(singles), 2)
        return
    shared = [
        pair
        for first, second in itertools.combinations(sides, 2)
        for pair in itertools.product(first.singles(), second.singles())
        if pair[0].models == pair[1].models
    ]
    if not shared:
        raise BadInput("the folders share no model by name: choose one of each, as FOLDER:MODEL")
    names = iter(_distinct([side for pair in shared for side in pair]))
    yield from zip(names, names, strict=True)


def _distinct(sides: Sequence[Side]) -> list[Side]:
    """The sides under names that tell them apart: the models', or with their folders where those are the same."""
    alike = len({side.models for side in sides}) < len(sides)
    labels = [f"{side.folder}: {side.models[0]}" if alike else side.models[0] for side in sides]
    return [dataclasses.replace(side, label=label) for side, label in zip(sides, labels, strict=True)]


def _pair(first: Side, second: Side) -> Comparison:
    theirs = {reading.id: reading for reading in second.readings}
    differences, left = list[Difference](), list[NotCompared]()
    for reading in first.readings:
        other = theirs.pop(reading.id, None)
        difference = f"not measured on {second.label}" if other is None else differ(reading, other)
        if isinstance(difference, Difference):
            differences.append(difference)
        else:
            left.append(NotCompared(reading.id, difference))
    left += [NotCompared(id, f"not measured on {first.label}") for id in theirs]
    return Comparison(first.label, second.label, tuple(differences), tuple(left))


def _row(pair: Comparison, moved: Difference) -> dict[str, Any]:
    return {
        "first_model": pair.first,
        "second_model": pair.second,
        **{name: getattr(moved, name) for name in _COLUMNS},
        "ci_low": moved.ci.low,
        "ci_high": moved.ci.high,
        "really_different": moved.is_real(),
        "first_log_odds": moved.margins.first if moved.margins else None,
        "second_log_odds": moved.margins.second if moved.margins else None,
        "plain_words": in_words(pair, moved),
    }


def in_words(pair: Comparison, moved: Difference) -> str:
    """A difference in one sentence: which way, how far, and whether it is real."""
    digits = moved.digits
    values = f"{moved.first:.{digits}f} on {pair.first}, {moved.second:.{digits}f} on {pair.second}"
    interval = f"95% interval {moved.ci.low:+.{digits}f} to {moved.ci.high:+.{digits}f}"
    change = f"difference {moved.difference:+.{digits}f}, {interval}"
    if not moved.is_real():
        return f"No real difference ({values}; {change}): noise could explain it."
    where = "further from" if moved.growth > 0 else "nearer to"
    return f"Really different ({values}; {change}): {pair.second} is {where} level."
