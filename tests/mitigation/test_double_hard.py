from __future__ import annotations

import numpy as np
import pytest

from tests.mitigation.planted_groups import WIDTH, as_pairs, planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import double_hard


def vocabulary() -> tuple[np.ndarray, np.ndarray]:
    """Words that lean along the first axis; frequency, the largest component, is the second."""
    vectors, groups = planted(1)
    vectors[:, 1] += np.linspace(-20, 20, len(vectors))
    return vectors, groups


def test_it_is_the_formula_of_the_paper():
    vectors, groups = vocabulary()
    pairs = as_pairs()
    made = double_hard(pairs, vectors, leaning=(vectors[groups == 0], vectors[groups == 1]), component=0)
    mean = vectors.mean(axis=0)
    u = np.linalg.svd(vectors - mean, full_matrices=False)[2][0]
    differences = np.stack([one - two for one, two in (pair.values() for pair in pairs)])
    g = np.linalg.svd(differences, full_matrices=False)[2][0]
    first = vectors - mean - (vectors @ u)[:, None] * u
    assert made.apply(vectors) == pytest.approx(first - (first @ g)[:, None] * g, abs=1e-8)
    he = pairs[0]["he0"]
    assert made.replaced["he0"] == pytest.approx(he - mean - (he @ u) * u)


def test_the_component_is_taken_after_which_clusters_tell_least():
    # With frequency in the vectors clusters follow it, which hides the groups; they show along a second component.
    rng = np.random.default_rng(3)
    groups = np.arange(300) % 2
    vectors = rng.normal(size=(300, WIDTH))
    vectors[:, 2] += 6.0 * (2 * groups - 1)
    vectors[:, 1] += 9.0 * rng.normal(size=300)
    made = double_hard(as_pairs(), vectors, leaning=(vectors[groups == 0], vectors[groups == 1]))
    assert separable(vectors, groups) == 1.0
    assert separable(made.apply(vectors), groups) < 0.65


def test_a_component_that_is_not_there_is_refused():
    vectors, _ = vocabulary()
    with pytest.raises(BadInput, match="no component 20"):
        double_hard(as_pairs(), vectors, leaning=(vectors[:9], vectors[9:18]), component=20)
