"""A model and its harmless variants, audited once."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.readings import Audit
from tiltmeter.run.jitter import FOLDER, RUNS, dry_run, jitter

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.02, -0.02, 0.8, -0.8], strict=True))


class Words:
    """Word vectors that count how often they are asked about a word for a man."""

    def __init__(self, revision: str = "1") -> None:
        self.identity = Identity("own:words", revision)
        self.asked = 0
        self._vectors = words(LEANS)

    def embed_words(self, asked: Sequence[str]) -> list[Any]:
        self.asked += "man" in asked
        return [self._vectors.get(word) for word in asked]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text("name: small\nprobes:\n  - {id: career, probe: weat}\n", encoding="utf-8")
    return path


def test_each_variant_is_audited_once_beside_the_model(tmp_path: Path, suite: Path) -> None:
    model, out = Words(), tmp_path / "out"
    base, variants, runs = jitter(model, out=out, n=4, suite=suite, cache=False)
    assert list(variants) == ["noise-0.02-1", "rounding-8-2", "rounding-6-3", "noise-0.02-4"]
    assert not runs
    effects = {audit.readings[0].effect.value for audit in (base, *variants.values())}
    assert len(effects) == 5
    assert max(effects) - min(effects) < 0.1
    assert Audit.load(out).readings[0].effect == base.readings[0].effect

    # One that is missing is audited again, the others are read.
    shutil.rmtree(out / FOLDER / "rounding-8-2")
    before = model.asked
    _, again, _ = jitter(model, out=out, n=4, suite=suite, cache=False)
    assert model.asked - before == 2  # the model itself, and the one variant
    assert {name: audit.readings[0].effect for name, audit in again.items()} == {
        name: audit.readings[0].effect for name, audit in variants.items()
    }


def test_variants_of_other_weights_or_other_settings_are_audited_again(tmp_path: Path, suite: Path) -> None:
    out = tmp_path / "out"
    jitter(Words(), out=out, n=3, suite=suite, cache=False)
    for model, seed in ((Words("2"), 0), (Words("2"), 7)):
        jitter(model, out=out, n=3, suite=suite, cache=False, seed=seed)
        assert model.asked == 4


def test_a_model_that_cannot_be_perturbed_is_not_asked(tmp_path: Path, suite: Path) -> None:
    class Texts:
        def embed_texts(self, _texts: Sequence[str]) -> list[Any]:
            raise AssertionError("asked")

    with pytest.raises(BadInput, match="a Texts cannot be perturbed"):
        jitter(Texts(), out=tmp_path / "out", suite=suite, cache=False)
    assert not (tmp_path / "out").exists()


def test_other_runs_are_audited_once_beside_the_model(tmp_path: Path, suite: Path) -> None:
    out, others = tmp_path / "out", [Words("2"), Words("3"), Words("4")]
    _, variants, runs = jitter(Words(), out=out, n=0, runs=others, suite=suite, cache=False)
    assert not variants
    assert list(runs) == ["run-1", "run-2", "run-3"]
    assert [audit.readings[0].provenance.model.revision for audit in runs.values()] == ["2", "3", "4"]
    assert (out / RUNS / "run-3").is_dir()
    jitter(Words(), out=out, n=0, runs=others, suite=suite, cache=False)
    assert [run.asked for run in others] == [1, 1, 1]


def test_a_dry_run_counts_the_model_its_variants_and_other_runs(suite: Path) -> None:
    model = Words()
    rows = dry_run(model, n=3, runs=[Words("2")], suite=str(suite))
    names = ["own:words", *(f"own:words {name}" for name in ("noise-0.02-1", "rounding-8-2", "rounding-6-3"))]
    assert [row["model"] for row in rows] == [*names, "own:words"]
    assert len({row["inputs"] for row in rows}) == 1
    assert model.asked == 0
