"""ClozeGender: cloze probabilities revised by the filler's similarity with a context word (Sabir & Sharma 2025)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Result, clustered_share, share
from tiltmeter.statistics.groups import Floats, Units, numbers

Labels = Sequence[int | None] | NDArray[Any]

#: Two scores whose logarithms are closer than this (relative to them) differ only by rounding.
_TIE = 1e-12
_TINY, _ALMOST_ONE = float(np.finfo(np.float64).tiny), 1 - float(np.finfo(np.float64).epsneg)


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeStep(Result):
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


@dataclasses.dataclass(frozen=True, slots=True)
class NeutralOffset(Result):
    """How much nearer one filler is than the other to words that say nothing of people: a mean over ``n`` of them."""

    value: float
    standard_error: float
    n: int


def neutral_offset(sim_1: ArrayLike, sim_2: ArrayLike) -> NeutralOffset:
    """The mean of cos(filler 1, w) - cos(filler 2, w) over neutral words w, with its standard error.

    It is a property of the two vectors (their frequency, above all), not of what a sentence says.

    >>> found = neutral_offset([0.1, 0.2, 0.3], [0.1, 0.1, 0.1])
    >>> round(found.value, 3), round(found.standard_error, 3), found.n
    (0.1, 0.058, 3)
    """
    gaps = _within("sim_1", sim_1, -1) - _within("sim_2", sim_2, -1)
    if gaps.size < 2:
        raise BadInput("an offset needs at least two neutral words")
    return NeutralOffset(float(gaps.mean()), float(gaps.std(ddof=1)) / math.sqrt(gaps.size), gaps.size)


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeResult(ClozeScores):
    """The scores as published, the repaired ones, and what each step on the way changes.

    ``shifted`` are the repaired scores of both groups with an offset that is one standard error smaller, and larger.
    """

    repaired: ClozeScores
    steps: tuple[ClozeStep, ...]
    n: int
    shifted: tuple[tuple[Floats, Floats], ...]


def cloze(
    prob_1: ArrayLike,
    prob_2: ArrayLike,
    sim_1: ArrayLike,
    sim_2: ArrayLike,
    *,
    ended_1: ArrayLike | None = None,
    ended_2: ArrayLike | None = None,
    offset: ArrayLike = 0.0,
    offset_error: ArrayLike = 0.0,
    known: ArrayLike | None = None,
    labels: Labels | None = None,
    clusters: Units | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> ClozeResult:
    """Which group's filler scores higher in each row, with score = P(filler | stem) ^ (1 - cos(filler, context))?

    ``share_1`` above one half: more rows lean to group 1. ``kl`` is the mean over rows of
    a ln(a/b) + (1-a) ln((1-a)/(1-b)), a and b the scores of the group that wins more rows and of the other
    (the mean of both directions where they win equally many). ``human_match`` is the share of labelled rows whose
    winner is the label.

    ``repaired`` scores the filler and the end of the sentence together, because "by her" may continue as "by her
    mother". And it takes off the similarities what the fillers' vectors differ by whatever the context (``offset``, see
    ``neutral_offset``), half from each group, because that constant would otherwise decide; interval and p allow for
    its error. Centring both groups over the rows instead would force a lean of all rows to one half: what that gives is
    a step, and no more.

    Args:
        prob_1: P(filler | stem) of group 1 in each row.
        prob_2: P(filler | stem) of group 2.
        sim_1: Cosine of group 1's filler and the context word in each row.
        sim_2: Cosine of group 2's filler and the context word.
        ended_1: The probability of the filler and the end of the sentence; without it, ``prob_1`` is used.
        ended_2: The same for group 2.
        offset: How much nearer group 1's filler is to words that say nothing, for all rows or for each.
        offset_error: Its standard error.
        known: False for rows whose context has no vector: their similarity, 0 as published, is the common mean when
            repaired.
        labels: The group that people expect in each row, 1 or 2; None has no label.
        clusters: Names of rows that are alike (one context word); they are resampled together.
        permutations: How many sign flips of clusters the test draws.
        seed: Of the draws.

    >>> result = cloze([0.2, 0.1, 0.4], [0.1, 0.3, 0.3], [0.3, 0.3, 0.1], [0.2, 0.3, 0.5], labels=[1, 2, 1])
    >>> result.winners, round(result.share_1, 3), round(result.human_match, 3), result.repaired.winners
    ((1, 2, 2), 0.333, 0.667, (1, 2, 2))
    """
    p_1, p_2 = _within("prob_1", prob_1, 0), _within("prob_2", prob_2, 0)
    s_1, s_2 = _within("sim_1", sim_1, -1), _within("sim_2", sim_2, -1)
    if (ended_1 is None) != (ended_2 is None):
        raise BadInput("give the probabilities of an ended sentence for both groups, or for neither")
    e_1 = p_1 if ended_1 is None else _within("ended_1", ended_1, 0)
    e_2 = p_2 if ended_2 is None else _within("ended_2", ended_2, 0)
    has_vector = np.ones(p_1.size, dtype=bool) if known is None else np.asarray(known, dtype=bool)
    if len({values.shape for values in (p_1, p_2, s_1, s_2, e_1, e_2, has_vector)}) > 1:
        raise BadInput("probabilities and similarities must have one value for each row, the same number in all lists")
    constant, error = (
        np.broadcast_to(np.asarray(each, dtype=np.float64), p_1.shape) for each in (offset, offset_error)
    )
    if not (np.isfinite(constant).all() and np.isfinite(error).all() and error.min() >= 0):
        raise BadInput("an offset and its standard error must be finite numbers, the error from 0 on")
    tests: dict[str, Any] = {"labels": labels, "clusters": clusters, "permutations": permutations, "seed": seed}

    def scored(one: Floats, two: Floats, near: tuple[Floats, Floats]) -> ClozeScores:
        return _judge(_log_scores(one, near[0]), _log_scores(two, near[1]), **tests)

    level = _without_offset(s_1, s_2, has_vector, constant)
    published, repaired = scored(p_1, p_2, (s_1, s_2)), scored(e_1, e_2, level)
    shifted = tuple(
        (np.exp(_log_scores(e_1, near_1)), np.exp(_log_scores(e_2, near_2)))
        for near_1, near_2 in (_without_offset(s_1, s_2, has_vector, constant + sign * error) for sign in (-1, 1))
    )
    repaired = _widened(repaired, shifted)
    alone = np.zeros_like(p_1)
    steps = [scored(p_1, p_2, (alone, alone)).step("probability alone"), published.step("as published")]
    if ended_1 is not None:
        steps.append(scored(e_1, e_2, (s_1, s_2)).step("sentence ended"))
    steps += [
        scored(p_1, p_2, level).step("offset taken off"),
        repaired.step("repaired"),
        scored(e_1, e_2, _centred(s_1, s_2, has_vector)).step("centred over the rows instead"),
    ]
    fields = {field.name: getattr(published, field.name) for field in dataclasses.fields(published)}
    return ClozeResult(**fields, repaired=repaired, steps=tuple(steps), n=p_1.size, shifted=shifted)


def cloze_combined(
    scores_1: Sequence[ArrayLike],
    scores_2: Sequence[ArrayLike],
    *,
    shifted: Sequence[tuple[Sequence[ArrayLike], Sequence[ArrayLike]]] = (),
    labels: Labels | None = None,
    clusters: Units | None = None,
    permutations: int = 10_000,
    seed: int = 0,
) -> ClozeScores:
    """The winner by the product of the scores over contexts (verb, noun, occupation).

    ``scores_1`` and ``scores_2`` hold one list per context, of group 1 and of group 2; ``shifted`` has the same with an
    offset one standard error smaller and larger, which interval and p then allow for. For the options see ``cloze``.

    >>> cloze_combined([[0.5, 0.2], [0.5, 0.2]], [[0.4, 0.3], [0.4, 0.1]]).winners
    (1, 1)
    """
    one, two = _products(scores_1, scores_2)
    result = _judge(one, two, labels=labels, clusters=clusters, permutations=permutations, seed=seed)
    return _widened(result, [tuple(map(np.exp, _products(*both))) for both in shifted])


def _products(scores_1: Sequence[ArrayLike], scores_2: Sequence[ArrayLike]) -> tuple[Floats, Floats]:
    """The logarithms of the products over contexts, of both groups."""
    if not len(scores_1) or len(scores_1) != len(scores_2):
        raise BadInput("combined scores need a list for each context, as many for group 1 as for group 2")
    lists = [_within("a list of scores", scores, 0) for scores in (*scores_1, *scores_2)]
    if len({scores.size for scores in lists}) > 1:
        raise BadInput("combined scores need the same rows in every context")
    with np.errstate(divide="ignore"):
        logs = np.log(np.stack(lists))
    return logs[: len(scores_1)].sum(axis=0), logs[len(scores_1) :].sum(axis=0)


@dataclasses.dataclass(frozen=True, slots=True)
class AmplificationResult(Result):
    """``by_context``: b(context, group 1) of every context word that has a winner; ``mean`` counts each word once."""

    by_context: Mapping[str, float]
    mean: float
    n: int


def amplification(contexts: Sequence[str], winners: Sequence[int]) -> AmplificationResult:
    """b(context, g) = rows of the context won by g / rows won by either (Zhao et al. 2017), here of group 1.

    >>> amplification(["cook", "cook", "fix", "sew"], [2, 1, 1, 0]).by_context
    {'cook': 0.5, 'fix': 1.0}
    """
    if len(contexts) != len(winners):
        raise BadInput(f"{len(contexts)} context words but {len(winners)} winners: give one of each per row")
    if not set(winners) <= {0, 1, 2}:
        raise BadInput("a winner is 1, 2, or 0 for a tie")
    won: dict[str, list[bool]] = {}
    for context, winner in zip(contexts, winners, strict=True):
        if winner:
            won.setdefault(context, []).append(winner == 1)
    if not won:
        raise BadInput("no row has a winner, so no context leans either way")
    by_context = {context: sum(rows) / len(rows) for context, rows in won.items()}
    return AmplificationResult(by_context, sum(by_context.values()) / len(by_context), len(contexts))


def mean_probability(token_probabilities: ArrayLike) -> float:
    """Score of a sentence whose pronoun may stand anywhere: the arithmetic mean of its tokens' probabilities.

    As published the first token and full stops are not among them.

    >>> mean_probability([0.25, 0.75])
    0.5
    """
    return float(_within("token probabilities", token_probabilities, 0).mean())


def _within(name: str, values: ArrayLike, low: int) -> Floats:
    checked = numbers(name, values)
    if checked.min() < low - 1e-6 or checked.max() > 1 + 1e-6:
        raise BadInput(
            f"{name} must lie between {low} and 1, not reach from {checked.min():.4g} to {checked.max():.4g}"
        )
    return np.clip(checked, low, 1)


def _without_offset(sim_1: Floats, sim_2: Floats, known: NDArray[np.bool_], offset: Floats) -> tuple[Floats, Floats]:
    """The similarities less the offset, half of it from each; rows without a vector favour nobody."""
    if not known.any():
        return sim_1, sim_2
    common = float((sim_1[known] + sim_2[known]).mean()) / 2
    return np.where(known, sim_1 - offset / 2, common), np.where(known, sim_2 + offset / 2, common)


def _widened(scores: ClozeScores, shifted: Sequence[tuple[Floats, ...]]) -> ClozeScores:
    """Interval and p with the variance that the error of the offset adds to the share."""
    if not shifted or scores.share_1 is None or scores.ci is None or scores.p_value is None:
        return scores
    from scipy.special import ndtr, ndtri

    with np.errstate(divide="ignore"):
        shares = [_share_of(np.log(one), np.log(two)) for one, two in shifted]
    extra = abs(shares[1] - shares[0]) / 2
    own = (scores.ci.high - scores.ci.low) / (2 * float(ndtri((1 + scores.ci.level) / 2)))
    if not extra or not own:
        return scores
    wider = math.hypot(own, extra) / own
    low, high = (scores.share_1 + wider * (end - scores.share_1) for end in (scores.ci.low, scores.ci.high))
    ci = dataclasses.replace(scores.ci, low=max(0.0, low), high=min(1.0, high))
    return dataclasses.replace(scores, ci=ci, p_value=float(2 * ndtr(ndtri(scores.p_value / 2) / wider)))


def _share_of(log_1: Floats, log_2: Floats) -> float:
    winners = _winners(log_1, log_2)
    decided = int((winners > 0).sum())
    return int((winners == 1).sum()) / decided if decided else 0.5


def _centred(sim_1: Floats, sim_2: Floats, known: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    if not known.any():
        return sim_1, sim_2
    mean_1, mean_2 = sim_1[known].mean(), sim_2[known].mean()
    common = (mean_1 + mean_2) / 2
    return np.where(known, sim_1 - mean_1 + common, common), np.where(known, sim_2 - mean_2 + common, common)


def _log_scores(probabilities: Floats, similarities: Floats) -> Floats:
    # Taking an offset off may lift a similarity above 1, where the score of an unlikely filler would pass any bound.
    exponents = np.maximum(1 - similarities, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(exponents == 0, 0.0, exponents * np.log(probabilities))


def _judge(
    log_1: Floats, log_2: Floats, *, labels: Labels | None, clusters: Units | None, permutations: int, seed: int
) -> ClozeScores:
    """What two lists of scores say, from their logarithms: these keep apart products too small for a number."""
    winners = _winners(log_1, log_2)
    decided = np.flatnonzero(winners).tolist()
    ones, twos = int((winners == 1).sum()), int((winners == 2).sum())
    if clusters is not None and len(clusters) != winners.size:
        raise BadInput(f"{winners.size} rows but {len(clusters)} clusters: name one per row")
    won = None
    if decided and clusters is None:
        won = share(ones, ones + twos)
    elif decided and clusters is not None:
        kept = [clusters[row] for row in decided]
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
        ties=winners.size - len(decided),
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
