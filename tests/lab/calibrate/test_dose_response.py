"""What a measure's answers to the dose come to, on points whose summary is known by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.lab.calibrate.dose_response import DosePoint, NullReadings, rank_correlation, summarise

TRUTH = np.array([0.1, 0.4, 0.6, 0.9])


def point(dose: float, seed: int, value: float, leans=TRUTH, sets=None) -> DosePoint:
    return DosePoint(dose, seed, value, None, np.asarray(leans), sets or {"a": value, "b": value})


def curve(values: dict[float, tuple[float, float]]) -> list[DosePoint]:
    return [point(dose, seed, value) for dose, both in values.items() for seed, value in enumerate(both)]


NULL = NullReadings(np.linspace(-1, 1, 201), np.linspace(0, 1, 201))


def test_a_measure_that_grows_with_the_dose_follows_it():
    found = summarise("m", "repaired", "units", curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4), 0.9: (1.2, 1.3)}), NULL, TRUTH)
    assert found.spearman == pytest.approx(0.956, abs=1e-3)  # the ties of the dose keep it below 1
    assert found.slope == pytest.approx(3.0)
    assert found.noise == pytest.approx(np.std(np.linspace(-1, 1, 201), ddof=1))
    assert found.slope_in_noise == pytest.approx(0.3 / found.noise)
    assert found.means == pytest.approx({"0.5": 0.05, "0.6": 0.35, "0.9": 1.25})


def test_the_smallest_dose_is_the_first_from_which_every_model_is_above_chance():
    values = {0.5: (0.0, 0.1), 0.6: (0.96, 0.94), 0.75: (0.99, 1.0), 0.9: (1.2, 1.3)}  # 97.5% of the null is at .95
    assert summarise("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.75
    values[0.6] = (0.96, 0.96)
    assert summarise("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.6
    values[0.75] = (0.0, 1.0)  # a dose between that is not told apart: what is below it was luck
    assert summarise("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.9
    values[0.9] = (0.0, 0.0)
    assert summarise("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose is None


def test_false_positives_are_the_share_of_small_p_values_and_absent_without_any():
    assert NULL.false_positives == pytest.approx(11 / 201)
    assert NullReadings(np.zeros(3), np.zeros(0)).false_positives is None


def test_null_readings_are_kept_and_counted():
    summary = summarise("m", "repaired", "units", curve({0.5: (0, 0), 0.6: (1, 1), 0.9: (2, 2)}), NULL, TRUTH)
    assert summary.n_null == len(summary.null_values) == len(summary.null_p_values) == 201


def test_retest_and_order_are_those_of_the_largest_dose():
    points = [
        *curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4)}),
        point(0.9, 0, 1.0, leans=[1, 2, 3, 4]),
        point(0.9, 1, 1.0, leans=[2, 1, 4, 3]),
    ]
    found = summarise("m", "repaired", "units", points, NULL, TRUTH)
    assert found.retest == pytest.approx(0.6)
    assert found.order == pytest.approx((1 + 0.6) / 2)


def test_spread_is_over_sets_of_sentences_in_parts_of_the_mean():
    points = [
        *curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4)}),
        *(point(0.9, seed, 2.0, sets={"a": 1.0, "b": 3.0}) for seed in (0, 1)),
    ]
    assert summarise("m", "repaired", "units", points, NULL, TRUTH).spread == pytest.approx(2**0.5 / 2)
    single = [point(each.dose, each.seed, each.value, sets={"all": each.value}) for each in points]
    assert summarise("m", "repaired", "units", single, NULL, TRUTH).spread is None


def test_what_does_not_vary_follows_nothing():
    assert rank_correlation(np.array([1.0, 2.0]), np.array([3.0, 3.0])) == 0.0
