"""How often probes of written text find a lean where none is. Run: python benchmarks/generated_nulls.py [--runs N]

Each run makes a model's outcomes with everything but a lean: scenarios, names, templates, entities and questions that
differ among themselves, exchangeably between the groups. The measures should then say p <= .05 in about 5 of 100 runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

from tiltmeter import measures

LIMITS = (0.03, 0.07)
Null = Callable[[np.random.Generator], float]


def tones(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """Scores of texts as the scorer that ships gives them: mostly 0, else from -1 to 1."""
    return np.where(rng.random(means.shape) < 0.5, 0.0, np.clip(means + rng.normal(0, 0.7, means.shape), -1, 1))


def counterfactual(
    rng: np.random.Generator, *, scenarios: int = 16, names: int = 8, by_name: float = 0.3, by_scenario: float = 0.0
) -> float:
    """Scenarios of their own tone, names that the model writes of more or less kindly, of either group alike.

    ``by_scenario`` is how far scenarios favour one group or the other, both alike on the whole.
    """
    base, favour = (rng.normal(0, spread, (scenarios, 1)) for spread in (0.3, by_scenario / 2))
    sides = [tones(rng, base + side * favour + rng.normal(0, by_name, (1, names))) for side in (1, -1)]
    labels = [f"s{i}" for i in range(scenarios) for _ in range(names)], [f"n{j}" for j in range(names)] * scenarios
    found = measures.counterfactual(
        *(side.ravel() for side in sides), scenarios=labels[0], names=labels[1], permutations=999
    )
    return found.p_value


def choices(rng: np.random.Generator, *, scenarios: int = 8, names: int = 8) -> float:
    """Yes or no, with a chance that scenarios and names have of their own."""
    base = rng.normal(0, 1, (scenarios, 1))
    sides = []
    for _ in range(2):
        chance = 1 / (1 + np.exp(-base - rng.normal(0, 0.5, (1, names))))
        sides.append((rng.random(chance.shape) < chance).astype(float).ravel())
    labels = [f"s{i}" for i in range(scenarios) for _ in range(names)], [f"n{j}" for j in range(names)] * scenarios
    return measures.counterfactual(*sides, scenarios=labels[0], names=labels[1], permutations=999).p_value


def honest(rng: np.random.Generator, *, templates: int = 29, identities: int = 13, samples: int = 5) -> float:
    """Templates that invite hurtful words more or less, of either group alike."""
    chance = rng.beta(1, 12, (templates, 1)) * np.ones((1, 2 * identities))
    shares = rng.binomial(samples, chance) / samples
    groups = (["female"] * identities + ["male"] * identities) * templates
    where = [f"t{i}" for i in range(templates) for _ in range(2 * identities)]
    options = {"groups": groups, "templates": where, "between": ("female", "male")}
    return measures.honest(shares.ravel(), **options, permutations=999).difference.p_value  # type: ignore[arg-type]


def bold(rng: np.random.Generator, *, entities: tuple[int, int] = (60, 40), prompts: int = 2) -> float:
    """People of whom a model writes more or less kindly, several prompts each."""
    sides = [tones(rng, rng.normal(0, 0.3, (n, 1)) * np.ones((1, prompts))) for n in entities]
    labels = [[f"e{i}" for i in range(n) for _ in range(prompts)] for n in entities]
    found = measures.bold(
        *(side.ravel() for side in sides), entities_first=labels[0], entities_second=labels[1], permutations=999
    )
    return found.p_value


def bbq(rng: np.random.Generator, *, questions: int = 40, each: int = 12) -> float:
    """Questions that lean either way by themselves: towards the stereotype as often as against it."""
    people = {"ans0": ["A", "old"], "ans1": ["B", "nonOld"], "ans2": ["Not known", "unknown"]}
    predicted, examples, targets = [], [], []
    for question in range(questions):
        lean = rng.normal(0, 0.6)
        weights = np.exp([lean, -lean, 0.0])
        for answer in rng.choice(3, size=each, p=weights / weights.sum()):
            target = int(rng.integers(2))
            predicted.append(2 if answer == 2 else target if answer == 0 else 1 - target)
            entry = {"category": "Age", "question_index": str(question), "answer_info": people, "label": 2}
            examples.append({**entry, "context_condition": "ambig"})
            targets.append(target)
    return measures.bbq(predicted, examples, targets, permutations=999).repaired["ambig"].p_value


NULLS: dict[str, Null] = {
    "counterfactual pairs, tone": counterfactual,
    "counterfactual pairs, tone, names alike": lambda rng: counterfactual(rng, by_name=0.0),
    "counterfactual pairs, tone, scenarios too": lambda rng: counterfactual(rng, by_scenario=0.4),
    "counterfactual pairs, options": choices,
    "HONEST, paired difference": honest,
    "BOLD, entities": bold,
    "BBQ, ambiguous, by question": bbq,
}


def rate(null: Null, runs: int, seed: int) -> float:
    return float(np.mean([null(np.random.default_rng([seed, run])) <= 0.05 for run in range(runs)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    for name, null in NULLS.items():
        found = rate(null, options.runs, options.seed)
        inside = "within" if LIMITS[0] <= found <= LIMITS[1] else "NOT within"
        print(f"{name:42} p <= .05 in {found:.3f} of {options.runs} null readings, {inside} .05 +- .02", flush=True)


if __name__ == "__main__":
    main()
