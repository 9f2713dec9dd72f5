"""A reading: what one probe found on one model, complete enough to be defended and to be computed again."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import repeat
from statistics import fmean
from textwrap import shorten
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Identity
from tiltmeter.readings.frames import frame
from tiltmeter.readings.scale import ALPHA, Scale, find_scale, interval_text, p_text
from tiltmeter.readings.verdict import Correction, Verdict, judge
from tiltmeter.statistics import Interval, Power, plain
from tiltmeter.statistics.families import Placebo

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


class Poles(NamedTuple):
    """What lies at the two ends of a scale, in words. An effect that has one direction only has no second end."""

    positive: str
    negative: str = ""

    @classmethod
    def crossed(cls, groups: tuple[str, str], towards: tuple[str, str]) -> Poles:
        """Of an effect between two groups: the first leans towards the first and the second towards the second.

        >>> Poles.crossed(("men", "women"), ("work", "home")).negative
        'women → work, men → home'
        """
        (one, two), (first, second) = groups, towards
        return cls(f"{one} → {first}, {two} → {second}", f"{two} → {first}, {one} → {second}")

    def side(self, distance: float) -> str:
        """The end on which a number lies that is so far from level."""
        return self.negative if distance < 0 else self.positive


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty, on a scale that says what it means."""

    name: str
    value: float
    scale: Scale
    ci: Interval | None = None
    p_value: float | None = None
    alternative: str | None = None
    exact: bool | None = None
    p_standard_error: float | None = None

    @property
    def level(self) -> float:
        return self.scale.level

    @property
    def better(self) -> str:
        return self.scale.better

    @property
    def strength(self) -> str:
        return self.scale.strength(self.value)

    def __str__(self) -> str:
        """The number and its interval; small ones with a digit more.

        >>> str(Estimate("effect size d", 1.234, find_scale("d")))
        '1.23'
        """
        digits = 2 if abs(self.value) >= 0.1 or self.value == 0 else 3
        interval = f" [{self.ci.low:.{digits}f}, {self.ci.high:.{digits}f}]" if self.ci else ""
        return f"{self.value:.{digits}f}{interval}"

    @property
    def numbers(self) -> list[float]:
        """Every number of the estimate that is there."""
        interval = (self.ci.low, self.ci.high) if self.ci else ()
        return [each for each in (self.value, self.p_value, self.p_standard_error, *interval) if each is not None]

    @property
    def significant(self) -> bool | None:
        """Whether chance alone is an unlikely explanation, taken alone: by its test, or by an interval without level.

        None where the estimate has neither; and of a size without a test, which is above 0 whatever is measured.
        """
        if self.p_value is not None:
            return self.p_value <= ALPHA
        return None if self.ci is None or not self.scale.signed else self.level not in self.ci


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


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """What the p-value of an effect rests on: it is no smaller than any of ``p_values``, by what else could be chosen.

    ``independent`` says of each list how many independent words it is worth, ``n_pairs`` how many matched pairs were
    tested as pairs.
    """

    p_values: tuple[tuple[str, float], ...]
    independent: tuple[tuple[str, int], ...]
    n_pairs: int = 0
    placebo: Placebo | None = None

    def in_words(self) -> list[str]:
        """One sentence per fact.

        >>> chances = (("other targets", 0.012), ("other attributes", 0.2))
        >>> Evidence(chances, (("male terms", 9),), n_pairs=12).in_words()[0]
        'Chance of as much with other targets: p = 0.012 (12 matched pairs); with other attributes: p = 0.20.'
        """
        pairs = f" ({self.n_pairs} matched pairs)" if self.n_pairs else ""
        parts = [f"with {what}: {p_text(p)}" for what, p in self.p_values]
        said = [f"Chance of as much {'; '.join([parts[0] + pairs, *parts[1:]])}."] if parts else []
        if self.independent:
            worth = ", ".join(f"{label} {n}" for label, n in self.independent)
            said.append(f"Independent words, families counted once: {worth}.")
        if self.placebo:
            low, high = f"{self.placebo.low:.2f}", f"{self.placebo.high:.2f}"
            said.append(
                f"95% of arbitrary word lists in place of the attributes give {low} to {high}; as far from level as "
                f"this one: {p_text(self.placebo.p_value)}.{_frequency(self.placebo)}"
            )
            larger = max((p for _, p in self.p_values), default=self.placebo.p_value)
            if (larger <= ALPHA) != (self.placebo.p_value <= ALPHA):
                said.append(
                    "The two disagree: the lean holds for other words of these lists, but arbitrary words lean as much."
                    if larger <= ALPHA
                    else "The two disagree: arbitrary words seldom lean as much, other words of these lists may not."
                )
        return said


def _frequency(placebo: Placebo) -> str:
    """Whether arbitrary words were as frequent as those whose places they took."""
    known, words = placebo.n_matched, placebo.n_words
    if known == words:
        return " They are as frequent as the attributes." if words else ""
    rest = "are of any frequency: how frequent these attributes are is not known"
    return f" They {rest}." if not known else f" For {known} of {words} they are as frequent; the others {rest}."


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
        found = Details.known.get(str(values["kind"]))
        if found is None:
            return OtherDetails(str(values["kind"]), fields)
        details: Details = reader_of(found).validate_python(fields)
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
        from tiltmeter.readings.schema_1 import migrated

        version = values.get("schema_version")
        if version == 1:
            rows = values["items"] if items is None else _rows(items)
            values, items = migrated({**values, "items": rows}), None
        elif version != SCHEMA_VERSION:
            raise BadInput(f"a reading of schema {version} cannot be read by this version (schema {SCHEMA_VERSION})")
        fields = {"finding": "", **values, "items": (), "details": None}
        for name in _APART:
            fields.pop(name, None)
        for name in ("effect", "published"):
            if fields[name] is not None:
                fields[name] = {**fields[name], "scale": find_scale(fields[name]["scale"])}
        reading: Self = reader_of(cls).validate_python(fields)
        estimates = filter(None, (reading.effect, reading.published))
        if not all(math.isfinite(number) for estimate in estimates for number in estimate.numbers):
            raise ValueError("a number of the reading is not finite")
        if items is None:
            names = dict.fromkeys(name for row in values["items"] for name in row)
            items = {name: [row.get(name) for row in values["items"]] for name in names}
        # Set on what was just made, because a copy would be judged again; none of these decides its verdict.
        for name, value in {
            "items": _items(items, reading.statistic),
            "details": Details.from_dict(values["details"]) if values["details"] else None,
            # An earlier version wrote finding and verdict as one text, and its verdict was another.
            "finding": reading.finding or _described(reading.effect, reading.direction),
        }.items():
            object.__setattr__(reading, name, value)
        return reading

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


#: What is not a field, or follows from the others.
_APART = ("schema_version", "checksum", "verdict", "plain_words")


def _called(unit: str, texts: Mapping[str, str]) -> str:
    """A unit by name; pairs of sentences are only numbered, and the text says more."""
    return shorten(texts[unit], _LETTERS, placeholder="…") if unit in texts else unit


def _described(effect: Estimate, direction: str) -> str:
    """A finding in the words of its statistic."""
    interval = f", {interval_text(effect.ci)}" if effect.ci else ""
    towards = f", on the side of {direction}" if direction else ""
    return f"{effect.name[:1].upper()}{effect.name[1:]} {effect.value:.2f}{interval}{towards}."


def _items(columns: Mapping[str, Sequence[Any]], statistic: Statistic | None) -> tuple[Item, ...]:
    """Items out of columns. They are checked a column at a time, because there are many."""
    if not columns:
        return ()
    names, of = ITEM_COLUMNS[:3], set(ITEM_COLUMNS[3:])
    if statistic is not None:
        of |= {*statistic.of, *filter(None, (statistic.margins,))}
    # What the effect is made of are numbers, and names are text: a table of another making may hold anything.
    for name, values in columns.items():
        kinds = set(map(type, values))
        if name in names and kinds != {str}:
            raise ValueError("an item has a name that is not a text")
        if name in of and not kinds <= {float, int, bool, type(None)}:
            raise ValueError(f"an item has a value of '{name}' that is not a number")
        if float in kinds and not _finite(values if kinds == {float} else [x for x in values if type(x) is float]):
            raise ValueError("a number of the reading is not finite")
    further = {name: values for name, values in columns.items() if name not in ITEM_COLUMNS}
    fixed = [columns[name] for name in ITEM_COLUMNS]
    rows = zip(*further.values(), strict=True)
    cells = (
        (dict(zip(further, row, strict=True)) for row in rows) if further else repeat(Item._field_defaults["columns"])
    )
    # Item._make without its check of the length, which zip has made: there are hundreds of thousands.
    return tuple(map(partial(tuple.__new__, Item), zip(*fixed, cells, strict=bool(further))))


def _finite(numbers: Sequence[float]) -> bool:
    """Whether all are; their sum tells at once, unless it is itself too large for a number."""
    return math.isfinite(sum(numbers)) or all(map(math.isfinite, numbers))


def _rows(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
