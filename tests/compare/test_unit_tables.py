"""Items as tables of units."""

from __future__ import annotations

from tiltmeter.compare.unit_tables import make_table
from tiltmeter.readings import Item

ITEMS = [
    Item("He is here.", "he", "men", 0.1),
    Item("She is here.", "she", "women", 0.2),
    Item("He is here.", "he", "men", 0.3),
    Item("It is here.", "it", "things", 0.4),
    Item("She is late.", "she", "women", None),
]


def test_without_strata_all_items_with_a_score_count() -> None:
    table = make_table(ITEMS, ["value"])
    assert table is not None
    assert table.scores.ravel().tolist() == [0.1, 0.2, 0.3, 0.4]
    assert table.sizes.tolist() == [2, 1, 1]
    assert len(set(table.keys)) == 4  # the same sentence twice is two rows


def test_strata_come_in_their_order_and_other_groups_do_not_count() -> None:
    table = make_table(ITEMS, ["value"], strata=["women", "men"])
    assert table is not None
    assert table.unit_strata == (0, 1)
    assert table.scores.ravel().tolist() == [0.2, 0.1, 0.3]


def test_rows_are_taken_out_in_the_order_asked_for() -> None:
    table = make_table(ITEMS, ["value"])
    assert table is not None
    assert table.at([table.keys[3], table.keys[0]]).scores.ravel().tolist() == [0.4, 0.1]


def test_a_column_that_no_item_has_makes_no_table() -> None:
    assert make_table(ITEMS, ["share"]) is None
