from __future__ import annotations

import dataclasses
import re

import pytest

from tests.probes.cloze.test_cloze import READER, ROWS, VECTORS, measure, written
from tests.views.charts import drawn
from tests.views.charts.drawn import rows
from tests.views.made import cloze, d, reading
from tiltmeter.views.charts import published_p_values, published_values, style, to_svg
from tiltmeter.views.charts.forms import contexts


def test_published_numbers_are_drawn_where_they_differ():
    same = reading(id="same", effect=d(0.5), published=d(0.5, p=0.0001))
    other = reading(id="other", effect=d(0.5, p=0.2), published=d(0.9, p=0.01))
    figure = published_values([same, other])
    assert [(r["published"], r["repaired"]) for r in rows(figure, "published")] == [(0.9, 0.5)]
    p = published_p_values([same, other])
    assert [(r["published"], r["repaired"]) for r in rows(p, "published")] == [(0.01, 0.2), (0.0001, 0.001)]
    assert "1 of them are below 0.05 only as published" in p.alt
    assert published_values([same]) is None


@pytest.fixture(scope="module")
def readings(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cloze")
    written(folder, "GenderLex_noun.csv", ROWS)
    written(folder, "GenderLex_verb.csv", ROWS)
    races = "It was drilled by them,miner,white,black\nIt was baked by them,baker,white,black\n"
    (folder / "GenderLex_W_B.csv").write_text(f"sent,context,race_A1,race_B1\n{races}", "utf-8")
    return measure(READER, folder, VECTORS | {"drill": [1, 1], "cake": [1, 1]})


def shares_drawn(figure):
    sets = figure.chart.to_dict()["datasets"].values()
    return [row for some in sets for row in some if "form" in row]


def test_every_context_has_its_share_as_published_and_repaired(readings):
    figure = contexts(readings[:3])
    assert {(row["context"], row["form"]): row["share"] for row in shares_drawn(figure)} == {
        (context, form): share
        for context in ("noun", "verb", "combined")
        for form, share in (("as published", 0.0), ("repaired", 1.0))
    }
    assert figure.alt.startswith("Share of sentences to men: ")
    assert "noun 0% as published and 100% repaired" in figure.alt
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", to_svg(figure.chart))
    assert {"◄ women", "men ►"} <= set(texts)


def test_with_several_groups_each_row_names_its_own(readings):
    figure = contexts(readings)
    assert {row["context"] for row in shares_drawn(figure)} == {
        "noun [men]",
        "verb [men]",
        "combined [men]",
        "white/black [white]",
    }
    assert figure.alt.startswith("Share of sentences to the group in brackets: ")
    assert "►" not in to_svg(figure.chart)  # the ends are not the same in all rows


def test_the_repaired_number_has_the_mark_of_its_verdict():
    other = reading(id="other", effect=d(0.5, p=0.2), published=d(0.9, p=0.01))
    for figure in (published_values([other]), published_p_values([other]), contexts([cloze("noun", 0.6, 0.1)])):
        svg = to_svg(figure.chart)
        assert len(re.findall(rf'fill="{style.SOFT}"[^>]*', svg)) >= 1, figure.name
    states = [row["state"] for row in rows(published_values([other]), "state", "at")]
    assert states == ["undecided", "undecided"]


def test_readings_without_cells_give_no_chart(readings):
    assert contexts([dataclasses.replace(readings[0], details=None)]) is None


def test_the_text_of_the_chart_has_the_published_share_beside_the_repaired():
    figure = contexts([cloze("combined", 0.5, 0.2), cloze("noun", 0.6, 0.1)])
    assert {(r["context"], r["form"]): r["share"] for r in drawn.rows(figure, "share", "form")} == {
        ("combined", "as published"): 0.2,
        ("combined", "repaired"): 0.5,
        ("noun", "as published"): 0.1,
        ("noun", "repaired"): 0.6,
    }
    assert "noun 10% as published and 60% repaired" in figure.alt
    assert contexts(drawn.READINGS) is None
