"""Audits at the same time: every folder of results is one run's alone."""

from __future__ import annotations

import random
import tempfile
import time
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tests.warm import Warm
from tiltmeter import Audit
from tiltmeter.files import locked

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


def test_of_two_audits_into_one_folder_one_is_told_to_wait_and_the_folder_is_whole(tmp_path: Path) -> None:
    vectors, suite = tmp_path / "planted.vec", tmp_path / "suite.yaml"
    rows = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in words(LEANS).items())
    vectors.write_text("".join(rows), encoding="utf-8")
    suite.write_text("probes: [{id: career, probe: weat}, {id: near, probe: rnd}]", encoding="utf-8")
    env, draw, told = environment(tmp_path / "cache"), random.Random(0), 0
    for number in range(14):
        out, pair = tmp_path / f"out{number}", []
        for seed in "12":
            arguments = ["audit", f"static:{vectors}", "--suite", str(suite), "--seed", seed, "--out", str(out)]
            errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
            pair.append((Warm(arguments, env=env, stderr=errors), errors))
            time.sleep(draw.uniform(0, 0.5) if seed == "1" else 0)
        complaint = f"error: another run is writing to {out}: wait until it is done, or choose another --out\n"
        for process, errors in pair:
            with errors:
                process.wait(60)
                errors.seek(0)
                assert (process.returncode, errors.read()) in ((0, ""), (2, complaint))
                told += process.returncode == 2
        last = [seed for seed, (process, _) in zip("12", pair, strict=True) if process.returncode == 0][-1]
        audit = Audit.load(out)
        assert {reading.provenance.settings["seed"] for reading in audit.readings} == {int(last)}
        assert len(list((out / "readings").iterdir())) == 2 * len(audit.readings) == 4
        assert f"--seed {last}" in (out / "audit.html").read_text(encoding="utf-8")
    assert told >= 7, "too few pairs met for this test to mean anything"


@pytest.mark.parametrize(
    "arguments",
    [
        "lab calibrate --quick --out out",
        "lab inject --model reference:tilt-0.9 --out out",
        "lab context-length bundled:minilm --mined none --out out",
        "mine corpus.txt --lexicon gender.male_terms --out out",
        "baseline bundled:glove --out out",
        "report out",
        "report out --format csv -o out/audit.csv",
    ],
)
def test_every_command_that_writes_results_keeps_out_of_a_folder_that_is_being_written(
    tmp_path: Path, arguments: str
) -> None:
    (tmp_path / "corpus.txt").write_text("then he left", encoding="utf-8")
    with locked(tmp_path / "out"):
        done = tiltmeter(*arguments.split(), env=environment(tmp_path / "cache"), folder=tmp_path)
        assert done.complaint == "another run is writing to out: wait until it is done, or choose another --out"
        assert [path.name for path in (tmp_path / "out").iterdir()] == [".lock"]
