"""SentenceDebias: the directions in which sentences of the groups differ are taken away (Liang et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from tiltmeter.mitigation.eraser import Eraser, subspace


def sentence_debias(sets: Sequence[ArrayLike], *, rank: int = 1) -> Eraser:
    """Take the first principal components of sentences that differ in the group alone away from every text.

    Liang, Li, Zheng, Lim, Salakhutdinov and Morency (2020), Towards debiasing sentence representations, ACL. A set
    holds the vectors of one sentence with the word of each group in it, around their middle; V are their components

        h' = h - (h Vᵀ) V

    >>> sentence_debias([[[1.0, 0.2], [-1.0, 0.2]]]).apply([[0.6, 0.8]]).round(3).tolist()
    [[0.0, 0.8]]
    """
    return Eraser.projection(subspace(sets, rank=rank, unit_length=False))
