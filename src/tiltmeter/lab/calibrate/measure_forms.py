"""What the reading of a probe says of every occupation, and the one number that its measure is calibrated by.

The planted bias puts half of the occupations with men and half with women. Whatever a measure is about, what it says of
a model comes down to one signed number: how much more it lets the first half lean towards men than the second. Where
the reading compares the two halves itself, that is its effect, as a distance from level, and its p-value counts. Where
it does not, the number is the difference between the halves of what its items say, in their own units. On a model
without bias it should be 0 whichever way the occupations are halved.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from tiltmeter.lab.calibrate.lab_probes import Men
from tiltmeter.readings import Estimate, Item, Reading
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.statistics.groups import Floats

Form: TypeAlias = Literal["published", "repaired"]
#: A measure and its form.
Key: TypeAlias = tuple[str, str]
#: Towards men, by occupation.
Leans: TypeAlias = Mapping[str, float]


@dataclasses.dataclass(frozen=True, slots=True)
class MeasureForm:
    """One form of a measure, and how it is taken from the readings of ``probe``.

    ``lean`` takes the leans of occupations from a reading, whose halves are given as +1 (with men) and -1 by
    occupation (None where it has no such form); ``estimate`` is what compares the halves, where the reading does.
    """

    measure: str
    form: Form
    unit: str
    probe: str
    lean: Callable[[Reading, Mapping[str, int]], Leans | None]
    estimate: Callable[[Reading], Estimate | None] | None = None

    @property
    def key(self) -> Key:
        return self.measure, self.form

    def number(self, reading: Reading | None, leans: Floats, men: Men) -> tuple[float, float | None]:
        """The number for these halves, and its p-value where the reading of them has one."""
        if self.estimate is None or reading is None:
            return apart(leans, men), None
        estimate = self.estimate(reading) or reading.effect  # where nothing differs, nothing is published apart
        return estimate.value - estimate.level, estimate.p_value


def apart(leans: Floats, men: Men) -> float:
    """How much more the occupations with men lean towards men than those with women.

    >>> apart(np.array([3.0, 1.0, -2.0, 0.0]), np.array([True, True, False, False]))
    3.0
    """
    return float(leans[men].mean() - leans[~men].mean())


def halves(n: int, *, many: int, seed: Sequence[int]) -> list[Men]:
    """Random halvings of n occupations.

    >>> [men.sum().item() for men in halves(6, many=2, seed=[0])]
    [3, 3]
    """
    rng = np.random.default_rng(list(seed))
    first = np.arange(n) < n // 2
    return [rng.permutation(first) for _ in range(many)]


def measure_forms(occupation_of: Mapping[str, str], explainer: str) -> tuple[MeasureForm, ...]:
    """Every form that is calibrated.

    Args:
        occupation_of: the occupation that a sentence of a pair is about.
        explainer: the weighting of CABM that explains a forest, ``shap_rf`` or what takes its place.
    """

    def pair(lean: Callable[[Item], float]) -> Callable[[Reading, Mapping[str, int]], Leans]:
        """A pair leans to the sentence that fits the halves, which is about a man or about a woman."""
        return lambda reading, side: _means(
            (occupation_of[item.label], side[occupation_of[item.label]] * lean(item)) for item in reading.items
        )

    both: tuple[Form, Form] = ("published", "repaired")
    pairs = [
        form
        for method in ("nangia", "meade")
        for form in (
            MeasureForm(f"pairs ({method})", "repaired", "share", f"pairs-{method}", pair(_won), _effect),
            MeasureForm(f"pairs ({method}, log-odds)", "repaired", "log-odds", f"pairs-{method}", pair(_value)),
        )
    ]
    return (
        MeasureForm("unmasking", "repaired", "P(he) - P(she)", "unmask", _items(_value)),
        MeasureForm(
            "unmasking (shares)", "repaired", "correlation", "unmask-shares", _items(_column("share_he")), _effect
        ),
        MeasureForm("LPBS", "repaired", "d", "lpbs", _items(_value), _effect),
        MeasureForm("LPBS (log-odds)", "published", "log-odds", "lpbs", _items(_column("fill_bias"))),
        MeasureForm("LPBS (log-odds)", "repaired", "log-odds", "lpbs", _items(_value)),
        MeasureForm("pronouns", "repaired", "share", "pronouns", _sided(_won), _effect),
        MeasureForm("pronouns (log-odds)", "repaired", "log-odds", "pronouns", _sided(_value)),
        *pairs,
        *(
            MeasureForm(f"CABM ({weighting})", form, "score", "cabm", _weighted(weighting, form))
            for form in both
            for weighting in ("equal", "pca", "pca_rf", explainer)
        ),
        *(
            MeasureForm(name, form, "d", name.lower(), _items(_value), estimate)
            for name in ("WEAT", "SEAT", "CEAT")
            for form, estimate in zip(both, (_published, _effect), strict=True)
        ),
        MeasureForm("ClozeGender", "published", "share", "cloze", _items(_won_as_published)),
        MeasureForm("ClozeGender", "repaired", "share", "cloze", _items(_won)),
        MeasureForm("ClozeGender (log-odds)", "repaired", "log-odds", "cloze", _items(_value)),
    )


def _means(leans: Iterable[tuple[str, float]]) -> Leans:
    by_occupation: dict[str, list[float]] = {}
    for occupation, lean in leans:
        by_occupation.setdefault(occupation, []).append(lean)
    return {occupation: float(np.mean(values)) for occupation, values in by_occupation.items()}


def _items(lean: Callable[[Item], float]) -> Callable[[Reading, Mapping[str, int]], Leans]:
    """Items that lean towards men."""
    return lambda reading, _side: _means((item.unit, lean(item)) for item in reading.items)


def _sided(lean: Callable[[Item], float]) -> Callable[[Reading, Mapping[str, int]], Leans]:
    """Items that lean towards what fits the halves, which for an occupation with women is the feminine form."""
    return lambda reading, side: _means((item.unit, side[item.unit] * lean(item)) for item in reading.items)


def _weighted(weighting: str, form: Form) -> Callable[[Reading, Mapping[str, int]], Leans | None]:
    """The scores of CABM by a weighting, of which there are none where a forest had nothing to learn."""

    def lean(reading: Reading, _side: Mapping[str, int]) -> Leans | None:
        assert isinstance(reading.details, CabmDetails)
        scores = getattr(reading.details, form).scores.get(weighting)
        return scores and dict(zip((item.unit for item in reading.items), scores, strict=True))

    return lean


def _column(name: str) -> Callable[[Item], float]:
    return lambda item: float(item.columns[name] or 0.0)


def _value(item: Item) -> float:
    return float(item.value or 0.0)


def _won(item: Item) -> float:
    """How far from a tie; a row that is not counted is none."""
    won = item.columns["won"]
    return 0.0 if won is None else float(won) - 0.5


def _won_as_published(item: Item) -> float:
    return float(np.sign(float(item.columns["published_1"] or 0.0) - float(item.columns["published_2"] or 0.0))) / 2


def _effect(reading: Reading) -> Estimate:
    return reading.effect


def _published(reading: Reading) -> Estimate | None:
    return reading.published
