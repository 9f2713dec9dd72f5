from __future__ import annotations

import dataclasses
import json
import re

from tests.views.charts.drawn import READINGS, marks, rows
from tests.views.made import words
from tiltmeter.views.charts import items, style, to_svg


def test_items_are_sorted_and_their_ends_are_in_the_words():
    figure = items(READINGS[0])
    assert [(row["label"], row["value"]) for row in rows(figure, "label", "value")] == [
        ("he", 0.4),
        ("him", 0.2),
        ("son", 0.1),
        ("aunt", 0.05),
        ("boy", -0.1),
        ("girl", -0.2),
        ("her", -0.3),
        ("she", -0.4),
    ]
    assert figure.alt == (
        "8 items behind Title of career on own:one: farthest towards career is he (+0.40), farthest towards family she "
        "(-0.40)."
    )
    assert marks(figure) == {"rule", "point", "text"}


def test_of_many_items_both_ends_are_drawn_and_the_rest_is_counted():
    some = words([(f"word {n}", n / 10) for n in range(100)])
    figure = items(dataclasses.replace(READINGS[0], items=some))
    shown = [row["label"] for row in rows(figure, "label", "value")]
    assert shown == [f"word {n}" for n in [*range(99, 79, -1), *range(19, -1, -1)]]
    assert "60 in the middle are not drawn" in json.dumps(figure.chart.to_dict()["title"])


def test_both_ends_of_the_axis_are_named():
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", to_svg(items(READINGS[0]).chart))
    assert {"◄ family", "career ►"} <= set(texts)


def test_a_group_has_one_look_in_all_charts_of_a_reading():
    # In the order of the reading, whichever way its words are sorted.
    reverse = [item._replace(value=-item.value) for item in READINGS[0].items]
    for shown in (READINGS[0], dataclasses.replace(READINGS[0], items=tuple(reverse))):
        looks = {"domain": ["men", "women"], "range": list(style.GROUP_COLOURS[:2])}
        assert json.dumps(looks) in json.dumps(items(shown).chart.to_dict())
