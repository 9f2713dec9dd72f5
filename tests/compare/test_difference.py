"""One probe on two models: what is paired with what, and what is called a real difference."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.compare.result_folders import LEANS, changed, jitter, leaning, pronouns, without_items
from tiltmeter.compare import Difference, differ
from tiltmeter.models import Identity
from tiltmeter.readings import CORRELATION, D, Estimate, Reading, Statistic
from tiltmeter.statistics.differences import Change


def changed_items(reading: Reading, **changes: str) -> Reading:
    """The reading with its last two items under one name."""
    *items, one, two = reading.items
    return changed(reading, items=(*items, one._replace(**changes), two._replace(**changes)))


def difference(first: Reading, second: Reading) -> Difference:
    found = differ(first, second)
    assert isinstance(found, Difference), found
    return found


def test_a_difference_is_that_of_the_two_effects() -> None:
    first, second = leaning(), leaning(*jitter(0.1, 1))
    found = difference(first, second)
    assert found.method == "paired"
    assert found.difference == pytest.approx(second.effect.value - first.effect.value)
    assert found.ci.low < found.difference < found.ci.high
    assert found.n_units == 16


def test_the_same_readings_do_not_differ() -> None:
    found = difference(leaning(), leaning())
    assert (found.difference, found.p_value, found.p_growth) == (0.0, 1.0, 1.0)


def test_a_shift_of_all_words_and_another_scale_are_no_difference() -> None:
    found = difference(leaning(), leaning(*(3 + 5 * np.array(each) for each in LEANS)))
    assert found.difference == pytest.approx(0, abs=1e-9)
    assert found.p_value == 1.0


def test_a_planted_growth_is_found_and_noise_is_not() -> None:
    grown = difference(leaning(), leaning(*jitter(0.04, 1, shift=0.5)))
    noise = difference(leaning(), leaning(*jitter(0.04, 2)))
    assert grown.growth > 0.2
    assert grown.p_growth < 0.001
    assert noise.p_value > 0.1


def test_growth_is_away_from_level_whichever_way_the_effect_leans() -> None:
    turned = leaning(LEANS[1], LEANS[0])
    found = difference(leaning(), turned)
    assert found.difference == pytest.approx(-2 * leaning().effect.value)
    assert found.growth == pytest.approx(0, abs=1e-12)
    assert found.p_growth == pytest.approx(0.5)
    assert found.p_value < 0.01


def test_pairing_finds_what_independent_intervals_would_not() -> None:
    first, second = leaning(), leaning(*jitter(0.04, 1, shift=0.3))
    paired = difference(first, second)
    loose = difference(changed(first, items=()), changed(second, items=()))
    assert loose.method == "independent"
    assert paired.change.standard_error < loose.change.standard_error / 2
    assert paired.p_value < 0.01 < loose.p_value


def test_independent_intervals_combine_as_by_hand() -> None:
    found = difference(without_items(0.6, 0.5, 0.7), without_items(0.9, 0.8, 1.0))
    error = 0.1 / 1.959963985
    assert found.change.standard_error == pytest.approx(np.hypot(error, error))
    assert found.growth == pytest.approx(0.3)
    assert "independent" in found.how


def test_words_that_one_model_lacks_are_left_out_of_both() -> None:
    second = leaning(LEANS[0][:-1], LEANS[1])
    found = difference(leaning(), second)
    assert (found.n_units, found.method) == (15, "paired")
    assert found.first == pytest.approx(second.effect.value)
    assert "15 units, of 16" in found.how


def test_readings_that_share_too_little_are_not_paired() -> None:
    assert difference(leaning(), leaning(LEANS[0][:4], LEANS[1])).method == "independent"


def test_items_that_do_not_give_back_the_effect_are_not_used() -> None:
    other = Estimate("effect size d", 0.123, D, leaning().effect.ci)
    assert difference(leaning(), changed(leaning(), effect=other)).method == "independent"


def test_a_reading_that_does_not_say_its_statistic_is_not_paired() -> None:
    assert difference(leaning(), changed(leaning(), statistic=None)).method == "independent"


def test_a_number_that_an_earlier_version_called_otherwise_is_the_same_number() -> None:
    first = leaning()
    before = changed(first, effect=dataclasses.replace(first.effect, name="WEAT d"))
    assert difference(before, leaning(*jitter(0.1, 1))).method == "paired"


@pytest.mark.parametrize(
    "changes",
    [{"statistic": Statistic("d of rows", between=("first", "second"))}, {"effect": Estimate("r", 0.5, CORRELATION)}],
)
def test_readings_of_another_statistic_or_scale_are_not_compared(changes: dict[str, Any]) -> None:
    reason = differ(leaning(), changed(leaning(), **changes))
    assert isinstance(reason, str)
    assert reason.startswith("different statistics (effect size d and ")


def test_readings_with_vectors_of_another_model_are_not_compared() -> None:
    first = leaning()
    second = changed(first, provenance=dataclasses.replace(first.provenance, vectors=Identity("static:x", "1")))
    assert differ(first, second) == "other word vectors beside the model (none and static:x, or another revision)"


def test_a_pair_of_sentences_that_stands_in_a_list_twice_counts_twice() -> None:
    odds = np.linspace(-1, 2, 10)
    twice = changed_items(pronouns(odds), label="again", unit="again")
    assert difference(twice, twice).n_units == 10
    fewer = changed(twice, n_units=9)
    assert difference(fewer, fewer).n_units == 9


def test_the_order_of_items_does_not_matter() -> None:
    second = leaning(*jitter(0.1, 3))
    turned = changed(second, items=second.items[::-1])
    assert difference(leaning(), turned).to_dict() == difference(leaning(), second).to_dict()


def test_a_share_is_also_tested_by_the_log_odds_behind_it() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(size=50)
    again, moved = odds + 0.1 * rng.normal(size=50), odds + 0.4 + 0.1 * rng.normal(size=50)
    grown, same = difference(pronouns(odds), pronouns(moved)), difference(pronouns(odds), pronouns(again))
    assert grown.margins is not None
    assert grown.margins.second - grown.margins.first == pytest.approx(0.4, abs=0.05)
    alone = grown.change.p_value(grown.growth, sided="greater")
    assert grown.p_growth < 1e-6 < alone
    assert same.p_growth > 0.05


def test_log_odds_alone_are_no_growth_of_a_share_that_stays() -> None:
    odds = np.array([0.5, 0.6, 0.7, 0.8, -0.5, -0.6, 0.9, 1.0])
    found = difference(pronouns(odds), pronouns(odds + 0.3))
    assert found.growth == 0
    assert found.p_growth == 1.0


def test_a_share_has_to_grow_by_more_than_the_tolerance_for_its_log_odds_to_count() -> None:
    rng = np.random.default_rng(0)
    odds = rng.normal(size=50)
    found = difference(pronouns(odds), pronouns(odds + 0.4 + 0.1 * rng.normal(size=50)))
    assert found.p_beyond(found.growth - 0.01) < 1e-6
    assert found.p_beyond(found.growth + 0.01) > 0.5


def test_growth_of_d_is_measured_on_fisher_s_scale_where_it_has_no_bound() -> None:
    found = dataclasses.replace(
        difference(leaning(), leaning(*jitter(0.1, 1))),
        first=-0.6, second=1.6, growth=1.0, most=2.0, change=Change(2.2, 0.4, 20.0, 22),
    )  # fmt: skip
    # artanh(.8) = ln(9) / 2, artanh(.3) = ln(1.3 / .7) / 2; a step of z is 2 (1 - .09) of d there.
    z = math.log(9) / 2 - math.log(1.3 / 0.7) / 2
    assert found.p_beyond(0.0) == pytest.approx(stats.t.sf(2 * 0.91 * z / 0.4, 20))
    assert dataclasses.replace(found, most=None).p_beyond(0.0) == pytest.approx(stats.t.sf(1.0 / 0.4, 20))
    low, high = found.lower_bound(0.01), found.upper_bound(0.01)
    assert low < 1.0 < high < 2.0 - 0.6
    assert found.p_beyond(low) == pytest.approx(0.01)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"stimuli": "xyz"}, "different stimuli (abc and xyz)"), ({"seed": 1}, "different settings (seed: 0 and 1)")],
)
def test_readings_of_other_stimuli_or_settings_are_not_compared(change: dict[str, object], named: str) -> None:
    assert differ(leaning(), leaning(**change)) == named


def test_a_reading_without_items_and_interval_cannot_be_compared() -> None:
    bare = changed(leaning(ci=None), items=())
    found = differ(bare, bare)
    assert isinstance(found, str)
    assert "no interval" in found
