from __future__ import annotations

import pytest
from scipy.stats import spearmanr

from tests.planted import TERMS, gendered, sets, twins, vector
from tiltmeter import probe
from tiltmeter.stimuli import group


def test_ect_is_1_for_groups_that_cannot_be_told_apart_and_below_for_groups_that_lean():
    jobs = {word: vector(word, 0.6 * (-1) ** i) for i, word in enumerate(group("occupations.all").texts)}
    same = probe("ect", twins(TERMS) | jobs, cache=False)
    assert same.effect.value == pytest.approx(1)
    assert (same.effect.level, same.effect.better, same.leans) == (1.0, "nearer to 1 is better", "")
    model = gendered(0.5, -0.5) | jobs
    reading = probe("ect", model, cache=False)
    male, female, occupations = sets(model, *TERMS, "occupations.all")
    near = [occupations @ side.mean(axis=0) for side in (male, female)]
    assert reading.effect.value == pytest.approx(spearmanr(*near).statistic)
    assert reading.effect.value < 0
    assert len(reading.items) == reading.n_items == 60
