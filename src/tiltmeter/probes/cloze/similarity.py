"""How near context words are to the words of two groups by their vectors, and how far these words differ anyway."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.probes.kind import Replies
from tiltmeter.stimuli import neutral_words
from tiltmeter.stimuli.sentences.cloze_sets import COMPARED, PRONOUN, ClozeSet
from tiltmeter.stimuli.sentences.sentence import Sentence

#: Fewer neutral words than this tell nothing of a constant.
_FEWEST_NEUTRAL = 20


class ContextSimilarity(NamedTuple):
    """How similar the context words of a set are to the words of both groups (2 x sentences); which have a vector.

    ``offset`` and ``error`` are by sentence what the words of the groups differ by on neutral words, on ``n`` of them.
    """

    similarity: NDArray[np.float64]
    has_vector: NDArray[np.bool_]
    offset: NDArray[np.float64]
    error: NDArray[np.float64]
    n: int


def words_to_ask(phrases: Iterable[str]) -> tuple[str, ...]:
    """The words whose vectors are needed for some phrases.

    >>> words_to_ask(["chef", "truck driver"])
    ('chef', 'truck driver', 'truck', 'driver')
    """
    return tuple(dict.fromkeys(word for phrase in phrases for word in (phrase, *phrase.split())))


def vector_of(phrase: str, vectors: Mapping[str, Vector | None]) -> Vector | None:
    """The vector of a word; of a phrase that has none of its own, the sum of its words', if it has them all."""
    vector, words = vectors.get(phrase), phrase.split()
    return vector if vector is not None or len(words) < 2 else _sum(vectors.get(word) for word in words)


def _sum(vectors: Iterable[Vector | None]) -> Vector | None:
    """None where one of them is missing."""
    parts = list(vectors)
    present = [part for part in parts if part is not None]
    return np.sum(present, axis=0) if len(present) == len(parts) else None


def similarities(
    terms: Sequence[tuple[str, ...]], contexts: Sequence[str], vectors: Mapping[str, Vector | None]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """cos(term, context) row by row, and which contexts have a vector; a term is words whose vectors are summed.

    A context without a vector has similarity 0; a term without one is an error, because nothing could be compared.
    """
    values = np.zeros(len(contexts))
    has_vector = np.zeros(len(contexts), dtype=bool)
    for i, (term, context) in enumerate(zip(terms, contexts, strict=True)):
        one, other = _sum(vector_of(word, vectors) for word in term), vector_of(context, vectors)
        if one is None:
            raise BadInput(
                f"'{' + '.join(term)}' has no word vector, so no similarity can be computed: use other vectors"
            )
        if other is not None:
            values[i] = float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
            has_vector[i] = True
    return values, has_vector


def other_context(sentence: Sentence) -> str:
    """The context word of the version of group 2."""
    return sentence.tags.get("context_2", sentence.unit)


def context_similarity(stimuli: ClozeSet, replies: Replies) -> ContextSimilarity:
    """What the vectors say of the contexts of a set; what has none is noted as left out."""
    sentences, vectors = stimuli.sentences, replies.vectors
    terms = [[term_of(stimuli, sentence, side) for sentence in sentences] for side in (0, 1)]
    contexts = [stimuli.units, [other_context(sentence) for sentence in sentences]]
    both = [similarities(*each, vectors) for each in zip(terms, contexts, strict=True)]
    has_vector = both[0][1] & both[1][1]
    for word in sorted({stimuli.units[i] for i in np.flatnonzero(~has_vector)}):
        replies.leave_out(f"context '{word}'", "has no word vector: similarity 0 as published, the mean when repaired")
    neutral = [word for word in neutral_words(stimuli.language) if vectors.get(word) is not None]
    if len(neutral) < _FEWEST_NEUTRAL:
        replies.leave_out("the offset of the word vectors", f"they have {len(neutral)} neutral words, too few for it")
        neutral = []
    offsets = _offsets(dict.fromkeys(zip(*terms, strict=True)), neutral, vectors)
    offset, error = np.array([offsets[pair] for pair in zip(*terms, strict=True)]).T
    return ContextSimilarity(np.array([each[0] for each in both]), has_vector, offset, error, len(neutral))


def term_of(stimuli: ClozeSet, sentence: Sentence, side: int) -> tuple[str, ...]:
    """The words of a group whose vectors, summed, are compared with the context: its race, or the pronoun."""
    if stimuli.races:
        return stimuli.races[side]
    return (sentence.tags.get(COMPARED[side], sentence.forms[PRONOUN][side]),)


def _offsets(
    pairs: Iterable[tuple[tuple[str, ...], tuple[str, ...]]],
    neutral: Sequence[str],
    vectors: Mapping[str, Vector | None],
) -> dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[float, float]]:
    """What the two words of each pair differ by on neutral words, and the standard error; 0 where there are none."""
    offsets = {}
    for pair in pairs:
        if not neutral:
            offsets[pair] = 0.0, 0.0
            continue
        one, two = (similarities([term] * len(neutral), neutral, vectors)[0] for term in pair)
        offset = measures.neutral_offset(one, two)
        offsets[pair] = offset.value, offset.standard_error
    return offsets
