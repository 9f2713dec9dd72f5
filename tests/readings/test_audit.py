"""Audits, and readings on disk: what a disk, a second run or another program has changed is noticed."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from tests.planted import CAREER_FAMILY, TERMS, words
from tests.views.made import audit, d, reading, share
from tiltmeter import Audit, Reading, probe
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.readings import ReadingStore, Skipped

READINGS = (
    reading("own:one", "a", d(0.9, p=0.01)),
    reading("own:one", "b", share(0.6, p=0.03)),
    reading("own:one", "c", d(0.2, p=None)),
    reading("own:two", "a", d(0.1, p=0.8)),
)


def store(tmp_path, whole, **more):
    kept = ReadingStore(tmp_path)
    kept.prepare()
    names = [kept.save(each) for each in whole.readings]
    kept.save_manifest({**whole.to_dict(), "readings": names, **more})


def corrected(whole: Audit) -> list[float | None]:
    return [each.verdict.p_corrected for each in whole.readings]


def test_p_values_are_corrected_for_the_tests_of_their_model():
    assert corrected(audit(*READINGS)) == pytest.approx([0.02, 0.03, None, 0.8])


def test_another_model_or_a_control_changes_no_corrected_p_value():
    one = corrected(audit(*READINGS[:3]))
    control = dataclasses.replace(reading("own:one", "flowers", d(1.2, p=0.02)), control=True, family="control")
    assert corrected(audit(*READINGS, control)) == pytest.approx([*one, 0.8, 0.02])


P_VALUES = st.one_of(st.none(), st.floats(1e-6, 1.0))


@given(
    st.lists(st.lists(st.tuples(P_VALUES, st.booleans()), min_size=1, max_size=8), min_size=2, max_size=5), st.data()
)
def test_models_added_or_dropped_change_no_verdict_of_another(models, data):
    readings = {
        f"own:{n}": [
            dataclasses.replace(
                reading(f"own:{n}", str(i), d(0.9, p=p)), control=control, family="control" if control else "bias"
            )
            for i, (p, control) in enumerate(tests)
        ]
        for n, tests in enumerate(models)
    }
    kept = data.draw(st.sets(st.sampled_from(sorted(readings)), min_size=1))
    verdicts = {(r.model, r.id): r.verdict for r in audit(*itertools.chain(*readings.values())).readings}
    alone = audit(*itertools.chain(*(readings[name] for name in kept)))
    assert {(r.model, r.id): r.verdict for r in alone.readings} == {
        key: verdict for key, verdict in verdicts.items() if key[0] in kept
    }


def test_the_table_has_one_row_per_reading():
    frame = audit(*READINGS).to_frame()
    assert list(frame["id"]) == ["a", "b", "c", "a"]
    assert list(frame["value"]) == [0.9, 0.6, 0.2, 0.1]
    assert list(frame["level"]) == [0.0, 0.5, 0.0, 0.0]
    assert frame["p_holm"].tolist() == pytest.approx([0.02, 0.03, float("nan"), 0.8], nan_ok=True)
    assert frame["p_bh"].tolist() == pytest.approx([0.02, 0.03, float("nan"), 0.8], nan_ok=True)
    assert list(frame["leans"])[:2] == ["men → career, women → family"] * 2
    assert list(frame["strength"]) == ["large", "small", "small", "negligible"]


def test_a_stored_audit_is_read_back_with_its_command_and_what_its_suite_says(tmp_path):
    made = audit(
        *READINGS,
        skipped=(Skipped("own:two", "b", "needs texts"),),
        notes=("A note",),
        command="tiltmeter audit own:one own:two --suite mine.yaml",
        suite_description="What I ask.",
    )
    store(tmp_path, made)
    again = Audit.load(tmp_path)
    assert again.readings == made.readings
    assert (again.command, again.suite_description) == (made.command, made.suite_description)
    assert (again.skipped, again.notes, again.folder) == (made.skipped, made.notes, tmp_path)


def test_a_manifest_without_a_command_is_read(tmp_path):
    store(tmp_path, audit(*READINGS))
    path = tmp_path / ReadingStore.MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    for name in ("command", "suite_description"):
        del manifest[name]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert (Audit.load(tmp_path).command, Audit.load(tmp_path).suite_description) == ("", "")


@pytest.mark.parametrize("missing", ["suite", "models", "readings", "skipped", "notes"])
def test_a_manifest_that_lacks_something_is_damaged(tmp_path, missing):
    store(tmp_path, audit(*READINGS))
    path = tmp_path / ReadingStore.MANIFEST
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest[missing]
    path.write_text(json.dumps(manifest), encoding="utf-8")
    with pytest.raises(BadInput, match=rf"audit\.json is damaged \('{missing}'\): run the audit again"):
        Audit.load(tmp_path)


def test_an_audit_writes_its_own_report(tmp_path):
    path = audit(*READINGS).report(tmp_path)
    assert path == tmp_path / "audit.html"
    assert "How far does it lean?" in path.read_text(encoding="utf-8")


LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def career() -> Reading:
    return probe("weat", words(LEANS), cache=False)


def saved(folder: Path, reading: Reading) -> tuple[ReadingStore, str]:
    store = ReadingStore(folder)
    store.prepare()
    return store, store.save(reading)


@pytest.mark.parametrize("suffix", [".json", ".items"])
def test_a_single_bit_that_a_disk_has_turned_is_never_reported(career: Reading, suffix: str, tmp_path: Path) -> None:
    store, name = saved(tmp_path, career)
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
            assert again == career
    assert refused > 0.7 * len(places)


def test_a_value_that_somebody_has_edited_is_refused(career: Reading, tmp_path: Path) -> None:
    store, name = saved(tmp_path, career)
    path = tmp_path / "readings" / f"{name}.json"
    values = json.loads(path.read_text(encoding="utf-8"))
    values["effect"]["value"] = 0.01
    path.write_text(json.dumps(values), encoding="utf-8")
    with pytest.raises(BadInput, match="checksum does not match"):
        store.load([name])


@pytest.mark.parametrize(
    ("field", "value"), [("value", "Infinity"), ("value", "NaN"), ("value", "null"), ("p_value", '"small"')]
)
def test_numbers_that_are_none_are_one_clear_line(career: Reading, field: str, value: str, tmp_path: Path) -> None:
    values = career.to_dict()
    values["effect"][field] = json.loads(value)
    with pytest.raises((BadInput, ValueError)) as caught:
        Reading.from_dict(values)
    assert "\x1b" not in str(caught.value)
    store, name = saved(tmp_path, career)
    path = tmp_path / "readings" / f"{name}.json"
    path.write_text(path.read_text("utf-8").replace(f'"{field}": ', f'"{field}": {value}, "x": ', 1), encoding="utf-8")
    with pytest.raises(BadInput, match="run the audit again"):
        store.load([name])


def test_json_that_is_nested_without_end_is_one_clear_line(career: Reading, tmp_path: Path) -> None:
    store, name = saved(tmp_path, career)
    (tmp_path / "readings" / f"{name}.json").write_text('{"a":' * 100_000, encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be read"):
        store.load([name])


@pytest.mark.parametrize(
    "change",
    [
        {"readings": None},
        {"readings": 3},
        {"models": 7},
        {"asked": "many"},
        {"asked": [1]},
        {"notes": 1},
        {"skipped": [{"model": ["own:one"], "probe": "a", "reason": "b", "failed": False}]},
        {"skipped": [{"model": "own:one", "probe": {}, "reason": "b"}]},
        {"skipped": ["own:one"]},
        {"skipped": 1},
    ],
)
def test_a_manifest_with_a_field_of_another_type_is_one_clear_line(tmp_path: Path, change: dict[str, object]) -> None:
    store(tmp_path, audit(*READINGS))
    path = tmp_path / "audit.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(BadInput, match=r"audit\.json is damaged .*: run the audit again") as caught:
        Audit.load(tmp_path)
    assert "\n" not in str(caught.value)


def as_an_earlier_version(folder: Path, name: str) -> None:
    """The items of a stored reading as the Parquet that they were before."""
    place = folder / "readings" / name
    values = json.loads(place.with_suffix(".json").read_text(encoding="utf-8"))
    del values["checksum"]
    table = pa.table(json.loads(place.with_suffix(".items").read_text(encoding="utf-8")))
    buffer = pa.BufferOutputStream()
    parquet.write_table(table, buffer)
    content = buffer.getvalue().to_pybytes()
    described = json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    values["checksum"] = hashlib.sha256(described.encode() + content).hexdigest()[:16]
    described = json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    place.with_suffix(".json").write_text(described, encoding="utf-8")
    place.with_suffix(".parquet").write_bytes(content)
    place.with_suffix(".items").unlink()


def test_a_folder_whose_items_are_parquet_is_read(career: Reading, tmp_path: Path) -> None:
    store, name = saved(tmp_path, career)
    as_an_earlier_version(tmp_path, name)
    assert store.load([name]) == [career]
    store.save(career)
    store.save_manifest({"readings": [name]})
    assert {path.suffix for path in (tmp_path / "readings").iterdir()} == {".json", ".items"}
    assert store.load([name]) == [career]


def test_a_folder_whose_items_are_parquet_says_what_reads_it(
    career: Reading, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, name = saved(tmp_path, career)
    as_an_earlier_version(tmp_path, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"an earlier version of tiltmeter wrote needs the extra 'tables'"):
        store.load([name])
