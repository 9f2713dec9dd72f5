"""A reading: what one probe found on one model, complete enough to be defended and to be computed again."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from statistics import fmean
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from tiltmeter.models.protocol import Identity
from tiltmeter.readings.frames import frame
from tiltmeter.readings.scale import Estimate, Lean, Poles
from tiltmeter.readings.verdict import Correction, Evidence, Verdict, judge
from tiltmeter.statistics import Power, plain

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from pydantic import TypeAdapter

SCHEMA_VERSION = 2
NO_CLEAR_LEAN = "no clear lean"
#: Units named at each end.
_NAMED = 5
#: Letters of a text that stands for a number.
_LETTERS = 60

Cell: TypeAlias = str | float | int | bool | None


class Item(NamedTuple):
    """One row behind an effect: a word or a sentence. A tuple, because an audit holds hundreds of thousands of them.

    ``label`` is what was shown to the model, ``unit`` what counts as one independent observation (several items may
    share it), ``value`` the number that the item has on its own; ``columns`` holds whatever else is known of it.
    """

    label: str
    unit: str
    group: str
    value: float | None
    columns: Mapping[str, Cell] = MappingProxyType({})

    def get(self, column: str) -> Cell:
        """The value, or a further column; None where the item has no such column."""
        return self.value if column == "value" else self.columns.get(column)

    def to_dict(self) -> dict[str, Any]:
        """One flat row."""
        return {"label": self.label, "unit": self.unit, "group": self.group, "value": self.value, **self.columns}


#: The columns that every item has; no further column may bear one of these names.
ITEM_COLUMNS = ("label", "unit", "group", "value")


class UnitValue(NamedTuple):
    """A unit within a group; ``n`` items of the reading are behind its mean value."""

    label: str
    group: str
    value: float
    n: int

    def __str__(self) -> str:
        return f"{self.label} ({self.value:+.2f})"


class UnitValues(NamedTuple):
    """The units of a reading from the highest value to the lowest, what the value is, and what its signs say."""

    name: str
    signs: str
    rows: tuple[UnitValue, ...]

    @property
    def meaning(self) -> str:
        return f"{self.name}; {self.signs}" if self.signs else self.name

    def ends(self, n: int) -> tuple[tuple[UnitValue, ...], tuple[UnitValue, ...]]:
        """The units at both ends, the outermost first, none of them twice."""
        n = min(n, len(self.rows) // 2)
        return self.rows[:n], self.rows[::-1][:n]


@dataclasses.dataclass(frozen=True, slots=True)
class ItemMeaning:
    """What the value of an item is, and what lies at its two ends."""

    name: str
    poles: Poles | None = None


StatisticName: TypeAlias = Literal[
    "mean", "mean of units", "sd of units", "d of rows", "d of units", "eta", "pearson", "spearman", "kl from even"
]


@dataclasses.dataclass(frozen=True, slots=True)
class Statistic:
    """How the effect follows from the items, well enough to compute it again.

    ``of`` names the columns it is made of, ``between`` the groups it compares (the first against the second), and
    ``absolute`` says that sizes count and not signs. ``margins`` is the column of the log-odds behind a share or a
    chance. Items that lack a value in one of the columns do not count.
    """

    name: StatisticName
    of: tuple[str, ...] = ("value",)
    between: tuple[str, ...] = ()
    absolute: bool = False
    margins: str | None = None

    def __post_init__(self) -> None:
        needed = 2 if self.name in ("pearson", "spearman") else 1
        if len(self.of) < needed:
            raise ValueError(f"a statistic called '{self.name}' is made of {needed} columns, not of {len(self.of)}")


@dataclasses.dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that was not measured, and why."""

    what: str
    reason: str


@dataclasses.dataclass(frozen=True, slots=True)
class About:
    """What the probe measures, which idea of bias it stands for, whose it is, and what to mind."""

    summary: str
    idea: str
    citation: str
    caveats: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Provenance:
    """Who was asked what, how, and with which versions; ``vectors`` is a second model whose word vectors were used."""

    model: Identity
    stimuli: str
    settings: Mapping[str, Cell]
    versions: Mapping[str, str]
    vectors: Identity | None = None


_READERS: dict[type[Any], TypeAdapter[Any]] = {}


def reader_of(kind: type[Any]) -> TypeAdapter[Any]:
    """What reads values of a dataclass from a file; built once, because that takes longer than the reading itself."""
    from pydantic import TypeAdapter

    if kind not in _READERS:
        _READERS[kind] = TypeAdapter(kind)
    return _READERS[kind]


@dataclasses.dataclass(frozen=True, slots=True)
class Details:
    """Base of the details of readings. A subclass names itself: ``class Mine(Details, kind="mine")``.

    Its fields are plain values or frozen dataclasses of them; that is how they are read back from a file. Only a
    subclass that has been imported is known; what another version or package wrote is kept as ``OtherDetails``.
    """

    kind: ClassVar[str] = ""
    known: ClassVar[dict[str, type[Details]]] = {}

    def __init_subclass__(cls, *, kind: str = "", **options: Any) -> None:
        # dataclass(slots=True) makes the class anew, without the keyword: the name is kept then.
        if kind:
            cls.kind = kind
        Details.known[cls.kind] = cls

    def to_dict(self) -> dict[str, Any]:
        """The fields and the name of the kind, as JSON-ready values."""
        return {"kind": self.kind, **plain(self)}

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields as they stood in a reading of schema 1: the same names, unless a subclass says otherwise."""
        names = {field.name for field in dataclasses.fields(cls)}
        return {name: value for name, value in values.items() if name in names}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> Details:
        """The details that ``to_dict`` described."""
        fields = {key: value for key, value in values.items() if key != "kind"}
        details_class = Details.known.get(str(values["kind"]))
        if details_class is None:
            return OtherDetails(str(values["kind"]), fields)
        details: Details = reader_of(details_class).validate_python(fields)
        return details


@dataclasses.dataclass(frozen=True, slots=True)
class OtherDetails(Details, kind="other"):
    """Details of a kind that is not known here; ``name`` is what it calls itself."""

    name: str
    values: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.name, **plain(self.values)}


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One probe on one model.

    ``effect`` is the headline (the repaired statistic); ``published`` the statistic as the literature computes it,
    where it differs, and ``repair`` says why. ``poles`` are what an effect above and below level means; None where
    it has no direction. ``dimension`` is what the groups differ in (gender, race, ...); a ``control`` should lean and
    is not a finding; ``family`` names the tests that it is corrected with, and ``correction`` what that made of its
    p-value (None: it is the only one). ``finding`` describes what these words show, the verdict what follows from it.
    ``counted`` is what ``n_units`` counts (words, questions, ...). ``notes`` are remarks on the stimuli, ``evidence``
    says what the p-value rests on, where it generalises over more than one side, and ``power`` what its test could have
    found.
    """

    id: str
    probe: str
    title: str
    model: str
    dimension: str
    control: bool
    family: str
    effect: Estimate
    published: Estimate | None
    repair: str
    poles: Poles | None
    finding: str
    n_items: int
    n_units: int
    items: tuple[Item, ...]
    item_meaning: ItemMeaning | None
    statistic: Statistic | None
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    about: About
    provenance: Provenance
    details: Details | None = None
    evidence: Evidence | None = None
    power: Power | None = None
    correction: Correction | None = None
    counted: str = "words"
    #: What may be said of it: of a reading in an audit, in the light of all tests of its model.
    verdict: Verdict = dataclasses.field(init=False, repr=False)

    def __post_init__(self) -> None:
        verdict = judge(self.effect, control=self.control, correction=self.correction, power=self.power)
        object.__setattr__(self, "verdict", verdict)

    @property
    def direction(self) -> str:
        """On which side of level it lies, clear or not; empty where the effect has no direction."""
        return "" if self.poles is None else self.poles.side(self.effect.value - self.effect.level)

    @property
    def leaning(self) -> tuple[Lean, ...]:
        """The same as who leans towards what."""
        return () if self.poles is None else self.poles.leans(self.effect.value - self.effect.level)

    @property
    def leans(self) -> str:
        """Which way it leans by its verdict; empty where the effect has no direction, or no test."""
        if self.poles is None or self.verdict.state == "untested":
            return ""
        return self.direction if self.verdict.clear and self.direction else NO_CLEAR_LEAN

    @property
    def plain_words(self) -> str:
        """What was found and what follows from it."""
        return f"{self.finding} {self.verdict.sentence}".rstrip()

    @property
    def strength(self) -> str:
        return self.effect.strength

    def units(self, *, ends: int | None = None) -> UnitValues | None:
        """The units with one number each, the mean of their items; None where items have no number.

        ``ends`` asks for no more than so many from the top and as many from the bottom.
        """
        meaning, by_unit = self.item_meaning, dict[tuple[str, str], list[float]]()
        for _, unit, group, value, _ in self.items:
            if value is not None:
                by_unit.setdefault((unit, group), []).append(value)
        if meaning is None or not by_unit:
            return None
        # Plain tuples sort fastest: by value from above, then by label and by where they come.
        ranked = [
            (-fmean(values) if len(values) > 1 else -values[0], unit, n, group, len(values))
            for n, ((unit, group), values) in enumerate(by_unit.items())
        ]
        ranked.sort()
        if ends is not None and len(ranked) > 2 * ends:
            ranked = ranked[:ends] + ranked[-ends:]
        texts = {item.unit: item.label for item in reversed(self.items) if item.unit.isdecimal()}
        rows = tuple(UnitValue(_called(unit, texts), group, -value, n) for value, unit, _, group, n in ranked)
        poles = meaning.poles
        signs = f"positive: towards {poles.positive}, negative: towards {poles.negative}" if poles else ""
        return UnitValues(meaning.name, signs, rows)

    @property
    def driving(self) -> tuple[str, tuple[tuple[UnitValue, ...], tuple[UnitValue, ...]]] | None:
        """What the values of the units mean, and the units at both ends; None where they have no number, or are few."""
        units = self.units(ends=_NAMED)
        return None if units is None or len(units.rows) < 2 * _NAMED else (units.meaning, units.ends(_NAMED))

    def chart(self) -> alt.TopLevelMixin:
        """The chart that the report shows of this reading."""
        # Views read readings. A reading finds its view by name when it is asked, as pandas finds its plotting backend.
        charts = importlib.import_module("tiltmeter.views.charts")
        chart: alt.TopLevelMixin = charts.chart_of(self)
        return chart

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON-ready values."""
        values: dict[str, Any] = {"schema_version": SCHEMA_VERSION, **plain(self)}
        for name in ("effect", "published"):
            estimate: Estimate | None = getattr(self, name)
            if estimate is not None:
                values[name]["scale"] = estimate.scale.name
        values["items"] = [item.to_dict() for item in self.items]
        values["details"] = self.details.to_dict() if self.details else None
        values["plain_words"] = self.plain_words
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], items: Mapping[str, Sequence[Any]] | None = None) -> Self:
        """The reading that ``to_dict`` described, or one that an earlier version wrote.

        ``items`` are the columns of a table in place of the values' own rows.
        """
        from tiltmeter.readings.stored_form import read_stored

        return read_stored(cls, values, items)

    def to_frame(self) -> pd.DataFrame:
        """The items as a table, one row per item."""
        return frame(item.to_dict() for item in self.items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.model, self.id))

    def __str__(self) -> str:
        return f"{self.title} [{self.model}]: {self.plain_words}"

    def __repr__(self) -> str:
        lean = f": {self.direction}" if self.verdict.clear and self.direction else ""
        return f"<Reading {self.id} [{self.model}] {self.effect.name} {self.effect}, {self.verdict}{lean}>"

    def _repr_html_(self) -> str:
        html: str = importlib.import_module("tiltmeter.views.notebook").reading_html(self)
        return html


def _called(unit: str, texts: Mapping[str, str]) -> str:
    """A unit by name; pairs of sentences are only numbered, and the text says more."""
    return shorten(texts[unit], _LETTERS, placeholder="…") if unit in texts else unit
