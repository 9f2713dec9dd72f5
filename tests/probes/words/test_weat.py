from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from tests.planted import CAREER_FAMILY, TERMS, Sentences, gendered, kin, sets, twins, vector, words
from tests.probes.words.planted_jobs import GENDERS, JOBS, gender_kin, job_sets, jobs
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput
from tiltmeter.readings import Power
from tiltmeter.stimuli import frequency_bands, group, neutral_words


@pytest.mark.parametrize(
    ("male", "female", "leans"),
    [
        (0.3, -0.3, "male terms → career, female terms → family"),
        (-0.3, 0.3, "female terms → career, male terms → family"),
    ],
)
def test_weat_names_the_group_that_was_made_to_lean(male, female, leans):
    model = gendered(male, female)
    reading = probe("weat", model, cache=False)
    direct = measures.weat(*sets(model, *TERMS, *CAREER_FAMILY), **kin(*TERMS))
    assert reading.effect.value == direct.effect_size
    assert math.copysign(1, reading.effect.value) == math.copysign(1, male)
    assert (reading.effect.p_value, reading.effect.ci) == (direct.p_value, direct.ci)
    assert reading.leans == leans
    assert reading.strength == "large"
    first = leans.partition(" → ")[0]
    assert reading.plain_words.partition(" tilt ")[2].startswith(f"in these words: {first} towards career")
    assert f"d = {direct.effect_size:.2f}" in reading.plain_words


def test_weat_finds_no_lean_where_the_groups_cannot_be_told_apart():
    reading = probe("weat", twins(TERMS) | words({CAREER_FAMILY[0]: 0.8, CAREER_FAMILY[1]: -0.8}), cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-12)
    assert reading.effect.p_value == 1
    assert reading.leans == "no clear lean"
    assert reading.verdict.state == "level"  # every word has its twin: the interval is a point


@pytest.mark.parametrize("matched", [True, False])
def test_two_words_a_group_say_that_no_result_could_be_significant(matched):
    model = gendered(0.3, -0.3)
    two = [group(address) for address in TERMS]
    targets = [dataclasses.replace(each, words=each.words[9:11], partners=each.partners * matched) for each in two]
    reading = probe("weat", model, targets=targets, attributes=CAREER_FAMILY, cache=False)
    least = 0.5 if matched else 1 / 3  # 2 of 4 patterns of signs; 2 of 6 splits
    assert reading.power == Power(None, pytest.approx(least))
    assert reading.effect.p_value >= least - 1e-12
    assert reading.verdict.state == "undecided"
    assert (
        f"No result could be significant with so few words (the smallest possible p is {least:.2g})"
        in reading.plain_words
    )


def test_the_items_of_weat_are_every_target_word_with_its_lean():
    model = gendered(0.3, -0.3)
    reading = probe("weat", model, cache=False)
    assert [item.label for item in reading.items] == [*group(TERMS[0]).texts, *group(TERMS[1]).texts]
    career, family = sets(model, *CAREER_FAMILY)
    he = model["he"].astype(float)
    expected = np.mean([he @ c for c in career.astype(float)]) - np.mean([he @ f for f in family.astype(float)])
    he_item = reading.items[0]
    assert (he_item.label, he_item.unit, he_item.group) == ("he", "he", "male terms")
    assert he_item.value == pytest.approx(expected, abs=1e-6)
    d = [item.value for item in reading.items]
    assert reading.effect.value == pytest.approx((np.mean(d[:20]) - np.mean(d[20:])) / np.std(d, ddof=1))
    assert (reading.n_items, reading.n_units) == (40, 40)


def test_the_published_weat_stands_beside_as_a_one_sided_test():
    model = gendered(0.005, -0.005)
    reading = probe("weat", model, cache=False)
    direct = measures.weat(*sets(model, *TERMS, *CAREER_FAMILY))
    assert reading.published.value == reading.effect.value
    assert reading.published.p_value == direct.published_p_value < reading.effect.p_value
    assert (reading.published.alternative, reading.effect.alternative) == ("greater", "two-sided")
    assert "one-sided" in reading.repair


def test_options_reach_the_measure_and_the_provenance():
    model = gendered(0.05, -0.05)
    reading = probe("weat", model, cache=False, alternative="less", seed=7, permutations=99)
    direct = measures.weat(
        *sets(model, *TERMS, *CAREER_FAMILY), alternative="less", seed=7, permutations=99, **kin(*TERMS)
    )
    assert reading.effect.p_value == direct.p_value
    assert reading.provenance.settings == {"alternative": "less", "seed": 7, "permutations": 99}


def test_a_model_of_texts_is_asked_for_words_as_texts():
    reading = probe("weat", Sentences(gendered(0.3, -0.3)), cache=False)
    assert reading.effect.value == probe("weat", gendered(0.3, -0.3), cache=False).effect.value


def test_weat_says_what_its_p_value_rests_on():
    reading = probe("weat", gendered(0.3, -0.3), cache=False)
    direct = measures.weat(*sets(gendered(0.3, -0.3), *TERMS, *CAREER_FAMILY), **kin(*TERMS)).crossed
    rests = reading.evidence
    assert dict(rests.p_values) == {
        "other targets": direct.by_targets.p_value,
        "other attributes": direct.by_attributes.p_value,
    }
    assert reading.effect.p_value == max(p for _, p in rests.p_values)
    assert (rests.n_pairs, dict(rests.independent)["male terms"]) == (20, len(set(group(TERMS[0]).families)))
    assert rests.placebo is None  # the model knows no neutral word


def test_a_lean_is_beside_what_arbitrary_words_give():
    neutral = {word: vector(word, 0.0) for word in neutral_words("en")}
    reading = probe("weat", gendered(0.3, -0.3) | neutral, cache=False)
    placebo = reading.evidence.placebo
    assert placebo.low < 0 < placebo.high < reading.effect.value
    assert placebo.p_value < 0.01
    assert any("95% of arbitrary word lists" in line for line in reading.evidence.in_words())
    n_words = sum(len(group(name).words) for name in CAREER_FAMILY)
    assert (placebo.n_words, placebo.n_matched) == (n_words, n_words)
    assert any(line.endswith("They are as frequent as the attributes.") for line in reading.evidence.in_words())
    assert not reading.left_out


def test_arbitrary_words_take_the_places_of_words_of_their_frequency():
    # frequent neutral words lie at one end of the axis and rare ones at the other: attributes of one band differ by
    # nothing but chance, and frequent ones from rare ones by all there is
    ends = {1: 0.9, 2: 0.3, 3: -0.3, 4: -0.9}
    neutral = {word: vector(word, ends[band]) for word, band in neutral_words("en").items()}
    bands = frequency_bands("en")
    frequent, rare = ([word for word, band in bands.items() if band == wanted] for wanted in (1, 4))
    known = words(dict.fromkeys(TERMS, 0.0) | {TERMS[0]: 0.3, TERMS[1]: -0.3})
    known |= {word: vector(word, 0.0) for word in (*frequent, *rare, "qwertyish", "asdfish")}
    placebos = [
        probe("weat", known | neutral, targets=TERMS, attributes=sets, cache=False).evidence.placebo
        for sets in ([frequent[:8], frequent[8:16]], [frequent[:8], rare[:8]])
    ]
    assert placebos[0].low < 0 < placebos[0].high
    assert 1 < placebos[1].low < placebos[1].high
    some = [[*frequent[:3], "qwertyish"], [*rare[:3], "asdfish"]]
    reading = probe("weat", known | neutral, targets=TERMS, attributes=some, cache=False)
    assert (reading.evidence.placebo.n_words, reading.evidence.placebo.n_matched) == (8, 6)
    assert any(
        "6 of 8 are matched in frequency; that of the other attributes is not known" in line
        for line in reading.evidence.in_words()
    )


def test_words_that_a_model_cannot_tell_apart_are_no_arbitrary_words():
    neutral = dict.fromkeys(neutral_words("en"), vector("one", 0.0))
    assert probe("weat", gendered(0.3, -0.3) | neutral, cache=False).evidence.placebo is None


@pytest.mark.parametrize("name", ["direct_bias", "cluster_bias", "neighbour_bias"])
def test_every_probe_along_pairs_stands_beside_arbitrary_pairs(name):
    reading = probe(name, "bundled:glove", cache=False)
    placebo = reading.evidence.placebo
    assert placebo.low < placebo.high
    assert (placebo.n_words, placebo.n_matched) == (20, 20)
    assert len(reading.evidence.in_words()) >= 1


def test_where_arbitrary_words_lean_as_much_the_reading_says_so():
    # the genders differ along the axis, on which career and family lie near the middle and neutral words at the ends
    rng = np.random.default_rng(0)
    neutral = {word: vector(word, rng.choice([-0.9, 0.9])) for word in neutral_words("en")}
    leaning = words(dict(zip([*TERMS, *CAREER_FAMILY], [0.15, -0.15, 0.2, -0.2], strict=True)))
    reading = probe("weat", leaning | neutral, cache=False)
    assert reading.effect.p_value <= 0.05 < reading.evidence.placebo.p_value
    assert reading.evidence.in_words()[-1].startswith("The two disagree: the lean holds for other words")


RELIGIONS = ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"]
PLEASANT = ["attributes.pleasant", "attributes.unpleasant"]


def test_multi_weat_names_the_group_and_the_set_it_leans_to_most():
    model = words(dict(zip([*RELIGIONS, *PLEASANT], [0.0, -0.6, 0.1, 0.8, -0.8], strict=True)))
    reading = probe("multi_weat", model, cache=False)
    direct = measures.multi_weat([*sets(model, *RELIGIONS)], [*sets(model, *PLEASANT)])
    assert (reading.effect.value, reading.effect.p_value) == (direct.effect_size, direct.p_value)
    assert reading.leans == "most: Muslim terms → unpleasant words"
    assert "Muslim terms towards unpleasant words" in reading.plain_words
    assert "Christian terms / Muslim terms" in reading.plain_words


def test_the_items_of_multi_weat_are_every_word_with_its_lean_to_every_set():
    model = words(dict(zip([*RELIGIONS, *PLEASANT], [0.0, -0.6, 0.1, 0.8, -0.8], strict=True)))
    reading = probe("multi_weat", model, cache=False)
    assert [item.label for item in reading.items] == [w for address in RELIGIONS for w in group(address).texts]
    assert len(reading.items) == reading.n_items
    pleasant, unpleasant = sets(model, *PLEASANT)
    muslim = next(item for item in reading.items if item.label == "Muslim")
    half = (np.mean(pleasant @ model["Muslim"]) - np.mean(unpleasant @ model["Muslim"])) / 2
    assert muslim.columns["lean to pleasant words"] == pytest.approx(half, abs=1e-6)
    assert muslim.columns["lean to unpleasant words"] == pytest.approx(-half, abs=1e-6)


def test_multi_weat_says_what_its_p_value_rests_on_and_what_arbitrary_words_give():
    model = words(dict(zip([*RELIGIONS, *PLEASANT], [0.0, -0.6, 0.1, 0.8, -0.8], strict=True)))
    neutral = {word: vector(word, 0.0) for word in neutral_words("en")}
    reading = probe("multi_weat", model | neutral, cache=False)
    rests = reading.evidence
    assert [what for what, _ in rests.p_values] == ["other targets", "other attributes"]
    assert reading.effect.p_value == max(p for _, p in rests.p_values)
    labels = [group(address).label for address in (*RELIGIONS, *PLEASANT)]
    assert [label for label, _ in rests.independent] == labels
    # Jew and Jewish are one word in two forms, where the lexicon says so.
    named = {group(address).label: len(set(group(address).families or range(99))) for address in RELIGIONS}
    assert all(n <= named[label] for label, n in rests.independent if label in named)
    assert rests.placebo.low < rests.placebo.high < reading.effect.value
    assert rests.placebo.p_value < 0.01


def test_multi_weat_finds_no_lean_where_the_groups_cannot_be_told_apart():
    model = twins(RELIGIONS) | words({PLEASANT[0]: 0.8, PLEASANT[1]: -0.8})
    reading = probe("multi_weat", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-6)
    assert reading.effect.p_value == 1
    assert reading.leans == "no clear lean"
    assert reading.verdict.state == "undecided"


@pytest.mark.parametrize(
    ("slope", "leans", "says"),
    [
        (1.0, "high female share → female terms", "in the world, the more they lean"),
        (-1.0, "high female share → male terms", "in the world, the less they lean"),
        (0.0, "no clear lean", "Undecided: chance could explain it"),
    ],
)
def test_wefat_says_whether_occupations_lean_as_they_are_staffed(slope, leans, says):
    model = jobs(0.0, slope)
    reading = probe("wefat", model, cache=False)
    shares = [word.properties["female_share"] for word in JOBS.words]
    direct = measures.wefat(*job_sets(model), property=shares, **gender_kin())
    assert (reading.effect.value, reading.effect.p_value) == (direct.correlation.r, direct.test.p_value)
    assert reading.effect.ci == direct.test.ci
    assert reading.published.p_value == direct.correlation.p_value
    assert reading.leans == leans
    assert says in reading.plain_words
    assert [item.label for item in reading.items] == list(JOBS.texts)
    assert [item.columns["female_share"] for item in reading.items] == shares
    assert [item.value for item in reading.items] == list(direct.effect_sizes)


def test_wefat_without_a_number_for_every_word_says_what_is_missing():
    with pytest.raises(BadInput, match="a number known of each"):
        probe("wefat", words(GENDERS) | words({"attributes.math": 0}), targets=["attributes.math"], cache=False)
