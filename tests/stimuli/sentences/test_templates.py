from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Group, TemplateSet, Word, fill_templates

TRUST = TemplateSet(
    "mine.trust",
    "trust",
    (
        {"subject": "{} decided.", "object": "The team trusted {}.", "owner": "The decision was {}."},
        {"subject": "That year {} left.", "object": "That year we lost {}.", "owner": "The loss was {}."},
    ),
)


def one(word: Word, template_set: TemplateSet = TRUST, language: str = "en") -> tuple[str, ...]:
    return fill_templates(Group("mine.g", "g", (word,), language), template_set).texts


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (Word("she", "subject"), ("She decided.", "That year she left.")),
        (Word("him", "object"), ("The team trusted him.", "That year we lost him.")),
        (Word("theirs", "owner"), ("The decision was theirs.", "The loss was theirs.")),
        (Word("engineer", "noun"), ("An engineer decided.", "That year an engineer left.")),
        (Word("honest", "adjective"), ("An honest person decided.", "That year an honest person left.")),
        (Word("Paul", "name"), ("Paul decided.", "That year Paul left.")),
        (Word("parents", "plural"), ("Parents decided.", "That year parents left.")),
        (Word("Bible", "noun", "the Bible"), ("The Bible decided.", "That year the Bible left.")),
    ],
)
def test_each_kind_of_word_stands_in_its_frame(word, expected):
    assert one(word) == expected


def test_the_span_is_the_word_itself_and_not_its_article_or_person():
    made = fill_templates(Group.of("mine.g", ["clever", "on"], kind="adjective"), TRUST).sentences
    assert [sentence.word("word") for sentence in made] == ["clever"] * 2 + ["on"] * 2
    assert (made[0].slots["word"][0], made[2].slots["word"][0]) == (2, 3)  # "A clever person", "An on person"


def test_the_span_is_the_whole_phrase_where_the_phrase_inflects_the_word():
    made = fill_templates(Group("mine.g", "g", (Word("Arzt", "noun", "der Ärzte"),), "de"), TRUST).sentences[0]
    assert made.word("word") == "Der Ärzte"


def test_a_sentence_knows_its_word_and_its_template():
    made = fill_templates(Group.of("mine.g", ["Ann", "Bob"], kind="name"), TRUST)
    assert made.label == "mine.g"
    assert made.units == ("Ann", "Ann", "Bob", "Bob")
    assert [sentence.tags["template"] for sentence in made.sentences] == ["0", "1", "0", "1"]


def test_a_frame_for_adjectives_takes_the_bare_word():
    bleached = TemplateSet("mine.b", "b", ({"subject": "{} came up.", "adjective": "It seemed {}."},))
    assert one(Word("clever", "adjective"), bleached) == ("It seemed clever.",)
    assert one(Word("nurse", "noun"), bleached) == ("A nurse came up.",)


def test_a_template_without_a_fitting_frame_is_left_out_for_that_word():
    mixed = TemplateSet("mine.m", "m", ({"subject": "{} left."}, {"owner": "It was {}."}))
    made = fill_templates(Group("mine.g", "g", (Word("she", "subject"), Word("hers", "owner"))), mixed)
    assert made.texts == ("She left.", "It was hers.")
    assert [sentence.tags["template"] for sentence in made.sentences] == ["0", "1"]


@pytest.mark.parametrize("word", [Word("nurse"), Word("kill", "verb")])
def test_a_word_that_fits_no_frame_is_an_error_that_names_it(word):
    with pytest.raises(BadInput, match=f"mine.g: '{word.text}' .* fits no frame of mine.trust"):
        one(word)


def test_no_english_is_put_into_another_language():
    german = TemplateSet("mine.t", "t", ({"subject": "dann kam {}."},))
    assert one(Word("Arzt", "noun", "ein Arzt"), german, "de") == ("Dann kam ein Arzt.",)
    assert one(Word("Ärzte", "plural"), german, "de-AT") == ("Dann kam Ärzte.",)
    with pytest.raises(BadInput, match="'klug' needs a phrase"):
        one(Word("klug", "adjective"), german, "de")


def test_right_to_left_text_keeps_its_span():
    hebrew = TemplateSet("mine.t", "t", ({"subject": "אתמול {} הגיעה."},))
    made = fill_templates(Group("mine.g", "g", (Word("אישה", "noun"),), "he"), hebrew).sentences[0]
    assert made.text == "אתמול אישה הגיעה."
    assert made.word("word") == "אישה"
