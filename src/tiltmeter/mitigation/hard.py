"""Hard debiasing: neutralise and equalise, for two groups (Bolukbasi et al. 2016) or more (Manzini et al. 2019)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit
from tiltmeter.mitigation.eraser import Eraser, WordVectors, subspace
from tiltmeter.statistics.groups import Floats


def hard(
    sets: Sequence[WordVectors],
    *,
    rank: int = 1,
    keep: WordVectors | None = None,
    equalise: bool = True,
) -> Eraser:
    """Take the directions in which the words of ``sets`` differ away from every word, and equalise the sets.

    Bolukbasi, Chang, Zou, Saligrama and Kalai (2016), NeurIPS: ``sets`` are pairs and ``rank`` is 1. Manzini, Lim,
    Tsvetkov and Black (2019), NAACL: sets have three words or more and ``rank`` one less.

        neutralise:  w' = (w - w_B) / |w - w_B|,  w_B the part of the unit vector w in the directions B
        equalise:    w' = nu + sqrt(1 - |nu|²) (w_B - mu_B) / |w_B - mu_B|,  mu the mean of a set, nu = mu - mu_B

    Words of a set end up equally far from every neutral word, as unlike each other as before in B only. Words in
    ``keep``, for which the group is part of the meaning, stay as they are, at length 1. Where words end at the same
    place within B, as those of a pair that do not differ there, nothing can make them equal, and it is an error.

    >>> words = {"he": [1.0, 0.0, 0.5], "she": [-1.0, 0.0, 0.5]}
    >>> made = hard([words])
    >>> made.apply([[3.0, 4.0, 0.0]]).tolist(), made.replaced["he"].round(3).tolist()
    ([[0.0, 1.0, 0.0]], [0.894, 0.0, 0.447])
    """
    directions = subspace([list(members.values()) for members in sets], rank=rank)
    eraser = Eraser.projection(directions, unit_length=True)
    replaced = {word: unit(rows(word, [vector])[0]) for word, vector in (keep or {}).items()}
    for members in sets if equalise else ():
        replaced |= dict(zip(members, equalised(list(members.values()), directions), strict=True))
    if not equalise:
        replaced |= {word: unit(rows(word, [vec])[0]) for members in sets for word, vec in members.items()}
    return dataclasses.replace(eraser, replaced=replaced)


def equalised(members: Sequence[Any], directions: Floats) -> Floats:
    """The words of one set, equally far from every word without a part in the directions."""
    vectors = unit(rows("set", members, at_least=2))
    mean = vectors.mean(axis=0)
    inside = (vectors - mean) @ directions.T @ directions
    lengths = np.linalg.norm(inside, axis=1, keepdims=True)
    if lengths.min() <= 1e-9:
        raise BadInput("the words of a set do not differ along the directions, so they cannot be equalised")
    rest = mean - mean @ directions.T @ directions
    equal: Floats = rest + np.sqrt(max(0.0, 1 - float(rest @ rest))) * inside / lengths
    return equal
