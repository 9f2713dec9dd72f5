"""A sentence with slots: the other slots keep their words whatever is put into one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli.sentences.sentence import (
    MASK,
    Sentence,
    SentenceSet,
    expected_by_share,
    fill_frame,
    joint_dimension,
    pronoun_sentence,
    sentence_pair,
)

WORDS = st.text("abc é女", max_size=6)


@given(st.permutations(["one", "two", "three"]), st.lists(WORDS, min_size=4, max_size=4), WORDS)
def test_every_slot_keeps_its_word_when_another_is_exchanged(order, words, new):
    names = ("one", "two", "three")
    frame = "x {one}, {two} {three}."
    sentence = fill_frame(frame, dict(zip(names, words, strict=False)), capital=False)
    for name in order:
        sentence = sentence.put(name, new)
        assert sentence.word(name) == new
    assert sentence.text == frame.format(one=new, two=new, three=new)
    assert [sentence.word(name) for name in names] == [new] * 3


def test_masks_stand_in_the_slots_in_whatever_order_they_are_asked_for():
    sentence = Sentence("He is a nurse.", {"pronoun": (0, 2), "occupation": (8, 13)})
    masked = {sentence.masked(*order).text for order in itertools.permutations(["pronoun", "occupation"])}
    assert masked == {f"{MASK} is a {MASK}."}
    assert sentence.masked("pronoun").word("occupation") == "nurse"
    assert sentence.around("occupation") == ("He is a ", ".")


def test_a_frame_gives_words_their_article_and_the_sentence_its_capital():
    sentence = fill_frame("{a occupation} met {person} and {nobody}.", {"occupation": "engineer", "person": "Ann"})
    assert sentence.text == "An engineer met Ann and {nobody}."
    assert {slot: sentence.word(slot) for slot in sentence.slots} == {"occupation": "engineer", "person": "Ann"}
    assert fill_frame("{word} left.", {"word": "men"}, capital=False).text == "men left."


@pytest.mark.parametrize(
    ("text", "occupation", "place"),
    [
        ("The cookie and the Cook said he left.", "cook", (19, 23)),
        ("The nurses said he left.", "nurse", None),
        ("The heir left because he could.", "he", None),
    ],
)
def test_the_occupation_is_the_first_whole_word_outside_the_pronoun(text, occupation, place):
    start = text.index(" he ") + 1
    sentence = pronoun_sentence(text, (start, start + 2), ("he", "she"), occupation, kind="", expected=None)
    assert sentence.slots.get("occupation") == place
    assert sentence.tags == {"kind": ""}


def test_a_part_of_a_set_has_the_tags_asked_for_and_all_else_of_the_set():
    pairs = (sentence_pair("a", "b", kind="age"), sentence_pair("c", "d", kind="race", direction="stereo"))
    whole = SentenceSet("mine", pairs, notes=("a note",))
    part = whole.where(kind="race")
    assert (part.texts, part.units, part.notes) == (("c",), ("c",), ("a note",))
    assert whole.where(kind="race", direction="anti").sentences == ()


def test_what_is_expected_and_what_a_set_is_about():
    assert [expected_by_share(share) for share in (None, 0.39, 0.4, 0.6, 0.61)] == [None, "men", None, None, "women"]
    assert joint_dimension(["age", "age"]) == "age"
    assert joint_dimension(["age", "race"]) == "several"
