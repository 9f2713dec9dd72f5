from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from scipy.stats import spearmanr

import tiltmeter
from tiltmeter.compare.difference import pair_units
from tiltmeter.compare.weighted import FORMS, make_table
from tiltmeter.readings import Item
from tiltmeter.readings.reading import StatisticName

ITEMS = [
    Item("He is here.", "he", "men", 0.1),
    Item("She is here.", "she", "women", 0.2),
    Item("He is here.", "he", "men", 0.3),
    Item("It is here.", "it", "things", 0.4),
    Item("She is late.", "she", "women", None),
]


def test_without_strata_all_items_with_a_score_count() -> None:
    table = make_table(ITEMS, ["value"])
    assert table is not None
    assert table.scores.ravel().tolist() == [0.1, 0.2, 0.3, 0.4]
    assert table.sizes.tolist() == [2, 1, 1]
    assert len(set(table.keys)) == 4  # the same sentence twice is two rows


def test_strata_come_in_their_order_and_other_groups_do_not_count() -> None:
    table = make_table(ITEMS, ["value"], strata=["women", "men"])
    assert table is not None
    assert table.unit_strata == (0, 1)
    assert table.scores.ravel().tolist() == [0.2, 0.1, 0.3]


def test_rows_are_taken_out_in_the_order_asked_for() -> None:
    table = make_table(ITEMS, ["value"])
    assert table is not None
    assert table.at([table.keys[3], table.keys[0]]).scores.ravel().tolist() == [0.4, 0.1]


def test_a_column_that_no_item_has_makes_no_table() -> None:
    assert make_table(ITEMS, ["share"]) is None


@pytest.fixture(scope="module")
def words() -> dict[str, list[float]]:
    """Vectors of the words that the word probes ask about, at random but the same each time."""
    from tiltmeter.stimuli import lexicon_names, load_lexicon

    rng = np.random.default_rng(0)
    lexicons = [load_lexicon(name) for name in lexicon_names()]
    known = {word for lexicon in lexicons for each in lexicon.groups.values() for word in each.texts}
    return {word: rng.normal(size=8).tolist() for word in sorted(known)}


@pytest.mark.parametrize(
    "name",
    [
        *("weat", "multi_weat", "wefat", "semaxis", "mac", "same", "rnsb", "rnd", "ect", "ripa", "direct_bias"),
        "neighbour_bias",
    ],
)
def test_the_effect_of_a_probe_follows_from_its_items(name: str, words: dict[str, list[float]]) -> None:
    reading = tiltmeter.probe(name, words, cache=False, permutations=99, progress=False)
    pairing = pair_units(reading, reading)
    assert pairing is not None
    assert pairing.values[0] == pytest.approx(reading.effect.value, abs=1e-6)


def test_ranks_are_correlated_as_scipy_does_ties_included() -> None:
    rows = [(0.1, 0.3), (0.1, 0.5), (0.4, 0.5), (0.3, 0.9), (0.7, 0.8), (0.2, 0.1)]
    items = [Item(str(i), str(i), "", lean, {"share_men": share}) for i, (lean, share) in enumerate(rows)]
    table = make_table(items, ("value", "share_men"))
    assert table is not None
    rho = float(spearmanr(*zip(*rows, strict=True)).statistic)
    assert FORMS["spearman"].value(table) == pytest.approx(rho)


@pytest.mark.parametrize(
    ("name", "columns", "by_hand"),
    [
        ("mean", ["value"], 2.0),
        ("mean of units", ["value"], 1.75),
        ("sd of units", ["value"], np.std([2.5, 1.0], ddof=1)),
        ("kl from even", ["share"], 0.75 * np.log(1.5) + 0.25 * np.log(0.5)),
    ],
)
def test_statistics_of_units_are_those_by_hand(name: StatisticName, columns: list[str], by_hand: float) -> None:
    """Two items of one unit, with a mean of 2.5, and one of another."""
    rows = [("a", 2.0, 0.75), ("a", 3.0, 0.75), ("b", 1.0, 0.25)]
    table = make_table(
        [Item(f"{i}", unit, "", value, {"share": share}) for i, (unit, value, share) in enumerate(rows)], columns
    )
    assert table is not None
    assert FORMS[name].value(table) == pytest.approx(by_hand)


def test_every_statistic_that_a_reading_can_name_is_known() -> None:
    assert set(FORMS) == set(get_args(StatisticName))


@pytest.mark.parametrize("name", ["d of rows", "d of units", "eta", "pearson", "spearman"])
def test_an_effect_is_at_its_bound_where_nothing_but_it_varies(name: StatisticName) -> None:
    items = [
        Item(f"{group} {i} {row}", f"{group} {i}", group, value, {"also": 2 * value})
        for group, value, n in (("men", 0.5, 3), ("women", -0.5, 7))
        for i in range(n)
        for row in range(2)
    ]
    table = make_table(items, ["value", "also"], strata=["men", "women"])
    assert table is not None
    form = FORMS[name]
    assert form.most is not None
    assert form.value(table) == pytest.approx(form.most(table))
