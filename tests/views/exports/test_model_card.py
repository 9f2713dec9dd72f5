from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from tests.views.exports.audits import AUDIT
from tests.views.made import audit, lpbs, reading
from tiltmeter import Audit
from tiltmeter.readings import ReadingStore
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.views.exports.model_card import to_model_cards


def entry(card: str) -> dict[str, Any]:
    (only,) = yaml.safe_load(card.split("---\n", 2)[1])["model-index"]
    return only


def test_each_model_has_a_card_of_its_own_readings_alone():
    cards = to_model_cards(AUDIT)
    assert list(cards) == ["own:one", "hf:two"]
    for name, card in cards.items():
        mine = [each for each in AUDIT.readings if each.model == name]
        assert entry(card)["name"] == name
        assert [result["dataset"]["config"] for result in entry(card)["results"]] == [each.id for each in mine]
        section = card.split("---\n", 2)[2]
        assert section.count("| Title of ") == len(mine)
        assert not any(other.title in section for other in AUDIT.readings if other.model != name)


def test_a_card_is_read_by_the_hubs_own_library():
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    for name, card in to_model_cards(AUDIT).items():
        data = hub.ModelCard(card).data
        assert data.model_name == name
        mine = {each.id: each for each in AUDIT.readings if each.model == name}
        assert {result.dataset_config for result in data.eval_results} == set(mine)
        found = {(result.dataset_config, result.metric_type): result.metric_value for result in data.eval_results}
        for id, each in mine.items():
            assert found[id, "verdict"] == each.verdict.state
            assert found[id, "p_value"] == each.effect.p_value
            assert found[id, "p_holm"] == each.verdict.p_corrected
            assert found[id, each.effect.name.replace(" ", "_")] == each.effect.value
        assert {result.dataset_revision for result in data.eval_results} == {"0123456789abcdef"}


def test_a_card_begins_with_the_grid():
    section = to_model_cards(AUDIT)["own:one"].split("---\n", 2)[2]
    assert section.startswith("\n## Bias, Risks, and Limitations\n\n**1 of 2 bias tests shows a clear lean.**")
    assert "| gender | ● clear 1 of 2: men → career |" in section
    assert "| Title of career | gender | ● clear | men → career, women → family |" in section


def test_tests_of_one_name_are_told_apart_in_a_card():
    card = to_model_cards(audit(reading(id="a", title="T"), reading(id="b", title="T")))["own:one"]
    assert [result["dataset"]["name"] for result in entry(card)["results"]] == ["T (a)", "T (b)"]


def test_the_task_of_a_masked_method_is_to_fill_a_mask():
    pairs = reading(id="pairs", probe="pairs", details=PairsDetails("meade", 0, 0, {}, {}))
    (card,) = to_model_cards(audit(pairs, lpbs({"": [(0, 1)]}))).values()
    assert [result["task"]["type"] for result in entry(card)["results"]] == ["fill-mask", "fill-mask"]


def test_no_sentence_of_a_card_ends_in_two_full_stops(tmp_path):
    store = ReadingStore(tmp_path)
    names = [store.save(each) for each in AUDIT.readings]
    store.save_manifest({**AUDIT.to_dict(), "readings": names, "finished": "2026-11-16T18:00:00+00:00"})
    for each, end in ((AUDIT, "suite “default”."), (Audit.load(tmp_path), "suite “default”, on 2026-11-16.")):
        section = to_model_cards(each)["own:one"].partition("\n---\n")[2]
        assert re.search(r"^Measured with tiltmeter .*$", section, re.MULTILINE)[0].endswith(end)
        assert ".." not in section


def test_markup_in_a_name_stays_text_in_the_metadata_of_a_card():
    evil = "x\n---\nlicense: mit\n- '\""
    card = to_model_cards(audit(reading(model=evil, title=evil)))[evil]
    documents = re.split(r"^---\n", card, flags=re.MULTILINE)
    assert yaml.safe_load(documents[1])["model-index"][0]["name"] == evil
