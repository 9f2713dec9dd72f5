from __future__ import annotations

import pytest

from tests.planted import words
from tests.probes.words.planted_jobs import GENDERS, JOBS, job_sets, jobs
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput


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
    assert [item.label for item in reading.items] == list(JOBS.texts)
    assert [item.columns["female_share"] for item in reading.items] == shares
    assert [item.value for item in reading.items] == list(direct.effect_sizes)


def test_wefat_without_a_number_for_every_word_says_what_is_missing():
    with pytest.raises(BadInput, match="a number known of each"):
        probe("wefat", words(GENDERS) | words({"attributes.math": 0}), targets=["attributes.math"], cache=False)
