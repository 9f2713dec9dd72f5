"""Commands that make a model lean less, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import tiltmeter
from tests.lab.mitigate.word_model import planted_words
from tiltmeter.readings.mitigation import Mitigation

SUITE = """
name: mine
description: career
probes:
  - {probe: weat, targets: [gender.male_terms, gender.female_terms], attributes: [attributes.career, attributes.family]}
"""


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("vectors") / "planted.vec"
    rows = [f"{word} {' '.join(map(str, row.round(5)))}" for word, row in planted_words(n=1_200).items()]
    path.write_text("\n".join([f"{len(rows)} 40", *rows]) + "\n", encoding="utf-8")
    return path


def test_debias_writes_a_model_that_every_command_takes(vectors, env, tmp_path):
    made = tiltmeter("debias", "hard", f"static:{vectors}", "--out", str(tmp_path / "hard"), env=env)
    assert made.code == 0, made.stderr
    assert "after hard, fitted on woman, man, women, men, girl, boy and 50 more; seed 0" in made.stdout
    specs = f"static:{vectors}", f"debiased:{tmp_path / 'hard'}"
    (suite := tmp_path / "mine.yaml").write_text(SUITE, encoding="utf-8")
    out = str(tmp_path / "results")
    assert tiltmeter("audit", *specs, "--suite", str(suite), "--out", out, env=env).code == 0
    compared = tiltmeter("compare", out, "--json", env=env)
    assert json.loads(compared.stdout)["rows"][0]["second_model"] == "debiased:hard"
    checked = tiltmeter("check", out, "--baseline", out, env=env)
    assert checked.code == 0, checked.stderr


def test_mitigate_says_which_method_pays_and_writes_a_page(vectors, env, tmp_path):
    (suite := tmp_path / "mine.yaml").write_text(SUITE, encoding="utf-8")
    out = tmp_path / "mitigated"
    arguments = ("--method", "hard,leace", "--suite", str(suite), "--out", str(out), "--permutations", "200")
    done = tiltmeter("mitigate", f"static:{vectors}", *arguments, env=env)
    assert done.code == 0, done.stderr
    made = Mitigation.load(out)
    assert made.recommendation in " ".join(done.stdout.split())
    assert [outcome.less for outcome in made.outcomes] == [1, 1]
    assert "Which method pays" in (out / "mitigation.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("debias", "hrad"), "unknown method 'hrad': did you mean 'hard'?"),
        (("debias", "hard", "--pairs", "xx/yy"), "no set has all its words in the vocabulary of static:planted.vec"),
        (("debias", "sentence_debias"), "sentence_debias is for vectors of texts"),
        (("debias", "hard", "--rank", "99"), "a rank of 99 is too high"),
        (("mitigate", "--method", "hard,hard"), "each once"),
        (("mitigate", "--method", "hard", "--pairs", "mother/father"), "all words belong to one family"),
    ],
)
def test_bad_input_is_one_line_and_nothing_is_written(vectors, env, tmp_path, arguments, complaint):
    command, *rest = arguments
    before = [rest.pop(0)] if command == "debias" else []
    out = tmp_path / "out"
    done = tiltmeter(command, *before, f"static:{vectors}", *rest, "--out", str(out), env=env)
    assert complaint in done.complaint
    assert not out.exists()
