from __future__ import annotations

import copy
import json
from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_stereoset


def test_stereoset_has_2106_and_2123_examples_with_each_label_once(data):
    found = load_stereoset(data("stereoset/dev.json"))
    assert Counter(each.tags["part"] for each in found.sentences) == {"intrasentence": 2106, "intersentence": 2123}
    assert found.groups == ("stereotype", "anti-stereotype", "unrelated")
    assert {len(each.forms["sentence"]) for each in found.sentences} == {3}
    first, last = found.sentences[0], found.sentences[-1]
    assert (first.unit, first.tags["kind"], first.tags["context"]) == (
        "chess player",
        "profession",
        "The chess player was BLANK.",
    )
    assert first.text == first.forms["sentence"][0] == "The chess player was asian."
    assert last.version("sentence", 3).text == f"{last.tags['context']} {last.forms['sentence'][2]}"
    assert all("  " not in text for each in found.sentences for text in each.forms["sentence"])


EXAMPLE = {
    "id": "e1",
    "target": "nurse",
    "bias_type": "gender",
    "context": "The nurse is BLANK.",
    "sentences": [
        {"id": "s1", "sentence": "The nurse is kind.", "gold_label": "stereotype"},
        {"id": "s2", "sentence": "The nurse is rude.", "gold_label": "anti-stereotype"},
        {"id": "s3", "sentence": "The nurse is wood.", "gold_label": "unrelated"},
    ],
}


def stereoset(tmp_path, change):
    example = copy.deepcopy(EXAMPLE)
    change(example)
    path = tmp_path / "dev.json"
    path.write_text(json.dumps({"data": {"intrasentence": [example]}}), encoding="utf-8")
    return load_stereoset(path)


def test_white_space_in_stereoset_is_made_single(tmp_path):
    (found,) = stereoset(tmp_path, lambda example: example.update(context=" The  nurse is BLANK. ")).sentences
    assert found.tags["context"] == "The nurse is BLANK."


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda e: e["sentences"].pop(), "intrasentence 1 (e1): no sentence labelled unrelated"),
        (lambda e: e["sentences"][2].update(gold_label="stereotype"), "(e1): label 'stereotype' appears twice"),
        (lambda e: e["sentences"][2].update(gold_label="related"), "(e1): label 'related' is none of stereotype"),
        (lambda e: e["sentences"][0].update(sentence=" "), "(e1): 'sentence' is missing or blank"),
        (lambda e: e.update(context="The nurse is kind."), "(e1): the context holds no BLANK"),
        (lambda e: e.update(sentences=None), "(e1): no sentence labelled stereotype"),
        (lambda e: e.pop("id"), "dev.json: intrasentence 1: 'id' is missing or blank"),
    ],
)
def test_a_broken_example_is_refused_with_its_id(tmp_path, change, expected):
    with pytest.raises(BadInput) as caught:
        stereoset(tmp_path, change)
    assert expected in str(caught.value)


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"data": {"intrasentence": []}}', '{"data": 3}', '{"data": {"intrasentence": 1}}']
)
def test_another_json_file_is_not_taken_for_stereoset(tmp_path, content):
    path = tmp_path / "dev.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=r"dev\.json: not StereoSet"):
        load_stereoset(path)
