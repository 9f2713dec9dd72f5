from __future__ import annotations

import pytest

from tests.planted import TERMS, gendered, sets, twins, words
from tiltmeter import measures, probe
from tiltmeter.stimuli import group


@pytest.mark.parametrize(("male", "female", "nearer"), [(0.3, -0.3, "male terms"), (-0.3, 0.3, "female terms")])
def test_rnd_names_the_nearer_group(male, female, nearer):
    model = gendered(male, female)
    reading = probe("rnd", model, cache=False)
    direct = measures.rnd(*sets(model, *TERMS, "attributes.career"))
    assert (reading.effect.value, reading.effect.p_value) == (direct.score, direct.p_value)
    assert (reading.effect.value < 0) == (nearer == "male terms")
    assert reading.leans == f"career → {nearer}"
    assert reading.plain_words.startswith(f"Career: nearer to {nearer} than to ")
    assert [item.label for item in reading.items] == list(group("attributes.career").texts)


def test_rnd_finds_no_lean_where_the_groups_cannot_be_told_apart():
    reading = probe("rnd", twins(TERMS) | words({"attributes.career": 0.8}), cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-12)
    assert reading.leans == "no clear lean"
    assert "not clearly nearer" in reading.plain_words
