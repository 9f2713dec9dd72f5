from __future__ import annotations

import gzip
import json

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining import records
from tiltmeter.stimuli.mining.corpus import cut_into_shards, find_files
from tiltmeter.stimuli.mining.records import RecordReader

TEXTS = ["He left.", "", "She stayed, he said: “no”.", "সে ভালো"]


def read(*paths, column=None, size=1 << 20, errors="strict"):
    """All records of the files, with their numbers, and what was no UTF-8."""
    found, broken = [], 0
    for shard in cut_into_shards(find_files(paths, column), size):
        reader = RecordReader(shard, errors)
        for text, first, _ in reader.blocks():
            found += [(shard.number, first + n, line) for n, line in enumerate(text.split("\n"))]
        broken += reader.broken
    return found, broken


def texts(*paths, **more):
    return [text for _, _, text in read(*paths, **more)[0]]


def zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    half = len(data) // 2  # two frames one after the other are one file
    pack = zstandard.ZstdCompressor().compress
    return pack(data[:half]) + pack(data[half:])


@pytest.mark.parametrize(("ending", "pack"), [("", bytes), (".gz", gzip.compress), (".zst", zstd)])
def test_a_text_file_is_a_record_a_line_packed_or_not(tmp_path, ending, pack):
    path = tmp_path / f"text.txt{ending}"
    path.write_bytes(pack("\ufeff{}\n".format("\n".join(TEXTS)).encode()))
    assert texts(path) == TEXTS
    path.write_bytes(pack("\n".join(TEXTS).encode()))
    assert texts(path) == TEXTS


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_only_text_column_of_json_lines_is_taken(tmp_path, ending):
    path = tmp_path / f"posts.jsonl{ending}"
    content = "\n".join(json.dumps({"id": n, "body": text}) for n, text in enumerate([*TEXTS, "two\nlines", None]))
    path.write_bytes(gzip.compress(content.encode()) if ending else content.encode())
    assert texts(path) == [*TEXTS, "two lines", ""]


def test_half_a_surrogate_in_json_is_replaced(tmp_path):
    path = tmp_path / "posts.jsonl"
    path.write_text('{"body": "he \\ud83d he \\ud83d\\ude00"}')
    assert texts(path) == ["he \ufffd he \U0001f600"]


def test_cells_of_a_table_may_hold_line_breaks_and_quotation_marks(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('id,text\r\n1,"He said ""no"",\nthen left."\r\n\r\n2,She\r\n', newline="")
    assert texts(path, column="text") == ['He said "no", then left.', "", "She"]
    tabs = tmp_path / "table.tsv"
    tabs.write_text('id\ttext\n1\tHe said "no\n2\tShe\n')
    assert texts(tabs, column="text") == ['He said "no', "She"]


def test_parquet_is_read_by_row_groups(tmp_path):
    path = tmp_path / "table.parquet"
    table = pa.table({"id": range(len(TEXTS) + 1), "body": [*TEXTS, None]})
    parquet.write_table(table, path, row_group_size=2)
    assert texts(path) == [*TEXTS, ""]
    found, _ = read(path, size=1)
    assert [(shard, number) for shard, number, _ in found] == [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1)]


@given(
    st.lists(st.text(st.sampled_from("ab \r\u09af\U0001f600"), max_size=12), max_size=30),
    st.booleans(),
    st.integers(1, 40),
)
def test_parts_of_a_file_hold_every_line_once_wherever_they_are_cut(tmp_path_factory, given_lines, ended, size):
    path = tmp_path_factory.mktemp("cut") / "text.txt"
    content = "\n".join(given_lines) + ("\n" if ended and given_lines else "")
    path.write_bytes(content.encode())
    expected = content.removesuffix("\n").split("\n") if content else []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK", 7)
        assert texts(path, size=size) == expected


def test_what_is_no_utf_8_is_named_by_byte_and_line_in_whatever_part_it_is(tmp_path):
    content = b"one\ntwo\n" * 20 + b"three \xff four\n" + b"five\n" * 20
    for name, data in (("bad.txt", content), ("bad.txt.gz", gzip.compress(content))):
        path = tmp_path / name
        path.write_bytes(data)
        for size in (16, 1 << 20):
            with pytest.raises(BadInput, match=rf"^{name}: not UTF-8 at byte 166 \(line 41\): .*--errors replace$"):
                read(path, size=size)
    found, broken = read(tmp_path / "bad.txt", errors="replace")
    assert (found[40], broken, len(found)) == ((0, 41, "three \ufffd four"), 1, 61)


@pytest.mark.parametrize(
    ("name", "content", "column", "complaint"),
    [
        ("a.csv", "id,text\n1,he\n", None, "a.csv: name the column of texts with --column; found: id, text"),
        ("a.csv", "id,text\n1,he\n", "txt", "a.csv: no column 'txt'; found: id, text"),
        ("a.csv", "id,text\n1,he,2\n", "text", "a.csv: row 1: 3 cells, but the header has 2"),
        ("a.csv", 'id,text\n1,"he', "text", "a.csv: line 2: not a proper table: unexpected end of data"),
        ("a.jsonl", '{"a": "x", "b": "y"}', None, "a.jsonl: name the column of texts with --column; found: a, b"),
        ("a.jsonl", '{"a": 1}', None, "a.jsonl: name the column of texts with --column; found: a"),
        ("a.jsonl", '{"a": "x"}\n{"a": 7}', None, "a.jsonl: line 2: column 'a' holds 7, which is not a text"),
        ("a.jsonl", '{"a": "x"}\n{"b": "y"}', None, "a.jsonl: line 2: no column 'a'; found: b"),
        ("a.jsonl", '{"a": "x"}\n{"a"', None, "a.jsonl: line 2: broken JSON: Expecting ':' delimiter"),
        ("a.jsonl", "[1]", None, "a.jsonl: line 1: not a JSON object: write one on each line"),
        ("a.jsonl", "he", None, "a.jsonl: line 1: broken JSON: Expecting value"),
        ("a.txt", "he", "text", "--column text: a text file has no columns: leave it out"),
        ("a.txt.gz", "he", None, "a.txt.gz: broken gzip file: Not a gzipped file (b'he')"),
        ("a.txt.zst", "he", None, "a.txt.zst: broken zstd file: "),
        ("a.parquet", "he", None, "a.parquet: not a Parquet file that can be read: "),
    ],
)
def test_a_file_that_cannot_be_read_is_one_clear_line(tmp_path, name, content, column, complaint):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(BadInput) as error:
        read(path, column=column)
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


def test_the_line_of_broken_json_is_its_line_in_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "xxxxxxxxxx"}\n' * 9 + "{")
    with pytest.raises(BadInput, match=r"a\.jsonl: line 10: broken JSON"):
        read(path, size=20)


def test_a_packed_file_that_ends_too_soon_is_told(tmp_path):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"he said\n" * 100)[:-9])
    with pytest.raises(BadInput, match=r"a\.txt\.gz: broken gzip file"):
        read(path)
