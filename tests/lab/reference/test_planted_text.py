from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import (
    GroupCounts,
    frames,
    patterns,
    planted,
    pronoun_sentence,
    realised,
    sentences,
    with_occupation,
)
from tiltmeter.stimuli import group, indefinite
from tiltmeter.stimuli.sentences.sentence import Sentence

MALE = {male for pairs in patterns().gendered.values() for male, _ in pairs}
FEMALE = {female for pairs in patterns().gendered.values() for _, female in pairs}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_a_tilt_spreads_the_occupations_evenly_from_the_one_end_to_the_other():
    tilted = planted(0.95)
    shares = list(tilted.values())
    assert set(tilted) == set(group("occupations.all").texts)
    assert (shares[0], shares[-1]) == (0.05, 0.95)
    steps = [after - before for before, after in itertools.pairwise(shares)]
    assert steps == pytest.approx([0.9 / 59] * 59, abs=2e-6)


def test_a_tilt_follows_the_share_of_women():
    women = {word.text: word.properties["female_share"] for word in group("occupations.all").words}
    by_tilt = [women[occupation] for occupation in planted(0.9)]
    assert by_tilt == sorted(by_tilt, reverse=True)


def test_a_tilt_of_one_half_plants_no_bias():
    assert set(planted(0.5).values()) == {0.5}


@pytest.mark.parametrize("tilt", [0.4, 1.1, float("nan")])
def test_a_tilt_outside_its_range_is_refused(tilt):
    with pytest.raises(BadInput, match=r"a tilt must be from 0\.5 \(no bias\) to 1"):
        planted(tilt)


def test_the_planted_shares_are_met_to_one_sentence_per_occupation():
    truth = planted(0.9)
    counts = realised(sentences(truth, n=6000, seed=5))
    assert {count.first + count.second for count in counts.values()} == {100}
    assert all(abs(counts[occupation].first - 100 * share) < 1 for occupation, share in truth.items())


@given(st.floats(0, 1), st.integers(1, 60), st.integers(0, 9))
def test_any_share_is_met_to_one_sentence(share, n, seed):
    men, women = realised(sentences({"nurse": share}, n=n, seed=seed))["nurse"]
    assert men + women == n
    assert abs(men - n * share) < 1


def test_which_side_gets_the_odd_sentence_is_left_to_chance():
    males = [realised(sentences({"nurse": 0.3}, n=1, seed=seed))["nurse"].first for seed in range(400)]
    assert abs(sum(males) / 400 - 0.3) < 3 * (0.3 * 0.7 / 400) ** 0.5


def test_every_sentence_names_its_occupation_and_one_group_only():
    made = sentences(planted(0.9), n=4000, seed=0)
    for sentence in made:
        found = set(words(sentence.text))
        own, others = (MALE, FEMALE) if sentence.tags["group"] == "first" else (FEMALE, MALE)
        assert sentence.unit in found, sentence
        assert found & own, sentence
        assert not found & others, sentence


def test_every_pattern_is_used_and_every_place_filled():
    made = sentences(planted(0.5), n=4000, seed=0)
    assert not any("{" in sentence.text for sentence in made)
    shapes = [re.sub(r"\\\{\w+\\\}", "[a-zA-Z ]+", re.escape(pattern)) for pattern in patterns().patterns]
    assert all(any(re.fullmatch(shape, sentence.text, re.IGNORECASE) for sentence in made) for shape in shapes)


def test_sentences_have_capitals_and_the_right_article():
    made = sentences({"engineer": 0.5, "nurse": 0.5}, n=2000, seed=0)
    for sentence in made:
        assert all(part[0].isupper() for part in sentence.text.split(". ")), sentence
        assert not re.search(r"\b(a engineer|an nurse)\b", sentence.text), sentence
    assert any(indefinite("engineer") in sentence.text for sentence in made)


def test_there_are_a_hundred_patterns_and_they_are_seldom_repeated_word_for_word():
    assert len(set(patterns().patterns)) == len(patterns().patterns) >= 100
    made = sentences(planted(0.9), n=2000, seed=0)
    assert len({sentence.text for sentence in made}) > 1700


def test_a_seed_gives_the_same_text_and_another_seed_another():
    truth = planted(0.8)
    assert sentences(truth, n=50, seed=1) == sentences(truth, n=50, seed=1)
    assert sentences(truth, n=50, seed=1) != sentences(truth, n=50, seed=2)


def apart(sentence: Sentence) -> int:
    """How many words on from the occupation the nearest word that says a gender stands."""
    found = words(sentence.text)
    at = [i for i, word in enumerate(found) if word == sentence.unit]
    return min(abs(i - j) for i in at for j, word in enumerate(found) if word in MALE | FEMALE)


def test_the_pronoun_stands_next_to_the_occupation_or_up_to_twenty_words_away():
    made = sentences(planted(0.5), n=8000, seed=0)
    distances = [apart(sentence) for sentence in made]
    assert set(range(1, 11)) <= set(distances)
    assert max(distances) >= 20
    assert sum(distance > 10 for distance in distances) > 500


def test_there_are_at_least_forty_occupations_and_every_role_of_a_pronoun_is_common():
    made = sentences(planted(0.5), n=6000, seed=0)
    assert len(realised(made)) >= 40
    roles = {"subject": {"he", "she"}, "object": {"him"}, "possessive": {"his"}}
    for role, forms in roles.items():
        # Men alone for the last two, because her is both.
        some = [each for each in made if role == "subject" or each.tags["group"] == "first"]
        share = sum(bool(forms & set(words(each.text))) for each in some) / len(some)
        assert share > 0.1, role


@pytest.mark.parametrize("n", [1, 61, 30_000])
def test_a_text_has_as_many_sentences_as_are_asked_for_and_the_same_bytes_for_a_seed(n):
    one, two = (sentences(planted(0.9), n=n, seed=7) for _ in range(2))
    assert len(one) == n
    assert repr(one) == repr(two)


def test_there_are_sentences_with_somebody_else_in_them_and_without():
    with_other = [pattern for pattern in patterns().patterns if "{someone}" in pattern]
    assert len(with_other) >= 20
    assert len(patterns().patterns) - len(with_other) >= 20


@pytest.mark.parametrize("place", ["he", "him", "his", "hers", "himself", "man"])
def test_every_form_of_a_pronoun_has_patterns(place):
    assert sum(f"{{{place}}}" in pattern for pattern in patterns().patterns) >= 4


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_without_a_quota_the_shares_are_met_within_sampling_error(share):
    n = 5000
    (found,) = realised(sentences({"nurse": share}, n=n, seed=1, quota=False)).values()
    assert abs(found.share - share) < 3 * (share * (1 - share) / n) ** 0.5
    assert found.first != round(share * n)


@pytest.mark.parametrize(
    "groups", [("identity.black_names", "identity.white_names"), ("identity.black_terms", "identity.white_terms")]
)
def test_two_groups_of_a_lexicon_take_the_place_of_men_and_women(groups):
    made = sentences({"nurse": 0.2, "plumber": 0.9}, n=400, seed=0, groups=groups)
    assert realised(made) == {"nurse": GroupCounts(40, 160), "plumber": GroupCounts(180, 20)}
    one, two = (set(group(address).texts) for address in groups)
    for sentence in made:
        own, other = (one, two) if sentence.tags["group"] == "first" else (two, one)
        assert any(re.search(rf"\b{word}\b", sentence.text) for word in own), sentence
        assert not any(re.search(rf"\b{word}\b", sentence.text) for word in other - own), sentence
        assert not set(words(sentence.text)) & (MALE | FEMALE), sentence


@pytest.mark.parametrize(
    ("groups", "says"),
    [
        (("gender.male_pronouns", "gender.female_pronouns"), "must hold words of one kind"),
        (("identity.black_names", "identity.white_terms"), "must hold words of one kind"),
        (("identity.black_names", "identity.black_names"), "is in both"),
        (("identity.black_names", "identity.white_name"), "did you mean"),
    ],
)
def test_groups_that_cannot_be_told_apart_are_refused_in_one_line(groups, says):
    with pytest.raises(BadInput, match=says):
        sentences({"nurse": 0.5}, n=5, seed=0, groups=groups)


def test_counts_are_per_occupation_and_give_the_share_of_he():
    made = [Sentence("", unit="nurse", tags={"group": "second"})] * 3 + [
        Sentence("", unit="nurse", tags={"group": "first"}),
        Sentence("", unit="cook", tags={"group": "first"}),
    ]
    assert realised(made) == {"cook": GroupCounts(1, 0), "nurse": GroupCounts(1, 3)}
    assert GroupCounts(1, 3).share == 0.25


@pytest.mark.parametrize(
    ("probabilities", "n", "message"),
    [
        ({"nurse": 1.2}, 5, "for nurse must be from 0 to 1, not 1.2"),
        ({"nurse": float("nan")}, 5, "for nurse must be from 0 to 1, not nan"),
        ({}, 5, "at least one occupation"),
        ({"nurse": 0.5}, 0, "one sentence"),
    ],
)
def test_impossible_requests_are_refused_in_one_line(probabilities, n, message):
    with pytest.raises(BadInput, match=message):
        sentences(probabilities, n=n, seed=0)


WITH_PRONOUN = [
    frame for sets in (frames().masked, frames().cloze) for frame in itertools.chain.from_iterable(sets.values())
]


@pytest.mark.parametrize("frame", WITH_PRONOUN)
def test_every_frame_holds_one_pronoun_and_one_occupation(frame):
    sentence = pronoun_sentence(frame, "auditor")
    one, two = (sentence.version("pronoun", group) for group in (1, 2))
    assert one.text != two.text
    assert "{" not in one.text
    assert one.text.count("auditor") == 1
    assert (one.word("pronoun"), two.word("pronoun")) == sentence.forms["pronoun"]
    assert one.around("pronoun") == two.around("pronoun")


def test_a_cloze_ends_in_its_pronoun():
    for frame in itertools.chain.from_iterable(frames().cloze.values()):
        assert pronoun_sentence(frame, "nurse").around("pronoun")[1] == "."


def test_no_frame_is_a_sentence_that_the_models_learn_from():
    learned = {
        pattern.replace("{a_occupation}", "{occupation}") for pattern in patterns().patterns if pattern.count("{") == 2
    }
    asked = {frame.replace("{a_occupation}", "{occupation}") for frame in WITH_PRONOUN}
    assert len(asked & learned) <= 2  # "He works as a nurse." and the like cannot be said otherwise


def test_words_that_say_a_group_have_partners_of_the_same_role():
    male, female = (frames().marks[name] for name in ("male", "female"))
    assert list(male) == list(female) == list(frames().mark_frames)
    assert [len(words) for words in male.values()] == [len(words) for words in female.values()]


def test_an_article_fits_its_occupation():
    assert with_occupation("{he} is {a_occupation}.", "engineer") == "{he} is an engineer."
