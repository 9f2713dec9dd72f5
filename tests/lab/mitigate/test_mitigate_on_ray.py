"""Mitigation on a Ray cluster gives what one machine gives."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("ray", reason="extra ray is not installed")
pytest.importorskip("torch")

from tests.lab.mitigate.word_model import planted_words
from tests.models.tiny_language_models import save_tiny

#: Ray wants a process of its own: it changes signals, and leaves threads behind.
SCRIPT = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from tiltmeter.cli.output import on_engine
    from tiltmeter.lab.mitigate.mitigate import mitigate
    engine, out, words, texts, suite = sys.argv[1:]
    with on_engine(engine, None, 2 if engine == "ray" else None):
        methods = {words: ["hard", "leace"], texts: ["sentence_debias", "inlp"]}
        for name, model in (("words", words), ("texts", texts)):
            made = mitigate(model, methods[model], out=Path(out, name), suite=suite, permutations=99, splits=2)
            print(name, [each.problem for each in made.outcomes], len(made.others))
    """
)
SUITE = """
name: mine
description: career
probes:
  - {probe: weat, targets: [gender.male_terms, gender.female_terms], attributes: [attributes.career, attributes.family]}
"""
#: Of a result and of its audits.
TIMES = "seconds", "started", "finished"


def test_results_are_those_of_one_machine(tmp_path):
    (script := tmp_path / "script.py").write_text(SCRIPT)
    (suite := tmp_path / "mine.yaml").write_text(SUITE)
    rows = [f"{word} {' '.join(map(str, row.round(5)))}" for word, row in planted_words(n=500).items()]
    (vectors := tmp_path / "planted.vec").write_text("\n".join([f"{len(rows)} 40", *rows]) + "\n")
    encoder = f"hf:{save_tiny('bert', tmp_path / 'bert')}?device=cpu"
    said = {}
    for engine in ("local", "ray"):
        ran = subprocess.run(
            [sys.executable, script, engine, tmp_path / engine, f"static:{vectors}", encoder, suite],
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
            env={**os.environ, "TILTMETER_CACHE": str(tmp_path / f"cache-{engine}")},
        )
        assert ran.returncode == 0, ran.stderr[-3000:]
        said[engine] = ran.stdout
    assert said["local"] == said["ray"] == "words ['', ''] 2\ntexts ['', ''] 2\n"
    here, there = tmp_path / "local", tmp_path / "ray"
    files = sorted(file.relative_to(here) for file in here.rglob("*") if file.is_file())
    assert files == sorted(file.relative_to(there) for file in there.rglob("*") if file.is_file())
    assert len(files) > 40
    for file in files:
        one, two = ((side / file).read_bytes() for side in (here, there))
        if file.name in ("audit.json", "mitigation.json"):
            one, two = (_timeless(json.loads(side), engine) for side, engine in ((one, "local"), (two, "ray")))
        assert one == two, file


def _timeless(values, engine):
    """A result without its times and without the folder that it was written to."""
    kept = {name: value for name, value in values.items() if name not in TIMES}
    return json.dumps(kept).replace(f"/{engine}/", "/")
