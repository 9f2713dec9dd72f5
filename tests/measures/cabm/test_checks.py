"""The checks of a validation, each against another library or by hand."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from tiltmeter.measures import validate

RNG = np.random.default_rng(7)
SCORES = RNG.normal(0.1, 0.5, size=39)


def test_the_distribution_is_that_of_scipy_and_numpy():
    found = validate(SCORES)
    assert found.sd == pytest.approx(np.std(SCORES, ddof=1))
    assert found.variance == pytest.approx(found.sd**2)
    assert found.iqr == pytest.approx(scipy.stats.iqr(SCORES))
    assert found.normality.statistic == pytest.approx(scipy.stats.shapiro(SCORES).statistic)
    assert found.normality.p_value == pytest.approx(scipy.stats.shapiro(SCORES).pvalue)
    assert found.kde.density == pytest.approx(scipy.stats.gaussian_kde(SCORES)(found.kde.grid))
    assert np.trapezoid(found.kde.density, found.kde.grid) == pytest.approx(1, abs=0.02)


def test_the_separation_by_label_by_hand():
    found = validate([0.5, 0.4, 0.3, -0.2, -0.4, -0.3], labels=[1, 1, 2, 2, 2, None]).by_label
    # group 1: .5 .4; group 2: .3 -.2 -.4. All six pairs are in order; medians .45 and -.2; pooled SD with ddof 2
    pooled = np.sqrt((0.005 + 0.26) / 3)
    assert (found.u, found.n_1, found.n_2) == (6.0, 2, 3)
    assert found.p_value == pytest.approx(2 / 10)
    assert found.median_difference == pytest.approx(0.65)
    assert found.cohens_d == pytest.approx((0.45 + 0.1) / pooled)


@given(st.integers(0, 10_000))
def test_the_published_separation_is_perfect_for_any_numbers_at_all(seed):
    noise = np.random.default_rng(seed).normal(size=20)
    found = validate(noise).by_category
    assert found.u == found.n_1 * found.n_2
    assert found.cohens_d > 1


def test_labels_that_have_nothing_to_do_with_the_scores_are_seldom_separated():
    p_values = []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        noise, labels = rng.normal(size=30), rng.permutation(np.arange(30) % 2 + 1)
        found = validate(noise, labels=labels)
        assert found.by_category.p_value < 0.01
        p_values.append(found.by_label.p_value)
    assert np.mean(np.array(p_values) < 0.05) == pytest.approx(0.05, abs=0.05)


def test_chi_square_is_scipys_where_every_expected_count_is_at_least_5():
    scores = np.repeat([0.5, 0.5, -0.5, -0.5], [20, 10, 8, 22])
    labels = np.repeat([1, 2, 1, 2], [20, 10, 8, 22])
    found = validate(scores, labels=labels).contingency
    expected = scipy.stats.chi2_contingency([[20, 10], [8, 22]], correction=False)
    assert found.counts == ((20, 0, 10), (0, 0, 0), (8, 0, 22))
    assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert (found.df, found.method) == (1, "chi-square")


def test_with_small_expected_counts_the_p_value_is_that_of_fishers_exact_test():
    scores, labels = np.repeat([0.5, -0.5], [5, 5]), np.repeat([1, 2, 1, 2], [4, 1, 1, 4])
    found = validate(scores, labels=labels).contingency
    assert found.method.startswith("permutation")
    assert found.p_value == pytest.approx(scipy.stats.fisher_exact([[4, 1], [1, 4]]).pvalue, abs=0.015)


def test_agreement_with_unmasking_counts_a_neutral_occupation_as_a_miss_as_published():
    scores, gaps = [0.5, 0.4, 0.0, -0.3, -0.4, 0.3], [0.2, 0.1, 0.3, -0.1, 0.2, 0.0]
    found = validate(scores, unmasking=gaps).unmasking
    assert found.agreement.value == pytest.approx(3 / 6)
    assert found.decided.value == pytest.approx(3 / 5)
    assert found.kappa == pytest.approx(cohen_kappa_score([1, 1, 0, 2, 2, 1], [1, 1, 1, 2, 1, 0]))
    assert found.spearman.r == pytest.approx(scipy.stats.spearmanr(scores, gaps).statistic)


def test_a_score_that_calls_everything_male_agrees_often_and_has_no_kappa_to_show():
    found = validate([0.5, 0.6, 0.7, 0.8, 0.9], unmasking=[0.1, 0.2, 0.1, 0.3, -0.1])
    assert found.unmasking.agreement.value == pytest.approx(0.8)
    assert found.unmasking.kappa == pytest.approx(0)
    all_male = validate([0.5, 0.6, 0.7], unmasking=[0.1, 0.2, 0.1])
    assert all_male.unmasking.kappa is None
    assert "unmasking, kappa: only one category occurs" in all_male.notes


def test_other_measures_are_compared_by_correlation_and_sign():
    weat, mac = validate(SCORES, others={"weat": SCORES / 100, "mac": np.ones(39)}).others
    assert (weat.first, weat.second, weat.agreement) == ("score", "weat", 1.0)
    assert weat.pearson.r == weat.spearman.r == pytest.approx(1)
    assert mac.pearson is mac.spearman is None
    assert mac.agreement == pytest.approx((SCORES > 0).mean())


def test_groups_that_do_not_vary_have_no_cohens_d():
    found = validate([0.3, 0.3, -0.3, -0.3])
    assert found.by_category.cohens_d is None
    assert found.by_category.median_difference == pytest.approx(0.6)
    assert any(note.startswith("by_category, Cohen's d") for note in found.notes)
