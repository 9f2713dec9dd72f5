"""What the self-test takes for truth, worked out once more by other code: by listing every split, and by resampling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, norm, t

from tiltmeter.lab.calibrate.hand_examples import hand_examples

EXAMPLES = {example.what: example for example in hand_examples()}


def share_as_far_out(x, y, statistic, *, sided=abs):
    """Of all ways to part the values in groups of these sizes, the share with a statistic as large as observed."""
    values, n = np.array([*x, *y], dtype=float), len(x)
    observed, count, every = sided(statistic(values[:n], values[n:])), 0, 0
    for chosen in itertools.combinations(range(values.size), n):
        inside = np.isin(np.arange(values.size), chosen)
        count += sided(statistic(values[inside], values[~inside])) >= observed - 1e-9
        every += 1
    return count / every


def welch(x, y):
    return (x.mean() - y.mean()) / math.sqrt(x.var(ddof=1) / x.size + y.var(ddof=1) / y.size)


def on_one_scale(x, y):
    """Welch's t of groups of different size, on the normal scale by its own degrees of freedom (Wallace 1959)."""
    parts = x.var(ddof=1) / x.size, y.var(ddof=1) / y.size
    df = sum(parts) ** 2 / (parts[0] ** 2 / (x.size - 1) + parts[1] ** 2 / (y.size - 1))
    value = welch(x, y)
    size = math.sqrt(df * math.log1p(value**2 / df)) * (8 * df + 1) / (8 * df + 3)
    return math.copysign(size, value)


def means(x, y):
    return x.mean() - y.mean()


FEW, MANY = [4, 8, 11], [0, 1, 3, 5, 7]


def test_every_example_comes_out_and_none_is_there_twice():
    assert len(EXAMPLES) == len(hand_examples()) == 31
    for example in EXAMPLES.values():
        assert example.compute() == pytest.approx(example.expected, abs=example.tolerance), example.what


def test_p_values_are_those_of_every_split_listed():
    def expected(what):
        return pytest.approx(EXAMPLES[what].expected)

    assert share_as_far_out(FEW, MANY, on_one_scale) == expected("permutation of unequal groups, p")
    assert share_as_far_out(FEW, MANY, on_one_scale) == expected("targets and attributes, p")
    one_sided = share_as_far_out(FEW, MANY, on_one_scale, sided=float)
    assert one_sided == expected("permutation of unequal groups, one-sided p")
    four = [0.4, 0.8, 1.2, 1.6]
    for what in ("WEAT, p", "SEAT, p", "CEAT, p", "WEFAT, p", "permutation of families, p"):
        assert share_as_far_out(four, [-lean for lean in four], welch) == expected(what)
    assert share_as_far_out([1, 0.2], [-1, -0.2], means, sided=float) == expected("WEAT, published p (one-sided)")
    assert share_as_far_out(np.log([6, 4, 3, 2]), -np.log([6, 4, 3, 2]), means) == expected("LPBS, p")
    assert binomtest(8, 10).pvalue == expected("pairs, p")


def test_the_examples_tell_the_forms_apart_that_could_be_mistaken_for_one_another():
    studentised, plain = (share_as_far_out(FEW, MANY, statistic) for statistic in (on_one_scale, means))
    one_sided = share_as_far_out(FEW, MANY, on_one_scale, sided=float)
    assert len({studentised, plain, one_sided}) == 3


def test_ends_of_intervals_are_those_of_other_code():
    z = norm.ppf(0.975)
    wilson = (0.8 + z**2 / 20 - z * math.sqrt(0.8 * 0.2 / 10 + z**2 / 400)) / (1 + z**2 / 10)
    assert wilson == pytest.approx(EXAMPLES["pairs, lower end of the interval"].expected, abs=1e-6)
    values = np.arange(10.0)
    student = values.mean() - t.ppf(0.975, 9) * values.std(ddof=1) / math.sqrt(10)
    assert student == pytest.approx(EXAMPLES["clustered mean, lower end of the interval"].expected, abs=1e-5)
    for inflation, name in ((1, ""), (4, " with four times the variance")):
        expected = EXAMPLES[f"effect size, lower end of the interval{name}"].expected
        assert lower_end(np.linspace(-0.6, 1.2, 10), np.linspace(-1.2, 0.6, 10), inflation) == pytest.approx(
            expected, abs=0.004
        )


def lower_end(x, y, inflation):
    """Of Fisher's z of the correlation between score and group, by the bootstrap, for groups of one size."""
    n, rng = len(x), np.random.default_rng(5)

    def z(one, two):
        difference, variance = one.mean(axis=1) - two.mean(axis=1), one.var(axis=1, ddof=1) + two.var(axis=1, ddof=1)
        within = variance / 2 - variance / n / 4  # less what the squared difference has too much
        return np.arctanh(difference / 2 / np.sqrt(within + difference**2 / 4))

    drawn = z(x[rng.integers(n, size=(300_000, n))], y[rng.integers(n, size=(300_000, n))])
    reach = math.sqrt(inflation * n / (n - 1)) * t.ppf(0.975, 2 * n - 2) * drawn.std()
    return 2 * np.tanh(z(x[None], y[None])[0] - reach)
