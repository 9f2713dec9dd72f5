"""LPBS: log-probability bias score (Kurita et al. 2019)."""

from __future__ import annotations

import dataclasses
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import THREE_UNNAMED, Families
from tiltmeter.statistics import (
    Alternative,
    Interval,
    Mean,
    Power,
    Result,
    by_unit,
    clustered_mean,
    concatenated_d,
    effect_interval,
    power_of_d,
    welch_test,
    within_groups,
)
from tiltmeter.statistics.families import CrossedTest, Kin, as_labels, crossed_test, noise_of, welch_spread
from tiltmeter.statistics.groups import Floats, Units, as_floats

#: One row an attribute and one column a term: those of the first side, and those of the second.
TermTables: TypeAlias = tuple[ArrayLike, ArrayLike]


@dataclasses.dataclass(frozen=True, slots=True)
class LpbsResult(Result):
    """``associations``: one an attribute; ``mean`` theirs, which is ``fill_bias`` - ``prior_bias``.

    ``effect_size`` is d between two ``groups`` of attributes, ``ci``, ``p_value`` and ``power`` belong to it, and
    ``uncorrected_effect_size`` is the same from the fill-in probabilities alone; None where no groups are named.
    ``crossed`` is the test over attributes and terms, where both are given word by word.
    """

    associations: tuple[float, ...]
    mean: Mean
    fill_bias: float
    prior_bias: float
    alternative: str
    n: int
    n_pairs: int
    groups: tuple[str, str] | None = None
    effect_size: float | None = None
    ci: Interval | None = None
    p_value: float | None = None
    power: Power | None = None
    exact: bool | None = None
    standard_error: float | None = None
    uncorrected_effect_size: float | None = None
    crossed: CrossedTest | None = None


def lpbs(
    fill_1: ArrayLike,
    prior_1: ArrayLike,
    fill_2: ArrayLike,
    prior_2: ArrayLike,
    *,
    groups: Units | None = None,
    families: Families = THREE_UNNAMED,
    by_term: TermTables | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> LpbsResult:
    """Does an attribute make term 1 (he) more likely than term 2 (she), beyond what the sentence does without it?

    Each array holds natural logarithms of probabilities, one row an attribute and one column a pair of terms:
    ``fill`` of the term at its mask, ``prior`` of the same with the attribute masked as well.

        association = mean over term pairs of (fill_1 - prior_1) - (fill_2 - prior_2)

    Positive: the attribute leans towards term 1; 0 is level. ``groups`` names one of two groups for each
    attribute; that of the first attribute is compared with the other. Attributes, not terms, are resampled and
    permuted, the difference in standard errors, as groups differ in size and spread (``statistics.welch_test``).

    Where many terms stand for either side (names of men, names of women) they are a sample too: other names might be
    expected elsewhere. ``by_term`` then holds ln(fill / prior) of each term of the first side and of the second, one
    row an attribute and one column a term, and the test is over attributes and terms (``statistics.crossed_test``).
    ``families`` names those of the attributes (nurse, nurses), of the first terms and of the second, which count once.

    >>> fill_1, fill_2 = np.log([[0.4], [0.3], [0.1], [0.2]]), np.log([[0.1], [0.2], [0.3], [0.2]])
    >>> prior = np.log([[0.2]] * 4)
    >>> found = lpbs(fill_1, prior, fill_2, prior, groups=["career", "career", "family", "family"])
    >>> [round(value, 3) for value in found.associations], round(found.effect_size, 2)
    ([1.386, 0.405, -1.099, 0.0], 1.41)
    """
    named = {"fill_1": fill_1, "prior_1": prior_1, "fill_2": fill_2, "prior_2": prior_2}
    f_1, p_1, f_2, p_2 = (_log_probabilities(name, values) for name, values in named.items())
    if len({each.shape for each in (f_1, p_1, f_2, p_2)}) > 1:
        raise BadInput("fill-in and prior probabilities need the same attributes and term pairs in all four tables")
    fill, prior = (f_1 - f_2).mean(axis=1), (p_1 - p_2).mean(axis=1)
    associations = fill - prior
    options: dict[str, Any] = {"alternative": alternative, "permutations": permutations, "seed": seed}
    return LpbsResult(
        associations=tuple(associations.tolist()),
        mean=clustered_mean(associations, **options),
        fill_bias=float(fill.mean()),
        prior_bias=float(prior.mean()),
        alternative=alternative,
        n=f_1.shape[0],
        n_pairs=f_1.shape[1],
        **({} if groups is None else _effect(associations, fill, groups, families, by_term, options)),
    )


def _log_probabilities(name: str, values: ArrayLike) -> Floats:
    table = as_floats(values, f"{name} must be a table of numbers")
    if table.ndim != 2 or table.size == 0:
        raise BadInput(f"{name} must be a table with one row an attribute and one column a pair of terms")
    if not np.isfinite(table).all():
        raise BadInput(f"{name} holds NaN or infinity: every logarithm of a probability must be finite")
    if table.max() > 1e-4:
        raise BadInput(f"{name} reaches {table.max():.4g}: give logarithms of probabilities, never raw logits")
    return table


def _effect(
    associations: Floats,
    fill: Floats,
    groups: Units,
    families: Families,
    by_term: TermTables | None,
    options: dict[str, Any],
) -> dict[str, Any]:
    if len(groups) != associations.size:
        raise BadInput(f"{associations.size} attributes but {len(groups)} groups: name one group an attribute")
    names = list(dict.fromkeys(groups))
    if len(names) != 2:
        raise BadInput(f"attributes are compared between two groups, not {len(names)}")
    first = np.array([group == names[0] for group in groups])
    if min(first.sum(), (~first).sum()) < 2:
        raise BadInput("each of the two groups needs at least two attributes")
    one, two = by_unit(associations[first]), by_unit(associations[~first])
    d, within, sizes = concatenated_d(one, two), within_groups(one, two), (one.n, two.n)
    kin = as_labels(families[0], associations.size)
    crossed, inflation = None, 1.0
    if by_term is None:
        by_family = {"families_x": kin[first], "families_y": kin[~first]}
        test = welch_test(one.means, two.means, **by_family, **options)
        spread, plain = welch_spread(one.means, two.means, **by_family), welch_spread(one.means, two.means)
        df, power = spread.df, power_of_d([noise_of(test, spread.variance, spread.df)], within=within, sizes=sizes)
        if plain.variance > 0:
            inflation = spread.variance / plain.variance
    else:
        crossed = _over_terms(associations, by_term, first, (kin, *families[1:]), options)
        test, inflation, df = crossed.headline, crossed.inflation, crossed.df
        power = crossed.power(within=within, sizes=sizes)
    return {
        "groups": (str(names[0]), str(names[1])),
        "effect_size": d,
        "ci": effect_interval(one, two, d=d, inflation=inflation, df=df, seed=options["seed"]),
        "p_value": test.p_value,
        "power": power,
        "exact": test.exact,
        "standard_error": test.standard_error,
        "uncorrected_effect_size": concatenated_d(by_unit(fill[first]), by_unit(fill[~first])),
        "crossed": crossed,
    }


def _over_terms(
    associations: Floats, by_term: TermTables, first: NDArray[np.bool_], families: Families, options: dict[str, Any]
) -> CrossedTest:
    """The test over attributes, which are its targets, and terms, which are its attributes."""
    tables = [as_floats(table, "by_term must hold two tables of numbers") for table in by_term]
    if any(table.ndim != 2 or len(table) != associations.size or table.size == 0 for table in tables):
        raise BadInput("by_term holds two tables, each with one row an attribute and one column a term")
    if not np.allclose(tables[0].mean(axis=1) - tables[1].mean(axis=1), associations, atol=1e-6):
        raise BadInput("by_term does not belong to these probabilities: its means differ from the associations")
    of_attributes, *of_terms = families
    side_1, side_2 = (as_labels(names, table.shape[1]) for names, table in zip(of_terms, tables, strict=True))
    kin = np.asarray(of_attributes)
    near = np.concatenate(tables, axis=1)
    return crossed_test(
        near[first],
        near[~first],
        n_a=tables[0].shape[1],
        kin=Kin(as_labels(kin[first], int(first.sum())), as_labels(kin[~first], int((~first).sum())), side_1, side_2),
        **options,
    )
