"""Checked vectors, the lean of words, and which words are kin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.cluster import hierarchy

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices
from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import average, cosines, directions_within, find_families, find_kin, leans, rows, unit
from tiltmeter.statistics.groups import unit_index


def test_the_worked_example_of_the_association_text():
    # .2*.3 + .5*.4 + .1*.2 = .28; lengths sqrt(.30) and sqrt(.29); .28 / sqrt(.087) = .9492889
    found = cosines(rows("u", [[0.2, 0.5, 0.1]]), rows("v", [[0.3, 0.4, 0.2]]))
    assert found[0, 0] == pytest.approx(0.9492889, abs=1e-7)


@given(matrices(3), matrices(2))
def test_cosines_are_their_definition(x, y):
    expected = [[cos(u, v) for v in y] for u in x]
    np.testing.assert_allclose(cosines(x, y), expected, atol=1e-12)


@given(matrices(4), matrices(3), matrices(2), FACTORS)
def test_leans_are_the_difference_of_mean_cosines(words, a, b, factor):
    assume(np.abs(unit(a).mean(0) - unit(b).mean(0)).max() > 1e-6)
    expected = [np.mean([cos(w, v) for v in a]) - np.mean([cos(w, v) for v in b]) for w in words]
    np.testing.assert_allclose(leans(words * factor, a, b), expected, atol=1e-12)


def test_attributes_with_one_average_cannot_pull():
    a = np.random.default_rng(0).normal(size=(5, 3))
    with pytest.raises(BadInput, match="the same average"):
        leans(a, a, a[::-1])


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=message) as caught:
        rows("X", vectors, like=np.ones((1, 3)))
    assert str(caught.value).startswith("X: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("vectors", [None, {"he": 1.0}, 3.0, np.ones((2, 2, 2))])
def test_what_is_no_matrix_is_an_error(vectors):
    with pytest.raises(BadInput, match="X: "):
        rows("X", vectors)


def test_vectors_that_cancel_out_have_no_average():
    with pytest.raises(BadInput, match="cancel out"):
        average("X", np.array([[0.1, 0.2], [0.2, 0.1], [-0.3, -0.3]]))


def random_unit(rng, n, width=50):
    return unit_rows(rng.normal(size=(n, width)))


def unit_rows(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_neighbours_are_found_in_the_geometry_and_random_words_are_not():
    rng = np.random.default_rng(2)
    seeds = rng.normal(size=(5, 50))
    kin = np.repeat(seeds, 4, axis=0) + 0.6 * rng.normal(size=(20, 50))
    kin /= np.linalg.norm(kin, axis=1, keepdims=True)
    found = find_kin(kin, random_unit(rng, 20), random_unit(rng, 8), random_unit(rng, 8))
    assert np.array(found.x).tolist() == np.repeat(np.arange(5), 4).tolist()
    assert np.max(found.y) + 1 >= 16


def test_words_are_not_kin_because_they_lean_alike():
    rng = np.random.default_rng(2)
    pole = 4 * np.eye(50)[0]
    a, b = (unit_rows(rng.normal(size=(8, 50)) + side * pole) for side in (1, -1))
    x, y = (unit_rows(rng.normal(size=(20, 50)) + np.outer(1.5 * rng.choice([-1, 1], size=20), pole)) for _ in range(2))
    found = find_kin(x, y, a, b)
    assert min(np.max(found.x), np.max(found.y)) + 1 >= 13
    # With the axis between the attributes they would be two families, one on either side of it.
    assert np.max(find_families(directions_within(x), alike=0.28)) + 1 <= 3


def test_what_is_taken_off_is_nothing_of_the_directions_that_are_left():
    rng = np.random.default_rng(4)
    vectors, axis = rng.normal(size=(6, 12)), rng.normal(size=12)
    left = directions_within(vectors, besides=axis)
    assert left @ axis == pytest.approx(0, abs=1e-12)
    assert np.linalg.norm(left, axis=1) == pytest.approx(1)
    assert np.array_equal(directions_within(vectors, besides=np.zeros(12)), directions_within(vectors))


def test_named_families_go_before_the_geometry():
    rng = np.random.default_rng(2)
    lists = [random_unit(rng, n) for n in (6, 6, 5, 5)]
    names = ["he", "he", "he", "son", "man", "boy"]
    found = find_kin(*lists, partners=[(0, 0), (1, 1), (3, 3)], named=(names, None, None, None))
    assert np.array(found.x).tolist() == [0, 0, 0, 1, 2, 3]
    assert np.array(found.of_pairs).tolist() == [0, 0, 1]


def test_in_few_dimensions_every_word_stands_alone():
    rng = np.random.default_rng(2)
    lists = [random_unit(rng, n, width=3) for n in (6, 6, 5, 5)]
    found = find_kin(*lists)
    assert [int(np.max(labels)) + 1 for labels in (found.x, found.y, found.a, found.b)] == [6, 6, 5, 5]


@pytest.mark.parametrize("seed", range(20))
def test_families_are_those_of_scipys_average_linkage(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    vectors = np.repeat(rng.normal(size=(n, 30)), 2, axis=0)[:n] + rng.uniform() * rng.normal(size=(n, 30))
    directions, alike = directions_within(vectors), rng.uniform(0.1, 0.6)
    apart = np.maximum(0.0, 1 - (directions @ directions.T)[np.triu_indices(n, 1)])
    expected = hierarchy.fcluster(hierarchy.linkage(apart, "average"), 1 - alike, "distance")
    assert find_families(directions, alike=alike).tolist() == unit_index(expected.tolist()).tolist()


def test_a_family_needs_no_more_than_its_members():
    assert find_families(np.eye(2), alike=0.1).tolist() == [0, 1]
