"""The sentences of the calibration hold what they should."""

from __future__ import annotations

import itertools

import pytest

from tiltmeter.lab.reference.frames import frames, pronoun_sentence, with_occupation
from tiltmeter.lab.reference.planted_text import patterns

WITH_PRONOUN = [
    frame for sets in (frames().masked, frames().cloze) for frame in itertools.chain.from_iterable(sets.values())
]


@pytest.mark.parametrize("frame", WITH_PRONOUN)
def test_every_frame_holds_one_pronoun_and_one_occupation(frame):
    sentence = pronoun_sentence(frame, "auditor")
    one, two = (sentence.version("pronoun", group) for group in (1, 2))
    assert one.text != two.text
    assert "{" not in one.text
    assert one.text.count("auditor") == 1
    assert (one.word("pronoun"), two.word("pronoun")) == sentence.forms["pronoun"]
    assert one.around("pronoun") == two.around("pronoun")


def test_a_cloze_ends_in_its_pronoun():
    for frame in itertools.chain.from_iterable(frames().cloze.values()):
        assert pronoun_sentence(frame, "nurse").around("pronoun")[1] == "."


def test_no_frame_is_a_sentence_that_the_models_learn_from():
    learned = {
        pattern.replace("{a_occupation}", "{occupation}") for pattern in patterns().patterns if pattern.count("{") == 2
    }
    asked = {frame.replace("{a_occupation}", "{occupation}") for frame in WITH_PRONOUN}
    assert len(asked & learned) <= 2  # "He works as a nurse." and the like cannot be said otherwise


def test_words_that_say_a_group_have_partners_of_the_same_role():
    male, female = (frames().marks[name] for name in ("male", "female"))
    assert list(male) == list(female) == list(frames().mark_frames)
    assert [len(words) for words in male.values()] == [len(words) for words in female.values()]


def test_an_article_fits_its_occupation():
    assert with_occupation("{he} is {a_occupation}.", "engineer") == "{he} is an engineer."
