from __future__ import annotations

import numpy as np
import pytest

from tests.planted import vector, words
from tiltmeter import probe
from tiltmeter.stimuli import group

RELIGIONS = ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"]
PLEASANT = {"attributes.pleasant": 0.8, "attributes.unpleasant": -0.8}


def test_rnsb_names_the_group_that_was_made_to_sound_negative():
    model = words(dict(zip(RELIGIONS, [0.3, -0.7, 0.3], strict=True)) | PLEASANT)
    reading = probe("rnsb", model, cache=False)
    shares = np.array([item.value for item in reading.items])
    assert reading.effect.value == pytest.approx(np.sum(shares * np.log(shares * len(shares))))
    assert len(shares) == sum(len(group(address).texts) for address in RELIGIONS)
    assert reading.effect.p_value <= 0.05
    assert reading.leans == "Muslim terms → unpleasant words"
    assert "unevenly" in reading.plain_words
    assert "Muslim terms get most" in reading.plain_words
    assert sum(item.value for item in reading.items) == pytest.approx(1)


def test_rnsb_finds_no_lean_where_all_terms_have_one_vector():
    one = vector("one", 0.1)
    model = {word: one for address in RELIGIONS for word in group(address).texts} | words(PLEASANT)
    reading = probe("rnsb", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-9)
    assert reading.leans == "no clear lean"
    assert "get most" not in reading.plain_words
