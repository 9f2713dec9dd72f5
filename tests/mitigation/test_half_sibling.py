from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import Ridge

from tests.mitigation.planted_groups import planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import half_sibling


@given(st.integers(0, 99), st.floats(0.1, 100))
def test_it_is_what_a_ridge_regression_over_the_dimensions_leaves(seed, alpha):
    rng = np.random.default_rng(seed)
    say, others = rng.normal(size=(4, 12)), rng.normal(size=(7, 12))
    made = half_sibling({str(i): row for i, row in enumerate(say)}, alpha=alpha)
    fitted = Ridge(alpha=alpha, fit_intercept=False, solver="cholesky").fit(say.T, others.T)
    assert made.apply(others) == pytest.approx(others - fitted.predict(say.T).T, abs=1e-8)


def test_without_a_penalty_nothing_of_the_words_of_the_groups_is_left():
    vectors, groups = planted(1)
    made = half_sibling({"he": np.eye(20)[0]}, alpha=0.0)
    assert separable(made.apply(vectors), groups) == pytest.approx(0.5, abs=0.1)
    assert made.replaced["he"].tolist() == np.eye(20)[0].tolist()


@pytest.mark.parametrize(
    ("words", "alpha", "message"),
    [
        ({"he": [1.0, 0.0]}, -1.0, "alpha must be"),
        ({}, 1.0, "none are left"),
        ({"he": [1.0, 0.0], "him": [1.0, 0.0]}, 0.0, "depend on one another"),
    ],
)
def test_bad_input_is_one_line(words, alpha, message):
    with pytest.raises(BadInput, match=message):
        half_sibling(words, alpha=alpha)
