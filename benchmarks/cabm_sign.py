"""Which way CABM as published runs, model by model. Run: python benchmarks/cabm_sign.py [--seeds N]

On small reference models of one tilt and different seeds: Spearman of its cosine, its context distance and its score
with the planted probabilities, and the spread of the two features, on the sentences of the calibration and on those of
`tiltmeter probe cabm`.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np

from tiltmeter.lab.calibrate.bench import ProbeMaker
from tiltmeter.lab.calibrate.measure_forms import rank_correlation
from tiltmeter.lab.calibrate.selftest import SMALL
from tiltmeter.lab.reference.planted_text import Reference, frames, planted
from tiltmeter.lab.reference.reference import ReferenceModel
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes

TILT = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6, help="models to train, half a minute each")
    seeds = parser.parse_args().seeds
    with tempfile.TemporaryDirectory() as folder:
        probes = {
            "calibration": ProbeMaker(Path(folder), planted(TILT)).cabm(frames().masked),
            "probe cabm": make_probes("cabm")[0],
        }
        print(f"{'seed':<6}{'sentences':<14}{'cosine':>8}{'context':>9}{'score':>7}", end="")
        print(f"{'SD of cosine':>15}{'SD of context':>15}")
        for seed in range(seeds):
            model = ReferenceModel(Reference(TILT, "masked", seed).name, recipe=SMALL[0])
            for name, probe in probes.items():
                cosine, context, score, *spreads = looked_at(run_probes([probe], model, cache=False)[0])
                print(f"{seed:<6}{name:<14}{cosine:>8.2f}{context:>9.2f}{score:>7.2f}", end="")
                print("".join(f"{spread:>15.2f}" for spread in spreads), flush=True)


def looked_at(reading: Reading) -> tuple[float, float, float, float, float]:
    """Spearman of cosine, context and score as published with what is planted, and the SDs of the first two."""
    truth = np.array([planted(TILT)[item.unit] for item in reading.items])
    cosine, context, score = (
        np.array([item.columns[name] for item in reading.items], dtype=np.float64)
        for name in ("published_cosine", "context", "published")
    )
    follows = [rank_correlation(truth, values) for values in (cosine, context, score)]
    return follows[0], follows[1], follows[2], float(cosine.std()), float(context.std())


if __name__ == "__main__":
    main()
