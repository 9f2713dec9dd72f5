"""CABM on models whose lean is known: planted by hand, and learned from text with a planted bias."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.probes.cabm.planted_vectors import (
    LEANS,
    OCCUPATIONS,
    PlantedVectors,
    by_word,
    exact,
    leaning,
    only,
    reading,
    unlabelled,
)
from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models.protocol import Span
from tiltmeter.probes import make_probes
from tiltmeter.readings import Details, Reading, ReadingStore, Statistic
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics import correlation
from tiltmeter.stimuli.sentences.marked import MarkedSet, Versions


def test_the_repaired_score_is_the_lean_that_was_planted():
    found = exact()
    assert by_word(found, "value") == pytest.approx(LEANS, abs=1e-5)
    # he and she are opposite: cosine of the masked occupation with them is +-lean, so their difference is 2 x lean
    assert by_word(found, "cosine") == pytest.approx({word: 2 * lean for word, lean in LEANS.items()}, abs=1e-5)
    assert by_word(found, "signed_context") == pytest.approx({word: 3 * x for word, x in LEANS.items()}, abs=1e-5)
    assert by_word(found, "context") == pytest.approx(dict.fromkeys(LEANS, 6.0), abs=1e-5)
    assert found.effect.name == "SD of the scores"
    assert found.effect.value == pytest.approx(np.std(list(LEANS.values()), ddof=1), abs=1e-5)
    assert (found.n_items, found.n_units) == (960, 60)


def test_categories_are_cut_at_a_tenth_and_what_is_near_is_too_close_to_call():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled)
    groups = by_word(found, "group")
    for item in found.items:
        assert item.get("low") <= item.value <= item.get("high")
    assert {groups[word] for word, lean in LEANS.items() if lean > 0.3} == {"men"}
    assert {groups[word] for word, lean in LEANS.items() if lean < -0.3} == {"women"}
    near = [word for word, lean in LEANS.items() if 0.09 < abs(lean) < 0.11]
    assert {groups[word] for word in near} == {"too close to call"}
    assert "lean towards men" in found.plain_words


def test_the_score_follows_the_share_of_men():
    flat = reading(PlantedVectors(leaning(LEANS), noise=0.05), method="equal")
    assert flat.effect.name == "Spearman correlation with the share of men"
    assert flat.effect.value > 0.99  # the planted order is that of the shares, but for ties
    assert flat.leans == "occupations of men → men"
    assert flat.poles == ("occupations of men → men", "occupations of men → women")
    assert flat.statistic == Statistic("spearman", ("value", "share_men"))
    assert flat.details.labels_from == "labour statistics"
    assert flat.details.repaired.validation.by_label.p_value < 0.001
    for form in flat.details.forms.values():
        for weights in form.weights.values():
            assert sum(weights.values) == pytest.approx(1)
            assert min(weights.values) >= 0


@given(leans=st.lists(st.floats(-0.9, 0.9), min_size=12, max_size=12))
@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_exchanging_the_groups_negates_the_repaired_score_but_not_the_published_one(leans):
    words = OCCUPATIONS[:12]
    model = PlantedVectors(leaning(dict(zip(words, [*leans[:-2], -0.5, 0.5], strict=True))), noise=0.1, uneven=True)

    def few(made: MarkedSet) -> MarkedSet:
        return unlabelled(only(words, made))

    def exchanged(made: MarkedSet) -> MarkedSet:
        versions = tuple(Versions(row.neutral, row.by_group[::-1]) for row in few(made).versions)
        counts = {word: by_group[::-1] for word, by_group in made.counts.items()}
        return dataclasses.replace(few(made), groups=made.groups[::-1], versions=versions, counts=counts)

    one = reading(model, change=few, method="equal")
    two = reading(model, change=exchanged, method="equal")
    for key in ("value", "cosine", "signed_context", "pmi"):
        assert by_word(two, key) == pytest.approx({word: -value for word, value in by_word(one, key).items()}, abs=1e-5)
    published = [by_word(each, "context") for each in (one, two)]
    assert published[0] == pytest.approx(published[1])
    for each in (one, two):  # whichever group comes first, every occupation is said to lean to it
        assert {item.get("published_group") for item in each.items} == {each.details.groups[0]}


def test_fewer_than_ten_occupations_are_one_clear_line():
    with pytest.raises(BadInput, match=r"^cabm needs at least 10 occupations .* 'occupations_en' has 9: add"):
        reading(PlantedVectors(leaning(LEANS)), change=functools.partial(only, OCCUPATIONS[:9]))


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    found = [reading(PlantedVectors(leaning(LEANS), noise=0.1), change=unlabelled) for _ in range(2)]
    first, second = (json.dumps(each.to_dict(), sort_keys=True) for each in found)
    assert first == second
    assert "NaN" not in first
    ReadingStore(tmp_path).save(found[0])


@pytest.mark.parametrize(
    ("given", "error", "says"),
    [
        ({"method": "pac"}, BadInput, "unknown method of cabm 'pac': did you mean 'pca'?"),
        ({"vectors": "bundled:glove"}, BadInput, "cabm takes no vectors"),
        ({"data": "winobais"}, BadInput, "did you mean 'winobias'?"),
        ({"data": "identity.white_terms,identity.balck_terms"}, BadInput, "did you mean 'black_terms'?"),
    ],
)
def test_a_wrong_option_is_one_clear_line(given, error, says):
    with pytest.raises(error) as raised:
        make_probes("cabm", **given)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


class Causal(PlantedVectors):
    """It has read a sentence when it comes to its full stop."""

    def score(self, texts: Sequence[str]) -> list[object]:
        raise AssertionError(f"no probabilities should be asked for, and not of {texts}")

    def embed_spans(self, spans: Sequence[Span]) -> np.ndarray:
        assert not any(span.start == span.end for span in spans)
        whole = [Span(span.text, 0, 0) if span.end == len(span.text) else span for span in spans]
        return super().embed_spans(whole)


def test_a_model_that_reads_from_left_to_right_is_asked_at_the_last_token_and_the_reading_says_so():
    both, left = (reading(model(leaning(LEANS), noise=0.05)) for model in (PlantedVectors, Causal))
    assert [item.value for item in left.items] == pytest.approx([item.value for item in both.items])
    assert any("reads from left to right: a sentence is represented by its last token" in note for note in left.notes)
    assert not any("reads from left to right" in note for note in both.notes)


@pytest.mark.parametrize(
    ("addresses", "pairs"),
    [
        ("identity.young_terms,identity.old_terms", [("words for young people", "words for old people")]),
        (
            "identity.white_terms,identity.black_terms,identity.asian_terms",
            [
                ("words for white people", "words for Black people"),
                ("words for white people", "words for Asian people"),
                ("words for Black people", "words for Asian people"),
            ],
        ),
    ],
)
def test_race_and_age_are_measured_by_lexicon_alone(addresses, pairs):
    probes = make_probes("cabm", data=addresses)
    assert [each.stimuli.sentences.groups for each in probes] == pairs
    sentences = probes[0].stimuli.sentences
    marks = [{sentence.word("pronoun").lower() for sentence in side} for side in sentences.sentences]
    words = {mark.split()[-1]: side for side, own in zip((1.0, -1.0), marks, strict=True) for mark in own}

    def short(row: Versions) -> Versions:
        sides = ((each for each in side if " " not in each.word("pronoun")) for side in row.by_group)
        return Versions(row.neutral, tuple(map(tuple, sides)))

    few = only(OCCUPATIONS[::5], sentences)
    few = dataclasses.replace(few, versions=tuple(map(short, few.versions)))
    first = dataclasses.replace(probes[0], stimuli=dataclasses.replace(probes[0].stimuli, sentences=few))
    (found,) = run_probes([first], PlantedVectors(leaning(LEANS), sides=words), cache=False, progress=False)
    assert by_word(found, "value") == pytest.approx({word: LEANS[word] for word in by_word(found, "value")}, abs=1e-4)
    assert found.n_units == 12
    assert pairs[0][0] in found.plain_words


@functools.cache
def biased() -> Reading:
    return reading(f"hf:{reference_model(0.9)}", method="equal")


def test_the_score_ranks_occupations_by_the_bias_that_a_model_learned():
    found = biased()
    truth = planted(0.9)
    order = [truth[item.label] for item in found.items]
    assert correlation(order, [item.value for item in found.items], method="spearman").r >= 0.95
    groups = by_word(found, "group")
    assert "women" not in {groups[word] for word in ("plumber", "mechanic", "electrician")}
    assert {groups[word] for word in ("nurse", "receptionist", "dietitian")} == {"women"}
    assert {item.get("published_group") for item in found.items} == {"men"}


def test_its_categories_agree_with_unmasking_more_often_than_the_published_ones():
    found = biased()
    repaired, published = (form.validation.unmasking.agreement.value for form in found.details.forms.values())
    assert repaired >= 0.69  # what the thesis reports
    assert published < repaired


def test_without_a_planted_bias_hardly_an_occupation_leaves_the_middle():
    found = reading(f"hf:{reference_model(0.5)}", change=unlabelled)
    left = [item.label for item in found.items if item.group in ("men", "women")]
    assert len(left) <= 0.1 * len(found.items)


def test_a_spread_is_computed_again_from_the_items():
    found = exact()
    assert found.statistic == Statistic("sd of units")
    assert np.std([item.value for item in found.items], ddof=1) == pytest.approx(found.effect.value)


def test_details_come_back_from_a_file_as_they_were():
    found = exact().details
    assert Details.from_dict(json.loads(json.dumps(found.to_dict()))) == found
