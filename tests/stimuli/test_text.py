from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.stimuli import capitalise, comparable, indefinite, normalise


def test_composed_and_decomposed_letters_become_the_same_text():
    assert normalise("e\u0301lite") == "\u00e9lite"
    # Bangla YYA is kept decomposed by NFC: both spellings must still meet.
    assert normalise("\u09df") == normalise("\u09af\u09bc")


def test_any_white_space_becomes_one_space_and_a_byte_order_mark_goes():
    assert normalise("\ufeff crafted\u00a0 by\t\nher ") == "crafted by her"


def test_joiners_are_spelling_and_stay():
    assert normalise("می\u200cخواهم") == "می\u200cخواهم"


@given(st.text())
def test_normalising_twice_changes_nothing(text):
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)


@given(st.text())
def test_a_capital_never_moves_a_character(text):
    capitalised = capitalise(text)
    assert len(capitalised) == len(text)
    assert sum(a != b for a, b in zip(capitalised, text, strict=True)) <= 1


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("she slept.", "She slept."),
        ("¿él durmió?", "¿Él durmió?"),
        ("7 nurses slept.", "7 nurses slept."),
        ("ßa", "ßa"),
        ("კაცი", "კაცი"),
        ("নার্স ঘুমালেন।", "নার্স ঘুমালেন।"),
        ("", ""),
    ],
)
def test_only_the_first_letter_gets_a_capital_where_the_script_has_one(given_text, expected):
    assert capitalise(given_text) == expected


def test_words_compare_without_regard_to_case_and_composition():
    assert comparable("JOSÉ") == comparable("jose\u0301")
    assert comparable("man") != comparable("men")


A = "nurse university union unique user European one-off unanimous Ukrainian CEO NASA historian Ugandan ewe"
AN = (
    "engineer hour heir honest honorary unimportant uninspired umpire usher urban MBA HR X-ray actuary ally "
    "onerous unidentified athletic elegant unanswered"
)


@pytest.mark.parametrize("word", A.split())
def test_words_that_sound_like_a_consonant_take_a(word):
    assert indefinite(word) == f"a {word}"


@pytest.mark.parametrize("word", AN.split())
def test_words_that_sound_like_a_vowel_take_an(word):
    assert indefinite(word) == f"an {word}"


def test_a_phrase_takes_the_article_of_its_first_word():
    assert indefinite("honest person") == "an honest person"
    assert indefinite("18-year-old") == "an 18-year-old"
    assert indefinite("110-year-old") == "a 110-year-old"
