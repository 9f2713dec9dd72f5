from __future__ import annotations

import pytest

from tests.probes.words.planted_jobs import JOBS, job_sets, jobs
from tiltmeter import measures, probe


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
        assert [item.value for item in reading.items] == list(direct.scores)
    else:
        found = measures.same(words_, [female, male])
        assert reading.effect.value == found.score
        assert [item.value for item in reading.items] == list(found.by_word)
        assert ("neither way clearly" in reading.plain_words) == (leans == "no clear lean")
    assert reading.leans == leans
    assert [item.label for item in reading.items] == list(JOBS.texts)
