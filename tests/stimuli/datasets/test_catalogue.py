from __future__ import annotations

import hashlib

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import catalogue, data_folder, find, status


def states():
    return {row["name"]: (row["state"], row["files"]) for row in status()}


def test_every_entry_says_whose_it_is_and_where_to_get_it():
    for entry in catalogue().values():
        assert entry.url.startswith("https://")
        assert all((entry.what, entry.rows, entry.licence, entry.citation))
        assert entry.files
        assert all(len(checksum) == hashlib.sha256().digest_size * 2 for checksum in entry.files.values())


def test_the_published_files_have_the_checksums_of_the_catalogue(data):
    data("winobias")
    assert set(states().values()) <= {("found", ""), ("missing", "")}
    assert states()["winobias"] == ("found", "")
    assert find("winobias") == data("winobias")


def test_a_missing_and_a_changed_file_are_told_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path))
    assert states()["crows_pairs"] == ("missing", "")
    (tmp_path / "crows_pairs").mkdir()
    (tmp_path / "crows_pairs" / "crows_pairs_anonymized.csv").write_text("mine", encoding="utf-8")
    assert states()["crows_pairs"] == ("changed", "crows_pairs_anonymized.csv")
    (tmp_path / "winogender").mkdir()
    (tmp_path / "winogender" / "all_sentences.tsv").write_text("mine", encoding="utf-8")
    assert states()["winogender"] == ("missing", "occupations-stats.tsv")


def test_a_set_that_is_not_here_says_where_to_get_it_and_put_it(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path))
    with pytest.raises(BadInput) as caught:
        find("winobias")
    assert str(caught.value) == (
        "data set 'winobias' is not installed: tiltmeter data fetch winobias, or get it from "
        f"https://github.com/uclanlp/corefBias and put it at {tmp_path / 'winobias'}"
    )
    with pytest.raises(BadInput, match="unknown data set 'winobais': did you mean 'winobias'"):
        find("winobais")


def test_without_a_data_folder_every_set_is_missing_and_one_line_says_what_to_set(tmp_path, monkeypatch):
    monkeypatch.delenv("TILTMETER_DATA", raising=False)
    assert set(states().values()) == {("missing", "")}
    with pytest.raises(BadInput, match="TILTMETER_DATA is not set: set it to the folder"):
        data_folder()
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path / "gone"))
    with pytest.raises(BadInput, match=r"TILTMETER_DATA names .*gone, which is not a folder"):
        status()
