from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from tests.mined_folder import write_mined
from tests.stimuli.mining.finding import group
from tests.stimuli.mining.test_mine import run, table
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining import Occurrence, load_mined


def test_what_is_mined_can_be_loaded(tmp_path):
    (tmp_path / "a.txt").write_text("Nobody knew.\nThe old Nurse said that he left.\n")
    report = run([tmp_path / "a.txt"], tmp_path / "out", lengths=["3", ">6"], least=1)
    mined = load_mined(tmp_path / "out")
    assert mined.rows == (
        Occurrence("he", "test.words", "he", "3", "that he left.", 5, 7, 7, "a.txt", 2, 24),
        Occurrence("he", "test.words", "he", ">6", "The old Nurse said that he left.", 24, 26, 26, "a.txt", 2, 24),
        Occurrence("nurse", "test.words", "Nurse", "3", "old Nurse said", 4, 9, 9, "a.txt", 2, 8),
        Occurrence("nurse", "test.words", "Nurse", ">6", "The old Nurse said that he left.", 8, 13, 13, "a.txt", 2, 8),
    )
    assert (mined.lengths, mined.groups, mined.language) == (("3", ">6"), ("test.words",), "en")
    assert mined.sha256 == report.sha256 == mined.about["sha256"]
    assert (report.occurrences, report.records, report.rows) == (2, 2, 4)
    assert report.never_found == ("she",)
    assert [(each.word, each.length, each.found, each.missing) for each in report.too_few] == [
        ("she", "3", 0, 1), ("she", ">6", 0, 1),
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "mined.json", "occurrences.parquet"]


def test_a_word_of_two_groups_has_a_row_for_each(tmp_path):
    (tmp_path / "a.txt").write_text("Then he left\n")
    groups = [group("he", "him", name="one.men"), group("he", name="two.people")]
    run([tmp_path / "a.txt"], tmp_path / "out", lexicon=groups, lengths=["3"])
    rows = load_mined(tmp_path / "out").rows
    assert [(row.word, row.group) for row in rows] == [("he", "one.men"), ("he", "two.people")]


def test_a_folder_that_is_missing_or_broken_is_one_clear_line(tmp_path):
    (tmp_path / "a.txt").write_text("he left it")
    out = tmp_path / "out"
    with pytest.raises(BadInput, match=f"^no folder {out}: make it with tiltmeter mine"):
        load_mined(out)
    out.mkdir()
    with pytest.raises(BadInput, match=r"holds no mined\.json, so it is not a folder of tiltmeter mine$"):
        load_mined(out)
    run([tmp_path / "a.txt"], out, lengths=["3"])
    whole = table(out)
    about = (out / "mined.json").read_text()
    for file, content, complaint in (
        ("occurrences.parquet", whole[:-20], "occurrences.parquet is damaged .*: mine it again$"),
        ("mined.json", about[:50], "mined.json cannot be read .*: mine it again$"),
        ("mined.json", "{}", "mined.json is damaged .*: mine it again$"),
        ("mined.json", "[" * 100_000, "mined.json cannot be read .*: mine it again$"),
        ("mined.json", about.replace('"counts": [', '"counts": ["x", '), "mined.json is damaged .*: mine it again$"),
        (
            "mined.json",
            about.replace('"sha256": "', '"sha256": "0'),
            "is not what mined.json says it is: mine it again",
        ),
    ):
        (out / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BadInput, match=complaint):
            load_mined(out)
        (out / "occurrences.parquet").write_bytes(whole)
        (out / "mined.json").write_text(about)
    (out / "occurrences.parquet").unlink()
    with pytest.raises(BadInput, match=r"occurrences\.parquet is missing: mine it again"):
        load_mined(out)


def test_a_table_of_kinds_that_cannot_be_read_is_damaged(tmp_path, monkeypatch):
    folder = write_mined(tmp_path / "mined")

    def refuse(_source):
        raise pa.ArrowNotImplementedError("Integers with more than 64 bits not implemented")

    monkeypatch.setattr(parquet, "ParquetFile", refuse)
    with pytest.raises(BadInput, match=r"is damaged \(Integers with more than 64 bits .*mine it again"):
        load_mined(folder)
