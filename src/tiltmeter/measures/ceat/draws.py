"""Words in many contexts each: the draws of CEAT with the effect of each, and the interval from resampling both."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.geometry import rows, unit
from tiltmeter.statistics import Interval, UnitScores, resampled_interval
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator

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


def contexts(name: str, words: Sequence[ArrayLike], *, like: Contexts | None = None, at_least: int = 1) -> Contexts:
    """Check the words of a set, one (contexts x dim) array each as wide as those of ``like``, and pack them.

    >>> contexts("X", [[[3.0, 4.0]], [[0.0, 2.0], [1.0, 0.0]]]).counts
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


def scores(words: Sequence[ArrayLike], lean: Floats) -> list[Floats]:
    """s of every context of checked words, in double precision: equal scores stay equal.

    >>> scores([[[3.0, 4.0], [2.0, 0.0]]], np.array([1.0, -1.0]))[0].tolist()
    [-0.20000000000000007, 1.0]
    """
    return [unit(np.asarray(word, dtype=np.float64)) @ lean for word in words]


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


def drawn_effects(x: Contexts, y: Contexts, a: Contexts, b: Contexts, picks: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """d of every draw, and the variance of s over X and Y that it was divided by (ddof 1)."""
    targets = np.concatenate([x.rows, y.rows])
    weights = np.repeat([1 / len(a), -1 / len(b)], [len(a.rows), len(b.rows)]).astype(np.float32)
    attributes = np.concatenate([a.rows, b.rows]) * weights[:, None]
    n = len(x) + len(y)
    starts = np.concatenate([words.starts + before for words, before in _after_each_other((x, y), (a, b))])
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


def _after_each_other(*pairs: tuple[Contexts, Contexts]) -> list[tuple[Contexts, int]]:
    """Each set, and how many contexts stand before it where a pair of them is put together."""
    return [(words, before) for one, two in pairs for words, before in ((one, 0), (two, len(one.rows)))]


def _scores(
    targets: NDArray[np.float32],
    attributes: NDArray[np.float32],
    at_targets: NDArray[np.intp],
    at_attributes: NDArray[np.intp],
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
    x: Contexts,
    y: Contexts,
    a: Contexts,
    b: Contexts,
    scores: tuple[Sequence[Floats], Sequence[Floats]],
    *,
    d: float,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Bootstrap interval of d: target words are drawn anew, and the contexts of every target and attribute word.

    ``scores`` are the leans of every context of the words of X and of Y. The attribute words themselves are held
    fixed: they say what is measured. Their contexts move the scores of all target words together; what that adds to
    the spread within a word is of second order and left out.
    """
    rng = generator(seed, "resample")
    words = np.concatenate([x.means, y.means])
    moved = _moved(a, words, resamples, rng) - _moved(b, words, resamples, rng)
    drawn = [_drawn(of_group, by, rng) for of_group, by in zip(scores, np.split(moved, [len(x)]), strict=True)]
    whole = [by_context(of_group) for of_group in scores]
    return resampled_interval(*whole, *drawn, d=d, method="two-level bootstrap (word, context), Fisher z")


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
