"""The composite score, its categories and intervals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
