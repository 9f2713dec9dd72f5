"""The tables of the four texts on models whose answers are known."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiltmeter
from tests.mined_folder import write_mined
from tests.probes.cabm.planted_vectors import LEANS, PlantedVectors, leaning
from tests.probes.cloze.reader import READER, VECTORS
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Continuation, Span
from tiltmeter.readings.paper_tables import PaperTable, Replication
from tiltmeter.views.exports.paper_tables import to_html, to_latex


class Hashed:
    """Vectors that follow from the text alone: an encoder of the user's own."""

    def embed_texts(self, texts: Sequence[str]) -> list[Any]:
        return [self._vector(text) for text in texts]

    def embed_spans(self, spans: Sequence[Span]) -> list[Any]:
        return [self._vector(f"{span.text} {span.start}") for span in spans]

    def _vector(self, text: str) -> Any:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).normal(size=16)


def replicated(name: str, models: Sequence[object], **options: Any) -> Replication:
    return tiltmeter.replicate(name, models, cache=False, progress=False, permutations=200, **options)


def ours(table: PaperTable) -> dict[str, list[Any]]:
    return {row.label: [cell.value for cell in row.cells] for row in table.rows if not row.printed}


@pytest.fixture
def genderlex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two sentences of GenderLex in all three contexts; drill and cake are their nouns, verbs and occupations."""
    folder = tmp_path / "genderlex/Genderlex/All"
    folder.mkdir(parents=True)
    rows = "It was drilled by him,It was drilled by her,drill,M\nIt was baked by him,It was baked by her,cake,M\n"
    for context in ("noun", "verb", "occ"):
        (folder / f"GenderLex_{context}.csv").write_text(f"sent_m,sent_w,context,HB\n{rows}", encoding="utf-8")
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("genderlex")
def test_a_table_of_clozegender_has_people_the_bare_model_them_and_the_contexts() -> None:
    done = replicated("clozegender", [READER, VECTORS], tables=["2"])
    (table,) = done.tables
    people, alone, revised = ours(table).values()
    assert people[12:14] == [1.0, 0.0]  # both labels say M
    assert alone[12:] == [0.0, 1.0, 0.0]  # him .2, her .3, them .1 after every stem
    # .2^(1-.8) > .3^(1-.6) for the drill and the other way round for the cake, in each context
    assert [revised[place] for place in (0, 4, 8, 12)] == [0.5] * 4
    assert revised[3] == pytest.approx((0.8 - 0.6) - (0.6 - 0.8))
    assert [row.like for row in table.rows if row.like] == ["Human", "Cloze GPT-2 XL"]
    lines = [(line.label, line.texts[12]) for line in table.lines() if line.source != "printed"]
    assert lines[:2] == [("Human (labels of the data)", "1.00"), ("difference", "+0.46")]


@pytest.mark.usefixtures("genderlex")
def test_them_wins_where_it_is_likelier() -> None:
    model = type(READER)({"him": 0.2, "her": 0.3, "them": 0.4}, READER.stops)
    _, alone, _ = ours(replicated("clozegender", [model, VECTORS], tables=["2"]).tables[0]).values()
    assert alone[14] == 1.0
    table = replicated(
        "clozegender",
        [model, {**VECTORS, "them": [1.0, 1.0], "recipe": [1.0, 0.0], "crafted": [0.6, 0.8]}],
        tables=["1"],
    ).tables[0]
    assert ours(table)["Reader, no context"] == pytest.approx([0.4, 0.6, 0.4 / 0.9])


@pytest.mark.usefixtures("genderlex")
def test_a_table_that_cannot_be_measured_says_so_in_one_line_and_the_others_come() -> None:
    done = replicated("clozegender", [READER, VECTORS])
    missing = {table.name: table.missing for table in done.tables if table.missing}
    assert set(missing) == {"Table 1", "Table 3", "Table 4", "Table 5", "Table 6", "Table 9"}
    assert "tiltmeter concepts" in missing["Table 5"]
    assert "genderlex_winobias" in missing["Table 4"]
    assert all("\n" not in line for line in missing.values())
    assert not done.table("Table 2").missing
    assert len(done.tables) == 9
    without = replicated("clozegender", [READER], tables=["2"]).tables[0]
    assert "word vectors" in without.missing
    assert any(line.source == "printed" for line in without.lines())


def test_association_gives_the_published_the_pooled_and_the_repaired_d(tmp_path: Path) -> None:
    lists = {
        "target_words_male": "he,man,boy",
        "target_words_female": "she,woman,girl",
        "attribute_words_career": "job,office",
        "attribute_words_family": "home,child",
        "attribute_words_support": "help,care",
    }
    folder = tmp_path / "word_lists" / "gender"
    folder.mkdir(parents=True)
    for name, words in lists.items():
        (folder / f"{name}.txt").write_text(words, encoding="utf-8")
    templates = {f"{name}_templates": ["The {} is here.", "A {} was seen."] for name in ("career", "family", "support")}
    (folder / "templates.json").write_text(json.dumps({"gender": templates}), encoding="utf-8")
    model = Hashed()
    done = replicated("association", [model], data=tmp_path / "word_lists")
    ((label, values),) = ours(done.tables[0]).items()
    assert label == "career / family, Hashed"
    reading = tiltmeter.probe("association", model, data=folder, cache=False, progress=False, permutations=200)
    assert values[0] == reading.published.value
    assert values[4] == reading.effect.value
    men, women = ([item.value for item in reading.items if item.group == group] for group in ("male", "female"))
    pooled = np.sqrt((np.var(men, ddof=1) + np.var(women, ddof=1)) / 2)
    assert values[3] == pytest.approx((np.mean(men) - np.mean(women)) / pooled)
    chosen = replicated("association", [model], data=tmp_path / "word_lists", pairs=[["career", "support"]])
    assert list(ours(chosen.tables[0])) == ["career / support, Hashed"]
    assert chosen.command.endswith(f"--from {tmp_path}/word_lists --pairs career/support --permutations 200")
    with pytest.raises(BadInput, match="did you mean 'support'"):
        replicated("association", [model], data=tmp_path / "word_lists", pairs=[["career", "supprt"]])


@pytest.mark.parametrize(
    ("name", "own", "complaint"),
    [
        ("association", {"data": "nowhere"}, "no folder nowhere"),
        ("bangla", {"mined": "nowhere", "tables": ["2"]}, "no folder nowhere"),
        ("cabm", {"data": "nowhere.csv", "tables": ["Figure 4"]}, "no file nowhere.csv"),
        ("cabm", {"mined": "windows"}, "cabm has no use for --mined: it takes --from"),
        ("bangla", {"pairs": [["career", "family"]]}, "bangla has no use for --pairs: it takes --mined"),
    ],
)
def test_what_a_user_brings_and_no_table_can_use_is_an_error(name: str, own: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        replicated(name, [Hashed()], **own)


class ReadsNoCakes(type(READER)):  # type: ignore[misc]
    """A model that cannot read one of two sets of sentences."""

    def continue_with(self, items: Sequence[Continuation]) -> list[list[float]]:
        if any("baked" in item.stem for item in items):
            raise BadInput("'baked' is unknown to it")
        return super().continue_with(items)  # type: ignore[no-any-return]


def test_a_model_that_reads_one_of_two_sets_has_the_other_half_of_its_row_empty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, verb, noun in (("WinoBias", "drilled", "drill"), ("WinoGender", "baked", "cake")):
        (tmp_path / "genderlex" / folder).mkdir(parents=True)
        row = f"It was {verb} by him,It was {verb} by her,{noun},him,her,M"
        for context in ("occ", "verb"):
            file = tmp_path / "genderlex" / folder / f"{folder.lower()}_{context}.csv"
            file.write_text(f"sent_m,sent_w,context,prounoun_m,prounoun_w,HB\n{row}\n", encoding="utf-8")
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path))
    half = ReadsNoCakes(READER.chances, READER.stops)
    (table,) = replicated("clozegender", [half, READER, VECTORS], tables=["4"]).tables
    found = ours(table)
    assert found["Human (labels of the data)"][:2] == found["Human (labels of the data)"][8:10] == [1.0, 0.0]
    assert (found["ReadsNoCakes"][:2], found["ReadsNoCakes"][8:10]) == ([0.0, 1.0], [None, None])
    assert found["Reader"][:2] == found["Reader"][8:10] == [0.0, 1.0]
    assert any("'baked' is unknown to it" in note for note in table.notes)


def test_a_model_that_no_table_has_a_place_for_is_named() -> None:
    said: list[str] = []
    models = ["bundled:glove", PlantedVectors(leaning(LEANS), noise=0.05)]
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TILTMETER_DATA", raising=False)
        replicated("cabm", models, tables=["Section 2.3.2"], announce=said.append)
    assert said == ["not asked, since no table here has a place for what they answer: bundled:glove"]


def test_bangla_has_a_row_for_fixed_and_random_draws_of_what_was_mined(data_folder: Any, tmp_path: Path) -> None:
    data_folder("bangla")
    words = {"x": ["a", "b"], "y": ["c", "d"], "a": ["e", "f"], "b": ["g", "h"]}
    groups = {f"bangla_categories.c1.{side}": some for side, some in words.items()}
    folder = write_mined(tmp_path / "mined", groups=groups)
    done = replicated("bangla", [Hashed()], mined=folder, tables=["Table 1", "Table 6", "Figure 1", "Table 2"])
    sizes = ours(done.table("Table 1"))
    assert [len(sizes), *next(iter(sizes.values()))] == [9, 14, 14, 23, 23]
    table = done.table("Table 6")
    assert list(ours(table)) == ["C1 f", "C1 r"]
    assert [column.name for column in table.columns] == ["9", "25"]
    assert sum(note.startswith("ceat, ") for note in table.notes) == 1  # the other eight tests are one line
    wide = ours(done.table("Table 2"))
    assert [wide[length][0] is not None for length in ("9", "25")] == [True, True]
    shaded = [cell for row in table.rows for cell in row.cells]
    assert all(cell.shade == sum(abs(cell.value) >= step for step in (0.2, 0.5, 0.8)) for cell in shaded)


@pytest.fixture(scope="module")
def cabm() -> Replication:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TILTMETER_DATA", raising=False)  # our own sentences then
        other = PlantedVectors(leaning(LEANS), noise=0.1)
        other.identity = Identity("other", "1")
        return replicated("cabm", [PlantedVectors(leaning(LEANS), noise=0.05), other])


def test_cabm_has_every_weighting_and_counts_of_categories_add_up(cabm: Replication) -> None:
    labels = [row.label for row in cabm.table("Figure 12").rows]
    assert {"PCA", "equal"} <= set(labels)
    for values in ours(cabm.table("Figure 12")).values():
        assert sum(values) == 60
    tests = cabm.table("Section 2.6.2")
    for row in tests.rows:
        if not row.printed:
            numbers = [cell.value for cell in row.cells]
            assert numbers[2] == pytest.approx(numbers[1] ** 2)  # variance and SD
            if numbers[6] is not None:
                assert numbers[6] == numbers[4] * numbers[5]  # U is the product of the sizes: the test is circular
    four = ours(cabm.table("Figure 4"))
    assert len(four) == 60
    assert all(one - two == pytest.approx(both) for one, two, both in four.values())
    assert "masked language model" in cabm.table("Section 2.6.5, unmasking").missing
    assert "CABM, as published" in ours(cabm.table("Section 3.2"))


def test_every_form_of_a_replication_shows_every_table(cabm: Replication, tmp_path: Path) -> None:
    html, tex = to_html(cabm), to_latex(cabm)
    for table in cabm.tables:
        assert f"{table.name}. " in html
    assert html.count("<svg") == 2  # figures 4 and 7
    assert "<script" not in html
    assert tex.count(r"\begin{tabular}") >= 8
    written = cabm.export(tmp_path, format="html")
    assert [path.suffix for path in written] == [".html", ".svg", ".svg"]
    csv = cabm.export(tmp_path / "tables.csv", format="csv")[0].read_text(encoding="utf-8")
    assert csv.startswith("table,part,row,source")
    with pytest.raises(BadInput, match="format"):
        cabm.export(tmp_path, format="docx")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_latex_compiles(cabm: Replication, tmp_path: Path) -> None:
    packages = r"\usepackage{booktabs}\usepackage[table]{xcolor}\usepackage{graphicx}\usepackage[T1]{fontenc}"
    document = rf"\documentclass[twocolumn]{{article}}{packages}\begin{{document}}{to_latex(cabm)}\end{{document}}"
    (tmp_path / "t.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]


def test_a_note_in_another_script_is_a_comment_in_latex(cabm: Replication) -> None:
    note = "lpbs: 'মৌমাছি' is unknown to the model"
    tables = [dataclasses.replace(table, notes=(*table.notes, note)) for table in cabm.tables]
    lines = to_latex(dataclasses.replace(cabm, tables=tuple(tables))).splitlines()
    shown = sum(bool(list(table.lines())) for table in tables)
    assert [line for line in lines if "মৌমাছি" in line] == [f"% {note}"] * shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"name": "cbam"}, "did you mean 'cabm'"),
        ({"name": "clozegender", "tables": ["12"]}, "unknown table of clozegender"),
        ({"name": "cabm", "form": "reparied"}, "did you mean 'repaired'"),
        ({"name": "cabm", "models": []}, "no model"),
    ],
)
def test_bad_input_is_one_line(options: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        tiltmeter.replicate(options.pop("name"), options.pop("models", ["bundled:minilm"]), **options)
