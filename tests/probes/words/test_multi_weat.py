from __future__ import annotations

import numpy as np
import pytest

from tests.planted import sets, twins, words
from tiltmeter import measures, probe
from tiltmeter.stimuli import group

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


def test_multi_weat_finds_no_lean_where_the_groups_cannot_be_told_apart():
    model = twins(RELIGIONS) | words({PLEASANT[0]: 0.8, PLEASANT[1]: -0.8})
    reading = probe("multi_weat", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-6)
    assert reading.effect.p_value == 1
    assert reading.leans == "no clear lean"
    assert "strongest" not in reading.plain_words
