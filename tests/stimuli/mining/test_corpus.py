from __future__ import annotations

import gzip

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining.corpus import BLOCK, SHARD, cut_into_shards, find_files


def test_the_name_of_a_file_is_its_source_and_its_path_where_two_have_the_same(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.txt").write_text("he")
    (tmp_path / "y.txt").write_text("he")
    found = find_files([tmp_path / "y.txt", tmp_path / "b/x.txt", tmp_path / "a/x.txt"], None)
    assert [file.source for file in found] == [f"{tmp_path}/a/x.txt", f"{tmp_path}/b/x.txt", "y.txt"]


def test_missing_files_folders_and_repetitions_are_told_before_anything_is_read(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("he")
    for paths, complaint in (
        ([], "no corpus is given"),
        ([tmp_path / "b.txt"], f"no file {tmp_path}/b.txt: check the path"),
        ([tmp_path], "is a folder: name the files in it"),
        ([path, tmp_path / "." / "a.txt"], "is given twice"),
    ):
        with pytest.raises(BadInput, match=complaint):
            find_files(paths, None)


def test_a_large_file_is_cut_and_a_packed_one_is_not(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"x" * 100)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"x" * 100))
    shards = cut_into_shards(find_files([tmp_path / "b.txt.gz", tmp_path / "a.txt"], None), 40)
    assert [(shard.file.source, shard.start, shard.stop, shard.size) for shard in shards[:3]] == [
        ("a.txt", 0, 40, 40), ("a.txt", 40, 80, 40), ("a.txt", 80, 120, 20),
    ]  # fmt: skip
    assert len(shards) == 4
    assert SHARD % BLOCK == 0


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("a.jsonl", '{"a":' * 100_000, "line 1: broken JSON: nested too deeply"),
        ("a.jsonl", '{"text": "he", "n": ' + "9" * 5000 + "}", "line 1: broken JSON: .* thousands of digits"),
        ("a.csv", "id,te\rxt\n1,he\n", "line 1: not a proper table"),
    ],
)
def test_a_first_line_that_cannot_be_read_is_one_clear_line(tmp_path, name, content, complaint):
    (tmp_path / name).write_bytes(content.encode())
    with pytest.raises(BadInput, match=complaint):
        find_files([tmp_path / name], None)
