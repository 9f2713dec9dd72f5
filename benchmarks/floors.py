"""How far do harmless changes move the sample models? Prints the default floor of the gate.

Run: python benchmarks/floors.py [MODEL ...] [--folder DIR]

Each model and eight harmless variants of it (what tiltmeter baseline makes) are audited with the suites default and
measures. Printed is, by kind of probe and scale of its effect, the largest SD over the variants in any probe on any of
the models; and the same of the mean log-odds behind a share. This table is SAMPLES in src/tiltmeter/compare/floor.py.
Left out are the sentence sets, which take longest (a kind that is not in the table has the largest floor of its scale),
and bundled:smollm2, unless it is named. Audits are kept in the folder, so that a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
from pathlib import Path

from tiltmeter.compare import measure_noise
from tiltmeter.run.jitter import jitter
from tiltmeter.run.suite import Suite, load_suite

MODELS = ("bundled:minilm", "bundled:glove", "bundled:word2vec", "reference:tilt-0.9")
LEFT_OUT = ("sentences-",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tiltmeter-floors")
    options = parser.parse_args()
    table: dict[tuple[str, str], list[tuple[float, float, str]]] = {}
    for model in options.models:
        folder = options.folder / model.replace(":", "-").replace("/", "-")
        audit, variants = jitter(model, out=folder, suite=_suite(), permutations=200, cache=False, progress=False)
        noise = measure_noise(audit, variants)
        agreement = ", ".join(f"{name} {value:.4f}" for name, value in noise.agreement.items())
        print(f"{model}: agreement {agreement}; left out: {', '.join(noise.left_out) or 'none'}", flush=True)
        for reading in audit.readings:
            one = noise.probes.get(reading.id)
            if one:
                row = one.effect, one.margins or 0.0, f"{reading.id} on {model}"
                table.setdefault((reading.probe, reading.effect.scale.name), []).append(row)
    for key, rows in sorted(table.items()):
        effect, behind = max(row[0] for row in rows), max(row[1] for row in rows)
        print(f"    {key!r}: ({effect:.4f}, {behind:.4f}),  # {max(rows)[2]}".replace("'", '"'))


def _suite() -> Suite:
    suites = [load_suite(name) for name in ("default", "measures")]
    probes = [probe for suite in suites for probe in suite.probes if not probe.id.startswith(LEFT_OUT)]
    return dataclasses.replace(suites[0], probes=tuple({probe.id: probe for probe in probes}.values()))


if __name__ == "__main__":
    main()
