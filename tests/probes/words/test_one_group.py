from __future__ import annotations

import numpy as np
import pytest

from tests.planted import stacked, vector, words
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import group

JOBS = group("occupations.all")
GENDERS = {"gender.female_terms": 0.8, "gender.male_terms": -0.8}
PLEASANT = {"attributes.pleasant": 0.8, "attributes.unpleasant": -0.8}
RELIGIONS = ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"]


def jobs(lean: float, slope: float = 0.0) -> dict[str, np.ndarray]:
    """Occupations that lean by an amount, and by their share of women times a slope besides; men are at -."""
    ordered = sorted(JOBS.words, key=lambda word: word.properties["female_share"])
    found = {}
    for rank, word in enumerate(ordered):
        # Neighbours in share lean to opposite sides, so that nothing but the slope follows the share.
        own = 0.2 * (-1) ** (rank + rank // 2)
        found[word.text] = vector(word.text, lean + own + slope * (word.properties["female_share"] / 100 - 0.5))
    return found | words(GENDERS)


def job_sets(model: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return (
        stacked(model, JOBS.texts),
        stacked(model, group("gender.female_terms").texts),
        stacked(model, group("gender.male_terms").texts),
    )


@pytest.mark.parametrize(
    ("slope", "leans", "says"),
    [
        (1.0, "high female share → female terms", "follows their female share"),
        (-1.0, "high female share → male terms", "runs against their female share"),
        (0.0, "no clear lean", "not clearly related to their female share"),
    ],
)
def test_wefat_says_whether_occupations_lean_as_they_are_staffed(slope, leans, says):
    model = jobs(0.0, slope)
    reading = probe("wefat", model, cache=False)
    shares = [word.properties["female_share"] for word in JOBS.words]
    direct = measures.wefat(*job_sets(model), property=shares)
    assert (reading.effect.value, reading.effect.p_value) == (direct.correlation.r, direct.correlation.p_value)
    assert reading.leans == leans
    assert says in reading.plain_words
    assert [item["word"] for item in reading.items] == list(JOBS.texts)
    assert [item["female_share"] for item in reading.items] == shares
    assert [item["effect"] for item in reading.items] == list(direct.effect_sizes)


def test_wefat_without_a_number_for_every_word_says_what_is_missing():
    with pytest.raises(BadInput, match="a number known of each"):
        probe("wefat", words(GENDERS) | words({"attributes.math": 0}), targets=["attributes.math"], cache=False)


@pytest.mark.parametrize("kind", ["semaxis", "same"])
@pytest.mark.parametrize(
    ("lean", "leans"),
    [(0.3, "occupations → female terms"), (-0.3, "occupations → male terms"), (0.0, "no clear lean")],
)
def test_axis_probes_name_the_pole_that_was_made_to_be_nearer(kind, lean, leans):
    model = jobs(lean)
    reading = probe(kind, model, cache=False)
    words_, female, male = job_sets(model)
    if kind == "semaxis":
        direct = measures.semaxis(words_, female, male)
        assert reading.effect.value == direct.mean
        assert reading.plain_words.startswith("On the axis from male terms (-) to female terms (+), occupations stand")
        assert [item["position"] for item in reading.items] == list(direct.scores)
    else:
        found = measures.same(words_, [female, male])
        assert reading.effect.value == found.score
        assert [item["bias"] for item in reading.items] == list(found.by_word)
        assert ("neither way clearly" in reading.plain_words) == (leans == "no clear lean")
    assert reading.leans == leans
    assert [item["word"] for item in reading.items] == list(JOBS.texts)


def test_mac_is_the_mean_distance_and_names_no_group():
    model = jobs(0.3)
    reading = probe("mac", model, cache=False)
    words_, female, male = job_sets(model)
    assert reading.effect.value == measures.mac(words_, [female, male]).score
    assert reading.leans == ""
    technician = reading.items[0]
    assert technician["word"] == "technician"
    near = np.mean(female.astype(float) @ model["technician"].astype(float))
    assert technician["distance to female terms"] == pytest.approx(1 - near, abs=1e-6)


def test_rnsb_names_the_group_that_was_made_to_sound_negative():
    model = words(dict(zip(RELIGIONS, [0.3, -0.7, 0.3], strict=True)) | PLEASANT)
    reading = probe("rnsb", model, cache=False)
    shares = np.array([item["negative_share"] for item in reading.items])
    assert reading.effect.value == pytest.approx(np.sum(shares * np.log(shares * len(shares))))
    assert len(shares) == sum(len(group(address).texts) for address in RELIGIONS)
    assert reading.effect.p_value <= 0.05
    assert reading.leans == "Muslim terms → unpleasant words"
    assert "unevenly" in reading.plain_words
    assert "Muslim terms get most" in reading.plain_words
    assert sum(item["negative_share"] for item in reading.items) == pytest.approx(1)


def test_rnsb_finds_no_lean_where_all_terms_have_one_vector():
    one = vector("one", 0.1)
    model = {word: one for address in RELIGIONS for word in group(address).texts} | words(PLEASANT)
    reading = probe("rnsb", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-9)
    assert reading.leans == "no clear lean"
    assert "get most" not in reading.plain_words
