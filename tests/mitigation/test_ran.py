from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.measures import indirect_bias
from tiltmeter.mitigation import ran

RNG = np.random.default_rng(0)
POOL = RNG.normal(size=(60, 8)) + 2 * np.eye(8)[1]
WORDS = {f"w{i}": row for i, row in enumerate(POOL[:5] + 0.1 * RNG.normal(size=(5, 8)))}
AXIS = np.eye(8)[0]


def objective(new: np.ndarray, old: np.ndarray, repel: list[np.ndarray], weights: tuple[float, float, float]) -> float:
    def cos(u: np.ndarray, v: np.ndarray) -> float:
        return float(u @ v / np.linalg.norm(u) / np.linalg.norm(v))

    repulsion = np.mean([abs(cos(new, each)) for each in repel]) if repel else 0.0
    return weights[0] * repulsion + weights[1] * abs(cos(new, old) - 1) / 2 + weights[2] * abs(cos(new, AXIS))


def repulsion_set(word: np.ndarray, k: int, theta: float) -> list[np.ndarray]:
    cosines = POOL @ word / np.linalg.norm(POOL, axis=1)
    return [POOL[place] for place in np.argsort(-cosines)[:k] if indirect_bias(word, POOL[place], AXIS) > theta]


def test_no_vector_nearby_is_better_for_the_objective_of_the_paper():
    weights = (0.2, 0.6, 0.2)
    made = ran(WORDS, POOL, AXIS, neighbours=20, weights=weights, steps=2_000, rate=0.002).replaced
    for word, old in WORDS.items():
        repel = repulsion_set(old, 20, 0.05)
        reached = objective(made[word], old, repel, weights)
        assert reached < objective(old, old, repel, weights)
        others = made[word] + 0.05 * np.random.default_rng(1).normal(size=(300, 8))
        assert reached <= min(objective(other, old, repel, weights) for other in others) + 2e-3


def test_attraction_alone_leaves_words_where_they_are():
    made = ran(WORDS, POOL, AXIS, neighbours=10, weights=(0.0, 1.0, 0.0)).replaced
    for word, vector in WORDS.items():
        assert made[word] == pytest.approx(vector / np.linalg.norm(vector), abs=1e-6)


def test_neutralisation_alone_takes_the_direction_away():
    made = ran(WORDS, POOL, AXIS, neighbours=10, weights=(0.0, 0.0, 1.0)).replaced
    assert max(abs(vector[0]) for vector in made.values()) < 0.02


def test_other_words_stay_as_they_are():
    made = ran(WORDS, POOL, AXIS, neighbours=10, steps=3)
    assert made.apply([[3.0, 4.0, *6 * [0.0]]])[0, :2].tolist() == [0.6, 0.8]


@pytest.mark.parametrize(("words", "k", "message"), [({}, 10, "none are left"), (WORDS, 61, "has 60 words")])
def test_bad_input_is_one_line(words, k, message):
    with pytest.raises(BadInput, match=message):
        ran(words, POOL, AXIS, neighbours=k)
