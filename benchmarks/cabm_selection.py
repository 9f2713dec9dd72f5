"""Which scores of CABM does the thesis print: of the features as they are, or of standardised ones?

Run: python benchmarks/cabm_selection.py [MODEL] [--selections N]

The thesis took 927 sentences of WinoBias, 480 with he and 447 with she, and does not say which. Here are selections of
that size drawn at random; their published features are weighed by the weights that the thesis prints, raw and
standardised, beside the SDs that it prints.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.lab.replicate.paper import printed_rows
from tiltmeter.measures.cabm.cabm import categories, pronoun_pmi_bias
from tiltmeter.models import load
from tiltmeter.models.protocol import Span
from tiltmeter.probes.sentences.pronoun_sets import read_pronouns
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.sentence import Sentence

SIZES = (480, 447)
PRONOUNS = (("he", "him", "his"), ("she", "her"))
THRESHOLD = 0.1
SHOW = "{:>9}  {:9}  {:12}  {:>6}  {:>7}  {:>3}  {:>5}  {:>7}".format


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bundled:minilm")
    parser.add_argument("--selections", type=int, default=3)
    given = parser.parse_args()
    model = load(given.model)
    found = [row for row in read_pronouns("winobias").sentences if "occupation" in row.slots]
    sentences = list({row.masked("pronoun").text: row for row in found}.values())  # with either pronoun it is the same
    weights = {row.label: [cell.value for cell in row.cells] for row in printed_rows("cabm", "Section 2.5", 3)}
    printed = {row.label: row.cells[1].value for row in printed_rows("cabm", "Section 2.6.2", 10)}
    print(SHOW("selection", "weights", "features", "SD", "printed", "men", "women", "neither"))
    for seed in range(1, given.selections + 1):
        drawn = np.random.default_rng(seed).permutation(len(sentences))[: sum(SIZES)].tolist()
        chosen = [sentences[number].version("pronoun", 1 + (place >= SIZES[0])) for place, number in enumerate(drawn)]
        raw = features(model, chosen)
        for label, weight in weights.items():
            for name, table in (("raw", raw), ("standardised", (raw - raw.mean(axis=0)) / raw.std(axis=0))):
                scores = table @ np.array(weight, dtype=np.float64)
                neither, men, women = np.bincount(categories(scores, THRESHOLD), minlength=3).tolist()
                sd = "-" if printed.get(label) is None else f"{printed[label]:.3f}"
                print(SHOW(seed, label, name, f"{scores.std(ddof=1):.3f}", sd, men, women, neither), flush=True)


def features(model: Any, chosen: Sequence[Sentence]) -> Floats:
    """PMI, cosine and context of every occupation that has sentences of both groups, as published."""
    read = (((0, 0), row.slots["occupation"], row.slots["pronoun"]) for row in chosen)  # the first is [CLS]
    spans = [Span(row.text, *place) for row, places in zip(chosen, read, strict=True) for place in places]
    vectors = np.asarray(model.embed_spans(spans), dtype=np.float64).reshape(len(chosen), 3, -1)
    unit, pronoun = np.array([row.unit for row in chosen]), np.array([row.word("pronoun").lower() for row in chosen])
    group = np.array([int(word in PRONOUNS[1]) for word in pronoun])
    words = [word for word in np.unique(unit) if len(set(group[unit == word])) == 2]
    counts = [[[((unit == word) & (pronoun == mark)).sum() for mark in side] for word in words] for side in PRONOUNS]
    marks = [np.array([vectors[pronoun == mark, 2].mean(axis=0) for mark in side]) for side in PRONOUNS]
    means = np.array([vectors[unit == word, 1].mean(axis=0) for word in words])
    one, two = ([vectors[(unit == word) & (group == side), 0] for word in words] for side in (0, 1))
    columns = [pronoun_pmi_bias(*counts).values, measures.cosine_bias(means, *marks), measures.context_shift(one, two)]
    return np.stack(columns, axis=1)


if __name__ == "__main__":
    main()
