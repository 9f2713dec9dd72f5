"""SAME: two groups with a sign, more groups with a length."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, reject, settings

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import same

AXES = [[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]], [[0.0, 0.0, 1.0]]]


def test_two_groups_by_hand():
    # b = (1, 0) - (-1, 0): cosines 1 and -.6; mean size .8; mean .2; SD .8
    found = same([[2.0, 0.0], [-0.6, 0.8]], [[[1.0, 0.0]], [[-1.0, 0.0]]])
    assert found.by_word == pytest.approx((1.0, -0.6))
    assert (found.score, found.skew, found.stereotype) == pytest.approx((0.8, 0.2, 0.8))


def test_three_groups_by_hand():
    # The differences of the three axes span the plane orthogonal to (1, 1, 1): the first axis has
    # sqrt(1 - 1/3) of its length in it, (1, 1, 1) nothing.
    found = same([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]], AXES)
    assert found.by_word == pytest.approx((math.sqrt(2 / 3), 0.0), abs=1e-12)
    assert found.score == pytest.approx(math.sqrt(2 / 3) / 2)
    assert (found.skew, found.stereotype) == (None, None)


@given(matrices(3), matrices(2), matrices(3), FACTORS)
@settings(max_examples=40)
def test_two_groups_are_the_cosine_with_the_difference_of_unit_means(words, one, two, factor):
    try:
        found = same(words * factor, [one * factor, two])
    except BadInput:
        reject()
    means = [np.mean([v / np.linalg.norm(v) for v in group], axis=0) for group in (one, two)]
    if np.abs(means[0] - means[1]).max() > 1e-6:
        expected = [cos(word, means[0] - means[1]) for word in words]
        assert found.by_word == pytest.approx(expected, abs=1e-7)
        assert found.skew == pytest.approx(np.mean(expected), abs=1e-7)
        assert found.stereotype == pytest.approx(np.std(expected), abs=1e-7)
    assert 0 <= found.score <= 1 + 1e-9


def test_the_order_of_groups_does_not_matter():
    words, groups = random_rows(5, seed=9), [random_rows(4, seed=n) for n in range(4)]
    scores = [same(words, order).score for order in itertools.permutations(groups)]
    assert scores == pytest.approx([scores[0]] * 24)
    assert same(words, groups[1::-1]).skew == pytest.approx(-same(words, groups[:2]).skew)


def test_skew_and_stereotype_tell_two_planted_biases_apart():
    groups = [[[1.0, 0.0]], [[-1.0, 0.0]]]
    to_one_side = same([[0.5, 1.0]] * 4, groups)
    to_both_sides = same([[0.5, 1.0], [-0.5, 1.0]] * 2, groups)
    assert to_one_side.score == pytest.approx(to_both_sides.score)
    assert to_one_side.skew == pytest.approx(to_one_side.score)
    assert to_one_side.stereotype == pytest.approx(0.0, abs=1e-12)
    assert to_both_sides.skew == pytest.approx(0.0, abs=1e-12)
    assert to_both_sides.stereotype == pytest.approx(to_both_sides.score)


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"group 2: .*{message}"):
        same(random_rows(3, 3), [random_rows(2, 3), vectors])


@pytest.mark.parametrize(
    ("words", "groups", "message"),
    [
        (AXES[0] * 2, AXES[:1], "at least two groups"),
        (AXES[0], AXES, "at least 2"),
        (AXES[0] * 2, [AXES[0], AXES[0]], "do not differ"),
        (AXES[0] * 2, [AXES[0], AXES[1], AXES[0]], "do not differ"),
    ],
)
def test_groups_that_cannot_be_compared_are_an_error(words, groups, message):
    with pytest.raises(BadInput, match=message):
        same(words, groups)


def _projection(word, groups):
    """The length of a word's projection, from a basis of the groups' differences."""
    means = [np.mean([v / np.linalg.norm(v) for v in group], axis=0) for group in groups]
    basis, _ = np.linalg.qr(np.stack([means[0] - mean for mean in means[1:]], axis=1))
    return np.linalg.norm(basis.T @ word) / np.linalg.norm(word)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 2), (2, 1, 2)])
def test_p_counts_the_deals_that_give_as_much(sizes):
    words, attributes = random_rows(6, 8, seed=1), random_rows(sum(sizes), 8, seed=2)
    ends = np.cumsum(sizes)[:-1]
    found = same(words, np.split(attributes, ends), permutations=6_000)
    labels = np.repeat(range(len(sizes)), sizes)
    null = []
    for order in itertools.permutations(range(len(labels))):
        groups = [attributes[labels[list(order)] == group] for group in range(len(sizes))]
        null.append(np.mean([_projection(word, groups) for word in words]))
    exact = np.mean(np.array(null) >= found.score - 1e-9)
    assert found.p_value == pytest.approx(exact, abs=4 * math.sqrt(exact * (1 - exact) / 6_000) + 2 / 6_000)


def test_a_size_along_arbitrary_words_is_no_finding():
    rng = np.random.default_rng(3)
    runs = 200
    found = [
        same(rng.normal(size=(12, 20)) + 1, [rng.normal(size=(6, 20)), rng.normal(size=(6, 20))], permutations=99)
        for _ in range(runs)
    ]
    # The interval never holds 0; p is at most .05 as often as it says. 200 runs at .05 have an SD of .015.
    assert all(0.0 not in each.ci for each in found)
    assert np.mean([each.p_value <= 0.05 for each in found]) == pytest.approx(0.05, abs=3 * 0.0154)
    assert np.mean([each.skew_test.p_value <= 0.05 for each in found]) <= 0.05 + 3 * 0.0154


def test_words_that_lie_along_what_separates_the_groups_are_found():
    axis = np.eye(20)[0]
    words = random_rows(20, seed=4) + 6 * np.outer([1, -1] * 10, axis)
    groups = [random_rows(8, seed=5) + 3 * axis, random_rows(8, seed=6) - 3 * axis]
    found = same(words, groups)
    assert found.p_value < 0.01
    assert found.skew_test.p_value > 0.05
    assert same(words, groups[::-1]).p_value == pytest.approx(found.p_value, abs=0.01)
    assert same(random_rows(20, seed=4) + 2 * axis, groups).skew_test.p_value < 0.01
