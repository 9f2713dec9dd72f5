from __future__ import annotations

import itertools
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import MissingExtra
from tiltmeter.stimuli.languages import is_word_character, language, language_codes, script_of, text_spans

TEXTS = st.text("ab'’-. ক\u09be\u09cd\u200d\u0301।…5_𝒜\U00011103\U0001f600。」\"é\n") | st.text()


@given(TEXTS)
def test_words_are_whole_runs_in_order_and_hold_every_letter_and_digit(text):
    own = language("sw")
    text = own.normalise(text)
    spans = own.words(text)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    inside = {at for start, end in spans for at in range(start, end)}
    assert {at for at, character in enumerate(text) if character.isalnum()} <= inside
    for start, end in spans:
        assert any(character.isalnum() for character in text[start:end])
        assert all(is_word_character(character) or character in "'’" for character in text[start:end])
        assert start == 0 or not is_word_character(text[start - 1])
        assert end == len(text) or not is_word_character(text[end])


@pytest.mark.parametrize("code", [*language_codes(), "sw"])
@given(text=TEXTS)
def test_sentences_are_in_order_and_hold_everything_but_white_space(code, text):
    own = language(code)
    text = own.normalise(text)
    spans = own.sentences(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    inside = {at for start, end in spans for at in range(start, end)}
    assert {at for at, character in enumerate(text) if not character.isspace()} <= inside


def test_english_sentences_end_at_full_stops_that_end_them():
    text = 'Mrs. Lee met J. Smith of Acme Inc. at 3.30 p.m. on Monday. "Is it so?" he asked. So did I. Look… Yes!'
    own = language("en")
    assert [text[start:end] for start, end in own.sentences(text)] == [
        "Mrs. Lee met J. Smith of Acme Inc. at 3.30 p.m. on Monday.",
        '"Is it so?" he asked.',
        "So did I.",
        "Look…",
        "Yes!",
    ]


def test_japanese_is_cut_into_the_words_of_the_dictionary():
    own = language("ja")
    text = own.normalise("彼女は東京の病院で医者として働いている。「行く。」と言った！ｶﾞｿﾘﾝは？")
    assert [text[start:end] for start, end in own.words(text)] == [
        "彼女", "は", "東京", "の", "病院", "で", "医者", "と", "し", "て", "働い", "て", "いる",
        "行く", "と", "言っ", "た", "ガソリン", "は",
    ]  # fmt: skip
    assert [text[start:end] for start, end in own.sentences(text)] == [
        "彼女は東京の病院で医者として働いている。",
        "「行く。」と言った!",
        "ガソリンは?",
    ]
    assert (own.spaced, own.script) == (False, "CJK")


@given(st.text("彼女は東京。、 aガー1々ｶﾞ「」\0\ud800\U00020bb7") | st.text())
def test_japanese_words_are_in_order_and_hold_every_letter(text):
    own = language("ja")
    text = own.normalise(text)
    spans = own.words(text)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    inside = {at for start, end in spans for at in range(start, end)}
    assert {at for at, character in enumerate(text) if character.isalnum()} <= inside


def test_without_the_segmenter_one_line_names_the_extra(monkeypatch):
    text_spans._tagger.cache_clear()
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(MissingExtra, match=r"cutting Japanese into words needs the extra 'ja'"):
        language("ja").words("彼女")


def test_the_script_of_a_text_is_that_of_most_of_its_letters():
    assert [script_of(text) for text in ("Привет!", "হ্যালো world হ্যালো হ্যালো", "ガソリン", "…")] == [
        "CYRILLIC", "BENGALI", "CJK", ""
    ]  # fmt: skip
