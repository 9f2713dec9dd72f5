"""MAC: mean average cosine distance, for any number of groups (Manzini et al. 2019)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import Bands, cosines, draw_words, list_families, rows
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.families import Placebo, placebo_of, spread_of_mean
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


def mac_placebo(
    targets: ArrayLike,
    neutral: ArrayLike,
    *,
    score: float,
    sizes: Sequence[int],
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """The mean distance of the same targets from sets of arbitrary words of these sizes, beside the observed one.

    >>> rng = np.random.default_rng(0)
    >>> mac_placebo(rng.normal(size=(9, 20)), rng.normal(size=(100, 20)), score=0.5, sizes=(4, 4)).p_value < 0.01
    True
    """
    t = rows("targets", targets)
    words = rows("neutral words", neutral, like=t, at_least=sum(sizes))
    far = 1 - cosines(t, words).mean(axis=0)
    drawn = far[draw_words(len(words), sum(sizes), bands=bands, seed=seed)]
    by_set = [part.mean(axis=1) for part in np.split(drawn, np.cumsum(sizes)[:-1], axis=1)]
    return placebo_of(np.mean(by_set, axis=0), score, level=1.0)
