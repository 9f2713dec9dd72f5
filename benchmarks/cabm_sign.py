"""Which way CABM as published runs, model by model. Run: python benchmarks/cabm_sign.py [--seeds N]

On small reference models of one tilt and different seeds: Spearman of its cosine, its context distance and its score
with the planted probabilities, and the spread of the two features, on the sentences of the calibration and on those of
`tiltmeter probe cabm`.
"""

from __future__ import annotations

import argparse

import numpy as np

from tiltmeter import measures
from tiltmeter.lab.calibrate.dose_response import rank_correlation
from tiltmeter.lab.calibrate.selftest import SMALL
from tiltmeter.lab.reference.frames import frames, marked_set
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.reference import Reference
from tiltmeter.lab.reference.spec import ReferenceModel
from tiltmeter.models import CachedModel
from tiltmeter.probes.cabm import cabm
from tiltmeter.probes.cabm.occupation_features import read_features
from tiltmeter.probes.cabm.occupation_sentences import asked_of
from tiltmeter.probes.kind import Replies
from tiltmeter.stimuli.sentences.marked import MarkedSet

TILT = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6, help="models to train, half a minute each")
    truth = planted(TILT)
    (probe,) = cabm.make()
    sets = {
        "calibration": marked_set(list(truth), {}, frames().masked),
        "probe cabm": probe.stimuli.sentences,
    }
    print(
        f"{'seed':<6}{'sentences':<14}{'cosine':>8}{'context':>9}{'score':>7}{'SD of cosine':>15}{'SD of context':>15}"
    )
    for seed in range(parser.parse_args().seeds):
        model = CachedModel(ReferenceModel(Reference(TILT, "masked", seed).name, recipe=SMALL[0]), None)
        for name, sentences in sets.items():
            cosine, context, score, *spreads = looked_at(model, sentences)
            print(f"{seed:<6}{name:<14}{cosine:>8.2f}{context:>9.2f}{score:>7.2f}", end="")
            print("".join(f"{spread:>15.2f}" for spread in spreads), flush=True)


def looked_at(model: CachedModel, sentences: MarkedSet) -> tuple[float, float, float, float, float]:
    """Spearman of cosine, context and score (equal weights) with what is planted, and the SDs of the first two."""
    asked = asked_of(sentences, words=False, fills=False)
    answers = {question: model.answers(question, inputs) for question, inputs in asked.items()}
    features = read_features(sentences, Replies(model.identity.name, asked, answers), seed=0)
    truth = np.array([planted(TILT)[word] for word in features.words])
    table = features.published.values
    score = measures.cabm(table, measures.equal_weights()).scores
    cosine, context, whole = (rank_correlation(truth, each) for each in (table[:, 1], table[:, 2], score))
    return cosine, context, whole, float(table[:, 1].std()), float(table[:, 2].std())


if __name__ == "__main__":
    main()
