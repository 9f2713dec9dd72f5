"""What the charts of a CABM reading have in common: order, colours, lines and what is left out."""

from __future__ import annotations

import pytest

from tests.views.cabm_reading import draw, measured
from tiltmeter.measures.cabm import weighting as cabm_weights
from tiltmeter.readings import Item, Reading
from tiltmeter.views.charts.cabm import bars
from tiltmeter.views.charts.cabm.colours import (
    FEATURES,
    MOST,
    feature_colour,
    from_first_group,
    levels,
    not_shown,
    shown_items,
)


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def test_the_features_are_in_the_order_of_the_measure():
    assert tuple(FEATURES) == cabm_weights.FEATURES


def test_what_is_too_close_to_call_is_hollow_and_nothing_else(reading):
    fills = [
        layer["encoding"]["fill"]["scale"]
        for layer in draw(bars.scores, reading).to_dict()["layer"]
        if "fill" in layer["encoding"]
    ]
    (colours,) = (dict(zip(scale["domain"], scale["range"], strict=True)) for scale in fills)
    assert list(colours) == ["men", "women", "neutral", "too close to call"]
    assert [name for name, colour in colours.items() if colour == "white"] == ["too close to call"]
    assert len(set(colours.values())) == 4


def items(*values: float) -> list[Item]:
    return [Item(f"w{n}", f"w{n}", "men", value) for n, value in enumerate(values)]


def test_occupations_stand_from_the_first_group_to_the_second():
    assert [item.label for item in from_first_group(items(-0.5, 0.9, 0.1))] == ["w1", "w2", "w0"]


def test_of_many_occupations_both_ends_are_drawn_and_the_number_of_the_others_is_said():
    few, many = items(*range(MOST)), items(*range(MOST + 7))
    assert (len(shown_items(few)), not_shown(few)) == (MOST, "")
    shown = [item.value for item in shown_items(many)]
    assert shown == [*range(MOST + 6, MOST // 2 + 6, -1), *range(MOST // 2 - 1, -1, -1)]
    assert not_shown(many) == "; 7 in the middle are not drawn"


def test_every_feature_has_a_colour_of_its_own():
    scale = feature_colour().to_dict()["scale"]
    assert scale["domain"] == list(FEATURES.values())
    assert len(set(scale["range"])) == len(FEATURES)


def test_the_level_is_a_line_and_the_thresholds_are_dashed():
    level, cuts = (mark.to_dict(validate=False) for mark in levels("x", 0.1))
    assert [[row["at"] for row in rows] for mark in (level, cuts) for rows in mark["datasets"].values()] == [
        [0.0],
        [-0.1, 0.1],
    ]
    assert "strokeDash" not in level["mark"]
    assert cuts["mark"]["strokeDash"] == [2, 3]
