from __future__ import annotations

from tests.views.made import lpbs, reading, words
from tiltmeter.readings import Item, ItemMeaning
from tiltmeter.views.item_values import UnitValue, item_values


def test_items_of_one_word_are_averaged_and_ends_never_overlap():
    found = item_values(reading(items=words([("a", 1.0), ("a", 2.0), ("b", 0.0), ("c", 3.0)], "g")))
    assert found.rows == (UnitValue("c", "g", 3.0, 1), UnitValue("a", "g", 1.5, 2), UnitValue("b", "g", 0.0, 1))
    assert found.ends(5) == ((found.rows[0],), (found.rows[2],))


def test_the_signs_of_items_are_named_by_their_poles():
    assert item_values(lpbs({"": [(0.5, 0.25)]})).meaning == (
        "association; positive: towards men, negative: towards women"
    )
    sizes = item_values(reading(item_meaning=ItemMeaning("mean distance")))
    assert (sizes.signs, sizes.meaning) == ("", "mean distance")


def test_items_without_a_number_are_left_away():
    some = (Item("a", "a", "", None), Item("b", "b", "", 1.0))
    assert item_values(reading(items=some)).rows == (UnitValue("b", "", 1.0, 1),)
    assert item_values(reading(items=some[:1])) is None
    assert item_values(reading(items=())) is None
