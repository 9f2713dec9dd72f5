"""Results turn into plain Python values."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from tiltmeter.statistics import Interval, by_unit, permutation_test, plain, random_effects


def test_nested_results_become_json():
    found = random_effects([0.2, 0.5], [0.1, 0.1]).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["ci"]["method"] == "normal"
    assert found["n"] == 2


def test_numpy_values_become_plain_ones():
    value = plain({1: np.float32(0.5), "b": (np.arange(2), [np.bool_(True)]), "c": None})
    assert value == {"1": 0.5, "b": [[0, 1], [True]], "c": None}
    assert type(value["b"][1][0]) is bool


def test_results_are_frozen():
    found = permutation_test(by_unit([1.0, 2.0]), by_unit([3.0, 4.0]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_value = 0.0


def test_an_interval_holds_its_ends():
    interval = Interval(-1.0, 2.0, 0.95, "normal")
    assert (-1.0 in interval, 2.0 in interval, 2.1 in interval) == (True, True, False)
