from __future__ import annotations

import dataclasses
import io
import itertools
import re
import shutil
import subprocess

import pandas as pd
import pytest
import yaml
from markdown_it import MarkdownIt

from tests.views.made import EVIL, audit, cloze, d, lpbs, reading
from tiltmeter import Audit
from tiltmeter.errors import BadInput
from tiltmeter.readings import Skipped
from tiltmeter.views.exports import (
    FORMATS,
    NAMES,
    export,
    model_index,
    to_csv,
    to_latex,
    to_markdown,
    to_model_card,
    to_parquet,
)

AUDIT = audit(
    reading("own:one", "career", d(0.9), published=d(0.8, p=0.0001), correction="Words are the unit."),
    reading("own:one", "science", d(-0.2, p=0.4), leans="no clear lean"),
    cloze("noun", 0.5, 0.1, model="hf:two"),
    skipped=(Skipped("hf:two", "career", "needs vectors of words"),),
)
SPOILT = dataclasses.replace(
    AUDIT,
    suite=EVIL,
    readings=tuple(
        dataclasses.replace(
            r, title=f"{EVIL} 100% a_b {{x}} | `c` {r.id}", leans=EVIL, plain_words=EVIL, caveats=(EVIL,)
        )
        for r in AUDIT.readings
    ),
)


def same(frame: pd.DataFrame, found: Audit) -> None:
    pd.testing.assert_frame_equal(frame, found.to_frame(), check_dtype=False)


def test_csv_and_parquet_read_back_as_the_table():
    csv = pd.read_csv(io.StringIO(to_csv(AUDIT)), keep_default_na=False, na_values=[""])
    numbers = [name for name in csv.columns if csv[name].dtype.kind in "fi"]
    pd.testing.assert_frame_equal(csv[numbers], AUDIT.to_frame()[numbers], check_dtype=False)
    assert list(csv["title"]) == [r.title for r in AUDIT.readings]
    same(pd.read_parquet(io.BytesIO(to_parquet(AUDIT))), AUDIT)


@pytest.mark.parametrize("start", ["=1+1", "+1", "-1", "@SUM(A1)", "\tx"])
def test_no_cell_of_a_csv_file_is_a_formula(start):
    csv = to_csv(audit(reading(model=start, title=start)))
    (row,) = pd.read_csv(io.StringIO(csv)).to_dict("records")
    assert row["model"] == row["title"] == f"'{start}"
    assert row["value"] == 0.9


def test_markdown_has_a_heading_for_each_model_and_a_row_for_each_reading():
    tokens = MarkdownIt("commonmark").enable("table").parse(to_markdown(AUDIT))
    headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[:4] == ["How far does it lean?", "Verdict", "own:one", "hf:two"]
    levels = [int(token.tag[1]) for token in tokens if token.type == "heading_open"]
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    text = to_markdown(AUDIT)
    for each in AUDIT.readings:
        assert each.plain_words in text
    assert "As published: 0.8000, p 0.0001. Words are the unit." in text
    assert "career on hf:two: needs vectors of words" in text
    assert "$ tiltmeter audit own:one hf:two --suite default --seed 0 --permutations 10000" in text


def test_nothing_a_user_wrote_is_markup_in_markdown():
    for text in (to_markdown(SPOILT), to_model_card(SPOILT).partition("\n---\n")[2]):
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        inline = [child for token in tokens for child in (token.children or [])]
        assert not [t for t in [*tokens, *inline] if t.type in ("html_block", "html_inline", "link_open", "em_open")]
        rows = [i for i, token in enumerate(tokens) if token.type == "tr_open"]
        assert rows
        assert any("<script>alert('a')</script>" in child.content for child in inline)


def test_latex_has_a_row_for_each_reading_and_its_braces_are_in_pairs():
    for found in (AUDIT, SPOILT):
        text = to_latex(found)
        body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        bare = re.sub(r"\\[{}&%$#_\\]", "", body)
        assert bare.count("{") == bare.count("}")
        depth = 0
        for character in bare:
            depth += (character == "{") - (character == "}")
            assert depth >= 0
        assert bare.count("$") % 2 == 0
        assert body.count(r"\begin{longtable}") == body.count(r"\end{longtable}") == 2
        rows = [line for line in body.splitlines() if line.endswith(r" \\") and not line.startswith("measured")]
        assert len(rows) == len(found.readings)
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {7}
    assert r"100\% a\_b \{x\} \textbar{} `c`" in to_latex(SPOILT)


def test_latex_compiles_where_it_is_installed(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    page = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,longtable,array}\\begin{document}"
    (tmp_path / "page.tex").write_text(f"{page}\n{to_latex(SPOILT)}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0


def test_a_model_card_is_read_by_the_hubs_own_library():
    data = pytest.importorskip("huggingface_hub.repocard_data", reason="huggingface_hub is not installed")
    _, metadata, section = to_model_card(AUDIT).split("---\n", 2)
    entries = yaml.safe_load(metadata)["model-index"]
    assert entries == model_index(AUDIT)
    assert [entry["name"] for entry in entries] == ["own:one", "hf:two"]
    name, results = data.model_index_to_eval_results(entries[:1])
    assert name == "own:one"
    found = {(r.dataset_config, r.metric_type): r.metric_value for r in results}
    assert found["career", "effect_size_d"] == 0.9
    assert found["career", "ci_low"] == pytest.approx(0.6)
    assert found["career", "effect_size_d_published"] == 0.8
    assert found["science", "p_value"] == 0.4
    assert {r.task_type for r in results} == {"feature-extraction"}
    assert {r.dataset_revision for r in results} == {"0123456789abcdef"}
    assert section.startswith("\n## Bias, Risks, and Limitations")


def test_the_task_of_a_masked_method_is_to_fill_a_mask():
    pairs = reading(id="pairs", probe="pairs", details={"method": "meade"})
    tasks = [result["task"]["type"] for result in model_index(audit(pairs, lpbs({"": [(0, 1)]})))[0]["results"]]
    assert tasks == ["fill-mask", "fill-mask"]


def test_markup_in_a_name_stays_text_in_the_metadata_of_a_card():
    evil = "x\n---\nlicense: mit\n- '\""
    card = to_model_card(audit(reading(model=evil, title=evil)))
    documents = re.split(r"^---\n", card, flags=re.MULTILINE)
    assert yaml.safe_load(documents[1])["model-index"][0]["name"] == evil


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_gets_the_usual_name_and_the_same_bytes_every_time(format, tmp_path):
    path = export(AUDIT, tmp_path, format=format)
    assert path == tmp_path / NAMES[format]
    first = path.read_bytes()
    assert first
    assert export(AUDIT, tmp_path / "other", format=format).read_bytes() == first


def test_an_unknown_format_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput, match=r"unknown format 'latx': did you mean 'latex'\?"):
        export(AUDIT, tmp_path, format="latx")
