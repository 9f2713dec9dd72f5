"""Tests that count families of words, and that generalise over both sides of an association.

He, him and his are one observation in three forms. Whatever is shuffled, flipped or resampled here is a family: words
that the lexicon, or the model's own geometry (``measures.geometry``), holds together. And a difference between two
groups of targets on two sets of attributes is a finding only if it would survive other targets and other attributes
(Clark 1973): ``crossed_test`` asks both, and the larger p-value counts.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats, Noise, Power, Result, Units, numbers, power_of_d, unit_index
from tiltmeter.statistics.permutation import (
    Alternative,
    PermutationTest,
    check_alternative,
    draw_splits,
    p_from_null,
    sign_flip_test,
)

Labels = NDArray[np.intp]

#: All splits are counted up to this number: their studentised differences cannot be counted without listing them.
COUNTED = 50_000
#: With fewer splits than this no result could be significant, and Student's t takes the place of counting.
FEWEST = 40
#: Of so few target words nothing is claimed, even where Student's t could.
_NOTHING_CLAIMED = 3


class Spread(NamedTuple):
    """A mean, the variance of that mean by families, its degrees of freedom, and how many families there are."""

    mean: float
    variance: float
    df: float
    families: int


@dataclasses.dataclass(frozen=True, slots=True)
class Kin:
    """Who belongs together in an association of X and Y with A and B.

    ``x`` to ``b`` name the family of every word; ``partners`` are the matched pairs of X and Y by their places, and
    ``of_pairs`` names the family of every pair.
    """

    x: Units
    y: Units
    a: Units
    b: Units
    partners: tuple[tuple[int, int], ...] = ()
    of_pairs: Units = ()


def as_labels(families: Units | None, n: int) -> Labels:
    """Family names as numbers; without names every value is a family of its own."""
    if families is None:
        return np.arange(n)
    if len(families) != n:
        raise BadInput(f"{n} words but {len(families)} names of families: name one family per word")
    return unit_index(families)


def spread_of_mean(values: Floats, families: Labels) -> Spread:
    """The mean of values and its variance, each family's deviations summed before they are squared.

    The sum of squares is scaled so that it is right on average for families that are one observation each, whatever
    their sizes; the degrees of freedom are those of as many families of one size.

    >>> spread_of_mean(np.array([1.0, 2.0, 3.0, 6.0]), np.arange(4)).variance     # 14 / 3 / 4, the usual one
    1.1666666666666667
    """
    n, size = values.size, np.bincount(families).astype(np.float64)
    mean = float(values.mean())
    squares, own = float((np.bincount(families, values - mean) ** 2).sum()), float((size**2).sum())
    # The mean is made of the same values: of a family of size s it takes (1 - 2 s/n + sum s² / n²) of the square.
    scale = 1 - 2 * float((size**3).sum()) / (own * n) + own / n**2
    if size.size < 2:
        return Spread(mean, math.inf, 1.0, size.size)
    return Spread(mean, squares / n**2 / scale, max(n**2 / own - 1, 0.5), size.size)


def welch_test(
    x: Floats,
    y: Floats,
    *,
    families_x: Units | None = None,
    families_y: Units | None = None,
    count_few: bool = False,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> PermutationTest:
    """Does the mean of x differ from that of y? Families change sides, and the difference is in standard errors.

    A plain permutation test assumes equal spread: with few words of wide spread against many of narrow spread it finds
    differences that are not there (Janssen 1997; Chung & Romano 2013). All splits are counted up to 50,000; where there
    are too few for any result to be significant, Student's t with Welch's degrees of freedom is used (``splits`` is 0);
    with ``count_few`` only where families make them so few: of two or three words nothing is claimed.

    >>> welch_test(np.array([3.0, 4.0, 5.0, 4.4]), np.array([1.0, 2.0, 1.5, 1.2])).p_value.__round__(4)
    0.0286
    """
    check_alternative(alternative)
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    x, y = numbers("a group of scores", x), numbers("a group of scores", y)
    of_x, of_y = as_labels(families_x, x.size), as_labels(families_y, y.size)
    k_x, k_y = int(of_x.max()) + 1, int(of_y.max()) + 1
    alone = k_x + k_y == x.size + y.size
    if math.comb(k_x + k_y, k_x) < FEWEST and not (count_few and alone):
        return _student(spread_of_mean(x, of_x), spread_of_mean(y, of_y), alternative)
    labels = np.concatenate([of_x, of_y + k_x])
    size = np.bincount(labels).astype(np.float64)
    # Scores far from 0 would lose their digits in the squares.
    scores = np.concatenate([x, y])
    total = np.bincount(labels, scores - scores.mean()).astype(np.float64)
    masks, exact = draw_splits(k_x, k_y, permutations=permutations, seed=seed, counted=COUNTED)
    halves = k_x == k_y

    def differences(masks: NDArray[np.bool_]) -> Floats:
        # Of halves without kin the difference in standard errors grows with the plain one, which says it all.
        return masks @ total if halves and alone else _studentised(masks, total, size)

    if exact:
        # The observed split is the first of all; of halves the later splits are the earlier ones with sides changed.
        null = differences(masks[: len(masks) // 2] if halves else masks)
        statistic, null = float(null[0]), np.concatenate([null, -null]) if halves else null
    else:
        statistic, null = float(differences(np.arange(k_x + k_y)[None] < k_x)[0]), differences(masks)
    return p_from_null(null, statistic, alternative=alternative, exact=exact, mirrored=halves)


def _studentised(masks: NDArray[np.bool_], total: Floats, size: Floats) -> Floats:
    """The difference of means in standard errors, for every split of families with these sums and sizes.

    Splits into unequal parts differ in their degrees of freedom too: five wide words against forty narrow ones have 4,
    the splits that mix them more. There t is put on the scale of the normal distribution, each by its own (prepivoting,
    Beran 1988; z = sqrt(df ln(1 + t²/df)) (8 df + 1) / (8 df + 3), Wallace 1959): with t itself false positives of
    these lists are .08, and .02 with the forty wide.
    """
    alone = bool((size == 1).all())
    # Of words without kin the sums of scores and of their squares say all.
    moments = np.stack([total, total**2] if alone else [total, total**2, total * size, size, size**2, size**3])
    inside = np.ascontiguousarray((masks @ moments.T).T)  # in this order numpy is six times as fast
    n_inside = int(masks[0].sum())
    means, variances, degrees_within = [], [], []
    for (first, second, *rest), k in (
        (inside, n_inside),
        (moments.sum(axis=1)[:, None] - inside, size.size - n_inside),
    ):
        if alone:
            mean, scale, n, df = first / k, 1 - 1 / k, np.float64(k), np.float64(k - 1)
            squares = second - first * mean
        else:
            mixed, n, squared, cubed = rest
            mean, df = first / n, n**2 / squared - 1
            squares = second - 2 * mean * mixed + mean**2 * squared
            scale = np.maximum(1 - 2 * cubed / (squared * n) + squared / n**2, 1e-9)
        means.append(mean)
        variances.append(np.maximum(squares, 0.0) / (n**2 * scale))
        degrees_within.append(np.maximum(df, 0.5))
    # Where nothing varies within either side the difference is as far out as can be.
    floor = max(1e-12 * float(np.abs(total).max()), 1e-150)
    variance = np.maximum(variances[0] + variances[1], floor**2)
    statistics: Floats = (means[0] - means[1]) / np.sqrt(variance)
    if 2 * n_inside == size.size:
        return statistics
    df = 1 / np.maximum(
        sum((part / variance) ** 2 / df for part, df in zip(variances, degrees_within, strict=True)),
        1 / sum(degrees_within),
    )
    z: Floats = np.copysign(np.sqrt(df * np.log1p(statistics**2 / df)) * (8 * df + 1) / (8 * df + 3), statistics)
    return z


def _student(x: Spread, y: Spread, alternative: Alternative) -> PermutationTest:
    variance = x.variance + y.variance
    return student_test(x.mean - y.mean, variance, degrees((x.variance, x.df), (y.variance, y.df)), alternative)


def student_test(difference: float, variance: float, df: float, alternative: Alternative) -> PermutationTest:
    """Student's t test of a difference with this variance.

    >>> student_test(2.0, 1.0, 10, "two-sided").p_value.__round__(4)
    0.0734
    """
    from scipy.special import stdtr

    if not math.isfinite(variance):
        return PermutationTest(1.0, alternative, False, 0, 0.0, 1.0)
    t = difference / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, difference) if difference else 0.0
    tails = {"two-sided": 2 * float(stdtr(df, -abs(t))), "greater": float(stdtr(df, -t)), "less": float(stdtr(df, t))}
    # Far in the tail the distribution underflows; a p-value is small there, never zero.
    return PermutationTest(min(1.0, max(tails[alternative], 5e-324)), alternative, False, 0, 0.0)


def welch_spread(x: Floats, y: Floats, *, families_x: Units | None = None, families_y: Units | None = None) -> Spread:
    """The difference of two means with its variance, by families, and Welch's degrees of freedom.

    >>> round(welch_spread(np.array([1.0, 2.0, 3.0, 6.0]), np.array([1.0, 1.5, 2.0])).df, 2)
    3.42
    """
    sides = ((x, families_x), (y, families_y))
    one, two = (spread_of_mean(values, as_labels(families, values.size)) for values, families in sides)
    df = degrees(*((side.variance, side.df) for side in (one, two)))
    return Spread(one.mean - two.mean, one.variance + two.variance, df, one.families + two.families)


def degrees(*parts: tuple[float, float]) -> float:
    """Satterthwaite's degrees of freedom of a sum of variances, each with its own."""
    total = sum(variance for variance, _ in parts)
    if not math.isfinite(total) or total == 0:
        return 1.0
    return total**2 / sum(variance**2 / df for variance, df in parts)


def matched_test(
    differences: Floats,
    *,
    families: Units | None = None,
    count_few: bool = False,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> PermutationTest:
    """Is the mean of paired differences 0? Each family of pairs keeps or changes its sign as a whole.

    Where there are too few patterns of signs for any result to be significant, Student's t is used; with ``count_few``
    not of two or three pairs: of these nothing is claimed.

    >>> matched_test(np.array([1.0, 2.0, 3.0, 1.5, 2.5, 0.5])).p_value
    0.03125
    """
    check_alternative(alternative)
    values = numbers("differences", differences)
    labels = as_labels(families, values.size)
    sums = np.bincount(labels, values)
    if 2**sums.size < FEWEST and not (count_few and values.size <= _NOTHING_CLAIMED):
        spread = spread_of_mean(values, labels)
        return student_test(spread.mean, spread.variance, spread.df, alternative)
    return sign_flip_test(sums, alternative=alternative, permutations=permutations, seed=seed)


@dataclasses.dataclass(frozen=True, slots=True)
class CrossedTest(Result):
    """What an association is worth over other targets and over other attributes.

    ``p_value`` is the larger of the two. ``by_attributes`` is None where a set has one attribute: nothing can then be
    said of others. ``n_pairs`` is the number of matched pairs where targets were tested as pairs; ``families`` how many
    independent words the lists are worth (X, Y, A, B). ``variance`` is that of the difference over both sides, ``df``
    are its degrees of freedom, and ``inflation`` is how many times larger it is than if target words were independent
    and attributes fixed. ``noise`` is what the tests weigh the difference against.
    """

    p_value: float
    by_targets: PermutationTest
    by_attributes: PermutationTest | None
    n_pairs: int
    families: tuple[int, int, int, int]
    variance: float
    inflation: float
    df: float
    noise: tuple[Noise, ...]

    def power(self, *, within: float, sizes: tuple[int, int]) -> Power | None:
        """What both tests would have found, as d (see ``power_of_d``)."""
        return power_of_d(self.noise, within=within, sizes=sizes, variance=self.variance)

    @property
    def headline(self) -> PermutationTest:
        """The test that decides."""
        other = self.by_attributes
        return other if other is not None and other.p_value > self.by_targets.p_value else self.by_targets


def crossed_test(
    x: Floats,
    y: Floats,
    *,
    n_a: int,
    kin: Kin,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> CrossedTest:
    """Test the difference between two groups of targets on two sets of attributes, over both.

    ``x`` and ``y`` are tables of similarities with one row per target and one column per attribute, the ``n_a`` of set
    A first. By targets: the lean of every target (mean over A minus mean over B) is compared between X and Y, as pairs
    where they are matched. By attributes: how much nearer X is than Y is compared between A and B.

    >>> x = np.array([[0.9, 0.8, 0.1, 0.2], [0.7, 0.9, 0.2, 0.1]])
    >>> y = np.array([[0.2, 0.1, 0.9, 0.7], [0.1, 0.3, 0.8, 0.8]])
    >>> found = crossed_test(x, y, n_a=2, kin=Kin([0, 1], [0, 1], [0, 1], [0, 1]))
    >>> round(found.p_value, 3), round(found.by_targets.p_value, 3)
    (0.333, 0.333)
    """
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    in_x, in_y = as_labels(kin.x, len(x)), as_labels(kin.y, len(y))
    in_a, in_b = as_labels(kin.a, n_a), as_labels(kin.b, x.shape[1] - n_a)
    lean_x, lean_y = (table[:, :n_a].mean(axis=1) - table[:, n_a:].mean(axis=1) for table in (x, y))
    nearer = x.mean(axis=0) - y.mean(axis=0)
    spreads = spread_of_mean(lean_x, in_x), spread_of_mean(lean_y, in_y)
    if kin.partners:
        first, second = np.array(kin.partners).T
        pair_kin = as_labels(kin.of_pairs, first.size)
        differences = lean_x[first] - lean_y[second]
        by_targets = matched_test(differences, families=pair_kin, count_few=True, alternative=alternative, **options)
        of_pairs = spread_of_mean(differences, pair_kin)
        target_variance, target_df = of_pairs.variance, of_pairs.df
    else:
        by_targets = welch_test(
            lean_x, lean_y, families_x=in_x, families_y=in_y, count_few=True, alternative=alternative, **options
        )
        target_variance = spreads[0].variance + spreads[1].variance
        target_df = degrees(*((each.variance, each.df) for each in spreads))
    k_x, k_y, k_a, k_b = (int(labels.max()) + 1 for labels in (in_x, in_y, in_a, in_b))
    families = k_x, k_y, k_a, k_b
    plain = float(lean_x.var(ddof=1) / len(x) + lean_y.var(ddof=1) / len(y))
    if min(n_a, x.shape[1] - n_a) < 2:
        return CrossedTest(
            by_targets.p_value,
            by_targets,
            None,
            len(kin.partners),
            families,
            target_variance,
            target_variance / plain if plain > 0 else 1.0,
            target_df,
            (noise_of(by_targets, target_variance, target_df),),
        )
    by_attributes = welch_test(
        nearer[:n_a], nearer[n_a:], families_x=in_a, families_y=in_b, alternative=alternative, **options
    )
    sides = spread_of_mean(nearer[:n_a], in_a), spread_of_mean(nearer[n_a:], in_b)
    attribute_variance = sides[0].variance + sides[1].variance
    attribute_df = degrees(*((each.variance, each.df) for each in sides))
    shared = sum(
        interaction(table[:, :n_a], rows, in_a) + interaction(table[:, n_a:], rows, in_b)
        for table, rows in ((x, in_x), (y, in_y))
    )
    variance = max(target_variance + attribute_variance - shared, target_variance, attribute_variance)
    sides_apart = (target_variance, target_df), (attribute_variance, attribute_df)
    return CrossedTest(
        max(by_targets.p_value, by_attributes.p_value),
        by_targets,
        by_attributes,
        len(kin.partners),
        families,
        variance,
        variance / plain if plain > 0 else 1.0,
        _df_of_both(variance, *sides_apart),
        (noise_of(by_targets, target_variance, target_df), noise_of(by_attributes, attribute_variance, attribute_df)),
    )


def _df_of_both(variance: float, *sides: tuple[float, float]) -> float:
    """The degrees of freedom of a variance over both sides, each with its own: Satterthwaite's, or as many fewer as
    make a 95% interval no shorter than that of either side alone, which few families may leave very unsure.

    >>> _df_of_both(5.0, (4.0, 10.0), (1.0, 10.0)).__round__(1), _df_of_both(5.0, (4.0, 2.0), (1.0, 10.0)).__round__(1)
    (14.7, 2.3)
    """
    from scipy.special import stdtridf, stdtrit

    df = max(degrees(*sides), min(own for _, own in sides))
    if not (0 < variance < math.inf):
        return df
    reach = max(float(stdtrit(own, 0.975)) * math.sqrt(part / variance) for part, own in sides)
    return float(stdtridf(0.975, reach)) if reach > float(stdtrit(df, 0.975)) else df


def noise_of(test: PermutationTest, variance: float, df: float) -> Noise:
    """What a test weighs a difference of this variance against."""
    return Noise(variance, df, test.least_p, 2 if test.alternative == "two-sided" else 1)


def interaction(table: Floats, rows: Labels | None = None, columns: Labels | None = None) -> float:
    """The variance of a table's mean by what single cells, family by family, have of their own.

    Both the spread between rows and that between columns hold it; together they count it twice. ``rows`` and
    ``columns`` are the families that those spreads count; without them every row and column is its own.
    """
    n, m = table.shape
    if min(n, m) < 2:
        return 0.0
    rest = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    kept = 1.0
    for labels, axis, size in ((rows, 0, n), (columns, 1, m)):
        if labels is None or int(labels.max()) + 1 == size:
            kept *= 1 - 1 / size
        else:
            inside = np.eye(int(labels.max()) + 1)[labels]
            rest = inside.T @ rest if axis == 0 else rest @ inside
            kept *= _kept(inside.sum(axis=0))
    return float((rest**2).sum()) / table.size**2 / kept


def _kept(sizes: Floats) -> float:
    """The share of the squared sums of families of these sizes that is left when the mean of all is taken off."""
    n, squares = float(sizes.sum()), float((sizes**2).sum())
    return max(1 - 2 * float((sizes**3).sum()) / (squares * n) + squares / n**2, 1e-9)


@dataclasses.dataclass(frozen=True, slots=True)
class Placebo(Result):
    """What arbitrary words give in place of the attributes: 95% of such effects lie between ``low`` and ``high``.

    ``p_value`` is the share of them that are as far from level as the effect. Of ``n_words`` words that were replaced,
    ``n_matched`` were by words of the same band of frequency; of the others it is not known.
    """

    low: float
    high: float
    p_value: float
    draws: int
    n_words: int = 0
    n_matched: int = 0


def placebo_of(effects: Floats, observed: float, *, level: float = 0.0) -> Placebo:
    """Where 95% of the effects of arbitrary words lie, and how often they are as far from level as the observed one.

    >>> placebo_of(np.array([-1.0, 0.0, 1.0]), 2.0).p_value
    0.25
    """
    low, high = np.quantile(effects, [0.025, 0.975])
    extreme = int(np.count_nonzero(np.abs(effects - level) >= abs(observed - level) - 1e-10))
    # The last bits of a matrix product depend on how many threads add it up: two machines should agree.
    low, high = (round(float(bound), 12) for bound in (low, high))
    return Placebo(low, high, (extreme + 1) / (effects.size + 1), effects.size)
