"""Every metric that WEFE has too, on the same vectors, to a millionth."""

from __future__ import annotations

import pytest
from benchmarks import peers


@pytest.fixture(scope="module")
def answers():
    if not peers.python().exists():
        pytest.skip("no environment with WEFE: run `make peers`")
    # few draws: enough for the form of its answer, not for a p-value to compare
    return peers.ask([("female_names male_names career family", "two-sided", 20)])


def test_every_metric_agrees_with_wefe(answers):
    differences = peers.compare(answers)
    assert len(differences) == 20
    compared = [each for query in differences.values() for each in query.values() if each is not None]
    assert len(compared) >= 20 * 6
    assert max(compared) < peers.TOLERANCE


def test_a_negative_score_has_the_same_two_sided_p_as_its_mirror_unlike_in_wefe(answers):
    (row,) = peers.p_values(answers)
    assert row["exact"] == pytest.approx(2 / 12870)
    assert row["p_value"] == 1.0
