"""How readings and items are listed, sorted and searched."""

from __future__ import annotations

import dataclasses

import pytest

from tests.web.planted_audits import reading
from tiltmeter.readings import CORRELATION, DISTANCE, SHARE, Correction, Item, Scale
from tiltmeter.views.rows import ReadingRow
from tiltmeter.web.listing import colour_of, item_columns, key_of, matching_items, sorted_items

ITEMS = [
    Item("nurse", "nurse", "care", 0.2, {"kind": "job"}),
    Item("Plumber", "plumber", "trade", -0.4, {"kind": "job"}),
    Item("day", "day", "", None, {"kind": "time"}),
]


def labels(items: list[Item]) -> list[str]:
    return [item.label for item in items]


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("value", ["Plumber", "nurse", "day"]),
        ("-value", ["nurse", "Plumber", "day"]),
        ("label", ["day", "nurse", "Plumber"]),
        ("-kind", ["day", "nurse", "Plumber"]),
        ("nothing", ["nurse", "Plumber", "day"]),
    ],
)
def test_items_are_sorted_by_any_column_and_what_is_missing_comes_last(sort: str, order: list[str]) -> None:
    assert labels(sorted_items(ITEMS, sort)) == order


@pytest.mark.parametrize(("q", "left"), [("", 3), ("JOB", 2), ("job care", 1), ("plumb", 1), ("nothing", 0)])
def test_items_are_searched_in_all_their_columns(q: str, left: int) -> None:
    assert len(matching_items(ITEMS, q)) == left


def test_columns_that_say_nothing_are_not_shown() -> None:
    whole = dataclasses.replace(reading("own:m", "career", 0.5), items=tuple(ITEMS))
    assert item_columns(whole) == {
        "label": "item",
        "unit": "unit",
        "group": "group",
        "value": "lean",
        "kind": "kind",
    }
    bare = dataclasses.replace(whole, items=(Item("a", "a", "", None, {"cos_to": 0.1}),))
    assert item_columns(bare) == {"label": "item", "cos_to": "cos to"}


@pytest.mark.parametrize(
    ("scale", "value", "colour"),
    [
        (SHARE, 0.9, "plus3"),
        (SHARE, 0.42, "level"),
        (CORRELATION, -0.3, "minus2"),
        (DISTANCE, 0.2, "other"),
    ],
)
def test_a_cell_is_coloured_by_how_far_its_effect_lies_from_level(scale: Scale, value: float, colour: str) -> None:
    assert colour_of(_row(scale, value, p=0.001)) == colour


@pytest.mark.parametrize(("p", "colour"), [(0.001, "plus3"), (0.03, "plus2"), (0.3, "plus0")])
def test_a_cell_is_paler_where_its_lean_is_less_sure(p: float, colour: str) -> None:
    """As one of ten tests of its model, .001 is clear and .03 is suggestive."""
    one = _row(SHARE, 0.9, p=p)
    corrected = dataclasses.replace(one.reading, correction=Correction(min(1.0, 10 * p), 10))
    assert colour_of(ReadingRow(corrected, one.title)) == colour


def _row(scale: Scale, value: float, *, p: float) -> ReadingRow:
    one = reading("own:m", "career", 0.5, p=p)
    effect = dataclasses.replace(one.effect, value=value, scale=scale)
    return ReadingRow(dataclasses.replace(one, effect=effect), one.title)


def test_two_names_never_have_one_address() -> None:
    assert key_of("hf:a/b") != key_of("hf:a-b")
    assert key_of("নার্স")
