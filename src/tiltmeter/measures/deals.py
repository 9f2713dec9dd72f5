"""Attribute words dealt to their groups at random: what a statistic without a sign would be along other directions.

A size (SAME), or how well neighbours tell a lean (Gonen & Goldberg), is above its zero along any direction. The same
attribute words dealt to the groups anew give directions that differ from the observed one in nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import kin_along
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator

#: Enough for a p-value of .0005, which is significant among a hundred tests.
DEALS = 1_999


def dealt_contrasts(words: Floats, sets: Sequence[Floats], *, deals: int, seed: int) -> Floats:
    """The weights with which attributes make up the differences of the first group's mean to the others', by deal.

    ``sets`` are the unit vectors of the groups; families of a group's words, found from the vectors, move as a whole.
    Returns an array of 1 + ``deals`` x groups but the first x attributes; the first deal is the observed one.

    >>> dealt_contrasts(np.eye(2), [np.eye(2), -np.eye(2)], deals=3, seed=0)[0].tolist()
    [[0.5, 0.5, -0.5, -0.5]]
    """
    if deals < 1:
        raise BadInput(f"permutations must be at least 1, not {deals}")
    kin = [kin_along(words, vectors)[1] for vectors in sets]
    counts = [int(labels.max()) + 1 for labels in kin]
    family = np.concatenate([labels + sum(counts[:i]) for i, labels in enumerate(kin)])
    groups = np.repeat(np.arange(len(sets)), counts)
    drawn = generator(seed, "permute").permuted(np.broadcast_to(groups, (deals, groups.size)), axis=1)
    inside = np.eye(len(sets))[np.concatenate([groups[None], drawn])[:, family]].swapaxes(1, 2)
    means = inside / inside.sum(axis=2, keepdims=True)
    contrasts: Floats = means[:, :1] - means[:, 1:]
    return contrasts
