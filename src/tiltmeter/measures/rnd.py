"""RND: relative norm distance (Garg, Schiebinger, Jurafsky & Zou 2018)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import unknown
from tiltmeter.measures.geometry import (
    THREE_UNNAMED,
    TWO_UNNAMED,
    Bands,
    Families,
    average,
    draw_words,
    list_families,
    rows,
    unit,
)
from tiltmeter.statistics import Alternative, Interval, Result, draw_splits, matched_test, p_from_null
from tiltmeter.statistics.families import (
    COUNTED,
    FEWEST,
    Labels,
    Placebo,
    Spread,
    degrees,
    interaction,
    placebo_of,
    spread_of_mean,
    student_test,
)
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import PermutationTest
from tiltmeter.statistics.two_way import student_interval


@dataclasses.dataclass(frozen=True, slots=True)
class RepairedRnd(Result):
    """Distances between the groups themselves, not between averages of few words, which noise drives apart.

    ``p_value`` is the larger of ``p_targets`` and ``p_attributes`` (None with one attribute), and ``ci`` is about other
    words on both sides. ``families``: how many independent words X, Y and the attributes are worth.
    """

    score: float
    p_value: float
    p_targets: float
    p_attributes: float | None
    ci: Interval
    exact: bool
    standard_error: float
    by_attribute: tuple[float, ...]
    families: tuple[int, int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class RndResult(Result):
    """As published: ``score`` is the mean over attributes of ``by_attribute``; the sign depends on ``distance``."""

    score: float
    p_value: float
    distance: str
    by_attribute: tuple[float, ...]
    n: int
    repaired: RepairedRnd


def rnd(
    x: ArrayLike,
    y: ArrayLike,
    attributes: ArrayLike,
    *,
    distance: Literal["norm", "cos"] = "norm",
    families: Families = THREE_UNNAMED,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> RndResult:
    """Is the average of X nearer to the attributes than the average of Y?

    ``norm``: mean over attributes of |mean X - a| - |mean Y - a|. A distance: NEGATIVE means X is nearer.
    ``cos``: mean of cos(mean X, a) - cos(mean Y, a). A similarity: POSITIVE means X is nearer.
    0 is level. p permutes target words.

    The average of n words of spread S lies |S|²/n further from everything, by its noise alone: a group of few or varied
    words seems far. ``repaired`` takes that off,

        |mean X - a|² - |mean Y - a|², each as a mean over pairs of different words, / (|mean X - a| + |mean Y - a|)

    (of cosines the jackknife does), permutes families of words in standard errors, and holds for other attributes too.
    ``families`` names those of X, of Y and of the attributes; None: found from the vectors.

    >>> found = rnd([[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2, [[1.0, 0.0], [2.0, 0.0]])
    >>> round(found.score, 4), round(found.repaired.score, 4)
    (-1.3251, -1.3251)
    """
    if distance not in ("norm", "cos"):
        raise unknown("distance", distance, ["norm", "cos"])
    x = rows("X", x)
    y, attributes = rows("Y", y, like=x), rows("attributes", attributes, like=x)
    near = _norms if distance == "norm" else _cosines
    mean_x, mean_y = (average("X", x), average("Y", y)) if distance == "cos" else (x.mean(0), y.mean(0))
    by_attribute = (near(mean_x[None], attributes) - near(mean_y[None], attributes))[0]
    both = np.concatenate([x, y])
    masks, exact = draw_splits(len(x), len(y), permutations=permutations, seed=seed)
    in_x = masks / len(x)
    in_y = ~masks / len(y)
    null = (near(in_x @ both, attributes) - near(in_y @ both, attributes)).mean(axis=1)
    score = float(by_attribute.mean())
    (of_x, of_y), (of_attributes,) = list_families([x, y], [attributes], families)
    options: dict[str, Any] = {"alternative": alternative, "permutations": permutations, "seed": seed}
    compare = _compare_norms if distance == "norm" else _compare_cosines
    return RndResult(
        score=score,
        p_value=p_from_null(null, score, alternative=alternative, exact=exact).p_value,
        distance=distance,
        by_attribute=tuple(by_attribute.tolist()),
        n=len(both),
        repaired=_repaired(compare(x, y, attributes, of_x, of_y, options), of_attributes, options),
    )


def rnd_placebo(
    x: ArrayLike,
    y: ArrayLike,
    neutral: ArrayLike,
    *,
    score: float,
    n: int,
    families: Families = TWO_UNNAMED,
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """The repaired difference of norms with so many arbitrary words as attributes, beside the observed one.

    >>> rng = np.random.default_rng(0)
    >>> x, y, neutral = (rng.normal(size=(size, 20)) for size in (8, 8, 100))
    >>> rnd_placebo(x, y, neutral, score=9.0, n=10).p_value < 0.01
    True
    """
    x = rows("X", x)
    y, words = rows("Y", y, like=x), rows("neutral words", neutral, like=x, at_least=n)
    labels, _ = list_families([x, y], [words], [*families, range(len(words))])
    drawn = draw_words(len(words), n, bands=bands, seed=seed)
    far_x, far_y = (_norms(group.mean(axis=0)[None], words)[0][drawn] for group in (x, y))
    weights = 1 / np.maximum(far_x + far_y, 1e-12 * np.abs(words).max())
    shares = np.zeros((len(drawn), len(words)))
    np.put_along_axis(shares, drawn, weights / weights.sum(axis=1, keepdims=True), axis=1)
    centres = shares @ words
    noise = [_noise(group, of, centres) for group, of in zip((x, y), labels, strict=True)]
    return placebo_of((far_x - far_y).mean(axis=1) - weights.mean(axis=1) * (noise[0] - noise[1]), score)


def _noise(words: Floats, families: Labels, centres: Floats) -> Floats:
    """What the noise of a group's average adds to its squared distance from each centre (see ``_pairs``)."""
    size = np.bincount(families).astype(np.float64)
    if size.size < 2:
        return np.zeros(len(centres))
    means = np.stack([words[families == family].mean(axis=0) for family in range(size.size)])
    whole = _norms(centres, words.mean(axis=0)[None])[:, 0] ** 2
    of_families: Floats = _norms(centres, means) ** 2 @ size**2
    n, squares = size.sum(), (size**2).sum()
    noise: Floats = whole - (n**2 * whole - of_families) / (n**2 - squares)
    return noise


@dataclasses.dataclass(frozen=True, slots=True)
class _Compared:
    """Two groups by every attribute, and over their words; ``bound``: two averages cannot differ by more.

    ``shared`` is the variance by what single pairs of word and attribute have of their own.
    """

    by_attribute: Floats
    by_targets: PermutationTest
    spreads: tuple[Spread, Spread]
    shared: float
    bound: float


def _repaired(compared: _Compared, families: Labels, options: dict[str, Any]) -> RepairedRnd:
    """Both sides together: the larger p-value, and an interval with the variance of both."""
    test, by_attributes = compared.by_targets, None
    if compared.by_attribute.size > 1:
        by_attributes = matched_test(compared.by_attribute, families=families, **options)
        test = max(test, by_attributes, key=lambda each: each.p_value)
    targets = sum(each.variance for each in compared.spreads)
    others = spread_of_mean(compared.by_attribute, families)
    variance = max(targets + others.variance - compared.shared, targets, others.variance)
    df = degrees(*((each.variance, each.df) for each in (*compared.spreads, others)))
    count = (compared.spreads[0].families, compared.spreads[1].families, others.families)
    limit = math.inf if math.isfinite(variance) else compared.bound
    return RepairedRnd(
        score=others.mean,
        p_value=test.p_value,
        p_targets=compared.by_targets.p_value,
        p_attributes=None if by_attributes is None else by_attributes.p_value,
        ci=student_interval(Spread(others.mean, variance, df, min(count)), lowest=-limit, highest=limit),
        exact=test.exact,
        standard_error=test.standard_error,
        by_attribute=tuple(compared.by_attribute.tolist()),
        families=count,
    )


def _compare_norms(
    x: Floats, y: Floats, attributes: Floats, of_x: Labels, of_y: Labels, options: dict[str, Any]
) -> _Compared:
    """Distances without the noise of the averages.

    With w = 1 / (|mean X - a| + |mean Y - a|), the mean over attributes of w (|mean X - a|² - |mean Y - a|²) is the
    mean of w times the difference of two squared distances from one point, the attributes' centre weighted by w; and
    such a squared distance without noise is the mean product of the offsets of two different words.
    """
    means = x.mean(axis=0), y.mean(axis=0)
    far_x, far_y = _norms(np.stack(means), attributes)
    weights = 1 / np.maximum(far_x + far_y, 1e-12 * np.abs(attributes).max())
    scale, centre = float(weights.mean()), weights @ attributes / weights.sum()
    k_x, k_y = int(of_x.max()) + 1, int(of_y.max()) + 1
    labels = np.concatenate([of_x, of_y + k_x])
    size = np.bincount(labels).astype(np.float64)
    sums = np.zeros((size.size, x.shape[1]))
    np.add.at(sums, labels, np.concatenate([x, y]) - centre)
    products = sums @ sums.T
    np.fill_diagonal(products, 0.0)
    spreads, noise, shared = [], [], 0.0
    for side, mean in zip((np.arange(size.size) < k_x, np.arange(size.size) >= k_x), means, strict=True):
        k, whole = int(side.sum()), float(np.square(mean - centre).sum())
        # One family says nothing of the noise of its average.
        square, variance = (
            (float(value[0]) for value in _pairs(side[None], products, size)) if k > 1 else (whole, math.inf)
        )
        spreads.append(Spread(scale * square, scale**2 * variance, max(k - 1.0, 1.0), k))
        noise.append(whole - square)
        offsets = sums[side] / size[side, None] - (mean - centre)
        shared += interaction(2 * weights * (offsets @ (mean - attributes).T))
    return _Compared(
        far_x - far_y - weights * (noise[0] - noise[1]),
        _permute(k_x, k_y, products, size, (spreads[0], spreads[1]), options),
        (spreads[0], spreads[1]),
        shared,
        float(np.linalg.norm(means[0] - means[1])),
    )


def _pairs(side: NDArray[np.bool_], products: Floats, size: Floats) -> tuple[Floats, Floats]:
    """The mean product of two words of different families on a side, and its variance by leaving families out.

    For every row of ``side``; ``products`` are those of the families' sums of offsets, with zeros for their own.
    """
    near = side * (side @ products)
    counts = side * size * ((side @ size)[:, None] - size)
    pairs, k = counts.sum(axis=1), side.sum(axis=1)
    mean: Floats = near.sum(axis=1) / pairs
    # Without one family of k the mean over pairs moves by 2 / (k - 2) of what the family had; two leave no pair at all,
    # and count as if half a family were left.
    jackknife = 4 * k * (k - 1) / np.maximum(k - 2, 0.5) ** 2
    variance: Floats = jackknife * np.square(near - mean[:, None] * counts).sum(axis=1) / pairs**2
    return mean, variance


def _permute(
    k_x: int, k_y: int, products: Floats, size: Floats, spreads: tuple[Spread, Spread], options: dict[str, Any]
) -> PermutationTest:
    """As ``welch_test``, of the mean products of pairs."""
    if min(k_x, k_y) < 2 or math.comb(k_x + k_y, k_x) < FEWEST:
        return _student_test(*spreads, options["alternative"])
    masks, exact = draw_splits(k_x, k_y, permutations=options["permutations"], seed=options["seed"], counted=COUNTED)
    masks = np.concatenate([np.arange(k_x + k_y)[None] < k_x, masks])
    (mean_x, variance_x), (mean_y, variance_y) = (_pairs(side, products, size) for side in (masks, ~masks))
    return _count(mean_x - mean_y, variance_x + variance_y, exact=exact, mirrored=k_x == k_y, options=options)


def _student_test(x: Spread, y: Spread, alternative: Alternative) -> PermutationTest:
    df = degrees((x.variance, x.df), (y.variance, y.df))
    return student_test(x.mean - y.mean, x.variance + y.variance, df, alternative)


def _count(
    difference: Floats, variance: Floats, *, exact: bool, mirrored: bool, options: dict[str, Any]
) -> PermutationTest:
    """How many splits have as large a difference, in standard errors, as the first."""
    # Where nothing varies on either side the difference is as far out as can be.
    floor = max(1e-12 * float(np.abs(difference).max()), 1e-150)
    statistic = difference / np.maximum(np.sqrt(variance), floor)
    alternative = options["alternative"]
    return p_from_null(statistic[1:], float(statistic[0]), alternative=alternative, exact=exact, mirrored=mirrored)


def _compare_cosines(
    x: Floats, y: Floats, attributes: Floats, of_x: Labels, of_y: Labels, options: dict[str, Any]
) -> _Compared:
    """The jackknife over families: it takes off the noise that shortens no cosine but that of the average."""
    tables = [_left_out(group, families, attributes) for group, families in ((x, of_x), (y, of_y))]
    by_family = [table.mean(axis=1) for table in tables]
    spread_x, spread_y = (spread_of_mean(values, np.arange(values.size)) for values in by_family)
    return _Compared(
        tables[0].mean(axis=0) - tables[1].mean(axis=0),
        _permute_cosines(np.concatenate([x, y]), of_x, of_y, attributes, (spread_x, spread_y), options),
        (spread_x, spread_y),
        sum(map(interaction, tables)),
        2.0,
    )


def _permute_cosines(
    words: Floats,
    of_x: Labels,
    of_y: Labels,
    attributes: Floats,
    spreads: tuple[Spread, Spread],
    options: dict[str, Any],
) -> PermutationTest:
    """As ``welch_test``, of the cosines of the groups' averages, jackknifed anew in every split.

    The average of another split points elsewhere, so what a family contributes is not the same in all of them.
    """
    k_x, k_y = int(of_x.max()) + 1, int(of_y.max()) + 1
    if min(k_x, k_y) < 2 or math.comb(k_x + k_y, k_x) < FEWEST:
        return _student_test(*spreads, options["alternative"])
    sums = np.zeros((k_x + k_y, words.shape[1]))
    np.add.at(sums, np.concatenate([of_x, of_y + k_x]), words)
    masks, exact = draw_splits(k_x, k_y, permutations=options["permutations"], seed=options["seed"], counted=COUNTED)
    masks = np.concatenate([np.arange(k_x + k_y)[None] < k_x, masks])
    towards, products = sums @ unit(attributes).mean(axis=0), sums @ sums.T
    (mean_x, variance_x), (mean_y, variance_y) = (_jackknife(side, towards, products) for side in (masks, ~masks))
    return _count(mean_x - mean_y, variance_x + variance_y, exact=exact, mirrored=k_x == k_y, options=options)


def _jackknife(side: NDArray[np.bool_], towards: Floats, products: Floats) -> tuple[Floats, Floats]:
    """The cosine of a side's average with the attributes, jackknifed over families, and the variance of that.

    For every row of ``side``; of the families' sums only their part ``towards`` the attributes and their ``products``
    with one another are needed.
    """
    inside = side.astype(np.float64)
    k, part, with_side = inside.sum(axis=1), inside @ towards, inside @ products
    squared = (inside * with_side).sum(axis=1)
    rest = squared[:, None] - 2 * with_side + np.diagonal(products)
    tiny = 1e-12 * float(np.diagonal(products).max())
    whole = part / np.sqrt(np.maximum(squared, tiny))
    values = k[:, None] * whole[:, None] - (k[:, None] - 1) * (
        (part[:, None] - towards) / np.sqrt(np.maximum(rest, tiny))
    )
    mean: Floats = (inside * values).sum(axis=1) / k
    variance: Floats = (inside * (values - mean[:, None]) ** 2).sum(axis=1) / (k * (k - 1))
    return mean, variance


def _left_out(group: Floats, families: Labels, attributes: Floats) -> Floats:
    """The jackknife's pseudo-values of the cosine with every attribute, one row per family."""
    k = int(families.max()) + 1
    whole = _cosines(group.mean(axis=0)[None], attributes)
    if k == 1:
        return whole
    rest = np.stack([group[families != family].mean(axis=0) for family in range(k)])
    values: Floats = k * whole - (k - 1) * _cosines(rest, attributes)
    return values


def _norms(means: Floats, attributes: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    # Not |m|^2 - 2 m.a + |a|^2: where an average meets an attribute its rounding would break ties.
    norms: Floats = cdist(means, attributes)
    return norms


def _cosines(means: Floats, attributes: Floats) -> Floats:
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    similar: Floats = (means / np.where(lengths == 0, 1.0, lengths)) @ unit(attributes).T
    return similar
