from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half

WORDS = st.text("abcdeinrsuABN", min_size=1, max_size=9)


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("nurse", "nurse"),
        ("nurse", "NURSES"),
        ("nurse", "nursing"),
        ("mother", "grandmother"),
        ("businesswoman", "woman"),
        ("dad", "dads"),
        ("she", "hers"),
        ("him", "himself"),
    ],
)
def test_forms_of_a_word_are_kin_whichever_is_asked_about(word, other):
    assert other in WordForms([word])
    assert word in WordForms([other])


@pytest.mark.parametrize(("word", "other"), [("nurse", "doctor"), ("man", "manager"), ("he", "hen"), ("art", "heart")])
def test_other_words_are_not(word, other):
    assert other not in WordForms([word])
    assert word not in WordForms([other])


@given(WORDS, WORDS)
def test_kinship_goes_both_ways_and_is_blind_to_case(one, two):
    assert (one in WordForms([two])) == (two in WordForms([one])) == (one.upper() in WordForms([two.lower()]))


@given(st.lists(WORDS, max_size=6), WORDS)
def test_kin_of_some_words_are_kin_of_one_of_them(words, word):
    assert (word in WordForms(words)) == any(word in WordForms([each]) for each in words)


@given(st.text("abcdeinrsu", min_size=3, max_size=9), st.text("abcdeinrsu", max_size=5), st.integers(0, 20))
def test_forms_that_begin_alike_are_in_one_half(stem, ending, seed):
    assert in_first_half(stem, seed) == in_first_half((stem + ending).title(), seed)
