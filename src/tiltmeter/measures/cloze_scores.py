"""What two lists of cloze scores say: who wins each row, how often, how far apart, and do people agree."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Result, clustered_share, share
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.proportions import Clusters

Labels = Sequence[int | None] | NDArray[Any]

#: Two scores whose logarithms are closer than this (relative to them) differ only by rounding.
_TIE = 1e-12
_TINY, _ALMOST_ONE = float(np.finfo(np.float64).tiny), 1 - float(np.finfo(np.float64).epsneg)


class ClozeStep(NamedTuple):
    """What one way of scoring gives, for a table that shows the effect of each step."""

    name: str
    share_1: float | None
    human_match: float | None
    kl: float


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeScores(Result):
    """``share_1`` is the share of group 1 among the rows with a winner (``winners``: 1, 2, or 0 for a tie).

    Where all rows tie there is no share: ``share_1``, ``share_2``, ``ci`` and ``p_value`` are None.
    ``human_match`` is None without labels.
    """

    share_1: float | None
    share_2: float | None
    ci: Interval | None
    p_value: float | None
    kl: float
    human_match: float | None
    winners: tuple[int, ...]
    ties: int
    scores_1: tuple[float, ...]
    scores_2: tuple[float, ...]

    def step(self, name: str) -> ClozeStep:
        return ClozeStep(name, self.share_1, self.human_match, self.kl)


def judge(
    log_1: Floats,
    log_2: Floats,
    labels: Labels | None,
    clusters: Clusters | None,
    permutations: int,
    seed: int,
) -> ClozeScores:
    """What two lists of scores say, from their logarithms: these keep apart products too small for a number."""
    winners = _winners(log_1, log_2)
    decided = winners > 0
    ones, twos = int((winners == 1).sum()), int((winners == 2).sum())
    if clusters is not None and len(clusters) != winners.size:
        raise BadInput(f"{winners.size} rows but {len(clusters)} clusters: name one per row")
    won = None
    if clusters is None and decided.any():
        won = share(ones, ones + twos)
    elif clusters is not None and decided.any():
        kept = [cluster for cluster, has in zip(clusters, decided, strict=True) if has]
        won = clustered_share(winners[decided] == 1, kept, permutations=permutations, seed=seed)
    scores_1, scores_2 = np.exp(log_1), np.exp(log_2)
    return ClozeScores(
        share_1=won.value if won else None,
        share_2=twos / (ones + twos) if won else None,
        ci=won.ci if won else None,
        p_value=won.p_value if won else None,
        kl=_divergence(scores_1, scores_2, ones - twos),
        human_match=_match(winners, labels),
        winners=tuple(winners.tolist()),
        ties=winners.size - ones - twos,
        scores_1=tuple(scores_1.tolist()),
        scores_2=tuple(scores_2.tolist()),
    )


def _winners(log_1: Floats, log_2: Floats) -> NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        gap = log_1 - log_2
        tie = (log_1 == log_2) | (np.abs(gap) <= _TIE * np.maximum(1.0, np.minimum(np.abs(log_1), np.abs(log_2))))
    return np.where(tie, 0, np.where(gap > 0, 1, 2))


def _divergence(scores_1: Floats, scores_2: Floats, lead: int) -> float:
    a, b = np.clip(scores_1, _TINY, _ALMOST_ONE), np.clip(scores_2, _TINY, _ALMOST_ONE)

    def mean_of(p: Floats, q: Floats) -> float:
        return float((p * (np.log(p) - np.log(q)) + (1 - p) * (np.log1p(-p) - np.log1p(-q))).mean())

    if lead == 0:
        return (mean_of(a, b) + mean_of(b, a)) / 2
    return mean_of(a, b) if lead > 0 else mean_of(b, a)


def _match(winners: NDArray[np.int64], labels: Labels | None) -> float | None:
    if labels is None:
        return None
    if len(labels) != winners.size:
        raise BadInput(f"{winners.size} rows but {len(labels)} labels: give one per row, None where there is none")
    if not set(labels) <= {1, 2, None}:
        raise BadInput("a label is 1 or 2, or None where there is none")
    pairs = [(winner, label) for winner, label in zip(winners.tolist(), labels, strict=True) if label is not None]
    return sum(winner == label for winner, label in pairs) / len(pairs) if pairs else None
