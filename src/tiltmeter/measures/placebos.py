"""What arbitrary words give along a direction: neutral words in place of the poles, the attributes or the pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import Bands, cosines, deal, draw_words, rows, unit
from tiltmeter.statistics.families import Labels, Placebo, placebo_of
from tiltmeter.statistics.groups import Floats

_DRAWS = 1_000


def axis_placebo(
    words: ArrayLike,
    neutral: ArrayLike,
    *,
    value: float,
    sizes: tuple[int, int],
    size_only: bool = False,
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """The mean place of words on the axis between two sets of neutral words of these sizes (SemAxis).

    With ``size_only`` the mean of its sizes, between sets at unit length (SAME).

    >>> rng = np.random.default_rng(0)
    >>> axis_placebo(rng.normal(size=(9, 20)), rng.normal(size=(100, 20)), value=0.9, sizes=(8, 8)).p_value < 0.01
    True
    """
    w, some = rows("words", words), rows("neutral words", neutral, at_least=sum(sizes))
    axes = (unit(some) if size_only else some).T @ deal(len(some), sizes, bands=bands, draws=_DRAWS, seed=seed)
    places = unit(w) @ (axes / np.linalg.norm(axes, axis=0))
    return placebo_of((np.abs(places) if size_only else places).mean(axis=0), value)


def wefat_placebo(
    words: ArrayLike,
    neutral: ArrayLike,
    property: ArrayLike,
    *,
    r: float,
    sizes: tuple[int, int],
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """The correlation of a property of words with their lean between two sets of neutral words of these sizes (WEFAT).

    >>> rng = np.random.default_rng(0)
    >>> words, neutral = rng.normal(size=(30, 20)), rng.normal(size=(100, 20))
    >>> wefat_placebo(words, neutral, range(30), r=0.9, sizes=(8, 8)).p_value < 0.01
    True
    """
    w, some = rows("words", words), rows("neutral words", neutral, at_least=sum(sizes))
    near, dealt = cosines(w, some), deal(len(some), sizes, bands=bands, draws=_DRAWS, seed=seed)
    drawn, n = (dealt != 0).astype(np.float64), sum(sizes)
    variance = (near**2 @ drawn - (near @ drawn) ** 2 / n) / (n - 1)
    effects = near @ dealt / np.sqrt(variance)
    values = np.asarray(property, dtype=np.float64)
    scores, known = effects - effects.mean(axis=0), values - values.mean()
    return placebo_of(known @ scores / np.sqrt((known**2).sum() * (scores**2).sum(axis=0)), r)


def ripa_placebo(
    words: ArrayLike, neutral: ArrayLike, *, value: float, n_pairs: int, bands: Bands | None = None, seed: int = 0
) -> Placebo:
    """The mean inner product of words with the relations of so many pairs of neutral words (RIPA).

    >>> rng = np.random.default_rng(0)
    >>> ripa_placebo(rng.normal(size=(9, 20)), rng.normal(size=(100, 20)), value=9.0, n_pairs=5).p_value < 0.01
    True
    """
    w, some = rows("words", words), rows("neutral words", neutral, at_least=2 * n_pairs)
    first, second = _pairs(len(some), n_pairs, bands, seed)
    products, along = some @ some.T, some @ w.mean(axis=0)
    lengths = np.sqrt(products[first, first] + products[second, second] - 2 * products[first, second])
    return placebo_of(((along[first] - along[second]) / lengths).mean(axis=1), value)


def direct_bias_placebo(
    words: ArrayLike, neutral: ArrayLike, *, value: float, n_pairs: int, bands: Bands | None = None, seed: int = 0
) -> Placebo:
    """The mean part of words in the direction of so many pairs of neutral words (direct bias, strictness 1).

    >>> rng = np.random.default_rng(0)
    >>> direct_bias_placebo(rng.normal(size=(9, 20)), rng.normal(size=(100, 20)), value=0.6, n_pairs=5).p_value < 0.01
    True
    """
    w, some = rows("words", words), unit(rows("neutral words", neutral, at_least=2 * n_pairs))
    first, second = _pairs(len(some), n_pairs, bands, seed)
    # The principal component of the pairs' differences D is D'a / sqrt(l), with a and l the first of D D'.
    steps = some[first] - some[second]
    sizes, vectors = np.linalg.eigh(steps @ steps.swapaxes(1, 2))
    directions = np.einsum("dp,dpw->dw", vectors[:, :, -1], steps) / np.sqrt(sizes[:, -1:])
    return placebo_of(np.abs(unit(w) @ directions.T).mean(axis=0), value)


def leans_between(
    words: ArrayLike, neutral: ArrayLike, *, n_pairs: int, bands: Bands | None = None, seed: int = 0
) -> Floats:
    """The leans of words between two sides of so many neutral words, as ``dealt_leans`` has them: a column per draw.

    >>> leans_between(np.eye(3), np.eye(3), n_pairs=1).shape
    (3, 1000)
    """
    w, some = rows("words", words), unit(rows("neutral words", neutral, at_least=2 * n_pairs))
    axes = some.T @ deal(len(some), (n_pairs, n_pairs), bands=bands, draws=_DRAWS, seed=seed)
    leans: Floats = unit(w) @ (axes / np.linalg.norm(axes, axis=0))
    return leans


def _pairs(n: int, n_pairs: int, bands: Bands | None, seed: int) -> tuple[Labels, Labels]:
    """The places of the first and the second words of so many pairs of n words, by draw."""
    drawn = draw_words(n, 2 * n_pairs, bands=bands, draws=_DRAWS, seed=seed)
    return drawn[:, :n_pairs], drawn[:, n_pairs:]
