"""Models side by side: every probe that two of them share, corrected for the bias tests of the pair."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tiltmeter.compare.difference import STATES, Difference, differ
from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home
from tiltmeter.readings import Audit, Reading
from tiltmeter.readings.frames import frame
from tiltmeter.statistics import Result, holm

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

#: What a row of a table has of a difference as it is.
_COLUMNS = (
    *("id", "probe", "title", "control", "statistic", "level", "better", "first", "second", "difference", "growth"),
    *("p_value", "p_holm", "n_tests", "p_growth", "method", "how", "n_units"),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """Readings of one model or several, and what to call them; their ``source`` tells two of one name apart."""

    label: str
    source: str
    models: tuple[str, ...]
    readings: tuple[Reading, ...]

    def only(self, model: str) -> Side:
        """One model of it."""
        return Side(model, self.source, (model,), tuple(reading for reading in self.readings if reading.model == model))

    def singles(self) -> list[Side]:
        """One side for each model."""
        return [self.only(model) for model in self.models]


#: What can be compared: FOLDER or FOLDER:MODEL, an audit, a reading, or a side that was made of them.
SomeSide: TypeAlias = str | Path | Audit | Reading | Side


def load_side(side: SomeSide, *, place: int = 1) -> Side:
    """A side by its address, FOLDER or FOLDER:MODEL for one model of it, or of an audit or a reading in Python.

    ``place`` counts the sides that are compared: what was never stored is called by it.
    """
    if isinstance(side, Side):
        return side
    if isinstance(side, Audit):
        return _side(str(side.folder or f"audit {place}"), side.readings)
    if isinstance(side, Reading):
        return _side(f"reading {place}", (side,))
    if not isinstance(side, str | Path):
        raise BadInput(f"a side of a comparison is a folder of results, an audit or a reading, not {side!r}")
    folder, model = _split(str(side))
    whole = _side(str(folder), load_audit(folder).readings)
    if model is None:
        return whole
    if model not in whole.models:
        raise unknown(f"model of {folder}", model, whole.models)
    return dataclasses.replace(whole.only(model), label=str(side))


def _side(source: str, readings: tuple[Reading, ...]) -> Side:
    return Side(source, source, tuple(dict.fromkeys(reading.model for reading in readings)), readings)


#: An audit as a user may give it: its folder, the audit itself, or its readings.
SomeAudit: TypeAlias = str | Path | Audit | Sequence[Reading]


def find_audit(audit: SomeAudit) -> Audit:
    """The audit of a folder, or one in Python; a list of readings is judged as one audit."""
    if isinstance(audit, Audit):
        return audit
    if isinstance(audit, str | Path):
        return load_audit(at_home(audit))
    if not isinstance(audit, list | tuple) or not all(isinstance(reading, Reading) for reading in audit):
        raise BadInput(f"results are a folder, an audit or a list of readings, not {audit!r}")
    readings: tuple[Reading, ...] = tuple(audit)
    models = tuple(dict.fromkeys(reading.model for reading in readings))
    return Audit("", models, readings, skipped=(), asked=0, recalled=0)


def load_audit(folder: Path) -> Audit:
    """The finished audit of a folder; whatever is wrong with it is said with its name."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder of results: run tiltmeter audit --out {folder}")
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
    """Two models. ``differences`` come clearest first, controls last."""

    first: str
    second: str
    differences: tuple[Difference, ...]
    not_compared: tuple[NotCompared, ...]

    @property
    def tally(self) -> str:
        """How many probes have which verdict, controls not counted."""
        counts = Counter(moved.state for moved in self.differences if not moved.control)
        nothing = "only controls compared" if self.differences else "no probe was measured on both"
        return ", ".join(f"{counts[state]} {state}" for state in STATES if counts[state]) or nothing

    @property
    def headline(self) -> str:
        return f"{self.first} → {self.second}: {self.tally}"

    def chart(self) -> alt.TopLevelMixin:
        """The effects on both models, joined by a line, the clearest difference first."""
        # As a reading finds its chart: views read comparisons, so a comparison asks for its view by name.
        charts = importlib.import_module("tiltmeter.views.charts")
        chart: alt.TopLevelMixin = charts.chart_of_pairs([self])
        return chart

    def __repr__(self) -> str:
        return f"<Comparison {self.headline}>"

    def _repr_html_(self) -> str:
        return Comparisons((self,))._repr_html_()


@dataclasses.dataclass(frozen=True, slots=True)
class Comparisons(Result):
    """Every pair that was asked for; p-values are corrected for the bias tests of each pair (Holm), controls apart."""

    pairs: tuple[Comparison, ...]

    @property
    def tests(self) -> int:
        return sum(len(pair.differences) for pair in self.pairs)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per difference, ready for a table or a chart."""
        return [_row(pair, difference) for pair in self.pairs for difference in pair.differences]

    def to_frame(self) -> pd.DataFrame:
        """The rows as a data frame."""
        return frame(self.rows())

    def chart(self) -> alt.TopLevelMixin:
        """The chart of each pair, one below the other."""
        charts = importlib.import_module("tiltmeter.views.charts")
        chart: alt.TopLevelMixin = charts.chart_of_pairs(self.pairs)
        return chart

    def __repr__(self) -> str:
        return f"<Comparisons {'; '.join(pair.headline for pair in self.pairs)}>"

    def _repr_html_(self) -> str:
        html: str = importlib.import_module("tiltmeter.views.notebook").comparison_html(self)
        return html


def compare(*sides: SomeSide | Sequence[SomeSide]) -> Comparisons:
    """Compare models on the probes they share: all pairs, in the order given.

    Sides are folders of results (``"results"``, or ``"results:bundled:glove"`` for one model), audits or readings, each
    on its own or as one list. Sides of several models each are paired by the models' names; of one side alone its
    models are compared with each other.

    >>> import tiltmeter
    >>> tiltmeter.compare("results-v1", "results-v2").to_frame()  # doctest: +SKIP
    """
    listed = sides[0] if len(sides) == 1 and isinstance(sides[0], list | tuple) else sides
    if not listed:
        raise BadInput("nothing to compare: name two folders of results, or audits")
    loaded = [load_side(side, place=place) for place, side in enumerate(listed, 1)]
    pairs = [_judged(_pair(*pair)) for pair in _pairs(loaded)]
    if not any(pair.differences for pair in pairs):
        reasons = [f"{left.id}: {left.reason}" for pair in pairs for left in pair.not_compared]
        raise BadInput(f"nothing can be compared: {reasons[0] if reasons else 'the models share no probe'}")
    return Comparisons(tuple(pairs))


def _judged(pair: Comparison) -> Comparison:
    """A pair with its p-values corrected, so that a third model beside it changes nothing; what changed comes first."""
    judged = list[Difference]()
    for control in (False, True):
        family = [moved for moved in pair.differences if moved.control == control]
        corrected = holm([moved.p_value for moved in family]).tolist()
        judged += [
            dataclasses.replace(moved, p_holm=p, n_tests=len(family))
            for moved, p in zip(family, corrected, strict=True)
        ]
    judged.sort(key=lambda moved: (moved.control, STATES.index(moved.state), moved.p_value, -abs(moved.difference)))
    return dataclasses.replace(pair, differences=tuple(judged))


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
    """The sides under names that tell them apart: the models', or with their sources where those are the same."""
    alike = len({side.models for side in sides}) < len(sides)
    labels = [f"{side.source}: {side.models[0]}" if alike else side.models[0] for side in sides]
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
        "verdict": moved.state,
        "first_log_odds": moved.margins.first if moved.margins else None,
        "second_log_odds": moved.margins.second if moved.margins else None,
        "plain_words": in_words(pair, moved),
    }


def in_words(pair: Comparison, moved: Difference) -> str:
    """A difference in words: which way, how far, and what may be said of it."""
    digits = moved.digits
    values = f"{moved.first:.{digits}f} on {pair.first}, {moved.second:.{digits}f} on {pair.second}"
    interval = f"95% interval {moved.ci.low:+.{digits}f} to {moved.ci.high:+.{digits}f}"
    return f"{values}: difference {moved.difference:+.{digits}f}, {interval}, {moved.where}. {moved.sentence}"
