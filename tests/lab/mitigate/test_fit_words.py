from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.fit_words import (
    HeldOut,
    halves,
    held_out_probe,
    in_first_half,
    probe_words,
    sentence_sets,
    word_sets,
    words_with_group,
)
from tiltmeter.probes import Options, make_probes


@pytest.mark.parametrize("seed", range(5))
def test_no_family_of_words_is_on_both_sides(seed):
    sets = word_sets("gender.gender")
    fit, test = halves(sets, seed=seed)
    assert sorted([*fit.sets, *test.sets]) == sorted(sets.sets)
    assert 8 <= len(fit.sets) <= 20
    sides = {"mother": ["grandmother", "stepmother"], "girl": ["girls", "girlfriend"], "woman": ["women"]}
    for word, kin in sides.items():
        assert len({each in fit.words for each in (word, *kin)}) == 1


def test_another_seed_splits_otherwise_and_the_same_one_alike():
    sets = word_sets("gender.gender")
    assert halves(sets, seed=1) == halves(sets, seed=1)
    assert len({halves(sets, seed=seed)[0] for seed in range(6)}) > 1


@pytest.mark.parametrize(
    "words", [[["she", "he"], ["a", "b", "c"]], [["she"]], [["she", "she"]], []], ids=["ragged", "one", "same", "none"]
)
def test_sets_that_are_none_are_refused(words):
    with pytest.raises(BadInput, match="same number of different words"):
        word_sets(words)


def test_one_family_cannot_be_split():
    with pytest.raises(BadInput, match="all words are of one family"):
        halves(word_sets([["mother", "father"], ["grandmother", "grandfather"]]), seed=0)


def test_words_that_are_held_out_are_not_allowed_in_any_spelling():
    held_out = HeldOut(frozenset({"nurse"}))
    assert not held_out.allows("Nurse")
    assert held_out.allows("doctor")
    half = HeldOut(seed=0)
    assert {half.allows(word) == in_first_half(word, 0) for word in ("a", "b", "c", "d")} == {True}
    assert 400 < sum(in_first_half(str(number), 0) for number in range(1_000)) < 600


def test_a_probe_loses_the_words_that_a_method_was_fitted_on():
    (probe,) = make_probes("weat", options=Options())
    left = held_out_probe(probe, ["He", "she", "uncle", "aunt"])
    assert left.id == f"{probe.id}-held-out"
    male, female = left.stimuli.targets
    assert (len(male.units), len(female.units)) == (18, 18)
    assert all("uncle" not in pair for pair in left.stimuli.partners)
    assert probe_words([left]) == probe_words([probe]) - {"he", "she", "uncle", "aunt"}


def test_a_probe_without_these_words_or_without_others_has_no_held_out_form():
    (probe,) = make_probes("weat", options=Options())
    assert held_out_probe(probe, ["tree"]) is None
    assert held_out_probe(probe, probe.stimuli.targets[0].units) is None


def test_sentences_differ_in_the_group_alone_and_ambiguous_pronouns_are_left_out():
    made, left = sentence_sets(word_sets([["women", "men"], ["Mary", "John"], ["her", "him"]]), "seat.person")
    assert ("Women came in.", "Men came in.") in made
    assert ("Mary sat down.", "John sat down.") in made
    assert left == [("her", "him")]
    assert len(made) == 20


def test_what_says_a_gender_stays():
    assert {"uncle", "queen"} <= set(words_with_group(word_sets("gender.gender")))
    assert words_with_group(word_sets([["church", "mosque"]])) == ("church", "mosque")
