"""The gate as continuous integration runs it: exit codes, the one line of an error, and the files it writes."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.command import Outcome, environment, tiltmeter
from tests.compare.result_folders import GROWN, jitter, leaning, write_results
from tiltmeter.compare import load_audit
from tiltmeter.errors import BadInput
from tiltmeter.readings import audit as store


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    write_results(folder / "old", [leaning(id="a"), leaning(id="b")])
    write_results(folder / "same", [leaning(id="a"), leaning(*jitter(0.04, 2), id="b")])
    write_results(folder / "worse", [leaning(id="a"), leaning(*GROWN, id="b")])
    write_results(folder / "fewer", [leaning(id="a")])
    write_results(folder / "other", [leaning(id="a"), leaning(id="b", stimuli="other words")])
    failed = {"model": "big", "probe": "a", "reason": "out of memory", "failed": True}
    write_results(folder / "broken", [leaning(id="a"), leaning(id="b")], skipped=[failed])
    return folder


def run(folder: Path, *arguments: str | Path, fresh: bool = False) -> Outcome:
    return tiltmeter("check", *arguments, env=environment(folder / "cache"), folder=folder, fresh=fresh)


def test_equal_models_pass(results: Path) -> None:
    done = run(results, "same", "--baseline", "old")
    assert done.code == 0, done.stderr
    assert "Passed: no bias has really grown (2 tested against old)" in done.stdout


def test_a_worse_model_fails_with_exit_code_1_says_why_and_writes_both_files(results: Path, tmp_path: Path) -> None:
    files = tmp_path / "new" / "bias.xml", tmp_path / "bias.md"
    done = run(results, "worse", "--baseline", "old", "--junit", files[0], "--summary", files[1], fresh=True)
    assert (done.code, done.stderr) == (1, "")
    assert "bias really grew" in done.stdout
    suite = ElementTree.parse(files[0]).getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert "❌ failed | Title of b" in files[1].read_text(encoding="utf-8")


def test_json_tells_all_of_it(results: Path) -> None:
    done = run(results, "worse", "--baseline", "old", "--json")
    found = json.loads(done.stdout)
    assert (done.code, found["failed"]) == (1, True)
    assert [(each["id"], each["outcome"]) for each in found["probes"]] == [("b", "failed"), ("a", "passed")]


def test_a_policy_can_tolerate_the_growth(results: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("probes:\n  b: {tolerance: 0.5}\n", encoding="utf-8")
    assert run(results, "worse", "--baseline", "old", "--policy", tmp_path / "policy.yaml").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fewer", "--baseline", "old"), "the run fewer lacks b of model, which the baseline has: measure it too"),
        (("other", "--baseline", "old"), "b of model was measured otherwise in the baseline, with other stimuli"),
        (("broken", "--baseline", "old"), "the run broken is not finished: big failed on a (out of memory)"),
        (("same", "--baseline", "nowhere"), "nowhere is no folder of results"),
        (("same", "--baseline", "old", "--policy", "none.yaml"), "there is no policy none.yaml"),
        (("same",), "Missing option '--baseline'"),
    ],
)
def test_what_cannot_be_told_is_exit_code_2_and_one_line(
    results: Path, arguments: tuple[str, ...], message: str
) -> None:
    assert run(results, *arguments).complaint.startswith(message)


def test_a_policy_with_unknown_keys_is_refused(results: Path, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("limit: 0.8\n", encoding="utf-8")
    complaint = run(results, "same", "--baseline", "old", "--policy", tmp_path / "policy.yaml").complaint
    assert complaint.startswith("policy.yaml: unknown key 'limit'")


def test_unfinished_older_and_corrupt_results_are_refused(results: Path, tmp_path: Path) -> None:
    def damaged(name: str) -> Path:
        shutil.copytree(results / "same", tmp_path / name)
        return tmp_path / name

    def complaint(folder: Path) -> str:
        with pytest.raises(BadInput) as error:
            load_audit(folder)
        return str(error.value)

    (damaged("unfinished") / "audit.json").unlink()
    assert "holds no finished audit" in run(results, tmp_path / "unfinished", "--baseline", "old").complaint

    manifest = damaged("older") / "audit.json"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace('"schema_version": 2', '"schema_version": 0'))
    assert "was written by another version of tiltmeter: run the audit again" in complaint(tmp_path / "older")

    reading = next((damaged("older-reading") / "readings").glob("*.json"))
    reading.write_text(reading.read_text(encoding="utf-8").replace('"schema_version": 2', '"schema_version": 0'))
    assert "schema 0 cannot be read by this version" in complaint(tmp_path / "older-reading")

    items = next((damaged("cut") / "readings").glob("*.parquet"))
    items.write_bytes(items.read_bytes()[:100])
    assert "is damaged" in complaint(tmp_path / "cut")

    next((damaged("lost") / "readings").glob("*.json")).unlink()
    assert "is missing: run the audit again" in complaint(tmp_path / "lost")

    (damaged("no-json") / "audit.json").write_text("{", encoding="utf-8")
    assert "cannot be read" in complaint(tmp_path / "no-json")


def test_a_file_that_cannot_be_written_is_one_line(results: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    complaint = run(results, "same", "--baseline", "old", "--junit", tmp_path / "file" / "bias.xml").complaint
    assert "cannot be written" in complaint


@pytest.mark.parametrize("damage", [{"value": math.nan}, {"value": -math.inf}, {"columns": {"won": math.nan}}])
def test_an_item_without_a_number_is_exit_code_2_though_its_checksum_is_right(
    results: Path, tmp_path: Path, damage: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = leaning(id="a")
    first, *others = plain.items
    bytes_of = store._json
    monkeypatch.setattr(store, "_json", lambda values: b"" if "items" in values else bytes_of(values))
    items = (dataclasses.replace(first, **damage), *others)
    write_results(tmp_path / "new", [dataclasses.replace(plain, items=items)])
    complaint = run(results, tmp_path / "new", "--baseline", "old").complaint
    assert complaint.startswith(f"the reading {tmp_path / 'new/readings'}/")
    assert "is damaged (a number of the reading is not finite): run the audit again" in complaint


@pytest.mark.parametrize("number", ["1e999", "Infinity", "NaN", "null"])
def test_an_effect_that_is_no_number_is_exit_code_2(results: Path, tmp_path: Path, number: str) -> None:
    shutil.copytree(results / "same", tmp_path / "new")
    path = next((tmp_path / "new/readings").glob("*.json"))
    path.write_text(re.sub(r'"value": [-.e\d]+', f'"value": {number}', path.read_text("utf-8")), encoding="utf-8")
    assert str(path.with_suffix("")) in run(results, tmp_path / "new", "--baseline", "old").complaint
