"""LPBS: corrected log-probabilities of terms, by hand, as properties, and against the two-group statistics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from tiltmeter.errors import BadInput
from tiltmeter.measures import lpbs
from tiltmeter.statistics import effect_size

RNG = np.random.default_rng(0)
TABLES = [np.log(RNG.uniform(0.01, 0.9, size=(8, 3))) for _ in range(4)]
GROUPS = ["career"] * 4 + ["family"] * 4


def test_two_attributes_and_two_pairs_by_hand():
    fill_1, prior_1 = np.log([[0.4, 0.2], [0.1, 0.1]]), np.log([[0.2, 0.2], [0.2, 0.2]])
    fill_2, prior_2 = np.log([[0.1, 0.1], [0.2, 0.4]]), np.log([[0.1, 0.1], [0.1, 0.1]])
    found = lpbs(fill_1, prior_1, fill_2, prior_2)
    # attribute 1: (ln 2 - 0) and (0 - 0); attribute 2: (-ln 2 - ln 2) and (-ln 2 - ln 4): means ln 2 / 2 and -5/2 ln 2
    ln2 = np.log(2)
    assert found.associations == pytest.approx((0.5 * ln2, -2.5 * ln2))
    assert found.mean.value == pytest.approx(-ln2)
    # fill: (2 ln 2 + ln 2) / 2 and (-ln 2 - 2 ln 2) / 2; prior: ln 2 throughout
    assert (found.fill_bias, found.prior_bias) == pytest.approx((0.0, ln2), abs=1e-12)
    # +-.5 +-2.5: every pattern of signs gives at least the observed 2 in size
    assert found.mean.p_value == 1.0
    assert (found.n, found.n_pairs, found.effect_size, found.ci, found.p_value) == (2, 2, None, None, None)


def test_the_effect_compares_two_groups_of_attributes():
    found = lpbs(*TABLES, groups=GROUPS)
    association = ((TABLES[0] - TABLES[1]) - (TABLES[2] - TABLES[3])).mean(axis=1)
    fill = (TABLES[0] - TABLES[2]).mean(axis=1)
    assert found.effect_size == pytest.approx(effect_size(association[:4], association[4:]))
    assert found.uncorrected_effect_size == pytest.approx(effect_size(fill[:4], fill[4:]))
    assert found.groups == ("career", "family")
    assert found.exact
    assert 0 < found.p_value <= 1
    assert found.effect_size in found.ci


def test_the_group_named_first_is_the_first_of_the_comparison():
    turned = [table[::-1] for table in TABLES]
    assert lpbs(*turned, groups=GROUPS[::-1]).effect_size == pytest.approx(-lpbs(*TABLES, groups=GROUPS).effect_size)
    assert lpbs(*TABLES, groups=np.repeat([0, 1], 4)).groups == ("0", "1")


def grouped(one, two, **options):
    """LPBS of attributes whose associations are these."""
    lean = np.concatenate([one, two])[:, None]
    level = np.full(lean.shape, -200.0)
    return lpbs(lean - 200, level, level, level, groups=[1] * len(one) + [2] * len(two), **options)


def test_separated_groups_have_the_smallest_p():
    found = grouped([1.0, 1.1, 1.2, 1.25], [0.1, 0.2, 0.3, 0.35], alternative="greater")
    assert found.p_value == 1 / 70
    assert found.mean.p_value == 1 / 256


def test_three_attributes_in_a_group_are_tested_by_student_s_t():
    one, two = [1.0, 1.1, 1.2], [0.1, 0.2, 0.35]
    found = grouped(one, two, alternative="greater")
    assert found.p_value == pytest.approx(ttest_ind(one, two, equal_var=False, alternative="greater").pvalue)
    assert not found.exact


@pytest.mark.parametrize("draw", [lambda rng, n: rng.standard_t(3, size=n), lambda rng, n: rng.exponential(size=n)])
@pytest.mark.parametrize("n", [8, 20])
def test_heavy_tails_and_skewed_scores_are_no_finding(draw, n):
    rng = np.random.default_rng(n)
    found = [grouped(draw(rng, n), draw(rng, n), permutations=299, seed=seed).p_value for seed in range(400)]
    assert 0.02 <= np.mean(np.array(found) <= 0.05) <= 0.08


@pytest.mark.parametrize(("n_1", "n_2"), [(10, 37), (37, 10)])
def test_a_group_of_wider_spread_is_no_finding(n_1, n_2):
    # The plain permutation test finds a difference in .25 of these with the small group wide, in .00 with the large.
    rng = np.random.default_rng(4)
    draws = [(3 * rng.normal(size=n_1), rng.normal(size=n_2)) for _ in range(400)]
    found = [grouped(one, two, permutations=299, seed=seed) for seed, (one, two) in enumerate(draws)]
    assert 0.02 <= np.mean([each.p_value <= 0.05 for each in found]) <= 0.08
    assert 0.92 <= np.mean([0 in each.ci for each in found]) <= 0.98


@given(st.lists(st.floats(-4, 0), min_size=8, max_size=8), st.floats(-3, 0))
@settings(max_examples=30)
def test_a_prior_that_all_attributes_share_moves_the_mean_and_not_the_effect(values, prior):
    fill_1, fill_2 = np.array(values).reshape(8, 1) - 0.1 * np.arange(8)[:, None] ** 2, np.full((8, 1), -1.0)
    level = np.full((8, 1), -2.0)
    flat, tilted = (lpbs(fill_1, p, fill_2, level, groups=GROUPS) for p in (level, np.full((8, 1), prior)))
    assert tilted.effect_size == pytest.approx(flat.effect_size, abs=1e-9)
    assert tilted.effect_size == pytest.approx(tilted.uncorrected_effect_size, abs=1e-9)
    assert tilted.mean.value == pytest.approx(tilted.fill_bias - tilted.prior_bias, abs=1e-12)


def test_swapping_the_terms_turns_everything_round():
    one, two = lpbs(*TABLES, groups=GROUPS), lpbs(*TABLES[2:], *TABLES[:2], groups=GROUPS)
    assert two.associations == pytest.approx([-value for value in one.associations])
    assert two.effect_size == pytest.approx(-one.effect_size)
    assert two.p_value == pytest.approx(one.p_value)
    assert two.mean.p_value == pytest.approx(one.mean.p_value)


GOOD = np.full((4, 2), -1.0) - np.arange(8).reshape(4, 2) / 10


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lpbs(GOOD[0], GOOD, GOOD, GOOD), "fill_1 must be a table"),
        (lambda: lpbs(GOOD, GOOD[:0], GOOD, GOOD), "prior_1 must be a table"),
        (lambda: lpbs(GOOD, GOOD, [["a"]], GOOD), "fill_2 must be a table of numbers"),
        (lambda: lpbs(GOOD, GOOD, GOOD, np.full((4, 2), -np.inf)), "prior_2 holds NaN or infinity"),
        (lambda: lpbs(GOOD + np.nan, GOOD, GOOD, GOOD), "fill_1 holds NaN"),
        (lambda: lpbs(GOOD + 9, GOOD, GOOD, GOOD), "never raw logits"),
        (lambda: lpbs(GOOD[:3], GOOD, GOOD, GOOD), "the same attributes and term pairs"),
        (lambda: lpbs(*[GOOD[:1]] * 4), "at least two units"),
        (lambda: lpbs(*[GOOD] * 4, groups=[0, 1]), "4 attributes but 2 groups"),
        (lambda: lpbs(*[GOOD] * 4, groups=[0, 0, 0, 0]), "between two groups, not 1"),
        (lambda: lpbs(*[GOOD] * 4, groups=[0, 1, 2, 2]), "between two groups, not 3"),
        (lambda: lpbs(*[GOOD] * 4, groups=[0, 1, 1, 1]), "at least two attributes"),
        (lambda: lpbs(*[GOOD] * 4, groups=[0, 0, 1, 1]), "all scores are the same"),
        (lambda: lpbs(GOOD, *[GOOD[::-1]] * 3, alternative="graeter"), "did you mean 'greater'"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def by_names(rng, n=8, n_names=6, *, shared=0.0, noise=0.3):
    """Log-probabilities of names for two sides, beside attributes of two groups; each name has likings of its own."""
    liking = rng.normal(size=2 * n_names)
    liking[:n_names] += shared
    table = np.concatenate([np.ones((n, 1)), -np.ones((n, 1))]) * liking + noise * rng.normal(size=(2 * n, 2 * n_names))
    one, two = table[:, :n_names], table[:, n_names:]
    level = np.full((2 * n, 1), -50.0)
    tables = one.mean(axis=1, keepdims=True) - 50, level, two.mean(axis=1, keepdims=True) - 50, level
    return tables, {"groups": [1] * n + [2] * n, "by_term": (one, two)}


def test_a_lean_that_hangs_on_which_names_were_taken_is_not_significant():
    # Six names a side like one group of attributes or the other as it comes: sides differ a little, very surely.
    rng, found = np.random.default_rng(8), []
    for _ in range(60):
        tables, named = by_names(rng)
        fixed = lpbs(*tables, groups=named["groups"], permutations=199)
        found.append((fixed.p_value <= 0.05, lpbs(*tables, **named, permutations=199).p_value <= 0.05))
    fixed, ours = np.mean(found, axis=0)
    assert fixed > 0.5
    assert ours <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 60)


def test_a_lean_that_all_names_share_is_found_and_says_over_what():
    tables, named = by_names(np.random.default_rng(9), shared=3.0, noise=2.0)
    found, fixed = lpbs(*tables, **named), lpbs(*tables, groups=named["groups"])
    assert found.p_value <= 0.05
    assert found.p_value == max(found.crossed.by_targets.p_value, found.crossed.by_attributes.p_value)
    assert found.crossed.families == (8, 8, 6, 6)
    assert found.effect_size == fixed.effect_size
    assert found.ci.low < fixed.ci.low < found.effect_size
    assert fixed.crossed is None


def test_forms_of_one_attribute_or_of_one_name_count_once():
    tables, named = by_names(np.random.default_rng(10), shared=2.0)
    families = (np.repeat(range(8), 2), np.repeat(range(3), 2), None)
    assert lpbs(*tables, **named, families=families).crossed.families == (4, 4, 3, 6)
    alone, pairs = (
        lpbs(*tables, groups=named["groups"], families=(of_words, None, None)) for of_words in (None, families[0])
    )
    assert pairs.p_value == pytest.approx(2 / 70)  # four families in each group, as far apart as can be
    assert alone.p_value < 0.001


@pytest.mark.parametrize("by_term", [([[1.0]], [[1.0]]), (np.zeros((16, 6)), np.ones((16, 6))), ([[]], [[]])])
def test_scores_of_terms_that_do_not_belong_to_the_probabilities_are_refused(by_term):
    tables, named = by_names(np.random.default_rng(11))
    with pytest.raises(BadInput, match="by_term"):
        lpbs(*tables, groups=named["groups"], by_term=by_term)
