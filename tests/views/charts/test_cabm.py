from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from tests.views.cabm_reading import changed, measured, with_details, with_items
from tiltmeter import Audit
from tiltmeter.measures.cabm import weights as cabm_weights
from tiltmeter.readings import Reading, ReadingStore
from tiltmeter.views.charts import to_png, to_svg
from tiltmeter.views.charts.cabm.bars import categories, importance, parts, scores, weights
from tiltmeter.views.charts.cabm.colours import FEATURES
from tiltmeter.views.charts.cabm.figures import cabm_charts
from tiltmeter.views.charts.cabm.maps import both_forms, density, heat_map, occupations, shift
from tiltmeter.views.report.report import render

NAMES = [
    "scores",
    "parts",
    "importance",
    "moved",
    "weights",
    "categories",
    "both_forms",
    "density",
    "heat_map",
    "occupations",
    "shift",
]


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def drawn(chart: Any, *keys: str) -> list[tuple[Any, ...]]:
    """The rows of data that have these columns."""
    rows = [row for rows in chart.to_dict(validate=False)["datasets"].values() for row in rows]
    return [tuple(row[key] for key in keys) for row in rows if all(key in row for key in keys)]


def by_lean(reading: Reading) -> list[dict[str, Any]]:
    return sorted(reading.items, key=lambda row: -row["lean"])


def test_the_features_are_in_the_order_of_the_measure():
    assert tuple(FEATURES) == cabm_weights.FEATURES


def test_the_bars_are_the_scores_of_the_reading_from_the_first_group_to_the_second(reading):
    chart = scores(reading)
    keys = ("word", "group", "lean", "low", "high")
    assert drawn(chart, *keys) == [tuple(row[key] for key in keys) for row in by_lean(reading)]
    assert drawn(chart, "at") == [(0.0,), (-0.1,), (0.1,)]


def test_what_is_too_close_to_call_is_hollow_and_nothing_else(reading):
    fills = [
        layer["encoding"]["fill"]["scale"]
        for layer in scores(reading).to_dict()["layer"]
        if "fill" in layer["encoding"]
    ]
    (colours,) = (dict(zip(scale["domain"], scale["range"], strict=True)) for scale in fills)
    assert list(colours) == ["men", "women", "neutral", "too close to call"]
    assert [name for name, colour in colours.items() if colour == "white"] == ["too close to call"]
    assert len(set(colours.values())) == 4


def test_the_parts_of_a_score_add_up_to_its_mark(reading):
    chart = parts(reading)
    totals: dict[str, float] = dict(drawn(chart, "word", "score"))
    sums: Counter[str] = Counter()
    for word, part in drawn(chart, "word", "part"):
        sums[word] += part
    assert dict(sums) == pytest.approx(totals)
    assert totals == {row["word"]: row["lean"] for row in reading.items}


def test_the_importance_of_a_feature_is_the_mean_size_of_its_part(reading):
    for label, mean in drawn(importance(reading), "feature", "mean"):
        name = {label: name for name, label in FEATURES.items()}[label]
        assert mean == pytest.approx(np.mean([abs(row[f"part_{name}"]) for row in reading.items]))


def test_weights_stand_with_their_spread_and_stay_between_0_and_1(reading):
    spread = {"values": [0.02, 0.0, 0.98], "method": "pca", "spread": [0.05, 0.0, 0.05]}
    rows = drawn(
        weights(changed(reading, "corrected", weights={"pca": spread})), "form", "feature", "weight", "low", "high"
    )
    assert [row[1:] for row in rows if row[0] == "corrected"] == [
        ("PMI", 0.02, 0.0, pytest.approx(0.07)),
        ("cosine", 0.0, 0.0, 0.0),
        ("context", 0.98, pytest.approx(0.93), 1.0),
    ]
    published = [row[2] for row in rows if row[0] == "published"]
    assert sorted(published) == sorted(
        v for each in reading.details["published"]["weights"].values() for v in each["values"]
    )


def test_every_occupation_is_in_one_category_of_each_form(reading):
    rows = drawn(categories(reading), "form", "category", "occupations")
    assert len(rows) == 8
    for form in ("corrected", "published"):
        counts = {category: count for at, category, count in rows if at == form}
        assert counts == dict.fromkeys(counts, 0) | reading.details[form]["categories"]
        assert sum(counts.values()) == len(reading.items)


def test_a_cell_of_the_heat_map_is_the_score_by_that_weighting(reading):
    rows = drawn(heat_map(reading), "form", "word", "weighting", "score")
    found = {
        (form, row["word"], weighting, values[n])
        for form in ("corrected", "published")
        for weighting, values in reading.details[form]["scores"].items()
        for n, row in enumerate(reading.items)
    }
    assert set(rows) == found
    headline = reading.details["corrected"]["method"]
    leans = {row[1]: row[3] for row in rows if row[0] == "corrected" and row[2] == headline}
    assert leans == {row["word"]: row["lean"] for row in reading.items}


def test_the_density_is_that_of_the_validation(reading):
    rows = drawn(density(reading), "form", "score", "density")
    kde = reading.details["corrected"]["validation"]["kde"]
    assert [row[1:] for row in rows if row[0] == "corrected"] == list(zip(kde["grid"], kde["density"], strict=True))


def test_published_and_corrected_scores_are_the_coordinates_of_an_occupation(reading):
    points = drawn(both_forms(reading), "word", "group", "x", "y")
    wanted = [(row["word"], row["group"], row["lean"], row["published"]) for row in reading.items]
    assert set(points) == set(wanted)


def test_an_occupation_stands_half_way_between_its_two_versions(reading):
    small = with_details(reading, projection={reading.items[0]["word"]: [[1.0, 2.0], [3.0, -4.0]]})
    assert set(drawn(occupations(small), "word", "x", "y")) == {(reading.items[0]["word"], 2.0, -1.0)}
    chart = shift(small)
    assert drawn(chart, "version", "x", "y")[:2] == [("men", 1.0, 2.0), ("women", 3.0, -4.0)]
    assert drawn(chart, "x", "y", "x2", "y2") == [(1.0, 2.0, 3.0, -4.0)]


def test_names_beside_points_do_not_lie_on_one_another(reading):
    words = [row["word"] for row in reading.items]
    crowded = with_details(
        reading,
        projection={word: [[n / 1000, 0.0]] * 2 for n, word in enumerate(words[:-1])} | {words[-1]: [[9.0, 9.0]] * 2},
    )
    texts = [mark for mark in re.findall(r">([^<]+)</text>", to_svg(occupations(crowded))) if mark in words]
    assert words[-1] in texts
    assert len(texts) <= 2


def test_all_charts_become_svg_without_script_or_missing_numbers(reading):
    charts = cabm_charts(reading)
    assert list(charts) == NAMES
    for name, chart in charts.items():
        svg = to_svg(chart)
        assert svg.startswith("<svg"), name
        assert not re.search("NaN|undefined|null|<script", svg), name
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
        assert width < 640, name
    assert to_png(charts["weights"], scale=1).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("missing", "gone"),
    [
        ({"projection": {}}, {"occupations", "shift"}),
        ({"corrected": {}, "published": {}}, {"weights", "categories", "density", "heat_map"}),
    ],
)
def test_what_is_missing_leaves_its_charts_out(reading, missing, gone):
    assert set(NAMES) - set(cabm_charts(with_details(reading, **missing))) == gone


def test_scores_that_do_not_vary_have_no_density(reading):
    flat = {form: {**reading.details[form]["validation"], "kde": None} for form in ("corrected", "published")}
    one = changed(reading, "published", validation=flat["published"])
    assert {form for (form,) in drawn(density(one), "form")} == {"corrected"}
    assert density(changed(one, "corrected", validation=flat["corrected"])) is None


def test_items_without_parts_leave_the_explanations_out(reading):
    bare = [{key: value for key, value in row.items() if not key.startswith("part_")} for row in reading.items]
    assert set(NAMES) - set(cabm_charts(with_items(reading, bare))) == {"parts", "importance"}


def test_of_many_occupations_both_ends_are_drawn_and_the_rest_is_counted(reading):
    first = reading.items[0]
    many = with_items(reading, [{**first, "word": f"job {n}", "lean": n / 100, "group": "men"} for n in range(75)])
    rows = drawn(scores(many), "word", "lean")
    assert [word for word, _ in rows] == [f"job {n}" for n in [*range(74, 44, -1), *range(29, -1, -1)]]
    assert "15 in the middle are not drawn" in scores(many).to_dict()["title"]["subtitle"]


def test_a_reading_from_disk_is_drawn_alike(reading, tmp_path):
    store = ReadingStore(tmp_path)
    (again,) = store.load([store.save(reading)])
    first, second = (
        {name: json.dumps(chart.to_dict(validate=False)) for name, chart in cabm_charts(each).items()}
        for each in (reading, again)
    )
    assert first == second


def test_markup_in_a_word_or_a_group_is_text(reading):
    evil = "<script>x</script> & co"
    spoilt = with_details(
        with_items(reading, [{**row, "word": f"{evil} {row['word']}"} for row in reading.items]), groups=[evil, "women"]
    )
    for name in ("scores", "both_forms"):
        svg = to_svg(cabm_charts(spoilt)[name])
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg


def test_the_report_shows_the_charts_under_the_reading(reading):
    html = render(Audit("own", (reading.model,), (reading,), (), 0, 0))
    below = html.split("<details>")[1].split("</details>")[0]
    assert below.count("<svg") == len(NAMES)
    assert below.count('class="keeps') == 1  # the heat map, whose colours are its numbers
    other = render(
        Audit(
            "own", (reading.model,), (Reading.from_dict({**reading.to_dict(), "probe": "mac", "items": ()}),), (), 0, 0
        )
    )
    assert "<svg" not in other.split("<details>")[1]
