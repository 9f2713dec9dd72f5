"""The composite score, its categories and intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.measures.vectors import BAD_VECTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import (
    cabm,
    context_shift,
    cosine_bias,
    equal_weights,
    given_weights,
    pmi_bias,
    signed_shift,
    with_intervals,
)

COUNTS = arrays(np.int64, 6, elements=st.integers(0, 1000))


def sentence_lists(seed: int, occupations: int = 4, width: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(1, 6), width)) for _ in range(occupations)]


def test_cosine_bias_is_the_mean_cosine_to_he_him_his_minus_that_to_she_her_hers():
    occupations, he, she = random_rows(5, seed=1), random_rows(3, seed=2), random_rows(2, seed=3)
    by_hand = [np.mean([cos(o, p) for p in he]) - np.mean([cos(o, p) for p in she]) for o in occupations]
    assert cosine_bias(occupations, he, she) == pytest.approx(by_hand, abs=1e-12)


@given(matrices(4), matrices(3), matrices(2))
def test_exchanging_the_groups_negates_the_cosine_bias_exactly(occupations, he, she):
    assert (cosine_bias(occupations, he, she) == -cosine_bias(occupations, she, he)).all()


@pytest.mark.parametrize(("bad", "says"), BAD_VECTORS)
def test_bad_vectors_are_refused_in_one_line(bad, says):
    with pytest.raises(BadInput, match=says):
        cosine_bias(random_rows(4, 3), bad, random_rows(4, 3))


def test_pmi_bias_is_the_difference_of_the_two_published_logarithms():
    one, two = np.array([8.0, 2.0, 5.0]), np.array([1.0, 6.0, 3.0])
    total = (one + two).sum()
    by_hand = [
        math.log2((a / total) / (one.sum() / total * (a + b) / total))
        - math.log2((b / total) / (two.sum() / total * (a + b) / total))
        for a, b in zip(one, two, strict=True)
    ]
    assert pmi_bias(one, two, smoothing=0).values == pytest.approx(by_hand, abs=1e-12)


def test_smoothing_adds_the_same_to_every_count():
    one, two = [8, 0, 5], [1, 6, 3]
    smoothed = pmi_bias(np.add(one, 0.5), np.add(two, 0.5), smoothing=0)
    found = pmi_bias(one, two)
    assert found.values == pytest.approx(smoothed.values)
    assert found.zero.tolist() == [False, True, False]
    assert not smoothed.zero.any()


@given(COUNTS, COUNTS)
def test_pmi_is_finite_whatever_the_counts_and_exchanging_the_groups_negates_it_exactly(one, two):
    found, exchanged = pmi_bias(one, two), pmi_bias(two, one)
    assert np.isfinite(found.values).all()
    assert (found.zero == ((one == 0) | (two == 0))).all()
    assert (found.values == -exchanged.values).all()


def test_an_even_split_has_no_pmi_bias_however_often_an_occupation_occurs():
    assert pmi_bias([1, 10, 400], [2, 20, 800], smoothing=0).values == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("one", "two", "smoothing", "says"),
    [
        ([1, 2], [1], 0.5, "2 counts of group 1 but 1"),
        ([1, -2], [1, 1], 0.5, "negative"),
        ([1, 0], [1, 1], 0, "smoothing must be above 0"),
        ([1, 1], [1, 1], -1, "smoothing"),
        ([1, 1], [1, 1], math.nan, "smoothing"),
        ([1, math.nan], [1, 1], 0.5, "NaN"),
        ([], [], 0.5, "at least one"),
    ],
)
def test_counts_that_cannot_be_are_refused(one, two, smoothing, says):
    with pytest.raises(BadInput, match=says):
        pmi_bias(one, two, smoothing=smoothing)


def test_the_published_context_shift_is_the_distance_of_the_means_and_has_no_sign():
    one, two = sentence_lists(1), sentence_lists(2)
    by_hand = [math.dist(a.mean(axis=0), b.mean(axis=0)) for a, b in zip(one, two, strict=True)]
    assert context_shift(one, two) == pytest.approx(by_hand)
    assert (context_shift(one, two) == context_shift(two, one)).all()
    assert (context_shift(one, two) > 0).all()


@pytest.mark.parametrize("place", [-1.0, -0.3, 0.0, 0.4, 1.0])
def test_the_signed_shift_says_where_the_masked_sentence_stands_between_its_two_versions(place):
    axis = np.array([0.6, 0.8, 0.0])
    frames = random_rows(4, 3, seed=5)
    one, two = [[frame + 2 * axis] for frame in frames], [[frame - 2 * axis] for frame in frames]
    neutral = [[frame + 2 * place * axis] for frame in frames]
    assert signed_shift(neutral, one, two) == pytest.approx([2 * place] * 4, abs=1e-12)
    assert signed_shift(neutral, one, two, direction=7 * axis) == pytest.approx([2 * place] * 4, abs=1e-12)


def test_the_signed_shift_by_hand_with_several_sentences_and_a_movement_off_the_direction():
    one, two = [[[2.0, 1.0], [4.0, 3.0]], [[1.0, 0.0]]], [[[-1.0, 2.0]], [[-3.0, 1.0], [-1.0, -1.0]]]
    # means (3, 2), (1, 0) and (-1, 2), (-2, 0): differences (4, 0), (3, 0), so the direction is (1, 0)
    assert signed_shift([[[1.5, 9.0]], [[0.0, 0.0], [-2.0, 5.0]]], one, two).tolist() == [0.5, -0.5]


@given(st.integers(0, 10_000))
def test_exchanging_the_groups_negates_the_signed_shift_exactly(seed):
    neutral, one, two = (sentence_lists(seed + i) for i in range(3))
    found = signed_shift(neutral, one, two)
    assert (found == -signed_shift(neutral, two, one)).all()
    assume(np.abs(found).max() > 0)
    axis = random_rows(1, 5, seed=seed)[0]
    assert (signed_shift(neutral, one, two, direction=axis) == -signed_shift(neutral, two, one, direction=-axis)).all()


@pytest.mark.parametrize(
    ("one", "two", "says"),
    [
        ([], [], "0 occupations, expected at least one"),
        ([[[1.0, 2.0]]], [], "0 occupations, expected 1"),
        ([[[1.0, 2.0]], []], [[[1.0, 2.0]]] * 2, "sentences 1: occupation 1 has no sentences"),
        ([[[1.0, 2.0]]], [[[1.0]]], "as wide as the others"),
        ([[[1.0, 2.0]], [[1.0]]], [[[1.0, 2.0]]] * 2, "occupation 1 .* as wide"),
        ([[1.0, 2.0]], [[[1.0, 2.0]]], "needs a matrix"),
        ([5.0], [[[1.0, 2.0]]], "needs a matrix"),
        ([[[1.0, 2.0], [1.0]]], [[[1.0, 2.0]]], "ragged"),
        ([[[1.0, math.inf]]], [[[1.0, 2.0]]], "occupation 0 holds NaN or infinity"),
    ],
)
def test_sentences_that_cannot_be_used_name_the_occupation(one, two, says):
    with pytest.raises(BadInput, match=says):
        context_shift(one, two)


def test_groups_whose_sentences_do_not_differ_give_no_direction():
    same = sentence_lists(3)
    with pytest.raises(BadInput, match="do not differ"):
        signed_shift(same, same, same)


FEATURES = np.array([[2.0, 0.1, 0.4], [-1.0, 0.0, 0.4], [0.0, -0.1, 0.2]])


def test_the_published_score_is_the_formula_on_the_raw_features():
    found = cabm(FEATURES, [0.5, 0.3, 0.2])
    # .5*2 + .3*.1 + .2*.4; .5*-1 + .2*.4; .3*-.1 + .2*.2
    assert found.scores == pytest.approx([1.11, -0.42, 0.01])
    assert found.categories.tolist() == [1, 2, 0]
    assert found.contributions[0] == pytest.approx([1.0, 0.03, 0.08])
    assert found.contributions.sum(axis=1) == pytest.approx(found.scores)
    assert (found.scale, found.threshold, found.weights.method) == (None, 0.1, "given")


def test_the_scaled_score_divides_each_feature_by_its_root_mean_square_and_keeps_zero():
    found = cabm(FEATURES, equal_weights(), scale="rms")
    rms = np.sqrt([5 / 3, 0.02 / 3, 0.36 / 3])
    assert found.contributions == pytest.approx(FEATURES / rms / 3)
    assert found.contributions[2, 0] == found.contributions[1, 1] == 0


def test_the_units_of_a_feature_do_not_change_the_scaled_score():
    found = cabm(FEATURES, equal_weights(), scale="rms")
    assert cabm(FEATURES * [1000, 1, 0.001], equal_weights(), scale="rms").scores == pytest.approx(found.scores)
    assert cabm(FEATURES * [1000, 1, 0.001], equal_weights()).scores != pytest.approx(found.scores)


def test_a_feature_that_is_zero_throughout_contributes_nothing():
    found = cabm([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]], equal_weights(), scale="rms")
    assert found.scores == pytest.approx([1 / 3, -1 / 3])


@given(st.integers(0, 10_000))
def test_exchanging_the_groups_negates_the_corrected_score_and_not_the_published_one(seed):
    rng = np.random.default_rng(seed)
    occupations, he, she = rng.normal(size=(5, 4)), rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    counts = rng.integers(0, 20, size=(2, 5))
    masked, one, two = ([rng.normal(size=(3, 4)) for _ in range(5)] for _ in range(3))

    def score(groups, context, scale):
        (pronouns_1, counts_1, sentences_1), (pronouns_2, counts_2, sentences_2) = groups
        columns = [
            pmi_bias(counts_1, counts_2).values,
            cosine_bias(occupations, pronouns_1, pronouns_2),
            context(sentences_1, sentences_2),
        ]
        return cabm(np.stack(columns, axis=1), [0.583, 0.154, 0.263], scale=scale)

    groups = [(he, counts[0], one), (she, counts[1], two)]
    corrected, exchanged = (
        score(order, lambda a, b: signed_shift(masked, a, b), "rms") for order in (groups, groups[::-1])
    )
    assert (corrected.scores == -exchanged.scores).all()
    assert (corrected.categories == np.array([0, 2, 1])[exchanged.categories]).all()
    published, exchanged = (score(order, context_shift, None) for order in (groups, groups[::-1]))
    # Both orders push every occupation the same way by the unsigned shift, so they miss cancelling by twice it.
    assert published.scores + exchanged.scores == pytest.approx(2 * published.contributions[:, 2])
    assert (published.scores + exchanged.scores > 0).all()


@pytest.mark.parametrize(("threshold", "expected"), [(0.0, [1, 2, 1]), (0.01, [1, 2, 0]), (0.5, [1, 0, 0])])
def test_a_score_on_the_threshold_is_neutral(threshold, expected):
    assert cabm([[1, 0, 0], [-0.5, 0, 0], [0.01, 0, 0]], [1, 0, 0], threshold=threshold).categories.tolist() == expected


def test_intervals_are_percentiles_of_the_drawn_scores_in_the_scale_of_the_features():
    rng = np.random.default_rng(0)
    draws = FEATURES + rng.normal(scale=0.1, size=(999, 3, 3))
    weights = given_weights([0.2, 0.5, 0.3])
    found = with_intervals(FEATURES, weights, draws, scale="rms", level=0.9)
    rms = np.sqrt((FEATURES**2).mean(axis=0))
    scores = (draws / rms) @ weights.values
    assert found.low == pytest.approx(np.quantile(scores, 0.05, axis=0))
    assert found.high == pytest.approx(np.quantile(scores, 0.95, axis=0))
    assert found.result.scores == pytest.approx(cabm(FEATURES, weights, scale="rms").scores)


def test_a_score_is_too_close_to_call_where_its_interval_crosses_a_threshold():
    features = np.array([[0.5, 0, 0], [0.0, 0, 0], [0.05, 0, 0], [-0.3, 0, 0]])
    reach = np.array([[0.3, 0, 0], [0.05, 0, 0], [0.1, 0, 0], [0.5, 0, 0]])
    found = with_intervals(features, [1, 0, 0], [features - reach, features + reach], level=0.999)
    # (.2, .8) is male, (-.05, .05) neutral, (-.05, .15) crosses .1, (-.8, .2) crosses both
    assert found.too_close.tolist() == [False, False, True, True]
    assert found.result.categories.tolist() == [1, 0, 0, 2]


def test_an_interval_never_leaves_its_own_score_out():
    found = with_intervals([[0.0, 0.0, 0.1]], [0, 0, 1], [[[0.0, 0.0, 0.3]], [[0.0, 0.0, 0.4]]])
    assert found.low[0] == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"scale": "rmss"}, "unknown scale 'rmss': did you mean 'rms'"),
        ({"threshold": -0.1}, "a threshold is a number from 0 on"),
        ({"threshold": float("nan")}, "a threshold is a number from 0 on"),
    ],
)
def test_unknown_options_are_refused(options, says):
    with pytest.raises(BadInput, match=says):
        cabm(FEATURES, [1, 1, 1], **options)


@pytest.mark.parametrize("draws", [[FEATURES], FEATURES, [FEATURES[:2]] * 5, [FEATURES, FEATURES * np.nan], "many"])
def test_draws_that_do_not_fit_the_features_are_refused(draws):
    with pytest.raises(BadInput, match="draws must be at least two finite arrays"):
        with_intervals(FEATURES, [1, 1, 1], draws)


def test_a_level_lies_between_0_and_1():
    with pytest.raises(BadInput, match="level"):
        with_intervals(FEATURES, [1, 1, 1], [FEATURES] * 2, level=95)
