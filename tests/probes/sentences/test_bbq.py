"""BBQ, on models whose answers are planted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.probes.sentences.from_items import effect_from_items
from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Continuation, Filled
from tiltmeter.probes import Options, make_probes
from tiltmeter.probes.sentences.bbq import continuation, shown_order
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli.datasets import load_bbq
from tiltmeter.stimuli.datasets.bbq import BbqExample


class Planted:
    """Finds the answer that ``choose`` gives for an example the likeliest, per token and not as a whole."""

    identity = Identity("planted", "1")

    def __init__(self, examples: Sequence[BbqExample], choose: Callable[[BbqExample], int], method: str) -> None:
        self._chosen = {continuation(example, method): choose(example) for example in examples}

    def continue_with(self, items: Sequence[Continuation]) -> list[Filled]:
        return [self._filled(self._chosen[item]) for item in items]

    def _filled(self, chosen: int) -> Filled:
        return Filled(
            tuple(-8.0 if option == chosen else -3.0 for option in range(3)),
            tuple(8 if option == chosen else 1 for option in range(3)),
        )


@pytest.fixture(scope="module")
def folder(data_folder):
    return data_folder("bbq")


def read(folder: Any, choose: Callable[[BbqExample], int], *, method: str = "plain", **options: Any) -> list[Reading]:
    probes = make_probes("bbq", data=folder, method=method, **options)
    examples = probes[0].stimuli.examples
    return run_probes(probes, Planted(examples, choose, method), cache=False, progress=False)


def gives_in(chance: float, *, seed: int = 0) -> Callable[[BbqExample], int]:
    """Right but for a chance, in which the stereotype is answered; a negative one: the other person."""
    rng = np.random.default_rng(seed)

    def choose(example: BbqExample) -> int:
        if example.target is None or rng.random() >= abs(chance):
            return example.label
        other = next(i for i in range(3) if example.people[i] != "unknown" and i != example.target)
        return example.target if chance > 0 else other

    return choose


def test_a_planted_lean_is_read_with_its_sign_and_size(folder):
    readings = {chance: read(folder, gives_in(chance), limit=200)[0] for chance in (-0.5, 0.2, 0.5)}
    for chance, reading in readings.items():
        assert reading.effect.value == pytest.approx((1 + chance) / 2, abs=0.03)
        assert reading.effect.p_value is not None
        assert reading.effect.p_value < 0.001
        assert reading.details.result.repaired["disambig"].value == pytest.approx(chance, abs=0.05)
        assert effect_from_items(reading) == pytest.approx(reading.effect.value)
    assert "towards stereotypes" in readings[0.5].finding
    assert "against stereotypes" in readings[-0.5].finding


def test_the_whole_comes_first_and_then_each_category(folder):
    whole, *parts = read(folder, gives_in(0.3), limit=40)
    assert whole.dimension == "several"
    assert [part.id for part in parts][:3] == ["bbq-age", "bbq-disability_status", "bbq-gender_identity"]
    assert [part.dimension for part in parts][:3] == ["age", "disability", "gender"]
    assert len(whole.details.by_category) == len(parts) == 9
    assert whole.details.by_category["Age"].n == parts[0].details.result.n == {"ambig": 20, "disambig": 20}
    assert sum(part.n_items for part in parts) == whole.n_items


def test_what_is_measured_is_what_the_measure_says(folder):
    choose = gives_in(0.4)
    examples = load_bbq(folder / "Religion.jsonl")
    predicted = [choose(example) for example in examples]
    chosen = dict(zip(examples, predicted, strict=True))
    reading = read(folder / "Religion.jsonl", chosen.__getitem__)[0]
    direct = measures.bbq(predicted, [example.to_entry() for example in examples], [each.target for each in examples])
    assert reading.details.result == direct
    assert reading.effect.value == (1 + direct.repaired["ambig"].value) / 2
    assert f"{direct.bias_score['disambig']:.3f}" in reading.finding


def test_questions_are_what_is_counted(folder):
    assert {reading.counted for reading in read(folder, gives_in(0.2))} == {"questions"}


def test_a_careful_reader_is_right_and_level(folder):
    reading = read(folder / "SES.jsonl", lambda example: example.label)[0]
    assert reading.effect.value == 0.5
    assert reading.details.result.accuracy == {"ambig": 1.0, "disambig": 1.0}
    assert reading.details.result.repaired["disambig"].value == pytest.approx(0, abs=1e-12)
    assert reading.effect.p_value == 1.0


def test_readings_of_models_without_a_lean_are_seldom_significant(folder):
    rng = np.random.default_rng(5)
    probes = make_probes("bbq", data=folder / "Religion.jsonl", limit=100, options=Options(permutations=999))
    examples = probes[0].stimuli.examples
    models = (Planted(examples, lambda _: int(rng.integers(3)), "plain") for _ in range(40))
    p_values = [run_probes(probes, model, cache=False, progress=False)[0].effect.p_value for model in models]
    assert sum(p <= 0.05 for p in p_values) <= 6  # 2 expected; more than 6 once in 300 times


def test_listed_answers_stand_in_every_place_equally_often(folder):
    examples = load_bbq(folder / "Age.jsonl")
    for role in ("target", "label"):
        places = [shown_order(example).index(getattr(example, role)) for example in examples]
        assert np.bincount(places) / len(places) == pytest.approx(1 / 3, abs=0.03)
    asked = continuation(examples[1], "listed")
    assert "\nOptions:\n- " in asked.stem
    assert asked.endings == continuation(examples[1], "plain").endings
    reading = read(folder / "Age.jsonl", lambda example: shown_order(example)[0], method="listed", limit=200)[0]
    assert reading.details.chosen_by_place == (1.0, 0.0, 0.0)
    assert reading.effect.p_value > 0.05


def test_examples_without_a_stereotype_are_counted(folder):
    reading = read(folder / "Gender_identity.jsonl", gives_in(0.1))[0]
    assert [left.what for left in reading.left_out] == ["16 examples"]
    assert reading.n_items == 5672 - 16


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "loud"}, "unknown method 'loud'"),
        ({"limit": 2}, "come in fours"),
        ({"limit": "many"}, "limit of bbq is a number"),
        ({"data": "bqb"}, "unknown data of bbq 'bqb'"),
    ],
)
def test_bad_options_are_one_line(folder, options, says):
    with pytest.raises(BadInput, match=says):
        make_probes("bbq", **{"data": folder, **options})
