"""What a measure says of every occupation, and the one number that it is calibrated by.

The planted bias puts half of the occupations with men and half with women. Whatever a measure is about, what it says of
a model comes down to one signed number in its own units: how much more it lets the first half lean towards men than the
second. On a model without bias it should be 0 whichever way the occupations are halved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.statistics import by_unit, concatenated_d, permutation_test
from tiltmeter.statistics.groups import Floats

Form = Literal["published", "corrected"]
#: Which occupations are with men; the others are with women.
Men = NDArray[np.bool_]
#: Enough to call a p-value below .05 or not.
PERMUTATIONS = 999


@dataclasses.dataclass(frozen=True, slots=True)
class Judged:
    """The number for one halving of the occupations, and its p-value where the measure has one."""

    value: float
    p_value: float | None


Judge = Callable[[Men], Judged]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Leans:
    """A measure's leans: ``values`` has a row an occupation and a column a sentence, positive towards men.

    ``of_sets`` are the values from each set of sentences alone. Where ``standardised``, the number is an effect size:
    divided by the SD of all values. ``judge`` gives number and p-value as the measure itself does.
    """

    measure: str
    form: Form
    unit: str
    values: Floats
    of_sets: Mapping[str, Floats]
    standardised: bool
    judge: Judge

    @property
    def of_occupations(self) -> Floats:
        means: Floats = self.values.mean(axis=1)
        return means

    def by_set(self, men: Men) -> dict[str, float]:
        """The number from each set of sentences alone."""
        return {name: lean_apart(values, men, standardised=self.standardised) for name, values in self.of_sets.items()}


def columns_of(values: Floats, sets: Sequence[str]) -> dict[str, Floats]:
    """The columns of each set, where ``sets`` names the set of every column.

    >>> {name: own.tolist() for name, own in columns_of(np.array([[1.0, 2.0, 3.0]]), ["a", "b", "a"]).items()}
    {'a': [[1.0, 3.0]], 'b': [[2.0]]}
    """
    named = np.array(sets)
    return {name: values[:, named == name] for name in dict.fromkeys(sets)}


def lean_apart(values: Floats, men: Men, *, standardised: bool = False) -> float:
    """How much more the occupations of men lean towards men than those of women: the number of a reading.

    >>> lean_apart(np.array([[4.0, 2.0], [2.0, 0.0], [-1.0, -3.0], [0.0, 0.0]]), np.array([True, True, False, False]))
    3.0
    """
    units = np.repeat(np.arange(len(values)), values.shape[1])
    if standardised:
        one, two = (by_unit(values[side].ravel(), units[: values[side].size]) for side in (men, ~men))
        return concatenated_d(one, two)
    means = values.mean(axis=1)
    return float(means[men].mean() - means[~men].mean())


def by_words(values: Floats) -> Judge:
    """The number, and a p-value by permuting occupations between the halves."""
    means = values.mean(axis=1)

    def judge(men: Men) -> Judged:
        test = permutation_test(by_unit(means[men]), by_unit(means[~men]), permutations=PERMUTATIONS)
        return Judged(lean_apart(values, men), test.p_value)

    return judge


def without_test(values: Floats) -> Judge:
    """The number alone, of a measure that was published without a test of it."""
    return lambda men: Judged(lean_apart(values, men), None)


def halves(n: int, *, many: int, seed: Sequence[int]) -> list[Men]:
    """Random halvings of n occupations.

    >>> [men.sum().item() for men in halves(6, many=2, seed=[0])]
    [3, 3]
    """
    rng = np.random.default_rng(list(seed))
    first = np.arange(n) < n // 2
    return [rng.permutation(first) for _ in range(many)]
