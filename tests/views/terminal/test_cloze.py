from __future__ import annotations

import dataclasses
import io
import json

from rich.console import Console

from tests.probes.cloze.test_cloze import READER, ROWS, VECTORS, measure, written
from tiltmeter.models.protocol import Chosen
from tiltmeter.views.charts import effects, shares
from tiltmeter.views.terminal.cloze import cloze_view


def shown(readings) -> str:
    console = Console(file=io.StringIO(), width=140)
    console.print(cloze_view(readings))
    return console.file.getvalue()


def test_the_cells_are_the_numbers_of_the_readings(tmp_path):
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb_GN_PN.csv", ROWS)
    text = shown(measure(READER, tmp_path, VECTORS))
    published = next(line for line in text.splitlines() if line.strip().startswith("as published"))
    # Both rows go to their own pronoun: half to each, and people expect just that.
    assert published.split()[2:4] == [".50", ".50"]
    assert published.split()[-1] == "1.00"
    assert published.split()[-2] == ".400"
    assert text.index("all, 2 sentences") < text.index("person, 2 sentences")
    assert "M (men), W (women): share of sentences that lean to each" in text
    assert "probability alone: .00 to men" in text
    assert any(line.strip().startswith("repaired") for line in text.splitlines())


def test_the_published_divergence_is_cut_after_four_digits_as_the_paper_prints_it(tmp_path):
    (reading,) = measure(READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS)
    details = reading.details
    changed = {form: dataclasses.replace(getattr(details, form), kl=0.01338) for form in ("published", "repaired")}
    text = shown([dataclasses.replace(reading, details=dataclasses.replace(details, **changed))])
    rows = {line.split()[0]: line for line in text.splitlines() if "0133" in line or "0134" in line}
    assert ".0133" in rows["as"]
    assert ".0134" in rows["repaired"]


def test_races_are_named_above_their_shares(tmp_path):
    rows = "It was drilled by them,miner,white,black\nIt was baked by them,baker,white,black\n"
    (tmp_path / "GenderLex_W_B.csv").write_text(f"sent,context,race_A1,race_B1\n{rows}", "utf-8")
    header, published = (
        next(line for line in shown(measure(READER, tmp_path, VECTORS)).splitlines() if word in line)
        for word in ("KL", "as published")
    )
    assert header.split() == ["white", "black", "KL", "WEAT"]
    assert published.split()[2:4] == ["1.00", ".00"]


def test_there_is_no_table_of_choices_in_words_or_of_other_probes(tmp_path):
    class Chat:
        def choose(self, items):
            return [Chosen(1, 2) for _ in items]

    assert cloze_view(measure(Chat(), written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS)) is None


def test_shares_are_drawn_around_one_half_and_not_among_effect_sizes(tmp_path):
    readings = measure(READER, written(tmp_path, "GenderLex_noun.csv", ROWS), VECTORS)
    assert effects(readings) is None
    figure = shares(readings)
    assert figure is not None
    assert '"domain": [0.0, 1.0]' in json.dumps(figure.chart.to_dict())
