"""Cosine similarities between pronouns and the context words of sentences, from static word vectors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector

Vectors = Mapping[str, Vector | None]


def words_of(phrases: Iterable[str]) -> tuple[str, ...]:
    """The words whose vectors are needed for some phrases.

    >>> words_of(["chef", "truck driver"])
    ('chef', 'truck driver', 'truck', 'driver')
    """
    found: dict[str, None] = {}
    for phrase in phrases:
        found.update(dict.fromkeys([phrase, *phrase.split()]))
    return tuple(found)


def vector_of(phrase: str, vectors: Vectors) -> Vector | None:
    """The vector of a word; of a phrase that has none of its own, the sum of its words', if it has them all."""
    own = vectors.get(phrase)
    if own is not None:
        return own
    parts = [vectors.get(word) for word in phrase.split()]
    if len(parts) < 2 or any(part is None for part in parts):
        return None
    total: Vector = np.sum([part for part in parts if part is not None], axis=0)
    return total


def similarities(
    terms: Sequence[tuple[str, ...]], contexts: Sequence[str], vectors: Vectors
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """cos(term, context) for each pair of a term (words whose vectors are summed) and a context, and which are known.

    A context without a vector has similarity 0; a term without one is an error, because nothing could be compared.
    """
    values = np.zeros(len(contexts))
    known = np.zeros(len(contexts), dtype=bool)
    for i, (term, context) in enumerate(zip(terms, contexts, strict=True)):
        parts = [vector_of(word, vectors) for word in term]
        if any(part is None for part in parts):
            raise BadInput(
                f"'{' + '.join(term)}' has no word vector, so no similarity can be computed: use other vectors"
            )
        one, other = np.sum([part for part in parts if part is not None], axis=0), vector_of(context, vectors)
        if other is not None:
            values[i] = float(one @ other / (np.linalg.norm(one) * np.linalg.norm(other)))
            known[i] = True
    return values, known
