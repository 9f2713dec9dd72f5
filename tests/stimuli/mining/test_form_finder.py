from __future__ import annotations

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from tests.stimuli.mining.finding import forms, settings, windows
from tests.stimuli.mining.test_blocks import LINES
from tiltmeter.stimuli import Word
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.blocks import Alphabet
from tiltmeter.stimuli.mining.form_finder import RunIndex


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("he", [(1, 0, "he")]),
        ('He saw (he), "he"; the other, she, HE.', [(1, 0, "He"), (1, 8, "he"), (1, 14, "he"), (1, 35, "HE")]),
        ("the\nhelp\n\nwith he", [(4, 5, "he")]),
        ("he2 2he he_he he-he", [(1, 8, "he"), (1, 11, "he"), (1, 14, "he"), (1, 17, "he")]),
        ("he’s he's", [(1, 0, "he"), (1, 5, "he")]),
        ("he\u0301 he\u200d", []),
        ("he he he", [(1, 0, "he"), (1, 3, "he"), (1, 6, "he")]),
    ],
)  # fmt: skip
def test_a_word_is_found_where_no_letter_mark_digit_or_joiner_touches_it(text, found):
    assert forms(text, "he") == found


def test_every_word_is_found_however_the_forms_overlap():
    words = ("he", "her", "hers", "she", "mother", "mother in law", "in", "law firm")
    found = forms("She and her mother in law firm; hers, he: mother", *words)
    assert [form for _, _, form in sorted(found, key=lambda each: each[1:])] == [
        "She", "her", "mother", "mother in law", "in", "law firm", "hers", "he", "mother",
    ]  # fmt: skip


def test_of_the_forms_of_one_word_that_overlap_the_longest_counts():
    nurse = Word("nurse", properties={"suffixes": "plural possessive"})
    assert forms("The nurse's nurses nurse nurse’s", nurse) == [
        (1, 4, "nurse's"), (1, 12, "nurses"), (1, 19, "nurse"), (1, 25, "nurse's"),
    ]  # fmt: skip
    assert forms("ha ha ha ha", Word("ha", properties={"forms": "ha ha ha"})) == [(1, 0, "ha ha ha"), (1, 9, "ha")]


def test_several_words_are_one_form_only_with_what_stands_between_them():
    assert forms("mother in law, mother, in law, mother-in-law, Mother  in\tlaw", "mother in law") == [
        (1, 0, "mother in law"), (1, 46, "Mother in law"),
    ]  # fmt: skip
    assert forms("mother-in-law mother in law", "mother-in-law") == [(1, 0, "mother-in-law")]


def test_signs_are_part_of_a_form():
    assert forms("C++ or C, C++11, (C++)", "C++") == [(1, 0, "C++"), (1, 18, "C++")]


def test_letters_that_grow_in_small_letters_do_not_move_offsets():
    text = "İİİ ßßß STRASSE und Straße, ŉ strasse"
    assert forms(text, "Straße", code="de") == [(1, 8, "STRASSE"), (1, 20, "Straße"), (1, 30, "strasse")]
    assert forms("ΟΔΟΣ οδος οδοσ", "οδός".replace("ό", "ο"), code="el") == [
        (1, 0, "ΟΔΟΣ"), (1, 5, "οδος"), (1, 10, "οδοσ"),
    ]  # fmt: skip


def test_a_character_that_was_no_utf_8_may_have_been_a_letter():
    assert forms("he\ufffd \ufffdhe he", "he") == [(1, 8, "he")]


def test_bangla_words_are_found_whole_in_either_spelling():
    composed, decomposed = "মেয়ে", "মে\u09af\u09bcে"
    assert forms(f"{composed} {decomposed} মেয়েরা", composed, code="bn") == forms(
        f"{decomposed} {composed} মেয়েরা", decomposed, code="bn"
    )
    assert len(forms(f"{composed} {decomposed} মেয়েরা", composed, code="bn")) == 2
    assert forms("সুযোগ যোগ, যোগাযোগ যোগ।", "যোগ", code="bn") == [(1, 6, "যোগ"), (1, 19, "যোগ")]


def test_japanese_words_begin_and_end_where_the_segmenter_says():
    pytest.importorskip("fugashi")
    assert forms("彼女は彼の医者です。\n彼と彼女", "彼", code="ja") == [(1, 3, "彼"), (2, 0, "彼")]
    assert forms("彼女は彼の医者です。", "彼女", "医者", code="ja") == [(1, 0, "彼女"), (1, 5, "医者")]


def test_the_root_ends_where_the_suffix_begins():
    asked = settings([Word("city", properties={"forms": "City's, cities"})])
    found = windows("The CITY'S cities, city", asked)
    roots = [(each.text[each.start : each.end], each.text[each.start : each.root_end]) for each in found]
    assert roots == [("CITY'S", "CITY"), ("cities", "cities"), ("city", "city")]


WORDS = st.sampled_from(["a", "ab", "b", "ba", "aba", "a b", "b-a", "ab'a", "é", "aé"])
TEXT = st.text(st.sampled_from("aAbBéÉ \n-'_.1\u0301"), max_size=60)


@given(st.sets(WORDS, min_size=1, max_size=6), TEXT)
def test_the_same_is_found_as_by_a_search_for_each_word_alone(words, text):
    speech = language("en")
    lines = [speech.normalise(line) for line in text.split("\n")]
    expected = []
    for word in words:
        edge = r"[\p{L}\p{M}\p{N}\u200c\u200d]"
        pattern = regex.compile(rf"(?<!{edge}){regex.escape(word)}(?!{edge})", regex.IGNORECASE)
        for number, line in enumerate(lines, 1):
            expected += [(number, found.start(), found[0]) for found in pattern.finditer(line)]
    assert sorted(forms(text, *words)) == sorted(expected)


def words_of(text: str, alphabet: Alphabet) -> list[str]:
    block = alphabet.block(f"\n{text}\n".encode())
    words, _ = RunIndex([]).look_through(block)
    return [block.text(start, end) for start, end in zip(words.starts, words.ends, strict=True)]


@given(LINES)
def test_the_words_of_many_records_are_those_the_language_finds_in_each(lines):
    for code in ("en", "bn", "tr"):
        speech = language(code)
        alphabet = Alphabet(["nurse", "যোগ"], speech)
        tidy = list(map(speech.normalise, lines))
        expected = [line[start:end] for line in tidy for start, end in speech.words(line)]
        assert words_of("\n".join(tidy), alphabet) == expected


def test_an_apostrophe_joins_two_letters_and_marks_alone_are_no_word():
    alphabet = Alphabet(["x"], language("en"))
    assert words_of("She's 'well-read' rock 'n' roll \u0301 o'", alphabet) == [
        "She's", "well", "read", "rock", "n", "roll", "o",
    ]  # fmt: skip


def test_more_letters_than_bytes_are_told_apart_all_the_same():
    letters = "".join(chr(0x4E00 + number) for number in range(600))
    alphabet = Alphabet([letters], language("en"))
    assert alphabet.shared
    assert words_of("一 乙\u0301 \u0301", alphabet) == ["一", "乙\u0301"]
