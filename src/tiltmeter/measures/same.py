"""SAME: the scoring association means of embeddings (Schroeder, Schulz & Hammer 2022, 2024)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.deals import DEALS, dealt_contrasts
from tiltmeter.measures.geometry import THREE_UNNAMED, Partners, kin_along, rows, unit
from tiltmeter.measures.semaxis import on_axis
from tiltmeter.statistics import Interval, Result, p_from_null
from tiltmeter.statistics.families import spread_of_mean
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.two_way import TwoWay, student_interval

#: Numbers computed at a time, so that long lists do not fill the memory.
_BATCH = 2_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class SameResult(Result):
    """``score``: mean size of the word biases. For two groups also ``skew`` (mean of the signed biases: do
    words lean to one group on the whole?) and ``stereotype`` (their SD: do they lean to different groups?).

    ``p_value`` is the share of other deals of the attribute words to the groups that give as large a score: a size is
    above 0 whatever the words are, so that its interval ``ci`` (over words) excludes 0 proves nothing. ``skew_test``
    says whether the skew holds for other words and other attributes.
    """

    score: float
    p_value: float
    ci: Interval
    skew: float | None
    skew_test: TwoWay | None
    stereotype: float | None
    by_word: tuple[float, ...]
    n: int


def same(
    words: ArrayLike,
    groups: Sequence[ArrayLike],
    *,
    partners: Partners = (),
    permutations: int = DEALS,
    seed: int = 0,
) -> SameResult:
    """Length of each word's projection on the space in which the attribute groups differ.

    Each group is the mean of its unit vectors. For two groups b = mean A1 - mean A2 and the bias of a word
    is cos(w, b), signed: positive leans towards the first group. For more, the differences to the first group
    span a subspace and the bias is the length of the projection of w/|w|, unsigned. Unlike WEAT's lean it
    is normalised by |b|, so attribute sets that are close together do not make it look small. 0 is level,
    1 the most; lower is better. p deals the attribute words, family by family, to the groups at random.

    Args:
        words: vectors of the words.
        groups: vectors of the words of each group.
        partners: matched words of two groups as places in them (see ``semaxis``), for the skew.
        permutations: how many deals p counts.

    >>> found = same([[1.0, 0.0], [-0.6, 0.8]], [[[1.0, 0.0]], [[-1.0, 0.0]]])
    >>> round(found.score, 3), round(found.skew, 3), round(found.stereotype, 3)
    (0.8, 0.2, 0.8)
    """
    if len(groups) < 2:
        raise BadInput("SAME compares at least two groups of attributes")
    w = rows("words", words, at_least=2)
    sets = [unit(rows(f"group {i + 1}", group, like=w)) for i, group in enumerate(groups)]
    means = np.stack([vectors.mean(0) for vectors in sets])
    differences = means[0] - means[1:]
    _, size, basis = np.linalg.svd(differences, full_matrices=False)
    kept = size > 1e-9 * max(1.0, float(size.max()))
    if int(kept.sum()) < len(groups) - 1:
        raise BadInput("attribute groups do not differ from one another in an independent direction")
    directions = unit(w)
    skew, stereotype, skew_test = None, None, None
    if len(groups) == 2:
        by_word = directions @ unit(differences[0])
        skew, stereotype = float(by_word.mean()), float(by_word.std())
        skew_test = on_axis(directions, *sets, partners=partners, families=THREE_UNNAMED)
    else:
        by_word = np.linalg.norm(directions @ basis.T, axis=1)
    sizes = np.abs(by_word)
    of_words, _ = kin_along(directions, np.concatenate(sets))
    score, *dealt = _dealt_scores(directions, sets, permutations, seed)
    return SameResult(
        float(sizes.mean()),
        p_from_null(np.array(dealt), float(score), alternative="greater", exact=False).p_value,
        student_interval(spread_of_mean(sizes, of_words), lowest=0.0, highest=1.0),
        skew,
        skew_test,
        stereotype,
        tuple(by_word.tolist()),
        len(w),
    )


def _dealt_scores(words: Floats, sets: Sequence[Floats], deals: int, seed: int) -> Floats:
    """The score for the groups as they are, and for each deal of the attributes to them.

    All there is to know are the cosines of words and attributes and those among attributes: with contrasts c the
    projection of a word w has the squared length t' (c alike c')^-1 t, t = c near(w).
    """
    contrasts, attributes = dealt_contrasts(words, sets, deals=deals, seed=seed), np.concatenate(sets)
    near, alike = attributes @ words.T, attributes @ attributes.T
    scores = []
    for c in np.array_split(contrasts, math.ceil(len(contrasts) * len(words) * len(sets) / _BATCH)):
        along = c @ near
        inverse = np.linalg.pinv(c @ alike @ c.swapaxes(1, 2), hermitian=True)
        scores.append(np.sqrt(np.maximum((along * (inverse @ along)).sum(axis=1), 0.0)).mean(axis=1))
    return np.concatenate(scores)
