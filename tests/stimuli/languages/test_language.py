from __future__ import annotations

import itertools
import pickle
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.stimuli import Word, fill_templates, load_lexicon
from tiltmeter.stimuli.languages import is_word_character, language, language_codes, script_of
from tiltmeter.stimuli.languages.language import _tagger
from tiltmeter.stimuli.lexicon.lexicon import group

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
    _tagger.cache_clear()
    monkeypatch.setitem(sys.modules, "fugashi", None)
    with pytest.raises(MissingExtra, match=r"cutting Japanese into words needs the extra 'ja'"):
        language("ja").words("彼女")


def test_the_script_of_a_text_is_that_of_most_of_its_letters():
    assert [script_of(text) for text in ("Привет!", "হ্যালো world হ্যালো হ্যালো", "ガソリン", "…")] == [
        "CYRILLIC", "BENGALI", "CJK", ""
    ]  # fmt: skip


@pytest.mark.parametrize("code", [*language_codes(), "sw"])
@given(text=TEXTS)
def test_normalising_twice_is_normalising_once(code, text):
    own = language(code)
    once = own.normalise(text)
    assert own.normalise(once) == once
    assert once == " ".join(once.split())


@given(TEXTS)
def test_small_letters_stand_where_the_capitals_stood(text):
    assert len(language("en").fold(text)) == len(text)


def test_a_language_travels_to_another_process():
    for code in (*language_codes(), "sw"):
        assert pickle.loads(pickle.dumps(language(code))) == language(code)


@pytest.mark.parametrize(
    ("word", "properties", "expected"),
    [
        ("nurse", {}, ("nurse",)),
        ("nurse", {"suffixes": "plural"}, ("nurse", "nurses")),
        ("boss", {"suffixes": "plural possessive"}, ("boss", "bosses", "boss's")),
        ("secretary", {"suffixes": "plural"}, ("secretary", "secretaries")),
        ("boy", {"suffixes": "plural"}, ("boy", "boys")),
        ("coach", {"suffixes": "plural"}, ("coach", "coaches")),
        ("graph", {"suffixes": "plural"}, ("graph", "graphs")),
        ("woman", {"suffixes": "possessive", "forms": "women, women’s"}, ("woman", "woman's", "women", "women's")),
        ("arm", {"suffixes": "plural possessive", "without": "arms"}, ("arm", "arm's")),
    ],
)
def test_english_plurals_and_possessives_are_there_where_a_word_asks_for_them(word, properties, expected):
    assert language("en").forms(Word(word, properties=properties)) == expected


def test_an_english_possessive_is_one_word_whichever_apostrophe_it_is_written_with():
    own = language("en")
    text = own.normalise("The nurse’s  dogs’ ‘bones’")
    assert [text[start:end] for start, end in own.words(text)] == ["The", "nurse's", "dogs", "bones"]


def test_the_japanese_lexicon_has_glosses_and_sentences_and_its_words_are_whole_ones():
    own, lexicon = language("ja"), load_lexicon("japanese")
    assert lexicon.warnings == ()
    for name in lexicon.groups:
        words = group(f"japanese.{name}")
        assert len(words.words) >= 8
        assert len(fill_templates(words, lexicon.templates["bleached"]).sentences) == 5 * len(words.words)
        for word in words.words:
            assert word.properties["gloss"]
            assert own.normalise(word.text) == word.text
            text = f"その{word.text}がある。"
            ends = {end for span in own.words(text) for end in span}
            assert {2, 2 + len(word.text)} <= ends, word.text


def test_any_other_code_goes_by_general_rules_and_a_region_by_its_language():
    assert (language("pt-BR").code, language("pt-BR").spaced, language("pt-BR").script) == ("pt-BR", True, "")
    assert language("en-GB") == language("EN") == language("en")
    text = "¿Quién es? Es la médica. مرحبا؟ نعم"
    own = language("es")
    assert [text[start:end] for start, end in own.sentences(text)] == [
        "¿Quién es?", "Es la médica.", "مرحبا؟", "نعم"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("english", "'english' is not a language code: write a BCP 47 tag"),
        ("", "'' is not a language code"),
        ("th", "language 'th' sets no words apart and there is no segmenter for it"),
        ("zh-Hant", "language 'zh-Hant' sets no words apart"),
        ("none.yaml", "no file none.yaml"),
    ],
)
def test_a_language_that_cannot_be_used_is_said_in_one_line(code, complaint):
    with pytest.raises(BadInput, match=complaint) as error:
        language(code)
    assert "\n" not in str(error.value)


def test_an_unknown_suffix_group_is_named_with_the_nearest():
    with pytest.raises(BadInput, match=r"'বোন': unknown suffix group of Bangla 'persn': did you mean 'person'\?"):
        language("bn").forms(Word("বোন", properties={"suffixes": "persn"}))
