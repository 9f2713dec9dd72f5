"""The interval of CEAT: words are resampled, and within words their contexts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiltmeter.measures.ceat.draws import Contexts
from tiltmeter.statistics import Group, Interval, resampled_interval
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator

RESAMPLES = 2_000
#: Contexts drawn at a time, so that words with many contexts do not fill the memory.
_BATCH = 4_000_000


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


def by_context(scores: Sequence[Floats]) -> Group:
    """A group whose units are words, each with the scores of its contexts."""
    return Group(
        np.array([of_word.mean() for of_word in scores]),
        np.array([np.square(of_word).mean() for of_word in scores]),
        sum(map(len, scores)),
    )


def _drawn(scores: Sequence[Floats], moved: Floats, rng: np.random.Generator) -> Group:
    """The group in every resample: contexts drawn within each word, then words drawn from all of them."""
    resamples = moved.shape[1]
    # Squares of close scores lose their digits unless they are counted from near by.
    centre = float(np.mean([of_word.mean() for of_word in scores]))
    sums = np.stack([_means(np.stack([word - centre, (word - centre) ** 2]), resamples, rng) for word in scores])
    means, within = sums[:, 0], np.maximum(sums[:, 1] - sums[:, 0] ** 2, 0.0)
    means = means + moved + centre
    chosen = rng.integers(len(scores), size=means.shape)
    return Group(
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
