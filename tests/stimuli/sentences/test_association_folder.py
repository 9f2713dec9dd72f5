from __future__ import annotations

import json

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import load_association_folder

TEMPLATES = {"career_templates": ["A {} works.", "Ask the {}."], "family_templates": ["A {} cooks."]}


@pytest.fixture
def folder(tmp_path):
    lists = tmp_path / "word_lists" / "gender_bias_2"
    lists.mkdir(parents=True)
    (lists / "target_words_male.txt").write_bytes(b"\xef\xbb\xbfhe, man")
    (lists / "target_words_female.txt").write_text('"she"\n\n woman,\n', encoding="utf-8")
    (lists / "attribute_words_career.txt").write_text("engineer, clerk, Engineer\n\n", encoding="utf-8")
    (lists / "attribute_words_family.txt").write_text("parent\ncaf\u00e9\nclerk", encoding="utf-8")
    config = tmp_path / "config"
    config.mkdir()
    (config / "templates.json").write_text(json.dumps({"gender_bias": TEMPLATES}), encoding="utf-8")
    return lists


def test_targets_go_into_all_templates_and_attributes_into_their_own(folder):
    loaded = load_association_folder(folder)
    assert loaded.target_sentences["male"].texts == (
        "A he works.",
        "Ask the he.",
        "A he cooks.",
        "A man works.",
        "Ask the man.",
        "A man cooks.",
    )
    assert loaded.attribute_sentences["family"].texts == (
        "A parent cooks.",
        "A café cooks.",
        "A clerk cooks.",
    )
    assert loaded.attribute_sentences["career"].units == ("engineer", "engineer", "clerk", "clerk")
    assert {sentence.tags["template"] for sentence in loaded.attribute_sentences["family"].sentences} == {"2"}
    third = loaded.target_sentences["male"].sentences[2]
    assert (third.unit, third.word("word"), third.tags["template"]) == ("he", "he", "2")


def test_lists_may_be_split_by_commas_or_lines_with_quotes_blanks_and_a_byte_order_mark(folder):
    loaded = load_association_folder(folder)
    assert loaded.targets["male"].texts == ("he", "man")
    assert loaded.targets["female"].texts == ("she", "woman")


def test_a_repeated_word_is_reported_and_kept_once_and_a_shared_one_reported(folder):
    loaded = load_association_folder(folder)
    assert loaded.attributes["career"].texts == ("engineer", "clerk")
    assert loaded.warnings == (
        "attribute_words_career.txt: 'Engineer' appears more than once: counted so in the published form alone",
        "attribute lists 'career' and 'family' share 'clerk': kept in both",
    )


@pytest.mark.parametrize("place", [".", "config", "../config"])
def test_templates_are_found_beside_the_lists_or_in_a_config_folder(folder, place):
    found = folder.parent.parent / "config" / "templates.json"
    target = folder / place
    target.mkdir(exist_ok=True)
    found.rename(target / "templates.json")
    assert load_association_folder(folder).templates["family"] == ("A {} cooks.",)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("attribute_words_career.txt", b" , \n", "attribute_words_career.txt: no words in it"),
        ("target_words_male.txt", b"Ren\xe9", "target_words_male.txt: not UTF-8 at byte 3"),
        ("attribute_words_carer.txt", b"nurse", "unknown template group 'carer': did you mean 'career'?"),
        ("templates.json", b"{", "templates.json: line 1: broken JSON"),
        ("templates.json", b'{"a": {}, "b": {}}', "which templates belong to gender_bias_2? found: a, b"),
        (
            "templates.json",
            b'{"a": {"career_templates": []}}',
            "'career_templates' should be a list of templates",
        ),
        ("templates.json", b'{"a": {"x_templates": ["no slot"]}}', "x_templates: 'no slot' needs one {}"),
    ],
)
def test_each_fault_of_the_folder_is_one_line(folder, name, content, expected):
    (folder / name).write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load_association_folder(folder)
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_folder_list_or_template_file_is_named(folder, tmp_path):
    with pytest.raises(BadInput, match="no folder"):
        load_association_folder(tmp_path / "nowhere")
    with pytest.raises(BadInput, match=r"no target_words_\*\.txt in"):
        load_association_folder(tmp_path / "config")
    (tmp_path / "config" / "templates.json").unlink()
    with pytest.raises(BadInput, match=r"no templates\.json"):
        load_association_folder(folder)


def test_the_published_folder_gives_the_published_sentences(data):
    loaded = load_association_folder(data("association/word_lists/gender_bias_testing2"))
    assert {name: len(made.sentences) for name, made in loaded.target_sentences.items()} == {
        "female": 11 * 90,
        "male": 11 * 90,
    }
    # Each list holds 30 words; career repeats two of its words and family one.
    assert {name: len(made.sentences) // 15 for name, made in loaded.attribute_sentences.items()} == {
        "career": 28,
        "family": 29,
        "intelligence": 30,
        "leadership": 30,
        "physical_appearance": 30,
        "support": 30,
    }
    assert loaded.attribute_sentences["physical_appearance"].texts[0] == (
        "A beautiful is recognized for their striking appearance."
    )
    assert loaded.target_sentences["male"].texts[30] == "The he demonstrates exceptional leadership qualities."
    assert loaded.warnings == (
        "attribute_words_career.txt: 'profession' appears more than once: counted so in the published form alone",
        "attribute_words_career.txt: 'employment' appears more than once: counted so in the published form alone",
        "attribute_words_family.txt: 'household' appears more than once: counted so in the published form alone",
        "attribute lists 'family' and 'support' share 'caretaker': kept in both",
        "attribute lists 'leadership' and 'support' share 'facilitator': kept in both",
    )


def test_lists_that_lie_in_a_folder_below_are_found_as_the_study_has_them(data):
    study = data("association")
    for place in (study, study / "word_lists"):
        found = load_association_folder(place)
        assert (
            found.target_sentences
            == load_association_folder(study / "word_lists/gender_bias_testing2").target_sentences
        )


def test_of_several_studies_in_a_folder_one_has_to_be_named(folder):
    other = folder.parent / "other"
    other.mkdir()
    (other / "target_words_male.txt").write_text("he")
    with pytest.raises(BadInput, match=r"holds several studies \(.*other.*\): name one of them"):
        load_association_folder(folder.parent)


def test_sentences_of_a_repeated_word_say_how_often_the_list_has_it(data):
    career = load_association_folder(data("association")).attribute_sentences["career"]
    assert {row.unit for row in career.sentences if row.tags.get("times") == "2"} == {"profession", "employment"}
