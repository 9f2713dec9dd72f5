"""A reading out of its stored form, of this version or an earlier one; its items are checked a column at a time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any, TypeVar

from tiltmeter.errors import BadInput
from tiltmeter.readings.reading import ITEM_COLUMNS, SCHEMA_VERSION, Details, Item, Reading, Statistic, reader_of
from tiltmeter.readings.scale import Estimate, find_scale, interval_text
from tiltmeter.readings.schema_1 import migrated

SomeReading = TypeVar("SomeReading", bound=Reading)


#: What is not a field, or follows from the others.
_APART = ("schema_version", "checksum", "verdict", "plain_words")


def read_stored(
    kind: type[SomeReading], values: Mapping[str, Any], items: Mapping[str, Sequence[Any]] | None = None
) -> SomeReading:
    """The reading that ``Reading.to_dict`` described, or one that an earlier version wrote.

    ``items`` are the columns of a table in place of the values' own rows.
    """
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
    reading: SomeReading = reader_of(kind).validate_python(fields)
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
