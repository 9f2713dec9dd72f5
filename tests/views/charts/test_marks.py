"""The mark of every verdict."""

from __future__ import annotations

import dataclasses
import json
import re

from tests.views.made import d, reading
from tiltmeter.readings import STATES
from tiltmeter.views.charts import effects, grid, inline_svg, published_values
from tiltmeter.views.charts.marks import NAMES, PATHS, PUBLISHED, tally, verdict_shape
from tiltmeter.views.charts.style import GROUP_SHAPES


def test_every_verdict_has_one_mark_and_no_two_the_same():
    assert list(PATHS) == list(NAMES) == [*STATES, "works", "does not work"]
    assert len({*PATHS.values(), PUBLISHED, *GROUP_SHAPES}) == len(PATHS) + 1 + len(GROUP_SHAPES)


def test_open_is_a_disc_with_a_hole_and_half_with_half_of_one():
    clear, half, hollow = (PATHS[state] for state in ("clear", "suggestive", "undecided"))
    assert clear == "circle"
    assert half.partition("Z")[0] == hollow.partition("Z")[0]
    # Holes run the other way round (the sweep flag of an arc), or they would be filled.
    flags = {name: re.findall(r"A[^A]*?,0,[01],([01]),", path) for name, path in PATHS.items()}
    assert flags["suggestive"] == ["1", "1", "0"]
    assert flags["undecided"] == ["1", "1", "0", "0"]


def test_the_legend_names_the_verdicts_that_occur_in_their_order():
    shape = verdict_shape(["undecided", "clear", "undecided"]).to_dict()
    assert shape["scale"] == {"domain": ["clear", "undecided"], "range": [PATHS["clear"], PATHS["undecided"]]}
    assert shape["legend"]["labelExpr"] == (
        "datum.label === 'clear' ? 'clear' : datum.label === 'undecided' ? 'undecided' : ''"
    )
    assert verdict_shape(["clear"], legend=None).to_dict()["legend"] is None


def test_a_verdict_is_drawn_alike_in_every_chart():
    level = [reading(model, "level", d(0.0, half=0.1, p=0.9)) for model in ("own:one", "own:two")]
    for figure in (effects(level), grid(level), published_values([dataclasses.replace(level[0], published=d(0.5))])):
        assert PATHS["level"] in json.dumps(figure.chart.to_dict()), figure.name
        assert ">level</text>" in inline_svg(figure)


def test_verdicts_are_counted_in_words():
    assert tally(["level", "clear", "works", "clear"]) == "2 clear, 1 level, 1 working control"
    assert tally([]) == ""
