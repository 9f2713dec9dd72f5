from __future__ import annotations

import itertools
import re

import pytest
import yaml
from markdown_it import MarkdownIt

from tests.views.exports.audits import AUDIT, SPOILT
from tests.views.made import audit, lpbs, reading
from tiltmeter import Audit
from tiltmeter.readings import ReadingStore
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.exports import to_markdown
from tiltmeter.views.exports.markdown import model_index, to_model_card


def test_markdown_has_a_heading_per_model_and_a_row_per_reading():
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
    pairs = reading(id="pairs", probe="pairs", details=PairsDetails("meade", 0, 0, {}, {}))
    tasks = [result["task"]["type"] for result in model_index(audit(pairs, lpbs({"": [(0, 1)]})))[0]["results"]]
    assert tasks == ["fill-mask", "fill-mask"]


def test_no_sentence_of_a_card_ends_in_two_full_stops(tmp_path):
    store = ReadingStore(tmp_path)
    names = [store.save(each) for each in AUDIT.readings]
    store.save_manifest({**AUDIT.to_dict(), "readings": names, "finished": "2026-11-16T18:00:00+00:00"})
    for each, end in ((AUDIT, "suite “default”."), (Audit.load(tmp_path), "suite “default”, on 2026-11-16.")):
        section = to_model_card(each).partition("\n---\n")[2]
        assert re.search(r"^Measured with tiltmeter .*$", section, re.MULTILINE)[0].endswith(end)
        assert ".." not in section


def test_markup_in_a_name_stays_text_in_the_metadata_of_a_card():
    evil = "x\n---\nlicense: mit\n- '\""
    card = to_model_card(audit(reading(model=evil, title=evil)))
    documents = re.split(r"^---\n", card, flags=re.MULTILINE)
    assert yaml.safe_load(documents[1])["model-index"][0]["name"] == evil
