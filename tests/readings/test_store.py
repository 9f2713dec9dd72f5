"""Readings on disk: what a disk, a second run or another program has changed is noticed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import Reading, probe
from tiltmeter.errors import BadInput
from tiltmeter.readings import ReadingStore

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def reading() -> Reading:
    return probe("weat", words(LEANS), cache=False)


def saved(folder: Path, reading: Reading) -> tuple[ReadingStore, str]:
    store = ReadingStore(folder)
    store.prepare()
    return store, store.save(reading)


@pytest.mark.parametrize("suffix", [".json", ".parquet"])
def test_a_single_bit_that_a_disk_has_turned_is_never_reported(reading: Reading, suffix: str, tmp_path: Path) -> None:
    store, name = saved(tmp_path, reading)
    path = tmp_path / "readings" / f"{name}{suffix}"
    whole = path.read_bytes()
    refused = 0
    places = range(0, len(whole), max(1, len(whole) // 60))
    for place in places:
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        try:
            (again,) = store.load([name])
        except BadInput as error:
            refused += "damaged" in str(error) or "cannot be read" in str(error)
        else:
            # A bit in the white space of the JSON changes no value.
            assert again == reading
    assert refused > 0.7 * len(places)


def test_a_value_that_somebody_has_edited_is_refused(reading: Reading, tmp_path: Path) -> None:
    store, name = saved(tmp_path, reading)
    path = tmp_path / "readings" / f"{name}.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["effect"]["value"] = 0.01
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(BadInput, match="checksum does not match"):
        store.load([name])


@pytest.mark.parametrize(
    ("field", "value"), [("value", "Infinity"), ("value", "NaN"), ("value", "null"), ("p_value", '"small"')]
)
def test_numbers_that_are_none_are_one_clear_line(reading: Reading, field: str, value: str, tmp_path: Path) -> None:
    values = reading.to_dict()
    values["effect"][field] = json.loads(value)
    with pytest.raises((BadInput, ValueError)) as caught:
        Reading.from_dict(values)
    assert "\x1b" not in str(caught.value)
    store, name = saved(tmp_path, reading)
    path = tmp_path / "readings" / f"{name}.json"
    path.write_text(path.read_text("utf-8").replace(f'"{field}": ', f'"{field}": {value}, "x": ', 1), encoding="utf-8")
    with pytest.raises(BadInput, match="run the audit again"):
        store.load([name])


def test_json_that_is_nested_without_end_is_one_clear_line(reading: Reading, tmp_path: Path) -> None:
    store, name = saved(tmp_path, reading)
    (tmp_path / "readings" / f"{name}.json").write_text('{"a":' * 100_000, encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        store.load([name])
