"""Comparing models: effects recomputed from their items, and what is called a real difference."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import tiltmeter
from tests.views.result_folders import (
    LEANS,
    jitter,
    leaning,
    pronouns,
    reading,
    renamed,
    without_items,
    write_results,
)
from tiltmeter.compare import Difference, compare, differ, load_side
from tiltmeter.compare.recipes import find_recipe
from tiltmeter.errors import BadInput
from tiltmeter.readings import Estimate, Reading
from tiltmeter.views.terminal.comparison import comparison_table


def difference(first: Reading, second: Reading) -> Difference:
    found = differ(first, second)
    assert isinstance(found, Difference), found
    return found


@pytest.fixture(scope="module")
def words() -> dict[str, list[float]]:
    """Vectors of the words that the word probes ask about, at random but the same each time."""
    from tiltmeter.stimuli import lexicon_names, load_lexicon

    rng = np.random.default_rng(0)
    lexicons = [load_lexicon(name) for name in lexicon_names()]
    known = {word for lexicon in lexicons for each in lexicon.groups.values() for word in each.texts}
    return {word: rng.normal(size=8).tolist() for word in sorted(known)}


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
    loose = difference(renamed(first, items=()), renamed(second, items=()))
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
    other = Estimate("effect size d", 0.123, 0.0, "nearer to 0 is better", leaning().effect.ci)
    assert difference(leaning(), renamed(leaning(), effect=other)).method == "independent"


def test_the_order_of_items_does_not_matter() -> None:
    second = leaning(*jitter(0.1, 3))
    turned = renamed(second, items=second.items[::-1])
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


@pytest.mark.parametrize(
    "name",
    [
        *("weat", "multi_weat", "wefat", "semaxis", "mac", "same", "rnsb", "rnd", "ect", "ripa", "direct_bias"),
        "neighbour_bias",
    ],
)
def test_the_effect_of_a_probe_follows_from_its_items(name: str, words: dict[str, list[float]]) -> None:
    found = tiltmeter.probe(name, words, cache=False, permutations=99, progress=False)
    recipe = find_recipe(found, found)
    assert recipe is not None
    assert recipe[0].value(recipe[1]) == pytest.approx(found.effect.value, abs=1e-6)


def test_ranks_are_correlated_as_scipy_does_ties_included() -> None:
    items = [
        {"word": str(i), "lean": lean, "share_men": share}
        for i, (lean, share) in enumerate([(0.1, 0.3), (0.1, 0.5), (0.4, 0.5), (0.3, 0.9), (0.7, 0.8), (0.2, 0.1)])
    ]
    rho = float(spearmanr([item["lean"] for item in items], [item["share_men"] for item in items]).statistic)
    one = reading(items, Estimate("Spearman correlation", rho, 0.0, "nearer to 0 is better"))
    found = find_recipe(one, one)
    assert found is not None
    assert found[0].value(found[1]) == pytest.approx(rho)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"stimuli": "xyz"}, "other stimuli (abc and xyz)"), ({"seed": 1}, "other settings (seed: 0 and 1)")],
)
def test_readings_of_other_stimuli_or_settings_are_not_compared(change: dict[str, object], named: str) -> None:
    assert differ(leaning(), leaning(**change)) == named


def test_a_reading_without_items_and_interval_cannot_be_compared() -> None:
    bare = renamed(leaning(ci=None), items=())
    found = differ(bare, bare)
    assert isinstance(found, str)
    assert "no interval" in found


def test_all_pairs_of_models_are_compared_and_corrected_together(tmp_path: Path) -> None:
    readings = [leaning(*jitter(0.05, seed, shift=0.4 * (seed == 3)), model=f"model {seed}") for seed in (1, 2, 3)]
    found = compare([load_side(str(write_results(tmp_path / "one", readings)))])
    assert [(pair.first, pair.second) for pair in found.pairs] == [
        ("model 1", "model 2"),
        ("model 1", "model 3"),
        ("model 2", "model 3"),
    ]
    rows = found.rows()
    assert [row["really_different"] for row in rows] == [False, True, True]
    assert all(row["p_holm"] >= row["p_value"] for row in rows)
    assert min(row["p_holm"] for row in rows) == pytest.approx(3 * min(row["p_value"] for row in rows))
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["pairs"][0]["first"] == "model 1"
    assert len(found.to_frame()) == 3


def test_the_clearest_difference_comes_first(tmp_path: Path) -> None:
    quiet = [leaning(id="a"), leaning(id="b")]
    loud = [leaning(*jitter(0.05, 1), id="a"), leaning(*jitter(0.05, 1, shift=0.5), id="b")]
    sides = [load_side(str(write_results(tmp_path / name, each))) for name, each in (("1", quiet), ("2", loud))]
    (pair,) = compare(sides).pairs
    assert [each.id for each in pair.differences] == ["b", "a"]
    assert pair.first.endswith("1: model")  # one name on both sides: the folders tell them apart


def test_folders_of_several_models_are_paired_by_name_and_one_can_be_chosen(tmp_path: Path) -> None:
    for name in ("old", "new"):
        write_results(tmp_path / name, [leaning(model="a:b"), leaning(*jitter(0.1, 1), model="c")])
    old, new = str(tmp_path / "old"), str(tmp_path / "new")
    assert len(compare([load_side(old), load_side(new)]).pairs) == 2
    (pair,) = compare([load_side(f"{old}:a:b"), load_side(f"{new}:c")]).pairs
    assert (pair.first, pair.second) == ("a:b", "c")
    with pytest.raises(BadInput, match=r"unknown model of .*did you mean 'a:b'"):
        load_side(f"{old}:a:bb")


def test_models_that_share_no_probe_are_an_error(tmp_path: Path) -> None:
    sides = [load_side(str(write_results(tmp_path / name, [leaning(id=name)]))) for name in ("a", "b")]
    with pytest.raises(BadInput, match="nothing can be compared: a: not measured on"):
        compare(sides)


def test_the_table_says_what_is_real_and_what_was_left_out(tmp_path: Path) -> None:
    from rich.console import Console

    first = write_results(tmp_path / "1", [leaning(id="a"), leaning(id="[b]"), leaning(id="c", stimuli="x")])
    grown = leaning(*jitter(0.05, 1, shift=0.6), id="[b]")
    second = write_results(tmp_path / "2", [leaning(id="a"), grown, leaning(id="c")])
    (pair,) = compare([load_side(str(first)), load_side(str(second))]).pairs
    console = Console(width=140, record=True, file=io.StringIO())
    console.print(comparison_table(pair))
    text = console.export_text()
    assert "Title of [b]" in text
    assert "really different: further from" in text
    assert "no real difference" in text
    assert "Not compared: c (other stimuli (x and abc))" in text
