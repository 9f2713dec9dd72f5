from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from tests.mitigation.planted_groups import planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import inlp


def test_it_is_a_chain_of_classifiers_each_on_what_is_left():
    vectors, groups = planted(2)
    left, directions = vectors, []
    for _ in range(3):
        weights = LinearSVC(dual=False, random_state=0).fit(left, groups).coef_[0]
        directions.append(weights)
        basis = np.linalg.qr(np.stack(directions).T)[0].T
        left = vectors - (vectors @ basis.T) @ basis
    assert inlp(vectors, groups, rank=3).apply(vectors) == pytest.approx(left, abs=1e-4)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_it_removes_a_bias_in_however_many_directions_it_was_planted(axes):
    vectors, groups = planted(axes, n=4_000)
    made = inlp(vectors[:2_000], groups[:2_000])
    assert 1 <= made.rank <= 5
    assert separable(vectors[2_000:], groups[2_000:]) > 0.8
    assert separable(made.apply(vectors[2_000:]), groups[2_000:]) == pytest.approx(0.5, abs=0.06)


def test_vectors_without_bias_stay_as_they_are():
    vectors, _ = planted(1, strength=0.0)
    assert inlp(vectors, np.arange(400) % 2).rank == 0


@pytest.mark.parametrize(
    ("labels", "rank", "message"),
    [
        (["a"] * 400, None, "two groups"),
        (["a", "b"], None, "a label for each"),
        (["a", "b"] * 200, 20, "rank of 20 does not fit"),
    ],
)
def test_bad_input_is_one_line(labels, rank, message):
    with pytest.raises(BadInput, match=message):
        inlp(planted(1)[0], labels, rank=rank)
