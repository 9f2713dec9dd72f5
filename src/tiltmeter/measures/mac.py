"""MAC: mean average cosine distance, for any number of groups (Manzini et al. 2019)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import cosines, list_families, rows
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.families import spread_of_mean
from tiltmeter.statistics.groups import Units
from tiltmeter.statistics.two_way import student_interval


@dataclasses.dataclass(frozen=True, slots=True)
class MacResult(Result):
    """``score`` is the mean distance; ``by_target`` one row a target, one column an attribute set."""

    score: float
    ci: Interval
    by_target: tuple[tuple[float, ...], ...]
    n: int
    families: int


def mac(targets: ArrayLike, attribute_sets: Sequence[ArrayLike], *, families: Units | None = None) -> MacResult:
    """Mean over targets and attribute sets of the mean cosine distance (1 - cos).

    1: targets and attributes are unrelated; below 1 they are close. One number for all groups together,
    so it says how close targets are to the attributes, not to which group they lean. ci is about other targets:
    Student's t over their ``families`` (found from the vectors unless named), because a bootstrap interval of few words
    is too short.

    >>> mac([[1.0, 0.0], [0.0, 1.0]], [[[1.0, 0.0]], [[0.0, 1.0]]]).score
    0.5
    """
    if len(attribute_sets) == 0:
        raise BadInput("MAC needs at least one set of attributes")
    t = rows("targets", targets, at_least=2)
    sets = [rows(f"attribute set {i + 1}", attributes, like=t) for i, attributes in enumerate(attribute_sets)]
    distances = np.stack([(1 - cosines(t, attributes)).mean(axis=1) for attributes in sets], axis=1)
    ((of_targets,), _) = list_families([t], sets, [families, *[None] * len(sets)])
    mean = spread_of_mean(distances.mean(axis=1), of_targets)
    return MacResult(
        score=float(distances.mean()),
        ci=student_interval(mean, lowest=0.0, highest=2.0),
        by_target=tuple(map(tuple, distances.tolist())),
        n=len(t),
        families=mean.families,
    )
