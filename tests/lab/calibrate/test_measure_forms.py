"""What is taken from a reading, where the halves and the numbers are known by hand."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest

from tiltmeter.lab.calibrate.measure_forms import (
    DosePoint,
    MeasureForm,
    NullReadings,
    apart,
    measure_forms,
    random_halves,
    rank_correlation,
    summarise_points,
)
from tiltmeter.models.protocol import Identity
from tiltmeter.readings import SHARE, About, D, Estimate, Item, Provenance, Reading
from tiltmeter.readings.details.cabm import CabmDetails

WORDS = ("plumber", "engineer", "nurse", "typist")
MEN = np.array([True, True, False, False])
SIDE = {"plumber": 1, "engineer": 1, "nurse": -1, "typist": -1}
READING = Reading(
    id="mine",
    probe="mine",
    title="Mine",
    model="mine",
    dimension="gender",
    control=False,
    family="bias",
    effect=Estimate("share", 0.75, SHARE, p_value=0.03),
    published=None,
    repair="",
    poles=None,
    finding="",
    n_items=4,
    n_units=4,
    items=(),
    item_meaning=None,
    statistic=None,
    left_out=(),
    notes=(),
    about=About("", "", "", ()),
    provenance=Provenance(Identity("mine", "1"), "", {}, {}),
)


def form(measure: str, which: str = "repaired") -> MeasureForm:
    made = measure_forms({f"The {word} left.": word for word in WORDS}, "shap_rf")
    return next(each for each in made if each.key == (measure, which))


def reading(values, **columns) -> Reading:
    """An item for each word, with these values and columns."""
    items = (
        Item(f"The {word} left.", word, "", value, {name: own[i] for name, own in columns.items()})
        for i, (word, value) in enumerate(zip(WORDS, values, strict=True))
    )
    return dataclasses.replace(READING, items=tuple(items))


def test_the_number_is_the_difference_between_the_halves():
    assert apart(np.array([3.0, 1.0, 1.0, -1.0]), MEN) == 2.0


def test_exchanging_the_halves_turns_the_sign():
    leans = np.random.default_rng(0).normal(size=4)
    assert apart(leans, MEN) == pytest.approx(-apart(leans, ~MEN))


def test_random_halvings_are_halves_and_the_same_for_a_seed():
    made = random_halves(60, many=50, seed=[1, 3])
    assert {int(men.sum()) for men in made} == {30}
    assert len({men.tobytes() for men in made}) == 50
    assert np.array_equal(made, random_halves(60, many=50, seed=[1, 3]))


def test_the_items_of_an_occupation_count_by_their_mean():
    whole = reading([0.4, 0.2, -0.1, -0.3])
    again = dataclasses.replace(whole, items=(*whole.items, Item("", "nurse", "", -0.5)))
    assert form("unmasking").lean(again, SIDE) == pytest.approx(
        {"plumber": 0.4, "engineer": 0.2, "nurse": -0.3, "typist": -0.3}
    )


@pytest.mark.parametrize(("measure", "expected"), [("pairs (meade, log-odds)", -2.0), ("pairs (meade)", -0.5)])
def test_a_pair_that_fits_the_halves_leans_to_women_where_the_occupation_is_with_them(measure, expected):
    leans = form(measure).lean(reading([2.0] * 4, won=[1.0] * 4), SIDE)
    assert leans["nurse"] == expected == -leans["plumber"]


def test_a_pronoun_that_fits_the_halves_leans_to_women_where_the_occupation_is_with_them():
    leans = form("pronouns (log-odds)").lean(reading([1.5] * 4, won=[1.0] * 4), SIDE)
    assert leans == {"plumber": 1.5, "engineer": 1.5, "nurse": -1.5, "typist": -1.5}


def test_a_tie_and_what_is_not_counted_lean_to_neither():
    leans = form("ClozeGender").lean(reading([0.0] * 4, won=[1.0, 0.5, None, 0.0]), SIDE)
    assert leans == {"plumber": 0.5, "engineer": 0.0, "nurse": 0.0, "typist": -0.5}


def test_a_published_cloze_is_won_by_the_larger_score():
    scores = {"published_1": [0.4, 0.2, 0.1, 0.3], "published_2": [0.1, 0.2, 0.3, 0.4]}
    leans = form("ClozeGender", "published").lean(reading([0.0] * 4, **scores), SIDE)
    assert leans == {"plumber": 0.5, "engineer": 0.0, "nurse": -0.5, "typist": -0.5}


def test_where_a_reading_compares_the_halves_its_effect_and_its_p_value_count():
    assert form("pronouns").number(READING, np.zeros(4), MEN) == (0.25, 0.03)
    own = dataclasses.replace(READING, published=Estimate("d", 0.9, D, p_value=0.2))
    assert form("SEAT", "published").number(own, np.zeros(4), MEN) == (0.9, 0.2)


def test_where_it_does_not_the_items_count_and_no_test_is_made_up():
    assert form("unmasking").number(READING, np.array([1.0, 1.0, 0.0, 0.0]), MEN) == (1.0, None)


def test_a_weighting_that_a_forest_could_not_learn_is_absent():
    scores = {"pca": [0.3, 0.2, -0.1, -0.2]}
    details = object.__new__(CabmDetails)  # of its many fields only the scores are looked at
    for name, of_form in (("repaired", scores), ("published", {})):
        object.__setattr__(details, name, SimpleNamespace(scores=of_form))
    own = dataclasses.replace(reading([0.0] * 4), details=details)
    assert form("CABM (pca)").lean(own, SIDE) == dict(zip(WORDS, scores["pca"], strict=True))
    assert form("CABM (pca_rf)").lean(own, SIDE) is None
    assert form("CABM (pca)", "published").lean(own, SIDE) is None


TRUTH = np.array([0.1, 0.4, 0.6, 0.9])


def point(dose: float, seed: int, value: float, leans=TRUTH, sets=None) -> DosePoint:
    return DosePoint(dose, seed, value, None, np.asarray(leans), sets or {"a": value, "b": value})


def curve(values: dict[float, tuple[float, float]]) -> list[DosePoint]:
    return [point(dose, seed, value) for dose, both in values.items() for seed, value in enumerate(both)]


NULL = NullReadings(np.linspace(-1, 1, 201), np.linspace(0, 1, 201))


def test_a_measure_that_grows_with_the_dose_follows_it():
    found = summarise_points(
        "m", "repaired", "units", curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4), 0.9: (1.2, 1.3)}), NULL, TRUTH
    )
    assert found.spearman == pytest.approx(0.956, abs=1e-3)  # the ties of the dose keep it below 1
    assert found.slope == pytest.approx(3.0)
    assert found.noise == pytest.approx(np.std(np.linspace(-1, 1, 201), ddof=1))
    assert found.slope_in_noise == pytest.approx(0.3 / found.noise)
    assert found.means == pytest.approx({"0.5": 0.05, "0.6": 0.35, "0.9": 1.25})


def test_the_smallest_dose_is_the_first_from_which_every_model_is_above_chance():
    values = {0.5: (0.0, 0.1), 0.6: (0.96, 0.94), 0.75: (0.99, 1.0), 0.9: (1.2, 1.3)}  # 97.5% of the null is at .95
    assert summarise_points("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.75
    values[0.6] = (0.96, 0.96)
    assert summarise_points("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.6
    values[0.75] = (0.0, 1.0)  # a dose between that is not told apart: what is below it was luck
    assert summarise_points("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose == 0.9
    values[0.9] = (0.0, 0.0)
    assert summarise_points("m", "repaired", "units", curve(values), NULL, TRUTH).smallest_dose is None


def test_false_positives_are_the_share_of_small_p_values_and_absent_without_any():
    assert NULL.false_positives == pytest.approx(11 / 201)
    assert NullReadings(np.zeros(3), np.zeros(0)).false_positives is None


def test_null_readings_are_kept_and_counted():
    summary = summarise_points("m", "repaired", "units", curve({0.5: (0, 0), 0.6: (1, 1), 0.9: (2, 2)}), NULL, TRUTH)
    assert summary.n_null == len(summary.null_values) == len(summary.null_p_values) == 201


def test_retest_and_order_are_those_of_the_largest_dose():
    points = [
        *curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4)}),
        point(0.9, 0, 1.0, leans=[1, 2, 3, 4]),
        point(0.9, 1, 1.0, leans=[2, 1, 4, 3]),
    ]
    found = summarise_points("m", "repaired", "units", points, NULL, TRUTH)
    assert found.retest == pytest.approx(0.6)
    assert found.order == pytest.approx((1 + 0.6) / 2)


def test_spread_is_over_sets_of_sentences_in_parts_of_the_mean():
    points = [
        *curve({0.5: (0.0, 0.1), 0.6: (0.3, 0.4)}),
        *(point(0.9, seed, 2.0, sets={"a": 1.0, "b": 3.0}) for seed in (0, 1)),
    ]
    assert summarise_points("m", "repaired", "units", points, NULL, TRUTH).spread == pytest.approx(2**0.5 / 2)
    single = [point(each.dose, each.seed, each.value, sets={"all": each.value}) for each in points]
    assert summarise_points("m", "repaired", "units", single, NULL, TRUTH).spread is None


def test_what_does_not_vary_follows_nothing():
    assert rank_correlation(np.array([1.0, 2.0]), np.array([3.0, 3.0])) == 0.0
