"""How steady occupation scores are from model to model."""

from __future__ import annotations

import pytest

from tests.lab.studies.study_reading import study_reading
from tiltmeter.errors import BadInput
from tiltmeter.lab.studies.stability import MEASURES, across_models
from tiltmeter.readings import Item, Reading

WORDS = ("nurse", "plumber", "teacher")


def reading(
    model: str, *, probe: str = "cabm", words: tuple[str, ...] = WORDS, **values: list[float | None]
) -> Reading:
    columns = {key: values.get(key, [0.5, -0.5, 0.25]) for key in MEASURES.values()}
    items = tuple(
        Item(
            word, word, "neutral", columns["value"][i], {key: own[i] for key, own in columns.items() if key != "value"}
        )
        for i, word in enumerate(words)
    )
    return study_reading(probe=probe, model=model, items=items)


def test_a_measure_that_says_the_same_of_every_model_varies_by_nothing():
    found = across_models([reading("a"), reading("b")])
    assert [each.measure for each in found] == list(MEASURES)
    assert all(each.stability is not None and each.stability.mean_sd == 0 for each in found)


def test_the_mean_sd_by_hand_once_every_model_is_on_one_scale():
    found = {
        each.measure: each.stability
        for each in across_models([reading("a", value=[1, -1, 1]), reading("b", value=[2, 2, 2])])
    }
    # At root mean square 1: (1, -1, 1) and (1, 1, 1); SDs 0, sqrt 2, 0. As they are: .707, 2.121, .707.
    assert found["CABM, repaired"].mean_sd == pytest.approx(2**0.5 / 3)
    assert found["CABM, repaired"].published == pytest.approx((0.5**0.5 + 4.5**0.5 + 0.5**0.5) / 3)


def test_what_a_model_does_not_give_is_missing_with_the_reason():
    without = reading("b", mac=[0.1, None, 0.2])
    found = {each.measure: each for each in across_models([reading("a"), without])}
    assert found["MAC"].stability is None
    assert found["MAC"].note == "without b, which lacks the number for some occupations"
    assert found["SAME"].stability is not None
    found = {each.measure: each for each in across_models([reading("a"), without, reading("c")])}
    assert found["MAC"].stability.models == ("a", "c")
    assert found["MAC"].note.startswith("without b")


@pytest.mark.parametrize(
    ("readings", "says"),
    [
        ([reading("a")], "at least two models, found readings of cabm for 1"),
        ([reading("a", probe="weat"), reading("b", probe="weat")], "at least two models"),
        ([reading("a"), reading("b", words=("clerk", "judge", "cook"))], "fewer than two occupations in common"),
    ],
)
def test_what_cannot_be_compared_is_one_clear_line(readings, says):
    with pytest.raises(BadInput, match=says):
        across_models(readings)
