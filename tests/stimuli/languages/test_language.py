from __future__ import annotations

import pickle

import pytest
from hypothesis import given

from tests.stimuli.languages.test_text_spans import TEXTS
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Word, fill_templates, load_lexicon
from tiltmeter.stimuli.languages import language, language_codes
from tiltmeter.stimuli.lexicon.lexicon import group


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
        ("english", "'english' is no language code: write a BCP 47 tag"),
        ("", "'' is no language code"),
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
