"""Readings as the dashboard lists them: their addresses and colours, and what the filters of a page leave of them."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from tiltmeter.readings import STATES, D, Item, Reading, State
from tiltmeter.views.rows import ReadingRow
from tiltmeter.views.summary import dimension_of

T = TypeVar("T")


@functools.lru_cache(maxsize=10_000)
def key_of(text: str) -> str:
    """A name as part of an address: readable, and never two names in one.

    >>> key_of("hf:org/model?layer=8")
    'hf-org-model-layer-8-4ff9f60a'
    """
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-")
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else digest


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A reading without its items, where it is kept, and what lists say of it.

    ``says`` is the whole in half a line, ``size`` how far from level it is on the scale of d, 0 where it has none.
    """

    audit: str
    file: str
    row: ReadingRow
    address: str
    colour: str
    value: str
    says: str
    searched: str
    size: float

    @classmethod
    def of(cls, audit: str, file: str, row: ReadingRow) -> Entry:
        reading = row.reading
        words = (reading.model, row.title, reading.id, reading.probe, dimension_of(reading), reading.direction)
        return cls(
            audit,
            file,
            row,
            f"/audits/{quote(audit, safe='', errors='backslashreplace')}/readings/{quote(file, safe='')}",
            colour_of(row),
            f"{reading.effect.value:.2f}",
            f"{row.says} ({row.verdict.state})",
            " ".join(words).casefold(),
            abs(row.size or 0.0),
        )

    @property
    def reading(self) -> Reading:
        return self.row.reading

    @property
    def state(self) -> State:
        return self.row.verdict.state

    @property
    def clear(self) -> bool:
        return self.row.verdict.clear

    @property
    def dimension(self) -> str:
        return dimension_of(self.row.reading)

    @property
    def direction(self) -> str:
        """Which way it leans, where the verdict lets that be said."""
        return self.row.reading.direction if self.state in _DIRECTED else ""

    @property
    def model_key(self) -> str:
        return key_of(self.reading.model)

    @property
    def probe_key(self) -> str:
        return key_of(self.reading.id)


def colour_of(row: ReadingRow) -> str:
    """The class of a cell: which side of level, and how many of Cohen's bands away from it, fewer where that is unsure.

    A clear lean has the colour of its band, a suggestive one that of the band below, any other the palest.
    """
    size = row.size
    if size is None:
        return "other"
    bands = sum(abs(size) >= band for band in D.bands or ())
    if not bands or row.verdict.state == "level":
        return "level"
    shown = bands if row.clear else bands - 1 if row.verdict.state == "suggestive" else 0
    return f"{'plus' if size > 0 else 'minus'}{shown}"


#: Every verdict by which readings are filtered and sorted, those of controls last, and what it means.
VERDICTS: Mapping[State, str] = {
    **STATES,
    "works": "a control that leans as it should",
    "does not work": "a control that should lean clearly and does not: the other verdicts on the model mean little",
}
#: Verdicts that let a direction be named.
_DIRECTED = ("clear", "suggestive", "works", "does not work")
_RANKS = {state: rank for rank, state in enumerate(VERDICTS)}
_ROWS = 100
#: By what a list of readings is sorted; what has no number comes last.
SORTS: Mapping[str, Callable[[Entry], Any]] = {
    "model": lambda entry: entry.reading.model.casefold(),
    "measured": lambda entry: entry.row.title.casefold(),
    "dimension": lambda entry: entry.dimension,
    "verdict": lambda entry: (_RANKS[entry.state], -entry.size),
    "direction": lambda entry: (not entry.direction, entry.direction.casefold()),
    "strength": lambda entry: entry.size,
    "p": lambda entry: 2.0 if entry.row.verdict.p_corrected is None else entry.row.verdict.p_corrected,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What a reader asked to see; empty means everything."""

    q: str = ""
    audit: str = ""
    model: str = ""
    probe: str = ""
    dimension: str = ""
    verdict: str = ""

    def chosen(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries that answer to all of it."""
        words = self.q.casefold().split()
        return [
            entry
            for entry in entries
            if self.audit in ("", entry.audit)
            and self.model in ("", entry.reading.model)
            and self.probe in ("", entry.reading.probe)
            and self.dimension in ("", entry.dimension)
            and self.verdict in ("", entry.state)
            and all(word in entry.searched for word in words)
        ]

    @property
    def any(self) -> bool:
        return any(dataclasses.astuple(self))


@dataclasses.dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A part of a long list."""

    rows: Sequence[T]
    number: int
    pages: int
    total: int

    @classmethod
    def of(cls, rows: Sequence[T], number: int, *, size: int = _ROWS) -> Page[T]:
        """
        >>> Page.of(list(range(250)), 9).rows[0], Page.of([], 1).pages
        (200, 1)
        """
        pages = max(1, -(-len(rows) // size))
        number = min(max(number, 1), pages)
        return cls(rows[(number - 1) * size : number * size], number, pages, len(rows))


@dataclasses.dataclass(frozen=True, slots=True)
class Grid:
    """Models across, probes down; a cell is an entry or None."""

    models: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Entry, tuple[Entry | None, ...]], ...]

    @classmethod
    def of(cls, entries: Sequence[Entry]) -> Grid:
        models = tuple(dict.fromkeys((entry.audit, entry.reading.model) for entry in entries))
        rows: dict[tuple[str, str], dict[tuple[str, str], Entry]] = {}
        for entry in entries:
            rows.setdefault((entry.reading.id, entry.row.title), {})[entry.audit, entry.reading.model] = entry
        return cls(models, tuple((next(iter(row.values())), tuple(map(row.get, models))) for row in rows.values()))


def count_verdicts(entries: Iterable[Entry]) -> dict[State, int]:
    """How many readings have each verdict; verdicts that none has are left out."""
    counted = Counter(entry.state for entry in entries)
    return {state: counted[state] for state in VERDICTS if counted[state]}


def sorted_entries(entries: Sequence[Entry], sort: str) -> list[Entry]:
    """By a column, with ``-`` before it from the far end; in the order of the audit where it is not a column."""
    column = SORTS.get(sort.removeprefix("-"))
    return list(entries) if column is None else sorted(entries, key=column, reverse=sort.startswith("-"))


def sorted_items(items: Sequence[Item], sort: str) -> list[Item]:
    """Items by one of their columns; numbers before words, and what is missing last."""
    name = sort.removeprefix("-")
    rows = [(item.to_dict().get(name), item) for item in items]
    present = [(value, item) for value, item in rows if value is not None]
    if not present:
        return list(items)
    numbers = all(isinstance(value, int | float) for value, _ in present)
    present.sort(key=lambda row: row[0] if numbers else str(row[0]).casefold(), reverse=sort.startswith("-"))
    return [*(item for _, item in present), *(item for value, item in rows if value is None)]


def matching_items(items: Sequence[Item], q: str) -> list[Item]:
    """The items in which all the words occur."""
    words = q.casefold().split()
    if not words:
        return list(items)
    texts = (" ".join(str(value) for value in item.to_dict().values()).casefold() for item in items)
    return [item for item, text in zip(items, texts, strict=True) if all(word in text for word in words)]


def item_columns(reading: Reading) -> dict[str, str]:
    """The columns that say something of the items, by name, with what a reader calls them."""
    items = reading.items
    columns = {"label": "item"}
    if any(item.unit != item.label for item in items):
        columns["unit"] = "unit"
    if any(item.group for item in items):
        columns["group"] = "group"
    if any(item.value is not None for item in items):
        columns["value"] = reading.item_meaning.name if reading.item_meaning else "value"
    further = dict.fromkeys(name for item in items for name in item.columns)
    return columns | {name: name.replace("_", " ") for name in further}
