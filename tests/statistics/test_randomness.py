"""Seeds."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.statistics.permutation import generator


def test_a_seed_gives_the_same_numbers_and_each_purpose_its_own():
    draws = [generator(seed, purpose).random() for seed in (0, np.int64(0), 1) for purpose in ("permute", "resample")]
    assert draws[:2] == draws[2:4]
    assert len(set(draws)) == 4


@pytest.mark.parametrize("seed", [-1, 0.5, None, "zero"])
def test_what_is_no_seed_is_an_error(seed):
    with pytest.raises(BadInput, match="a seed must be a whole number"):
        generator(seed, "permute")
