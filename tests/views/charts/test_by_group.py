from __future__ import annotations

import dataclasses

import pytest
from scipy.stats import t as student

from tests.views.charts.drawn import READINGS, rows
from tests.views.made import share
from tiltmeter.readings import ETA, Estimate, Item, Poles, Statistic
from tiltmeter.views.charts import by_group, of_reading, to_svg
from tiltmeter.views.charts.by_group import group_means

LEANS = {"Christian": (0.1, 0.2, 0.3), "Muslim": (-0.3, -0.1), "Hindu": (0.0,)}
COLUMNS = ("lean to pleasant", "lean to unpleasant")


def religion(columns=COLUMNS, **fields):
    items = tuple(
        Item(f"{group} {n}", f"{group} {n}", group, None, dict(zip(columns, (lean, -lean, 0.0), strict=False)))
        for group, leans in LEANS.items()
        for n, lean in enumerate(leans)
    )
    eta = Estimate("group effect (eta)", 0.8, ETA, None, 0.01, "two-sided", False)
    about = {"items": items, "effect": eta, "statistic": Statistic("eta", columns), "poles": Poles("most: Muslim")}
    return dataclasses.replace(READINGS[0], **{**about, **fields})


def test_the_mean_of_a_group_has_students_interval():
    means = {each.group: each for each in group_means(religion().items, COLUMNS[0])}
    assert [each.group for each in group_means(religion().items, COLUMNS[0])] == ["Christian", "Hindu", "Muslim"]
    low, high = student.interval(0.95, 2, loc=0.2, scale=0.1 / 3**0.5)
    assert (means["Christian"].low, means["Christian"].high) == pytest.approx((low, high))
    assert means["Muslim"].mean == pytest.approx(-0.2)
    # One word alone says nothing of others.
    assert (means["Hindu"].low, means["Hindu"].high) == (None, None)


def test_words_are_units_whatever_number_of_rows_they_have():
    once = [Item("a", "a", "x", 1.0), Item("b", "b", "x", 0.0)]
    often = [*once, Item("b again", "b", "x", 0.0), Item("b once more", "b", "x", 0.0)]
    assert group_means(once, "value") == group_means(often, "value")


def test_two_sets_of_attributes_are_the_two_ends_of_one_axis():
    figure = by_group(religion())
    assert [(row["group"], row["value"]) for row in rows(figure, "number")] == [
        ("Christian", pytest.approx(0.2)),
        ("Hindu", 0.0),
        ("Muslim", pytest.approx(-0.2)),
    ]
    assert [row["end"] for row in rows(figure, "end")] == [["◄ lean to", "unpleasant"], ["lean to pleasant ►"]]
    assert "0.20 [-0.05, 0.45]" in to_svg(figure.chart)
    assert "group effect (eta) 0.80, p = 0.010 corrected: clear" in figure.alt
    assert "the highest (lean to pleasant) is Christian, 0.20 [-0.05, 0.45], the lowest Muslim" in figure.alt


def test_three_sets_of_attributes_have_a_panel_each():
    three = (*COLUMNS, "lean to neither")
    assert len(by_group(religion(three)).chart.to_dict()["vconcat"]) == 3


def test_shares_by_group_have_wilsons_interval():
    items = tuple(
        Item(f"{group} {n}", f"{group} {n}", group, 0.1, {"won": float(n < won)})
        for group, won in (("age", 9), ("race", 5), ("religion", 1))
        for n in range(10)
    )
    reading = dataclasses.replace(READINGS[0], items=items, effect=share(0.5), statistic=Statistic("mean", ("won",)))
    found = group_means(reading.items, "won", share=True)
    assert [(each.group, each.mean) for each in found] == [("age", 0.9), ("race", 0.5), ("religion", 0.1)]
    assert (found[0].low, found[0].high) == pytest.approx((0.5958, 0.9821), abs=1e-4)  # Wilson (1927)
    assert [figure.name for figure in of_reading(reading)] == ["groups", "items"]


def test_two_groups_need_no_such_chart():
    assert by_group(READINGS[0]) is None
    assert by_group(religion(statistic=None)) is None
