from __future__ import annotations

import itertools
import json

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import SeatTest, load_seat_file

LISTS = ("targets_1", "targets_2", "attributes_1", "attributes_2")


@pytest.fixture
def write(tmp_path):
    def to_file(name: str, lists: dict[str, list[str]]):
        path = tmp_path / name
        content = {key: {"category": key.upper(), "examples": texts} for key, texts in lists.items()}
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return to_file


def four(first: list[str], others: list[str]) -> dict[str, list[str]]:
    return {"targ1": first, "targ2": others, "attr1": others, "attr2": others}


def units(test: SeatTest) -> dict[str, list[str]]:
    return {name: list(dict.fromkeys(getattr(test, name).units)) for name in LISTS}


def published(data):
    return sorted(data("sent-bias").glob("*.jsonl"))


def test_sentences_are_given_to_the_words_of_the_word_test(data):
    test = load_seat_file(data("sent-bias/sent-weat6.jsonl"))
    names = units(test)
    assert names["targets_1"] == ["John", "Paul", "Mike", "Kevin", "Steve", "Greg", "Jeff", "Bill"]
    assert names["targets_2"] == ["Amy", "Joan", "Lisa", "Sarah", "Diana", "Kate", "Ann", "Donna"]
    by_unit = {sentence.text: sentence.unit for sentence in test.attributes_2.sentences}
    assert by_unit["This is a child."] == "children"
    assert by_unit["Families are things."] == "family"
    assert test.warnings == ()


def test_every_published_sentence_has_a_unit_and_every_word_but_one_has_sentences(data):
    left_out = []
    for path in published(data):
        test = load_seat_file(path)
        beside = path.with_name(path.name.removeprefix("sent-"))
        words = units(load_seat_file(beside))
        for name in LISTS:
            made = getattr(test, name).sentences
            assert all(sentence.unit and sentence.word("word") for sentence in made)
            if beside != path:
                found = units(test)[name]
                assert set(found) <= set(words[name])
                left_out += [(path.name, word) for word in words[name] if word not in found]
                # The files keep the sentences of a word together: a unit that came back would be a mistake.
                order = [sentence.unit for sentence in made]
                assert sum(a != b for a, b in itertools.pairwise(order)) == len(found) - 1
    assert left_out == [("sent-weat9.jsonl", "sick")]


def test_a_word_without_sentences_is_reported(data):
    test = load_seat_file(data("sent-bias/sent-weat9.jsonl"))
    assert test.warnings == (
        "sent-weat9.jsonl: targ2 (PhysicalDisease): no sentence for 'sick', which the word test has",
    )
    assert len(units(test)["targets_2"]) == 5


def test_pronouns_are_not_taken_for_parts_of_each_other(data):
    test = load_seat_file(data("sent-bias/sent-weat7.jsonl"))
    unit = {sentence.text: sentence.unit for sentence in test.attributes_2.sentences}
    assert (unit["Here she is."], unit["It is her."], unit["Here is hers."]) == ("she", "her", "hers")


def test_the_longest_word_wins(data):
    test = load_seat_file(data("sent-bias/sent-weat3b.jsonl"))
    unit = {sentence.text: sentence.unit for sentence in test.targets_2.sentences}
    assert unit["These are South African Americans."] == "South African American"
    assert unit["These are African Americans."] == "African American"


def test_paragraphs_that_differ_in_one_name_have_the_name_as_their_unit(data):
    test = load_seat_file(data("sent-bias/heilman_double_bind_competent_1+3-.jsonl"))
    assert units(test)["targets_1"] == ["John", "Paul", "Mike", "Kevin", "Steve", "Greg", "Jeff", "Bill"]
    assert units(test)["attributes_1"][:3] == ["competent", "productive", "effective"]
    assert test.warnings == ()


def test_a_word_test_has_each_word_as_its_own_unit(data):
    test = load_seat_file(data("sent-bias/weat6.jsonl"))
    assert test.targets_1.label == "MaleNames"
    assert test.targets_1.texts == test.targets_1.units


def test_without_a_word_file_the_rectangle_of_words_and_templates_tells_the_words(write):
    first = [
        "This is Ann.",
        "Ann is here.",
        "This is Mary Lou.",
        "Mary Lou is here.",
        "This is Bo.",
        "Bo is here.",
    ]
    test = load_seat_file(write("sent-x.jsonl", four(first, ["kind", "cruel"])))
    assert test.targets_1.units == ("Ann", "Ann", "Mary Lou", "Mary Lou", "Bo", "Bo")
    spans = [sentence.word("word") for sentence in test.targets_1.sentences]
    assert spans == list(test.targets_1.units)
    assert [sentence.tags["template"] for sentence in test.targets_1.sentences] == list("010101")
    assert test.warnings == ()


def test_sentences_whose_words_cannot_be_told_are_their_own_units_and_a_warning_says_so(write):
    first = ["This is Ann.", "Ann is here.", "Nobody knows Bo.", "Bo slept.", "And so on."]
    test = load_seat_file(write("sent-x.jsonl", four(first, ["kind", "cruel"])))
    assert test.targets_1.units == tuple(first)
    assert test.warnings == (
        "sent-x.jsonl: targ1 (TARG1): cannot tell which words the sentences stand for: each is its own unit",
    )


def test_a_word_file_that_does_not_fit_is_not_used(write):
    write("x.jsonl", four(["Cleo"], ["kind"]))
    first = ["This is Ann.", "This is Bo."]
    test = load_seat_file(write("sent-x.jsonl", four(first, ["kind", "cruel"])))
    assert test.targets_1.units == ("Ann", "Bo")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"{", "line 1: broken JSON"),
        (b"[]", "'targ1' should be {'category': ..., 'examples': [texts]}"),
        (b'{"targ1": {"examples": []}}', "'targ1' should be"),
        (b'{"targ1": {"examples": ["a", " "]}}', "'targ1' holds an example that is empty or no text"),
        (b"\xff", "not UTF-8 at byte 0"),
    ],
)
def test_each_fault_of_a_file_is_one_line(tmp_path, content, expected):
    path = tmp_path / "bad.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load_seat_file(path)
    assert str(caught.value).startswith(f"bad.jsonl: {expected}")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInput, match="no file"):
        load_seat_file(tmp_path / "none.jsonl")
