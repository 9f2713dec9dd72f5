"""Readings chosen, sorted and cut into pages: what the filters of a page ask for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from tiltmeter.web.entries import Entry

T = TypeVar("T")
LEANS: Mapping[str, tuple[str, Callable[[Entry], bool]]] = {
    "clear": ("clear leans", lambda entry: entry.row.tested and entry.row.clear),
    "large": ("clear and large", lambda entry: _strong(entry, "large")),
    "medium": ("clear and medium", lambda entry: _strong(entry, "medium")),
    "small": ("clear and small", lambda entry: _strong(entry, "small")),
    "none": ("no clear lean", lambda entry: not entry.row.clear),
    "untested": ("without a test", lambda entry: not entry.row.tested),
}
_ROWS = 100
#: By what a list of readings is sorted; what has no number comes last.
SORTS: Mapping[str, Callable[[Entry], Any]] = {
    "model": lambda entry: entry.reading.model.casefold(),
    "measured": lambda entry: entry.row.title.casefold(),
    "leans": lambda entry: entry.row.leans.casefold(),
    "strength": lambda entry: abs(entry.row.size or 0.0),
    "p": lambda entry: 2.0 if entry.row.p_adjusted is None else entry.row.p_adjusted,
}


@dataclasses.dataclass(frozen=True, slots=True)
class Filters:
    """What a reader asked to see; empty means everything."""

    q: str = ""
    audit: str = ""
    model: str = ""
    probe: str = ""
    lean: str = ""

    def chosen(self, entries: Iterable[Entry]) -> list[Entry]:
        """The entries that answer to all of it."""
        words = self.q.casefold().split()
        lean = LEANS[self.lean][1] if self.lean in LEANS else None
        return [
            entry
            for entry in entries
            if (not self.audit or entry.audit == self.audit)
            and (not self.model or entry.reading.model == self.model)
            and (not self.probe or entry.reading.probe == self.probe)
            and (lean is None or lean(entry))
            and all(word in entry.found_by for word in words)
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
        place = {model: n for n, model in enumerate(models)}
        rows: dict[tuple[str, str], list[Entry | None]] = {}
        first: dict[tuple[str, str], Entry] = {}
        for entry in entries:
            name = (entry.reading.id, entry.row.title)
            first.setdefault(name, entry)
            rows.setdefault(name, [None] * len(models))[place[entry.audit, entry.reading.model]] = entry
        return cls(models, tuple((first[name], tuple(cells)) for name, cells in rows.items()))


def sorted_entries(entries: Sequence[Entry], sort: str) -> list[Entry]:
    """By a column, with ``-`` before it from the far end; in the order of the audit where it is no column."""
    column = SORTS.get(sort.removeprefix("-"))
    return list(entries) if column is None else sorted(entries, key=column, reverse=sort.startswith("-"))


def sorted_items(items: Sequence[Mapping[str, Any]], sort: str) -> list[Mapping[str, Any]]:
    """Items by one of their columns; numbers before words, and what is missing last."""
    name = sort.removeprefix("-")
    if not any(name in item for item in items):
        return list(items)
    there = [item for item in items if item.get(name) is not None]
    numbers = all(isinstance(item[name], int | float) for item in there)
    there.sort(key=lambda item: item[name] if numbers else str(item[name]).casefold(), reverse=sort.startswith("-"))
    return [*there, *(item for item in items if item.get(name) is None)]


def found_items(items: Sequence[Mapping[str, Any]], q: str) -> list[Mapping[str, Any]]:
    """The items in which all the words are found."""
    words = q.casefold().split()
    if not words:
        return list(items)
    texts = (" ".join(str(value) for value in item.values()).casefold() for item in items)
    return [item for item, text in zip(items, texts, strict=True) if all(word in text for word in words)]


def _strong(entry: Entry, strength: str) -> bool:
    return entry.row.tested and entry.row.clear and entry.reading.strength == strength
