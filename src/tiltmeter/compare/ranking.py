"""Models ranked over many tests: who leans least in each, how far the tests agree, and the mean of the ranks.

Tests have scales of their own, so what is averaged are ranks. How sure a rank is follows from the intervals of the
effects behind it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.readings import Audit, Reading
from tiltmeter.readings.frames import frame
from tiltmeter.statistics import plain

if TYPE_CHECKING:
    import pandas as pd

#: Draws of the effects within their intervals, by which the interval of a mean rank is found.
DRAWS = 2000
#: Half the width of a 95% interval in standard errors.
_Z = 1.959964
#: Fewer models have too few orders for a correlation of them to say anything.
_FEWEST = 3


@dataclasses.dataclass(frozen=True, slots=True)
class Ranked:
    """One model: its rank in each test (1 leans least, ties share a rank), and their mean with its interval."""

    model: str
    ranks: Mapping[str, float]
    distances: Mapping[str, float]
    mean_rank: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True)
class Ranking:
    """Models by their mean rank, least lean first; ``how`` says how that was made.

    ``correlations`` are Spearman's, between the orders in which two tests put the models; ``concordance`` is Kendall's
    W over all tests: 1 where all give the same order, near 0 where each gives its own. Neither is given for fewer than
    three models.
    """

    models: tuple[Ranked, ...]
    tests: tuple[str, ...]
    correlations: Mapping[str, Mapping[str, float]]
    concordance: float | None
    left_out: Mapping[str, str]
    how: str

    def to_frame(self) -> pd.DataFrame:
        """One row per model: its distance from level in each test, and the mean rank."""
        rows = [
            {"model": one.model, **one.distances, "mean rank": one.mean_rank, "low": one.low, "high": one.high}
            for one in self.models
        ]
        return frame(rows).set_index("model")

    def correlation_frame(self) -> pd.DataFrame:
        """Spearman's correlations between the orders of two tests."""
        return frame(self.correlations.values()).set_axis([*self.correlations])

    def to_dict(self) -> dict[str, Any]:
        values: dict[str, Any] = plain(self)
        return values


def rank(audit: Audit | str | Path, *, seed: int = 0) -> Ranking:
    """Rank the models of an audit by how far they lean, over its bias tests that all of them took.

    Args:
        audit: an audit of at least two models, or the folder of one.
        seed: of the draws within the effects' intervals.

    >>> words = {w: [float(i), 1.0] for i, w in enumerate(["he", "him", "she", "her", "a", "b", "c", "d"])}
    >>> import tiltmeter
    >>> suite = {"name": "two", "probes": [{"probe": "weat", "targets": [["he", "him"], ["she", "her"]],
    ...                                     "attributes": [["a", "b"], ["c", "d"]]}]}
    >>> other = words | {"he": [1.0, 3.0]}
    >>> found = rank(tiltmeter.audit([words, other], suite=suite, cache=False))
    >>> [one.model for one in found.models]
    ['own:dict', 'own:dict (2)']
    """
    one = audit if isinstance(audit, Audit) else Audit.load(audit)
    cells: dict[str, dict[str, Reading]] = {}
    for reading in one.readings:
        if reading.family == "bias":
            cells.setdefault(reading.id, {})[reading.model] = reading
    models = [model for model in one.models if any(model in row for row in cells.values())]
    if len(models) < 2:
        raise BadInput(f"{len(models)} model has bias tests in this audit: a ranking needs at least two")
    left_out = {
        test: f"not measured on {', '.join(model for model in models if model not in row)}"
        for test, row in cells.items()
        if len(row) < len(models)
    }
    tests = [test for test in cells if test not in left_out]
    if not tests:
        raise BadInput(f"no test was taken by all {len(models)} models: audit them with one suite that fits them all")
    table = [[cells[test][model] for test in tests] for model in models]
    distances = np.array([[_distance(reading, reading.effect.value) for reading in row] for row in table])
    ranks = _ranks(distances)
    low, high = _interval(table, seed)
    order = np.lexsort((np.arange(len(models)), ranks.mean(1)))
    rows = tuple(
        Ranked(
            models[i],
            dict(zip(tests, ranks[i].tolist(), strict=True)),
            dict(zip(tests, distances[i].tolist(), strict=True)),
            float(ranks[i].mean()),
            float(low[i]),
            float(high[i]),
        )
        for i in order
    )
    enough = len(models) >= _FEWEST
    how = (
        f"mean over {len(tests)} tests of a model's rank by distance from level (1 leans least); 95% interval by "
        f"{DRAWS:,} draws of every effect within its own interval; controls do not count"
    )
    correlations = _correlations(tests, ranks) if enough else {}
    return Ranking(rows, tuple(tests), correlations, _concordance(ranks) if enough else None, left_out, how)


def _distance(reading: Reading, value: float) -> float:
    return abs(reading.effect.scale.as_distance(value))


def _ranks(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Ranks of the models within each test, 1 for the smallest; what is equal but for rounding shares a rank."""
    from scipy.stats import rankdata

    return np.asarray(rankdata(np.round(distances, 12), axis=0), dtype=np.float64)


def _interval(table: list[list[Reading]], seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    values = np.array([[reading.effect.value for reading in row] for row in table])
    spread = np.array(
        [[(r.effect.ci.high - r.effect.ci.low) / (2 * _Z) if r.effect.ci else 0.0 for r in row] for row in table]
    )
    drawn = np.empty((DRAWS, len(table)))
    for draw in range(DRAWS):
        effects = values + spread * rng.standard_normal(values.shape)
        rows = zip(table, effects.tolist(), strict=True)
        distances = [[_distance(r, x) for r, x in zip(row, some, strict=True)] for row, some in rows]
        drawn[draw] = _ranks(np.array(distances)).mean(1)
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return low, high


def _correlations(tests: list[str], ranks: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    """Spearman's correlation is that of the ranks; a test in which all models are equal has none."""
    varied = [i for i in range(len(tests)) if np.ptp(ranks[:, i]) > 0]
    matrix = np.atleast_2d(np.corrcoef(ranks[:, varied], rowvar=False)) if varied else np.empty((0, 0))
    names = [tests[i] for i in varied]
    return {name: dict(zip(names, row.tolist(), strict=True)) for name, row in zip(names, matrix, strict=True)}


def _concordance(ranks: NDArray[np.float64]) -> float | None:
    """Kendall's W, with his correction for ties."""
    n, m = ranks.shape
    sums = ranks.sum(1)
    ties = sum(
        float((counts**3 - counts).sum())
        for column in ranks.T
        for counts in [np.unique(column, return_counts=True)[1].astype(float)]
    )
    most = m**2 * (n**3 - n) - m * ties
    return float(12 * ((sums - sums.mean()) ** 2).sum() / most) if most > 0 else None
