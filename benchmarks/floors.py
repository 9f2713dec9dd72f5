"""How far do harmless changes move the sample models? Prints the default floor of the gate.

Run: python benchmarks/floors.py [MODEL ...] [--folder DIR]

Each model and eight harmless variants of it (what tiltmeter baseline makes) are audited with the suite default, all but
minilm also with the suite measures; of the reference model also four other runs of its training. Printed is, by kind of
probe and scale of its effect, how many times further than the disagreement of its items says the effect moves: the root
mean square over the probes of that kind on a model, and the most that any of the models has, first of word vectors,
then of all; and the same of the mean log-odds behind a share. These are the tables in
src/tiltmeter/compare/sample_floor.py. Left out are two of three sentence sets, which take longest, and bundled:smollm2,
unless it is named. Audits are kept in the folder, so that a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tiltmeter.compare import measure_noise
from tiltmeter.compare.floor import wobble_by_kind
from tiltmeter.run.jitter import jitter
from tiltmeter.run.suite import Suite, load_suite

#: The suites that each model is audited with.
MODELS = {
    "bundled:glove": ("default", "measures"),
    "bundled:word2vec": ("default", "measures"),
    "reference:tilt-0.9": ("default", "measures"),
    "bundled:minilm": ("default",),
}
STATIC = ("bundled:glove", "bundled:word2vec")
#: Other runs of a training, where there are such.
RUNS = {"reference:tilt-0.9": [f"reference:tilt-0.9-seed{seed}" for seed in range(1, 5)]}
LEFT_OUT = ("sentences-leadership", "sentences-intelligence")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=list(MODELS))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tiltmeter-floors")
    options = parser.parse_args()
    tables: dict[str, dict[tuple[str, str], list[tuple[float, float, str]]]] = {"VECTORS": {}, "ALL": {}}
    for model in options.models:
        folder = options.folder / model.replace(":", "-").replace("/", "-")
        suite, runs = _suite(MODELS.get(model, ("default",))), RUNS.get(model, ())
        jittered = jitter(model, out=folder, runs=runs, suite=suite, permutations=200, cache=False, progress=False)
        noise = measure_noise(*jittered)
        agreement = ", ".join(f"{name} {value:.4f}" for name, value in noise.agreement.items())
        print(f"{model}: agreement {agreement}; left out: {', '.join(noise.left_out) or 'none'}", flush=True)
        base, kept = jittered.base, [each for name, each in jittered.variants.items() if name not in noise.left_out]
        pairs = {
            "variants": [(base, each) for each in kept],
            "runs": list(itertools.combinations([base, *jittered.runs.values()], 2)),
        }
        for source, some in pairs.items():
            for kind, found in wobble_by_kind(base, some).items() if some else ():
                row = found.effect, found.margins or 0.0, f"{found.n_probes} on {source} of {model}"
                for name in ("VECTORS", "ALL") if model in STATIC else ("ALL",):
                    tables[name].setdefault(kind, []).append(row)
    for name, table in tables.items():
        print(name)
        for key, rows in sorted(table.items()):
            effect, behind = max(row[0] for row in rows), max(row[1] for row in rows)
            print(f"    {key!r}: ({effect:.2f}, {behind:.2f}),  # {max(rows)[2]}".replace("'", '"'))


def _suite(names: Iterable[str]) -> Suite:
    suites = [load_suite(name) for name in names]
    probes = [probe for suite in suites for probe in suite.probes if not probe.id.startswith(LEFT_OUT)]
    return dataclasses.replace(suites[0], probes=tuple({probe.id: probe for probe in probes}.values()))


if __name__ == "__main__":
    main()
