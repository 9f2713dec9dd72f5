from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.fit_words import (
    HeldOut,
    halves,
    held_out_probe,
    probe_words,
    sentence_sets,
    word_sets,
    words_with_group,
)
from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half
from tiltmeter.probes import Options, make_probes


@pytest.mark.parametrize("seed", range(5))
def test_no_family_of_words_is_on_both_sides(seed):
    sets = word_sets("gender.gender")
    fit, test = halves(sets, seed=seed)
    assert sorted([*fit.sets, *test.sets]) == sorted(sets.sets)
    assert 10 <= len(fit.sets) <= 14
    sides = {
        "mother": ["grandmother", "stepmother"],
        "girl": ["girls", "girlfriend"],
        "woman": ["women", "businesswoman"],
        "she": ["her", "herself"],
    }
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
    with pytest.raises(BadInput, match="all words belong to one family"):
        halves(word_sets([["mother", "father"], ["grandmother", "grandfather"]]), seed=0)


def test_words_that_are_held_out_are_not_allowed_in_any_spelling():
    held_out = HeldOut(frozenset({"nurse"}))
    assert not any(map(held_out.allows, ("Nurse", "nurses", "nursing")))
    assert held_out.allows("doctor")
    half = HeldOut(seed=0)
    assert {half.allows(word) == in_first_half(word, 0) for word in ("a", "b", "c", "d")} == {True}
    assert 400 < sum(in_first_half(f"{number:03}", 0) for number in range(1_000)) < 600


def test_a_probe_loses_the_words_that_a_method_was_fitted_on():
    (probe,) = make_probes("weat", options=Options())
    left = held_out_probe(probe, ["He", "she", "uncle", "aunt"])
    assert left.id == f"{probe.id}-held-out"
    assert all("uncle" not in pair for pair in left.stimuli.partners)
    # Forms of a pronoun go with it.
    gone = {"he", "him", "his", "she", "her", "hers", "uncle", "aunt"}
    assert probe_words([left]) == probe_words([probe]) - gone
    male, female = probe.stimuli.targets
    assert [len(some.units) for some in left.stimuli.targets] == [
        sum(word not in gone for word in some.units) for some in (male, female)
    ]


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


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("pairs", ["gender.gender", "gender.definitional"])
def test_no_word_that_proves_is_a_form_of_one_that_was_fitted_on(pairs, seed):
    fit, test = halves(word_sets(pairs), seed=seed)
    fitted = WordForms(fit.words)
    assert not [word for word in test.words if word in fitted]
    for name in ("weat", "seat", "wefat", "mac", "rnd"):
        for probe in make_probes(name, options=Options()):
            left = held_out_probe(probe, fit.words)
            if left is not None:
                assert not [word for word in probe_words([left]) if word in fitted]
    held_out = HeldOut(probe_words(make_probes("weat", options=Options())), seed)
    measured = WordForms(held_out.words)
    vocabulary = ("nurse", "careers", "Familial", "homes", "zebra", "walk", "executives", "salary", "stone", "quick")
    assert not [word for word in vocabulary if held_out.allows(word) and word in measured]
