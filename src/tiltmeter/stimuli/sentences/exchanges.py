"""Which sentence pairs belong together, where their source does not say: those that exchange the same words."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from tiltmeter.stimuli.sentences.sentence import Sentence

#: With fewer clusters than this no share could be significant: 2^5 patterns of signs leave p above .06.
_FEWEST = 6
#: Stands for the words that are exchanged.
_GAP = "…"


def pair_clusters(pairs: Sequence[Sentence]) -> list[str]:
    """The cluster of every pair: what it exchanges, or its text where a set exchanges hardly anything.

    Whether a model prefers "black" or "white" is decided by these words wherever they stand, so pairs that exchange the
    same words, in either direction, are one cluster; so are pairs that share all other words (one template). Of a pair
    that differs in several places the first one counts: "he lost his" and "he lost" both exchange he and she. A set
    that exchanges fewer than six pairs of words asks about those very words; its clusters are its templates alone. The
    tag ``cluster`` says it where the source knows better.

    >>> from tiltmeter.stimuli.sentences.sentence import sentence_pair
    >>> texts = [("The old sat.", "The young sat."), ("The tall sat.", "The short sat."), ("Men run.", "Women run.")]
    >>> pair_clusters([sentence_pair(*pair) for pair in texts])
    ['the … sat', 'the … sat', '… run']
    """
    if all("cluster" in pair.tags for pair in pairs):
        return [pair.tags["cluster"] for pair in pairs]
    exchanges, frames = zip(*(_exchange(*pair.forms["sentence"]) for pair in pairs), strict=True)
    if len(set(exchanges)) < _FEWEST:
        return list(frames)
    # Clusters that share a template are one: each name leads to the first that it was joined with.
    leads: dict[str, str] = {}

    def first(name: str) -> str:
        while leads.setdefault(name, name) != name:
            name = leads[name]
        return name

    for exchange, frame in zip(exchanges, frames, strict=True):
        if frame != _GAP:  # two sentences that have nothing in common are no template
            leads[first(frame)] = first(exchange)
    return [first(exchange) for exchange in exchanges]


def _exchange(one: str, two: str) -> tuple[str, str]:
    """The words of the first difference between two sentences, in the order of the alphabet, and the words around."""
    first, second = ([word.strip(".,;:!?\"'()").casefold() for word in text.split()] for text in (one, two))
    steps = difflib.SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    swapped = next((step for step in steps if step[0] != "equal"), ("equal", 0, 0, 0, 0))
    _, i, j, k, m = swapped
    exchange = " / ".join(sorted((" ".join(first[i:j]), " ".join(second[k:m]))))
    rest = [" ".join(first[i:j]) if name == "equal" else _GAP for name, i, j, _, _ in steps]
    return exchange, " ".join(rest)
