from __future__ import annotations

import numpy as np
import pytest

from tests.probes.words.planted_jobs import job_sets, jobs
from tiltmeter import measures, probe


def test_mac_is_the_mean_distance_and_names_no_group():
    model = jobs(0.3)
    reading = probe("mac", model, cache=False)
    words_, female, male = job_sets(model)
    assert reading.effect.value == measures.mac(words_, [female, male]).score
    assert reading.leans == ""
    technician = reading.items[0]
    assert technician.label == "technician"
    near = np.mean(female.astype(float) @ model["technician"].astype(float))
    assert technician.columns["distance to female terms"] == pytest.approx(1 - near, abs=1e-6)
