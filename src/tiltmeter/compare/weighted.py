"""Statistics of a table as functions of how much each unit weighs, so that units can be resampled."""

from __future__ import annotations

import numpy as np

from tiltmeter.compare.unit_tables import Table
from tiltmeter.statistics.differences import Statistic
from tiltmeter.statistics.groups import Floats


def mean(table: Table) -> Statistic:
    """The mean of all rows."""
    sums, sizes = table.sums(), table.sizes
    return lambda weights: (weights @ sums) / (weights @ sizes)


def mean_of_units(table: Table) -> Statistic:
    """The mean of the units' means: each counts once."""
    means = table.means()
    return lambda weights: (weights @ means) / weights.sum(axis=1)


def mean_over_sd(table: Table) -> Statistic:
    """The mean of the units' means in SDs of them."""
    means, spread = table.means(), sd(table)
    return lambda weights: (weights @ means) / weights.sum(axis=1) / spread(weights)


def sd(table: Table) -> Statistic:
    """The SD of the units' means (ddof = 1)."""
    values = table.means()
    values = values - values.mean()

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        centre = (weights @ values) / n
        spread: Floats = np.sqrt(np.maximum((weights @ values**2) / n - centre**2, 0) * n / (n - 1))
        return spread

    return of


def d_of_rows(table: Table) -> Statistic:
    """WEAT's d between the first and the second stratum, words being the units and sentences the scores."""
    return _d(table, table.sums(power=2) / table.sizes, table.sizes)


def d_of_units(table: Table) -> Statistic:
    """The same with one score a unit, its mean."""
    means = table.means()
    return _d(table, means**2, np.ones(means.size))


def _d(table: Table, squares: Floats, sizes: Floats) -> Statistic:
    means = table.means()
    centre = means.mean()  # squares of large, close scores would lose their digits
    squares = np.maximum(squares - means**2, 0) + (means - centre) ** 2
    means = means - centre
    strata = table.unit_strata
    first = np.array([each == strata[0] for each in strata])

    def of(weights: Floats) -> Floats:
        one, two = weights * first, weights * ~first
        gap = (one @ means) / one.sum(axis=1) - (two @ means) / two.sum(axis=1)
        n, rows = weights.sum(axis=1), weights @ sizes
        variance = (weights @ squares) / n - ((weights @ means) / n) ** 2
        found: Floats = gap / np.sqrt(variance * rows / (rows - 1))
        return found

    return of


def eta(table: Table) -> Statistic:
    """The SD between strata over the SD of all units, scores of several columns taken together."""
    columns = np.stack([table.means(i) for i in range(table.scores.shape[1])], axis=1)
    columns = columns - columns.mean(axis=0)
    strata = table.unit_strata
    members = [np.array([each == stratum for each in strata]) for stratum in dict.fromkeys(strata)]

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        centre = (weights @ columns) / n[:, None]
        total = (weights @ columns**2).sum(axis=1) - n * (centre**2).sum(axis=1)
        between = np.zeros(len(weights))
        for member in members:
            own = (weights * member).sum(axis=1)
            middle = ((weights * member) @ columns) / own[:, None]
            between += own * ((middle - centre) ** 2).sum(axis=1)
        found: Floats = np.sqrt(between / total)
        return found

    return of


def pearson(table: Table) -> Statistic:
    """Pearson's r of the first and the second score."""
    x, y = (table.means(i) - table.means(i).mean() for i in (0, 1))

    def of(weights: Floats) -> Floats:
        return _r(weights, np.broadcast_to(x, weights.shape), np.broadcast_to(y, weights.shape))

    return of


def spearman(table: Table) -> Statistic:
    """Spearman's rho of the first and the second score."""
    below = [_below(table.means(i)) for i in (0, 1)]
    # A unit's rank is the weight of the units below it: with equal weights the ordinary one.
    return lambda weights: _r(weights, weights @ below[0].T, weights @ below[1].T)


def _below(values: Floats) -> Floats:
    """For each unit (row) which ones lie below it, ties counting half."""
    below: Floats = (values[None, :] < values[:, None]) + 0.5 * (values[None, :] == values[:, None])
    return below


def _r(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / n
    y = y - (weights * y).sum(axis=1, keepdims=True) / n
    squares = (weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1)
    found: Floats = (weights * x * y).sum(axis=1) / np.sqrt(squares)
    return found


def divergence(table: Table) -> Statistic:
    """KL of the units' shares from even shares."""
    from scipy.special import xlogy

    shares = table.means()
    entropies = xlogy(shares, shares)

    def of(weights: Floats) -> Floats:
        total = weights @ shares
        found: Floats = (weights @ entropies) / total - np.log(total) + np.log(weights.sum(axis=1))
        return found

    return of
