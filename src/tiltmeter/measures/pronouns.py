"""Pronoun preference: by occupation (unmasking), and between pro- and anti-stereotypical sentences (WinoBias)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Correlation, Interval, Mean, Result, Share, by_unit
from tiltmeter.statistics.estimates import clustered_mean, clustered_share, correlation, preferred, share_of
from tiltmeter.statistics.groups import Units, numbers


@dataclasses.dataclass(frozen=True, slots=True)
class PronounGapResult(Result):
    """``gap``: mean of ``by_unit``, each the mean P(1) - P(2) of a unit's sentences."""

    gap: float
    ci: Interval
    p_value: float
    exact: bool
    by_unit: Mapping[Any, float]
    correlation: Correlation | None
    n: int
    n_units: int


@dataclasses.dataclass(frozen=True, slots=True)
class PreferenceResult(Result):
    """``share`` of pairs that prefer the stereotype, a tie counting half; ``gap``: mean log-odds of it."""

    share: Share
    gap: Mean
    ties: int
    by_cluster: Mapping[Any, float]
    n: int


def pronoun_gap(
    p_1: ArrayLike,
    p_2: ArrayLike,
    *,
    units: Units | None = None,
    shares: Mapping[Any, float] | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> PronounGapResult:
    """Mean of P(1) - P(2) by unit (occupation), each unit counting once.

    Positive: the model leans to group 1 (he); 0 is level. Units are resampled (ci) and change sign (p). ``shares``
    is what is known of the units, such as the share of women: ``correlation`` is Pearson's r of the gaps with it, so
    it is negative where gaps towards men go with few women. Units without a share are left out of it.

    >>> found = pronoun_gap([0.6, 0.5, 0.1], [0.2, 0.3, 0.7], units=["cook", "cook", "nurse"])
    >>> round(found.gap, 3), {unit: round(gap, 3) for unit, gap in found.by_unit.items()}
    (-0.15, {'cook': 0.3, 'nurse': -0.6})
    """
    one, two = numbers("p_1", p_1), numbers("p_2", p_2)
    if one.size != two.size:
        raise BadInput(f"{one.size} probabilities of group 1 but {two.size} of group 2: give one of each a sentence")
    if min(one.min(), two.min()) < 0 or max(one.max(), two.max()) > 1 + 1e-6:
        raise BadInput("probabilities lie between 0 and 1: give probabilities, not their logarithms")
    gaps = by_unit(one - two, units).means
    mean = clustered_mean(gaps, permutations=permutations, seed=seed)
    named = dict(zip(dict.fromkeys(range(one.size) if units is None else units), gaps.tolist(), strict=True))
    related = None
    if shares is not None:
        known = [unit for unit in named if unit in shares]
        if len(known) < 4:
            raise BadInput(f"a correlation needs the shares of at least 4 units, not {len(known)}")
        related = correlation([named[unit] for unit in known], [shares[unit] for unit in known], seed=seed)
    return PronounGapResult(mean.value, mean.ci, mean.p_value, mean.exact, named, related, one.size, len(named))


def preference(
    pro: ArrayLike, anti: ArrayLike, *, clusters: Units | None = None, permutations: int = 10_000, seed: int = 0
) -> PreferenceResult:
    """How often, and by how much, is the pro-stereotypical version of a sentence the likelier one?

    ``pro`` and ``anti`` are natural logarithms of probabilities, so pro - anti is the log-odds of the stereotype;
    ``gap`` is their mean, 0 is level. ``clusters`` names what pairs have in common (the occupation): whole clusters
    are resampled and change sign; without them each pair is independent.

    >>> found = preference([-1.0, -2.0, -2.0, -1.0], [-2.0, -1.0, -2.0, -4.0])
    >>> found.share.value, found.gap.value, found.ties
    (0.625, 0.75, 1)
    """
    one, two = numbers("pro", pro), numbers("anti", anti)
    if one.size != two.size:
        raise BadInput(f"{one.size} pro-stereotypical but {two.size} anti-stereotypical scores: a pair has one of each")
    outcomes = preferred(one, two)
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    estimate = share_of(outcomes) if clusters is None else clustered_share(outcomes, clusters, **options)
    means = by_unit(outcomes, clusters).means.tolist()
    return PreferenceResult(
        share=estimate,
        gap=clustered_mean(one - two, clusters=clusters, **options),
        ties=int((outcomes == 0.5).sum()),
        by_cluster={} if clusters is None else dict(zip(dict.fromkeys(clusters), means, strict=True)),
        n=one.size,
    )
