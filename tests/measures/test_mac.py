"""Mean average cosine distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.distance import cosine

from tests.measures.vectors import BAD_VECTORS, FACTORS, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import mac
from tiltmeter.measures.geometry import unit


def test_two_targets_and_two_sets_by_hand():
    # distances to {(1, 0)}: 0 and .4; to {(0, 1), (-1, 0)}: (1 + 2) / 2 and (.2 + 1.6) / 2
    found = mac([[1.0, 0.0], [3.0, 4.0]], [[[1.0, 0.0]], [[0.0, 1.0], [-1.0, 0.0]]])
    assert found.by_target == (pytest.approx((0.0, 1.5)), pytest.approx((0.4, 0.9)))
    assert found.score == pytest.approx(0.7)
    assert found.n == 2


@given(matrices(3), matrices(2), matrices(4), FACTORS)
@settings(max_examples=30)
def test_it_is_the_mean_of_scipys_cosine_distances(targets, a, b, factor):
    found = mac(targets * factor, [a, b])
    expected = np.mean([np.mean([cosine(t, v) for v in attributes]) for t in targets for attributes in (a, b)])
    assert found.score == pytest.approx(expected, abs=1e-9)
    assert -1e-9 <= found.score <= 2 + 1e-9
    assert found.ci.low - 1e-9 <= found.score <= found.ci.high + 1e-9


def test_nearer_attributes_give_a_smaller_distance():
    targets = random_rows(10, seed=1)
    far, near = mac(targets, [random_rows(6, seed=2)]), mac(targets, [random_rows(6, seed=2) + targets.mean(0)])
    assert near.score < far.score


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"attribute set 2: .*{message}"):
        mac(random_rows(3, 3), [random_rows(2, 3), vectors])


def test_too_little_to_measure_is_an_error():
    with pytest.raises(BadInput, match="at least one set"):
        mac(random_rows(3, 3), [])
    with pytest.raises(BadInput, match="targets: needs a matrix of at least 2"):
        mac(random_rows(1, 3), [random_rows(2, 3)])


@pytest.mark.parametrize("n", [3, 5, 8, 20])
def test_the_interval_covers_the_mean_of_other_words(n):
    # The bootstrap of so few words covers .74 to .92.
    rng = np.random.default_rng(n)
    sets = [random_rows(6, 50, seed=n) + 0.5, random_rows(6, 50, seed=n + 1) + 0.5]
    many = unit(rng.normal(size=(20_000, 50)) + 0.3)
    truth = 1 - np.mean([many @ unit(each).T for each in sets])
    covered = [truth in mac(rng.normal(size=(n, 50)) + 0.3, sets).ci for _ in range(400)]
    assert 0.92 <= np.mean(covered) <= 0.98


def test_forms_of_a_word_count_once():
    rng = np.random.default_rng(3)
    words, sets = rng.normal(size=(6, 40)), [rng.normal(size=(8, 40))]
    once, thrice = mac(words, sets), mac(np.repeat(words, 3, axis=0) + 1e-6 * rng.normal(size=(18, 40)), sets)
    assert (once.families, thrice.families) == (6, 6)
    assert (thrice.ci.low, thrice.ci.high) == pytest.approx((once.ci.low, once.ci.high), abs=1e-5)
