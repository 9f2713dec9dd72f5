"""CEAT: the contextualised embedding association test (Guo & Caliskan 2021)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.geometry import generalise, rows, unit, vanishes
from tiltmeter.statistics import CrossedTest, Interval, Power, Result, random_effects, resampled_interval
from tiltmeter.statistics.groups import Floats, UnitScores, concatenated_d
from tiltmeter.statistics.permutation import Alternative, generator

Sampling = Literal["random", "fixed"]
#: Numbers gathered at a time: as many as stay in a processor's own cache.
_NUMBERS = 400_000
#: Relative to the lengths of what is multiplied, scores that differ by less differ only by rounding.
_ROUNDING = 1e-6
RESAMPLES = 2_000
#: Contexts drawn at a time, so that words with many contexts do not fill the memory.
_BATCH = 4_000_000

Small = NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True)
class Contexts:
    """The words of one set.

    ``rows`` holds the unit vectors of all contexts, word after word, counted from ``centre``. A difference of leans
    does not change with it, and single precision then keeps the digits in which the vectors differ: in a model
    whose vectors all point one way it would otherwise keep those they share. ``means`` is the mean unit vector of
    each word.
    """

    rows: Small
    counts: tuple[int, ...]
    means: Floats
    centre: Floats

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where each word begins in ``rows``."""
        return np.cumsum((0, *self.counts[:-1]))


#: X, Y, A and B.
FourSets: TypeAlias = tuple[Contexts, Contexts, Contexts, Contexts]


def pack_contexts(
    name: str, words: Sequence[ArrayLike], *, like: Contexts | None = None, at_least: int = 1
) -> Contexts:
    """Check the words of a set, one (contexts x dim) array each as wide as those of ``like``, and pack them.

    >>> pack_contexts("X", [[[3.0, 4.0]], [[0.0, 2.0], [1.0, 0.0]]]).counts
    (1, 2)
    """
    try:
        n = len(words)
    except TypeError:
        raise BadInput(f"{name}: give a list with one (contexts x dim) array a word") from None
    if n < at_least:
        raise BadInput(f"{name}: needs at least {at_least} word(s), each with its contexts, and {n or 'none'} given")
    width, centre = (None, None) if like is None else (len(like.centre), like.centre)
    packed, means = [], []
    for place, word in enumerate(words):
        own = f"{name}, word {place}"
        checked = rows(own, word)
        if width is not None and checked.shape[1] != width:
            raise BadInput(f"{own}: vectors are {checked.shape[1]} wide, the others {width}")
        width, units = checked.shape[1], unit(checked)
        means.append(units.mean(axis=0))
        centre = means[0] if centre is None else centre
        packed.append((units - centre).astype(np.float32))
    assert centre is not None  # there is at least one word
    return Contexts(np.concatenate(packed), tuple(map(len, packed)), np.array(means), centre)


def draw_contexts(
    counts: Sequence[int], *, draws: int = 5000, sampling: Sampling = "random", seed: int = 0
) -> NDArray[np.intp]:
    """Which context of each word stands in each draw, (draws x words), for words with ``counts`` contexts.

    A word with at least as many contexts as there are draws gives a different one each time; one with fewer is
    drawn with replacement. ``fixed``: the contexts of a word follow from the seed, its place and its number of
    contexts alone, so they are the same for every model and whatever the other words have; ``random``: one
    stream of random numbers for all words.

    >>> draw_contexts([1, 3], draws=4, sampling="fixed").shape
    (4, 2)
    >>> sorted(draw_contexts([5], draws=5)[:, 0].tolist())
    [0, 1, 2, 3, 4]
    """
    if sampling not in get_args(Sampling):
        raise unknown("sampling", sampling, get_args(Sampling))
    if not isinstance(draws, int | np.integer) or draws < 1:
        raise BadInput(f"draws must be a whole number from 1 on, not {draws}")
    shared = generator(seed, "draw")
    picks = np.empty((len(counts), draws), dtype=np.intp)
    for place, count in enumerate(counts):
        rng = shared if sampling == "random" else generator(seed, "draw", place, count)
        picks[place] = rng.permutation(count)[:draws] if count >= draws else rng.integers(count, size=draws)
    return np.ascontiguousarray(picks.T)


def drawn_effects(sets: FourSets, picks: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """d of every draw, and the variance of s over X and Y that it was divided by (ddof 1)."""
    x, y, a, b = sets
    targets = np.concatenate([x.rows, y.rows])
    weights = np.repeat([1 / len(a), -1 / len(b)], [len(a.rows), len(b.rows)]).astype(np.float32)
    attributes = np.concatenate([a.rows, b.rows]) * weights[:, None]
    n = len(x) + len(y)
    starts = np.concatenate([x.starts, y.starts + len(x.rows), a.starts, b.starts + len(a.rows)])
    scores, sizes = _scores(targets, attributes, (picks + starts)[:, :n], (picks + starts)[:, n:])
    variances = scores.var(axis=1, ddof=1)
    longest = float(np.sqrt(np.square(targets).sum(axis=1).max()))
    same = np.flatnonzero(variances <= (_ROUNDING * longest * sizes) ** 2)
    if same.size:
        raise BadInput(
            f"draw {same[0]}: all words of X and Y score the same, so an effect size is not defined: check words and "
            "vectors"
        )
    effects: Floats = (scores[:, : len(x)].mean(axis=1) - scores[:, len(x) :].mean(axis=1)) / np.sqrt(variances)
    return effects, variances


def _scores(
    targets: Small, attributes: Small, at_targets: NDArray[np.intp], at_attributes: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """s of every word in every draw, and the length of the draw's lean.

    s(w) = w · (mean A - mean B): the vectors of a draw are summed once and multiplied once with each word.
    """
    draws, dim = len(at_targets), targets.shape[1]
    scores, sizes = np.empty(at_targets.shape), np.empty(draws)
    step = max(1, _NUMBERS // (dim * max(at_targets.shape[1], at_attributes.shape[1])))
    for start in range(0, draws, step):
        part = slice(start, start + step)
        leans = attributes[at_attributes[part]].sum(axis=1)
        scores[part] = (targets[at_targets[part]] @ leans[:, :, None])[:, :, 0]
        sizes[part] = np.sqrt(np.square(leans).sum(axis=1))
    return scores, sizes


def two_level_interval(
    sets: FourSets,
    scores: tuple[Sequence[Floats], Sequence[Floats]],
    *,
    d: float,
    inflation: float = 1.0,
    df: float | None = None,
    resamples: int = RESAMPLES,
    seed: int,
) -> Interval:
    """Bootstrap interval of d: target words are drawn anew, and the contexts of every target and attribute word.

    ``scores`` are the leans of every context of the words of X and of Y. The contexts of attributes move the scores of
    all target words together; what that adds to the spread within a word is of second order and left out. What
    families of words and other attribute words leave open comes in by ``inflation`` and ``df``, of a ``CrossedTest``.
    """
    rng = generator(seed, "resample")
    x, y, a, b = sets
    words = np.concatenate([x.means, y.means])
    moved = _moved(a, words, resamples, rng) - _moved(b, words, resamples, rng)
    drawn = [_drawn(of_group, by, rng) for of_group, by in zip(scores, np.split(moved, [len(x)]), strict=True)]
    whole = [by_context(of_group) for of_group in scores]
    method = "two-level bootstrap (word, context), Fisher z"
    return resampled_interval(*whole, *drawn, d=d, inflation=inflation, df=df, method=method)


def by_context(scores: Sequence[Floats]) -> UnitScores:
    """A group whose units are words, each with the scores of its contexts."""
    return UnitScores(
        np.array([of_word.mean() for of_word in scores]),
        np.array([np.square(of_word).mean() for of_word in scores]),
        sum(map(len, scores)),
    )


def _drawn(scores: Sequence[Floats], moved: Floats, rng: np.random.Generator) -> UnitScores:
    """The group in every resample: contexts drawn within each word, then words drawn from all of them."""
    resamples = moved.shape[1]
    # Squares of close scores lose their digits unless they are counted from near by.
    centre = float(np.mean([of_word.mean() for of_word in scores]))
    sums = np.stack([_means(np.stack([word - centre, (word - centre) ** 2]), resamples, rng) for word in scores])
    means, within = sums[:, 0], np.maximum(sums[:, 1] - sums[:, 0] ** 2, 0.0)
    means = means + moved + centre
    chosen = rng.integers(len(scores), size=means.shape)
    return UnitScores(
        np.take_along_axis(means, chosen, axis=0),
        np.take_along_axis(within + means**2, chosen, axis=0),
        sum(map(len, scores)),
    )


def _moved(attributes: Contexts, means: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """How far the mean score of each target word moves with the contexts of the attributes, (words x resamples)."""
    moved = np.zeros((len(means), resamples))
    ends = np.cumsum(attributes.counts)
    for end, count in zip(ends, attributes.counts, strict=True):
        if count > 1:
            near = means @ attributes.rows[end - count : end].astype(np.float64).T
            moved += _means(near - near.mean(axis=1, keepdims=True), resamples, rng)
    return moved / len(attributes)


def _means(values: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """Means over the columns of (rows x contexts) drawn with replacement, (rows x resamples)."""
    rows, count = values.shape
    if count == 1:
        return np.broadcast_to(values, (rows, resamples))
    means = np.empty((rows, resamples))
    step = max(1, _BATCH // count)
    for start in range(0, resamples, step):
        n = min(step, resamples - start)
        drawn = rng.integers(count, size=(n, count)) + count * np.arange(n)[:, None]
        times = np.bincount(drawn.ravel(), minlength=n * count).reshape(n, count)
        means[:, start : start + n] = values @ times.T / count
    return means


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnEffects(Result):
    """The effect sizes of the draws in short; 95% of them lie between ``low`` and ``high``."""

    mean: float
    sd: float
    low: float
    median: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True)
class RepairedCeat(Result):
    """Words are the unit, so nothing here depends on how often one draws, but for the precision of d.

    ``scores_x`` and ``scores_y`` are the mean leans of the words over their contexts, ``score`` the difference of
    their averages.
    """

    effect_size: float
    tau2: float
    p_value: float
    ci: Interval
    crossed: CrossedTest
    power: Power | None
    exact: bool
    p_standard_error: float
    alternative: str
    score: float
    scores_x: tuple[float, ...]
    scores_y: tuple[float, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CeatResult(Result):
    """As published: the combined effect size, and beside it the ``repaired`` statistics."""

    effect_size: float
    tau2: float
    standard_error: float
    p_value: float
    draws: int
    sampling: str
    n: int
    n_contexts: int
    effects: DrawnEffects
    repaired: RepairedCeat


def ceat(
    x: Sequence[ArrayLike],
    y: Sequence[ArrayLike],
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    *,
    draws: int = 5000,
    sampling: Sampling = "random",
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> CeatResult:
    """Differential association of targets X, Y with attributes A, B, over words in many contexts each.

    Each argument lists one (contexts x dim) array a word. A draw picks one context for every word and gives WEAT's d
    (ddof 1); positive: X leans towards A and Y towards B. See ``draw_contexts`` for ``sampling``.

    As published, draws are pooled as independent studies with V = the variance of s over X and Y in the draw:

        W = 1/V    Q = sum W d² - (sum W d)² / sum W    tau² = max(0, (Q - (N - 1)) / (sum W - sum W² / sum W))
        v = 1/(V + tau²)    effect = sum v d / sum v    SE = sqrt(1 / sum v)    p = 2 (1 - Phi(|effect / SE|))

    All draws share the same words, so that p measures N, the number of draws. ``repaired`` pools with the sampling
    variance of d, (n1 + n2)/(n1 n2) + d²/(2 (n1 + n2)), gives an interval by a two-level bootstrap (target words,
    and contexts within words), and a p-value as ``weat`` has it, by targets and by attributes, each word with the mean
    unit vector of all its contexts; the interval is widened to what both sides together leave open.

    >>> he, man = [[1.0, 0.1], [0.9, 0.2]], [[0.9, 0.0]]
    >>> she, woman = [[0.1, 1.0]], [[0.0, 0.8], [0.3, 0.9]]
    >>> found = ceat([he, man], [she, woman], [[[1.0, 0.0]]], [[[0.0, 1.0]]], draws=100)
    >>> round(found.effect_size, 2), round(found.repaired.effect_size, 2), round(found.repaired.p_value, 2)
    (1.72, 1.72, 0.33)
    """
    in_x = pack_contexts("X", x, at_least=2)
    in_y = pack_contexts("Y", y, like=in_x, at_least=2)
    # A and B are counted from the centre of X and Y too: all that matters is that they share one.
    in_a, in_b = pack_contexts("A", a, like=in_x), pack_contexts("B", b, like=in_x)
    lean = in_a.means.mean(axis=0) - in_b.means.mean(axis=0)
    if vanishes(lean, in_a.means):
        raise BadInput("the two sets of attributes have the same average, so no word can lean to either")
    # Every context in double precision: equal scores stay equal.
    leans_x, leans_y = ([unit(np.asarray(word, dtype=np.float64)) @ lean for word in words] for words in (x, y))
    leans = leans_x, leans_y
    concatenated_d(*map(by_context, leans))  # refuses scores that do not vary at all
    sets = in_x, in_y, in_a, in_b
    counts = [count for words in sets for count in words.counts]
    effects, variances = drawn_effects(sets, draw_contexts(counts, draws=draws, sampling=sampling, seed=seed))
    low, median, high = np.quantile(effects, [0.025, 0.5, 0.975]).tolist()
    n_x, n_y = len(in_x), len(in_y)
    published = random_effects(effects, variances)
    pooled = random_effects(effects, (n_x + n_y) / (n_x * n_y) + effects**2 / (2 * (n_x + n_y)))
    means_x, means_y = ([float(leans_of_word.mean()) for leans_of_word in words] for words in leans)
    score = float(np.mean(means_x) - np.mean(means_y))
    # d is in SDs of single contexts; the SD of a draw holds the difference between the groups, which is none of it.
    single = max(float(variances.mean()) - score**2 * n_x * n_y / ((n_x + n_y) * (n_x + n_y - 1)), 0.0)
    crossed = generalise(
        *(words.means for words in sets), alternative=alternative, permutations=permutations, seed=seed
    )
    return CeatResult(
        effect_size=published.mean,
        tau2=published.tau2,
        standard_error=published.standard_error,
        p_value=published.p_value,
        draws=draws,
        sampling=sampling,
        n=n_x + n_y,
        n_contexts=sum(in_x.counts) + sum(in_y.counts),
        effects=DrawnEffects(float(effects.mean()), float(effects.std()), low, median, high),
        repaired=RepairedCeat(
            effect_size=pooled.mean,
            tau2=pooled.tau2,
            p_value=crossed.p_value,
            ci=two_level_interval(sets, leans, d=pooled.mean, inflation=crossed.inflation, df=crossed.df, seed=seed),
            crossed=crossed,
            power=crossed.power(within=single, sizes=(n_x, n_y)),
            exact=crossed.headline.exact,
            p_standard_error=crossed.headline.standard_error,
            alternative=alternative,
            score=score,
            scores_x=tuple(means_x),
            scores_y=tuple(means_y),
        ),
    )
