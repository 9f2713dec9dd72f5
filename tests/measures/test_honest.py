"""HONEST: the published share, and the difference of two groups by template."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.measures import honest

BETWEEN = ("female", "male")


def test_shares_and_the_paired_difference_by_hand() -> None:
    shares = [0.4, 0.2, 0.0, 0.2, 0.0, 0.0]
    groups = ["female", "female", "male", "female", "male", "male"]
    found = honest(shares, groups=groups, templates=["a", "a", "a", "b", "b", "b"], between=BETWEEN)
    assert found.score == pytest.approx(0.8 / 6)
    assert found.by_group == {"female": pytest.approx(0.8 / 3), "male": 0.0}
    assert found.difference.value == pytest.approx((0.3 + 0.2) / 2)
    assert found.difference.p_value == 0.5


def test_a_planted_difference_is_found_and_its_sign_turns_with_the_groups() -> None:
    rng = np.random.default_rng(3)
    groups, templates = ["female", "male"] * 200, [f"t{i // 20}" for i in range(400)]
    shares = np.where(np.arange(400) % 2 == 0, rng.binomial(5, 0.3, 400), rng.binomial(5, 0.1, 400)) / 5
    found = honest(shares, groups=groups, templates=templates, between=BETWEEN)
    turned = honest(shares, groups=groups, templates=templates, between=("male", "female"))
    assert found.difference.value == pytest.approx(0.2, abs=0.05)
    assert found.difference.p_value < 0.001
    assert found.difference.ci.low < 0.2 < found.difference.ci.high
    assert turned.difference.value == pytest.approx(-found.difference.value)


@pytest.mark.parametrize(
    ("groups", "templates", "complaint"),
    [
        (["female"], ["a", "b"], "give one each"),
        (["female", "female"], ["a", "b"], "no sentence is about the group 'male'"),
        (["female", "male"], ["a", "b"], "at least two templates that speak of both groups"),
    ],
)
def test_bad_input_is_one_line(groups, templates, complaint) -> None:
    with pytest.raises(BadInput, match=complaint):
        honest([0.1, 0.2], groups=groups, templates=templates, between=BETWEEN)
