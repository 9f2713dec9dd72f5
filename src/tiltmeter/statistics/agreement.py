"""How far labellers agree beyond chance: Cohen's and Fleiss' kappa, and Krippendorff's alpha, for labels without order.

All three are (observed - expected) / (1 - expected), and differ in the agreement that chance is expected to bring. An
item adds a row of numbers to sums of which both shares follow, so that a bootstrap over items is one product of
matrices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Sequence

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.statistics.estimates import wilson
from tiltmeter.statistics.groups import RESAMPLES, Floats, Result, Units, check_level, unit_index
from tiltmeter.statistics.intervals import Interval
from tiltmeter.statistics.permutation import generator

#: Numbers resampled at a time, so that long lists do not fill the memory.
_BATCH = 4_000_000
#: What is left of 1 - expected where everybody gave one label only.
_ROUNDING = 1e-12

Label = Hashable | None
#: Sums over items in (one row each), observed and expected agreement out.
_Shares = Callable[[Floats], tuple[Floats, Floats]]


@dataclasses.dataclass(frozen=True, slots=True)
class ChanceCorrected(Result):
    """Agreement beyond chance: 1 is perfect, 0 what chance would bring, below 0 less than that.

    ``value`` is None where only one label was ever given: nobody could have disagreed, so nothing is shown. ``ci`` is
    None where too few items were resampled to tell. ``items`` were used, with ``ratings`` labels of ``raters`` people.
    """

    value: float | None
    ci: Interval | None
    observed: float
    expected: float
    items: int
    ratings: int
    raters: int


def cohen_kappa(
    first: Sequence[Label],
    second: Sequence[Label],
    *,
    clusters: Units | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ChanceCorrected:
    """Agreement of two people, chance being that each gives labels as often as they did (Cohen 1960).

    Args:
        first: One person's labels, None where there is none; items that only one of them labelled are left out.
        second: The other person's.
        clusters: What each item is about; items about the same are resampled together.
        level: Of the interval.
        resamples: Of the bootstrap over items.
        seed: Of the bootstrap.

    >>> found = cohen_kappa("MMMWWMWW", "MMWWWMMW")       # 6 of 8 agree; chance 1/2
    >>> found.observed, found.expected, found.value
    (0.75, 0.5, 0.5)
    """
    if len(first) != len(second):
        raise BadInput(f"{len(first)} labels beside {len(second)}: give one label of each person per item")
    pairs = [[one, two] for one, two in zip(first, second, strict=True)]
    codes, kept, k = _coded(pairs, needed=2)
    cells = np.zeros((len(codes), k, k))
    if len(codes):
        cells[np.arange(len(codes)), codes[:, 0], codes[:, 1]] = 1

    def shares(sums: Floats) -> tuple[Floats, Floats]:
        tables = sums.reshape(-1, k, k)
        n = tables.sum((1, 2))
        rows, columns = tables.sum(2) / n[:, None], tables.sum(1) / n[:, None]
        return np.trace(tables, axis1=1, axis2=2) / n, (rows * columns).sum(1)

    return _estimate(cells.reshape(len(codes), -1), shares, kept, clusters, level, resamples, seed, 2 * len(codes), 2)


def fleiss_kappa(
    labels: Sequence[Sequence[Label]],
    *,
    clusters: Units | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ChanceCorrected:
    """Agreement of several people, chance being one distribution of labels for all of them (Fleiss 1971).

    Args:
        labels: One row per item with everybody's label; items that somebody has not labelled are left out.
        clusters: What each item is about; items about the same are resampled together.
        level: Of the interval.
        resamples: Of the bootstrap over items.
        seed: Of the bootstrap.

    >>> found = fleiss_kappa(["MMM", "MMW", "WWW", "WWM"])    # P = (1 + 1/3 + 1 + 1/3) / 4; chance 1/2
    >>> round(found.observed, 4), found.expected, round(found.value, 4)
    (0.6667, 0.5, 0.3333)
    """
    raters = _raters(labels)
    codes, kept, k = _coded(labels, needed=raters)
    counts = _counts(codes, k)
    agreeing = (counts * (counts - 1)).sum(1) / (raters * (raters - 1))

    def shares(sums: Floats) -> tuple[Floats, Floats]:
        totals = sums[:, 1:]
        n = totals.sum(1)
        return sums[:, 0] * raters / n, ((totals / n[:, None]) ** 2).sum(1)

    rows = np.column_stack([agreeing, counts])
    return _estimate(rows, shares, kept, clusters, level, resamples, seed, raters * len(codes), raters)


def krippendorff_alpha(
    labels: Sequence[Sequence[Label]],
    *,
    clusters: Units | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> ChanceCorrected:
    """Agreement of any number of people with labels missing, corrected for few items (Krippendorff 2011, nominal).

    Chance is that the labels given were dealt to the items at random.

    Args:
        labels: One row per item with everybody's label, None where there is none; items with a single one tell nothing.
        clusters: What each item is about; items about the same are resampled together.
        level: Of the interval.
        resamples: Of the bootstrap over items.
        seed: Of the bootstrap.

    >>> found = krippendorff_alpha(["MM", "MW", "WW", "WW"])  # 2 of 8 disagree; chance 2 * 3 * 5 / (8 * 7)
    >>> round(found.observed, 4), round(found.expected, 4), round(found.value, 4)
    (0.75, 0.4643, 0.5333)
    """
    raters = _raters(labels)
    codes, kept, k = _coded(labels, needed=2)
    counts = _counts(codes, k)
    n_ratings = counts.sum(1)
    differing = (n_ratings**2 - (counts**2).sum(1)) / np.maximum(n_ratings - 1, 1)

    def shares(sums: Floats) -> tuple[Floats, Floats]:
        totals = sums[:, 1:]
        n = totals.sum(1)
        return 1 - sums[:, 0] / n, 1 - (n**2 - (totals**2).sum(1)) / (n * (n - 1))

    rows = np.column_stack([differing, counts])
    return _estimate(rows, shares, kept, clusters, level, resamples, seed, int(n_ratings.sum()), raters)


def _raters(labels: Sequence[Sequence[Label]]) -> int:
    sizes = {len(row) for row in labels}
    if len(sizes) != 1 or min(sizes) < 2:
        raise BadInput("agreement needs the labels of at least two people, as many for every item, None where missing")
    return sizes.pop()


def _coded(labels: Sequence[Sequence[Label]], *, needed: int) -> tuple[np.ndarray, list[int], int]:
    """Labels as numbers from 0, -1 where there is none; the items with enough of them; how many labels there are."""
    kept = [place for place, row in enumerate(labels) if sum(label is not None for label in row) >= needed]
    numbers: dict[Hashable, int] = {}
    for place in kept:
        for label in labels[place]:
            if label is not None:
                numbers.setdefault(label, len(numbers))
    codes = [[-1 if label is None else numbers[label] for label in labels[place]] for place in kept]
    if not kept:
        raise BadInput("no item has the labels of two people or more: agreement needs items that they share")
    return np.array(codes), kept, len(numbers)


def _counts(codes: np.ndarray, k: int) -> Floats:
    """How many gave each label, item by item."""
    counts: Floats = (codes[:, :, None] == np.arange(k)).sum(1).astype(float)
    return counts


def _estimate(
    rows: Floats, shares: _Shares, kept: list[int], clusters: Units | None, level: float, resamples: int, seed: int,
    ratings: int, raters: int,
) -> ChanceCorrected:  # fmt: skip
    check_level(level, resamples)
    names = list(range(len(rows))) if clusters is None else [clusters[place] for place in kept]
    index = unit_index(names)
    by_cluster = np.zeros((int(index.max()) + 1, rows.shape[1]))
    np.add.at(by_cluster, index, rows)
    observed, expected = (float(share[0]) for share in shares(rows.sum(0, keepdims=True)))
    value = None if 1 - expected < _ROUNDING else (observed - expected) / (1 - expected)
    ci = None if value is None else _interval(value, by_cluster, shares, observed, expected, level, resamples, seed)
    return ChanceCorrected(value, ci, observed, expected, len(rows), ratings, raters)


def _interval(
    value: float, sums: Floats, shares: _Shares, observed: float, expected: float, level: float, resamples: int,
    seed: int,
) -> Interval | None:  # fmt: skip
    n = len(sums)
    if n < 2:
        return None
    rng, drawn = generator(seed, "resample"), list[Floats]()
    for start in range(0, resamples, step := max(1, _BATCH // n)):
        times = rng.multinomial(n, np.full(n, 1 / n), size=min(step, resamples - start))
        one, chance = shares(times @ sums)
        fine = 1 - chance > _ROUNDING
        drawn.append((one[fine] - chance[fine]) / (1 - chance[fine]))
    values = np.concatenate(drawn)
    if values.size < resamples / 2:
        return None
    if np.ptp(values) < _ROUNDING:
        # Resamples of perfect agreement are perfect too, which does not make it sure.
        low = wilson(observed, n, level=level).low
        return Interval(float((low - expected) / (1 - expected)), value, level, "Wilson on the observed agreement")
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(min(low, value)), float(max(high, value)), level, "percentile bootstrap over items")
