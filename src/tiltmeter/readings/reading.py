"""A reading: what one probe found on one model, complete enough to be defended and to be computed again."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeAlias

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Identity
from tiltmeter.readings.scale import ALPHA, Scale, find_scale, p_text
from tiltmeter.statistics import Interval, plain
from tiltmeter.statistics.families import Placebo

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
    from pydantic import TypeAdapter

SCHEMA_VERSION = 2
NO_CLEAR_LEAN = "no clear lean"

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


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """One row behind an effect: a word or a sentence.

    ``label`` is what was shown to the model, ``unit`` what counts as one independent observation (several items may
    share it), ``value`` the number that the item has on its own; ``columns`` holds whatever else is known of it.
    """

    label: str
    unit: str
    group: str
    value: float | None
    columns: Mapping[str, Cell] = dataclasses.field(default_factory=dict)

    def get(self, column: str) -> Cell:
        """The value, or a further column; None where the item has no such column."""
        return self.value if column == "value" else self.columns.get(column)

    def to_dict(self) -> dict[str, Any]:
        """One flat row."""
        return {"label": self.label, "unit": self.unit, "group": self.group, "value": self.value, **self.columns}


#: The columns that every item has; no further column may bear one of these names.
ITEM_COLUMNS = ("label", "unit", "group", "value")


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
    is no finding; ``family`` names the tests that it is corrected with. ``notes`` are remarks on the stimuli, and
    ``evidence`` says what the p-value rests on, where it generalises over more than one side.
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
    plain_words: str
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

    @property
    def leans(self) -> str:
        """Which way it leans, taken alone; empty where the effect has no direction."""
        if self.poles is None:
            return ""
        towards = self.poles.side(self.effect.value - self.effect.level)
        return towards if self.effect.significant and towards else NO_CLEAR_LEAN

    @property
    def strength(self) -> str:
        return self.effect.strength

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
        return values

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The reading that ``to_dict`` described, or one that an earlier version wrote."""
        from tiltmeter.readings.schema_1 import migrated

        version = values.get("schema_version")
        if version == 1:
            values = migrated(values)
        elif version != SCHEMA_VERSION:
            raise BadInput(f"a reading of schema {version} cannot be read by this version (schema {SCHEMA_VERSION})")
        fields = {key: value for key, value in values.items() if key not in _APART}
        for name in ("effect", "published"):
            if fields[name] is not None:
                fields[name] = {**fields[name], "scale": find_scale(fields[name]["scale"])}
        # Items come from a table whose columns have types, and there are many: they are not looked at one by one.
        items = tuple(_item(row) for row in values["items"])
        details = Details.from_dict(values["details"]) if values["details"] else None
        reading: Self = reader_of(cls).validate_python({**fields, "items": (), "details": None})
        numbers = [
            number for estimate in (reading.effect, reading.published) if estimate for number in estimate.numbers
        ]
        cells = (cell for item in items for cell in (item.value, *item.columns.values()) if isinstance(cell, float))
        if not all(map(math.isfinite, (*numbers, *cells))):
            raise ValueError("a number of the reading is not finite")
        _check_items(items, reading.statistic)
        return dataclasses.replace(reading, items=items, details=details)

    def to_frame(self) -> pd.DataFrame:
        """The items as a table, one row per item."""
        import pandas as pd

        return pd.DataFrame([item.to_dict() for item in self.items])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reading) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.model, self.id))

    def __str__(self) -> str:
        return f"{self.title} [{self.model}]: {self.plain_words}"


#: What is not read field by field.
_APART = ("schema_version", "checksum", "items", "details")


def _check_items(items: tuple[Item, ...], statistic: Statistic | None) -> None:
    """Names are text, and what the effect is made of are numbers: a table of another making may hold anything."""
    of = () if statistic is None else (*statistic.of, *filter(None, (statistic.margins,)))
    for item in items:
        numbers = (item.value, *map(item.get, of))
        if not all(isinstance(name, str) for name in (item.label, item.unit, item.group)):
            raise ValueError("an item has a name that is no text")
        if not all(number is None or isinstance(number, int | float) for number in numbers):
            raise ValueError(f"the item '{item.label}' has a value that is no number")


def _item(row: Mapping[str, Any]) -> Item:
    columns = {name: value for name, value in row.items() if name not in ITEM_COLUMNS}
    return Item(row["label"], row["unit"], row["group"], row["value"], columns)
