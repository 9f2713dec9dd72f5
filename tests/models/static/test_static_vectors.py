"""Which file, which words, and whose vectors they are."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from tests.models.static.vector_files import (
    VALUES,
    binary_of,
    file,
    gensim_vectors,
    one,
    refusal,
)
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import EmbedsWords, Identified, Question, Streams, gather
from tiltmeter.models.static import StaticVectors


def test_a_term_with_spaces_is_also_sought_with_underscores(tmp_path):
    path = file(tmp_path, "w.bin", binary_of(["New", "New_York"], [[1, 2], [3, 4]]))
    assert list(one(path, "New  York")) == [3, 4]
    both = file(tmp_path, "w.vec", "New_York 1 2\nNew York 3 4\n")
    assert list(one(both, "New York")) == [3, 4]


def test_lower_case_is_asked_for_only_when_told(tmp_path):
    path = file(tmp_path, "w.vec", "amy 1 2\nEmma 3 4\n")
    assert one(path, "Amy") is None
    assert list(one(path, "Amy", case="lower")) == [1, 2]
    assert one(path, "Emma", case="lower") is None


@pytest.mark.parametrize("stored", ["NFC", "NFD"])
@pytest.mark.parametrize("asked", ["NFC", "NFD"])
def test_composed_and_decomposed_letters_are_the_same_word(tmp_path, stored, asked):
    path = file(tmp_path, "w.vec", f"x 9 9\n{unicodedata.normalize(stored, 'infirmière')} 1 2\n")
    assert list(one(path, unicodedata.normalize(asked, "infirmière"))) == [1, 2]


def test_bengali_letters_that_normalisation_takes_apart_are_found_in_both_forms(tmp_path):
    single, pair = "নয\u09bc".replace("য\u09bc", "\u09df"), "নয\u09bc"
    for stored in (single, pair):
        path = file(tmp_path, "w.vec", f"x 9 9\n{stored} 1 2\n")
        assert [list(v) for v in StaticVectors(path).embed_words([single, pair])] == [[1, 2], [1, 2]]


def test_empty_repeated_and_blank_words_are_answered_in_order(tmp_path):
    path = file(tmp_path, "w.vec", "a 1 2\nb 3 4\n")
    assert StaticVectors(path).embed_words([]) == []
    ours = StaticVectors(path).embed_words(["b", "", "a", " ", "b", "\ud800"])
    assert [None if v is None else list(v) for v in ours] == [[3, 4], None, [1, 2], None, [3, 4], None]


def test_it_answers_the_protocols_and_streams_one_batch(tmp_path):
    model = StaticVectors(file(tmp_path, "w.vec", "a 1 2\nb 3 4\n"))
    assert isinstance(model, EmbedsWords)
    assert isinstance(model, Identified)
    assert isinstance(model, Streams)
    rows = gather(model.stream(Question.WORDS, ["b", "c"]), 2)
    assert list(rows[0]) == [3, 4]
    assert rows[1] is None
    with pytest.raises(BadInput, match="vectors of words"):
        list(model.stream(Question.TEXTS, ["b"]))


def test_the_identity_follows_the_content_and_the_settings(tmp_path):
    path = file(tmp_path, "w.vec", "a 1 2\nb 3 4\n")
    before = StaticVectors(path).identity
    assert before.name == "static:w.vec"
    assert before.settings == {"case": "exact"}
    file(tmp_path, "w.vec", "a 1 2\nb 3 5\n")
    after = StaticVectors(path, name="mine", case="lower").identity
    assert (after.name, after.settings) == ("mine", {"case": "lower"})
    assert after.revision != before.revision


def test_the_identity_covers_companion_files(tmp_path):
    np.save(tmp_path / "w.npy", VALUES[:2])
    index = file(tmp_path, "w.txt", "a\nb\n")
    before = StaticVectors(tmp_path / "w.npy").identity.revision
    index.write_text("b\na\n")
    assert StaticVectors(tmp_path / "w.npy").identity.revision != before

    gensim_vectors().save(str(tmp_path / "w.kv"), separately=["vectors"])
    before = StaticVectors(tmp_path / "w.kv").identity.revision
    np.save(tmp_path / "w.kv.vectors.npy", VALUES * 2)
    assert StaticVectors(tmp_path / "w.kv").identity.revision != before


def test_the_identity_is_known_without_understanding_the_file(tmp_path):
    assert len(StaticVectors(file(tmp_path, "w.bin", b"no vectors")).identity.revision) == 16


def test_what_is_not_there_or_no_file_is_refused_at_once(tmp_path):
    assert "no such file" in refusal(tmp_path / "gone.vec")
    (tmp_path / "folder.vec").mkdir()
    assert "is a folder" in refusal(tmp_path / "folder.vec")
    known = refusal(file(tmp_path, "w.xyz", "a 1 2"))
    assert "unknown suffix (.xyz); known: .txt .vec .glove .w2v .bin .txt.gz" in known
    assert "unknown suffix (.kv.gz)" in refusal(file(tmp_path, "w.kv.gz", "a"))
    assert "unknown suffix (none)" in refusal(file(tmp_path, "vectors", "a"))
    assert "carries its own words" in refusal(file(tmp_path, "w.vec", "a 1 2"), index=tmp_path / "w.txt")


def test_an_unknown_case_is_refused_with_a_suggestion(tmp_path):
    with pytest.raises(BadInput, match="did you mean 'lower'"):
        StaticVectors(file(tmp_path, "w.vec", "a 1 2"), case="lowr")
