"""What all word probes share: how an effect follows from its items, words given inline, and what is left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from tests.planted import SIZE, Sentences, vector
from tiltmeter import probe
from tiltmeter.probes import make_probes
from tiltmeter.probes.registry import WORD_KINDS
from tiltmeter.readings import Reading
from tiltmeter.stimuli import Group, Pairs, group

KINDS = {kind.name: kind for kind in WORD_KINDS}


def spread(inputs: tuple[str, ...]) -> dict[str, np.ndarray]:
    """A vector for every input that leans by an amount of its own."""
    rng = np.random.default_rng(1)
    return {item: vector(item, rng.uniform(-0.7, 0.7)) for item in inputs}


def measured(name: str, **stimuli) -> Reading:
    (made,) = make_probes(name, **stimuli)
    vectors = spread(made.stimuli.inputs())
    return probe(name, Sentences(vectors) if name in ("seat", "association") else vectors, cache=False, **stimuli)


def recomputed(reading: Reading) -> float:
    """The effect, from nothing but the items and what the reading says of its statistic."""
    how, items = reading.statistic, reading.items
    columns = [np.array([item.get(column) for item in items], dtype=float) for column in how.of]
    groups = np.array([item.group for item in items])
    units = np.array([item.unit for item in items])
    values = np.abs(columns[0]) if how.absolute else columns[0]

    def means(of_group: str | None = None) -> list[float]:
        chosen = groups == of_group if of_group else np.ones(len(items), dtype=bool)
        return [values[chosen & (units == unit)].mean() for unit in dict.fromkeys(units[chosen])]

    if how.name == "mean of units":
        return float(np.mean(means()))
    if how.name == "d of units":
        one, two = (means(name) for name in how.between)
        return float((np.mean(one) - np.mean(two)) / np.std([*one, *two], ddof=1))
    if how.name == "d of rows":
        one, two = (means(name) for name in how.between)
        # Each word counts once, whatever the number of its sentences.
        centre = np.mean([*one, *two])
        squares = [
            ((values[(groups == name) & (units == unit)] - centre) ** 2).mean()
            for name in how.between
            for unit in dict.fromkeys(units[groups == name])
        ]
        return float((np.mean(one) - np.mean(two)) / np.sqrt(np.mean(squares) * len(items) / (len(items) - 1)))
    if how.name == "eta":
        table = np.stack(columns, axis=1)
        table = table - table.mean(axis=0)
        between = sum(((table[groups == g].mean(axis=0)) ** 2).sum() * (groups == g).sum() for g in set(groups))
        return float(np.sqrt(between / (table**2).sum()))
    if how.name == "kl from even":
        return float(np.sum(values * np.log(values * len(values))))
    return float({"pearson": pearsonr, "spearman": spearmanr}[how.name](*columns).statistic)


@pytest.mark.parametrize("name", [name for name in KINDS if name != "cluster_bias"])
def test_the_effect_of_every_word_probe_follows_from_its_items_as_it_says(name):
    reading = measured(name)
    assert recomputed(reading) == pytest.approx(reading.effect.value, abs=1e-9)
    assert reading.item_meaning.name
    assert set(reading.statistic.between) <= {item.group for item in reading.items}


def test_clusters_are_made_of_vectors_so_they_say_no_statistic_of_their_items():
    assert measured("cluster_bias").statistic is None


@pytest.mark.parametrize("name", KINDS)
def test_every_word_probe_says_on_which_scale_it_is_and_names_both_ends_where_it_has_two(name):
    reading = measured(name)
    directed = ("weat", "seat", "association", "rnd", "wefat", "semaxis", "ripa", "neighbour_bias")
    scale, poles = reading.effect.scale, reading.poles
    if name in directed:
        assert scale.signed
        assert poles.positive
        assert poles.negative
        assert poles.positive != poles.negative
    else:
        assert poles is None or not poles.negative
    assert reading.leans in ("", "no clear lean", *(poles or ()))
    assert reading.dimension == ("religion" if name in ("multi_weat", "rnsb") else "gender")


def test_words_may_be_given_as_addresses_lists_mappings_and_groups():
    men, women = group("gender.male_pronouns"), group("gender.female_pronouns")
    by_address = measured("weat", targets=["gender.male_pronouns", "gender.female_pronouns"])
    assert measured("weat", targets=[men, women]).effect == by_address.effect
    for targets in (
        [men, women],
        [list(men.texts), women.texts],
        [{"label": "men", "words": list(men.texts)}, Group.of("women", women.texts)],
    ):
        inline = measured("weat", targets=targets)
        assert inline.effect.value == by_address.effect.value
        assert [item.label for item in inline.items] == [item.label for item in by_address.items]
    assert by_address.dimension == "gender"
    assert measured("weat", targets=[{"words": ["a", "b"], "dimension": "age"}, ["c", "d"]]).dimension == "age"


def test_pairs_may_be_given_as_an_address_a_list_or_pairs():
    couples = [("she", "he"), ("woman", "man"), ("girl", "boy")]
    listed = measured("ripa", targets=[["nurse", "pilot", "baker"]], pairs=couples)
    typed = measured("ripa", targets=[["nurse", "pilot", "baker"]], pairs=Pairs("x", "x", "w", "m", tuple(couples)))
    assert listed.effect == typed.effect
    assert listed.poles == ("nurse, pilot, baker → she, woman, girl", "nurse, pilot, baker → he, man, boy")


def test_what_identifies_the_stimuli_is_what_was_shown_and_not_how_it_was_given():
    (address,) = make_probes("weat", targets=["gender.male_pronouns", "gender.female_pronouns"])
    men, women = group("gender.male_pronouns"), group("gender.female_pronouns")
    (inline,) = make_probes("weat", targets=[men, women])
    assert address.stimuli.to_dict() == inline.stimuli.to_dict()
    assert len(spread(("he",))["he"]) == SIZE
