"""The floor of a model whose own was not measured: how far harmless changes move the models that come with tiltmeter.

``python benchmarks/floors.py`` prints the tables. Each number is, for a kind of probe and its scale, how many times
further than the disagreement of its items says an effect moves, and the log-odds behind it: the root mean square over
the probes of that kind on a model, which wobble alike, and the largest of the models. Word vectors have a table of
their own, because each of them is disturbed by itself; what changes a network changes many of its answers together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tiltmeter.readings import Reading

_Table: TypeAlias = Mapping[tuple[str, str], tuple[float, float]]

#: How sure they are, in variants: those of four models.
SAMPLES_N = 32
#: GloVe and word2vec.
VECTORS: _Table = {
    ("cluster_bias", "share"): (0.41, 0.0),
    ("direct_bias", "size"): (1.81, 0.0),
    ("ect", "coherence"): (0.99, 0.0),
    ("mac", "distance"): (2.56, 0.0),
    ("multi_weat", "eta"): (1.09, 0.0),
    ("neighbour_bias", "correlation"): (1.09, 0.0),
    ("ripa", "difference"): (4.76, 0.0),
    ("rnd", "difference"): (3.54, 0.0),
    ("rnsb", "size"): (1.84, 0.0),
    ("same", "size"): (1.47, 0.0),
    ("semaxis", "difference"): (3.36, 0.0),
    ("weat", "d"): (1.45, 0.0),
    ("wefat", "correlation"): (1.84, 0.0),
}
#: All of them: also MiniLM and a reference model, the runs of its training included.
ALL: _Table = {
    **VECTORS,
    ("association", "d"): (3.09, 0.0),
    ("cloze", "share"): (6.79, 6.79),
    ("lpbs", "d"): (2.38, 0.0),
    ("multi_weat", "eta"): (1.10, 0.0),
    ("pairs", "share"): (2.01, 2.01),
    ("pronouns", "share"): (7.70, 7.70),
    ("seat", "d"): (2.05, 0.0),
    ("unmask", "correlation"): (3.45, 0.0),
    ("unmask", "difference"): (24.93, 24.93),
    ("weat", "d"): (1.63, 0.0),
}


def sample_wobble(reading: Reading) -> tuple[float, float]:
    """The wobble of a reading's effect, and of the log-odds behind it, by the sample models.

    A kind that was not measured has the largest floor of its scale.
    """
    table = VECTORS if is_of_vectors(reading) else ALL
    kind, scale = reading.probe, reading.effect.scale.name
    alike = [floor for (_, name), floor in ALL.items() if name == scale]
    largest = max((effect for effect, _ in alike), default=0.0), max((behind for _, behind in alike), default=0.0)
    return table.get((kind, scale)) or ALL.get((kind, scale)) or largest


def is_of_vectors(reading: Reading) -> bool:
    """Whether it is known to be of word vectors; networks, APIs and users' own objects have the larger floor."""
    return "case" in reading.provenance.model.settings  # of all models only word vectors have this setting
