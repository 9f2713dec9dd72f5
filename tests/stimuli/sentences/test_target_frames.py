"""Plain sentences of two words, and the log-probability bias that is read in them."""

from __future__ import annotations

import math

import pytest

from tiltmeter import probe
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import Group
from tiltmeter.stimuli.sentences.target_frames import FRAMES, target_frames


@pytest.mark.parametrize("frames", FRAMES.values())
def test_every_frame_of_a_language_names_both_words_once(frames: tuple[str, ...]) -> None:
    assert all(frame.count("{target}") == frame.count("{attribute}") == 1 for frame in frames)


@pytest.mark.parametrize("frame", ["{target} is here.", "{attribute} {attribute} {target}"])
def test_a_template_without_both_words_is_refused(frame: str) -> None:
    groups = [Group.of(name, [name]) for name in "xyab"]
    with pytest.raises(BadInput, match="once each, and"):
        target_frames(groups[:2], groups[2:], [frame])


class Expects:
    """A masked model: flowers are expected three times as often beside good words, whatever else there is."""

    def fill(self, items):
        return [[self._log(item, filler) for filler in item.fillers] for item in items]

    def _log(self, item, filler):
        flower = filler in ("rose", "lily", "iris")
        # With the attribute hidden there is nothing to tell the words apart.
        seen = 1.0 if item.hidden else 3.0 if "joy" in item.text or "love" in item.text else 1.0
        return math.log(0.1 * (seen if flower else 1.0))


def test_the_bias_of_words_is_the_planted_ratio_for_lists_of_unequal_length() -> None:
    reading = probe(
        "lpbs", Expects(), targets=[["rose", "lily", "iris"], ["wasp", "moth"]],
        attributes=[["joy", "love"], ["war", "mud"]], cache=False, progress=False,
    )  # fmt: skip
    values = {item.label: item.value for item in reading.items}
    assert values["joy"] == pytest.approx(math.log(3), abs=1e-6)
    assert values["mud"] == pytest.approx(0, abs=1e-6)
    assert reading.effect.value > 1
    assert reading.direction == reading.poles.positive


def test_p_counts_both_the_attributes_and_the_words_that_stand_for_either_side() -> None:
    sides = ["rose", "lily", "iris", "tulip"], ["wasp", "moth", "gnat", "flea"]
    words = ["joy", "love", "peace", "luck"], ["war", "mud", "rot", "ache"]
    reading = probe("lpbs", Expects(), targets=sides, attributes=words, cache=False, progress=False)
    rests = reading.evidence
    assert rests is not None
    assert next(what for what, _ in rests.p_values).startswith("other words for")
    assert reading.effect.p_value == max(p for _, p in rests.p_values)
    assert [n for _, n in rests.independent] == [4, 4, 4, 4]
    assert reading.published is not None
    assert (reading.published.value, reading.published.p_value) == (reading.effect.value, rests.p_values[0][1])
    assert "whether the tilt holds for other terms" in reading.repair


def test_data_and_words_together_are_refused() -> None:
    with pytest.raises(BadInput, match="give either"):
        probe("lpbs", Expects(), data="traits_en", targets=[["a"], ["b"]], attributes=[["c"], ["d"]], cache=False)
