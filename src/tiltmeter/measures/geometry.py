"""Checked vectors, unit length, the lean of a word between two sets of attributes, and which words are kin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.families import CrossedTest, Kin, Labels, as_labels, crossed_test
from tiltmeter.statistics.groups import Floats, Units, as_floats, unit_index
from tiltmeter.statistics.permutation import Alternative, generator

#: The matched pairs of two lists, by their places in them.
Partners: TypeAlias = Sequence[tuple[int, int]]
#: The names of the families of the words of X, Y, A and B; None where the vectors say.
Families: TypeAlias = Sequence[Units | None]
UNNAMED: Families = (None, None, None, None)
TWO_UNNAMED: Families = (None, None)
THREE_UNNAMED: Families = (None, None, None)

#: Relative to the vectors it came from, a difference below this is rounding.
_ROUNDING = 1e-12
#: Squares of larger numbers overflow, squares of smaller ones than one over it vanish.
_LARGEST = 1e140
#: Words of a list are kin where they are so many times more alike than words that have nothing to do with one another.
#: Of 1.5, 1.75, 2 and 2.5, tried on other seeds than ``benchmarks/nulls.py`` prints: below 2 words drawn at random are
#: thrown together and the test loses power, above it neighbours pass for independent.
ALIKE = 2.0
#: In fewer dimensions directions say nothing of kinship: any two words are alike.
_DIMENSIONS = 10


def rows(name: str, vectors: ArrayLike, *, like: Floats | None = None, at_least: int = 1) -> Floats:
    """Vectors as a checked float64 matrix: finite, non-zero rows, as wide as ``like``.

    >>> rows("x", [[3, 4]]).tolist()
    [[3.0, 4.0]]
    """
    matrix = as_floats(vectors, f"{name}: the vectors are ragged or not numbers; give rows of one length")
    if matrix.ndim != 2 or matrix.size == 0 or len(matrix) < at_least:
        shapes = {0: "a single number", 1: "a single row of numbers", 2: f"{len(np.atleast_1d(matrix))}"}
        got = "none" if matrix.size == 0 else shapes.get(matrix.ndim, f"{matrix.ndim} dimensions")
        raise BadInput(f"{name}: needs a matrix of at least {at_least} vector(s), found {got}")
    if not np.isfinite(matrix).all():
        where = int(np.argwhere(~np.isfinite(matrix))[0, 0])
        raise BadInput(f"{name}: vector {where} holds NaN or infinity")
    sizes = np.abs(matrix).max(axis=1)
    if not sizes.all():
        raise BadInput(f"{name}: vector {int(sizes.argmin())} is all zeros, so it has no direction")
    if sizes.max() > _LARGEST or sizes.min() < 1 / _LARGEST:
        raise BadInput(f"{name}: a vector is too large or too small to compute with, scale the vectors first")
    if like is not None and matrix.shape[1] != like.shape[1]:
        raise BadInput(f"{name}: vectors are {matrix.shape[1]} wide, the others {like.shape[1]}")
    return matrix


def average(name: str, matrix: Floats) -> Floats:
    """The mean of checked vectors, which must have a direction of its own.

    >>> average("x", rows("x", [[1.0, 0.0], [0.0, 1.0]])).tolist()
    [0.5, 0.5]
    """
    mean: Floats = matrix.mean(axis=0)
    if vanishes(mean, matrix):
        raise BadInput(f"{name}: the vectors cancel out, so their average has no direction")
    return mean


def vanishes(vector: Floats, parts: Floats) -> bool:
    """Is a sum or difference of vectors nothing but the rounding of its parts?"""
    return bool(np.abs(vector).max() <= _ROUNDING * np.abs(parts).max())


def unit(matrix: Floats) -> Floats:
    """Rows (or one vector) at length 1."""
    scaled: Floats = matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)
    return scaled


def cosines(x: Floats, y: Floats) -> Floats:
    """Cosine of every row of x with every row of y."""
    similar: Floats = unit(x) @ unit(y).T
    return similar


def leans(words: Floats, a: Floats, b: Floats) -> Floats:
    """s(w) = mean cos(w, A) - mean cos(w, B) of every word, in one product (unit vectors)."""
    return unit_leans(unit(words), unit(a), unit(b))


def unit_leans(words: Floats, a: Floats, b: Floats) -> Floats:
    """``leans`` of vectors that are of length 1 already."""
    towards = a.mean(axis=0) - b.mean(axis=0)
    if vanishes(towards, a):
        raise BadInput("the two sets of attributes have the same average, so no word can lean to either")
    scores: Floats = words @ towards
    return scores


def mean_directions(vectors: Floats, units: Units | None) -> Floats:
    """The mean unit vector of every unit, in the order in which they first come; every vector's own without units."""
    directions = unit(vectors)
    if units is None:
        return directions
    index = unit_index(units)
    sums = np.zeros((int(index.max()) + 1, directions.shape[1]))
    np.add.at(sums, index, directions)
    return sums / np.bincount(index)[:, None]


def all_matched(partners: Partners, one: Floats, two: Floats) -> bool:
    """Whether every word of two lists has its partner in the other."""
    return bool(partners) and len(partners) == len(one) == len(two)


def pair_families(partners: Partners, families: Families) -> Families:
    """The families of words and of pairs from those of words and of the two sides: a pair's is that of its first."""
    of_words, of_first, _ = families
    return of_words, None if of_first is None else [of_first[first] for first, _ in partners]


def directions_within(vectors: Floats, *, besides: Floats | None = None) -> Floats:
    """Where each vector of a list points from the list's mean, at unit length; ``besides`` an axis, if one is named.

    What all words of a list share says which list it is; what some of them share beyond that makes them kin.
    """
    apart = vectors - vectors.mean(axis=0)
    if besides is not None and (length := float(besides @ besides)) > 0:
        apart -= np.outer(apart @ besides, besides / length)
    lengths = np.linalg.norm(apart, axis=1, keepdims=True)
    directions: Floats = apart / np.where(lengths == 0, 1.0, lengths)
    return directions


def find_families(directions: Floats, *, alike: float) -> Labels:
    """The families of a list of words: average linkage of their directions, kept while they are on average so alike.

    >>> find_families(np.array([[1.0, 0.1], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]), alike=0.5).tolist()
    [0, 0, 1, 2]
    """
    n = len(directions)
    if n < 3 or not math.isfinite(alike):
        return np.arange(n)
    # Written out: scipy's linkage and fcluster give the same and take ten times as long for lists of words, because
    # they build and check the whole tree where a few merges at its foot are asked for.
    near, members = directions @ directions.T, [[word] for word in range(n)]
    np.fill_diagonal(near, -np.inf)
    while True:
        one, two = sorted(divmod(int(near.argmax()), n))
        if near[one, two] < alike:
            break
        sizes = len(members[one]), len(members[two])
        near[one] = near[:, one] = (sizes[0] * near[one] + sizes[1] * near[two]) / sum(sizes)
        near[two] = near[:, two] = near[one, one] = -np.inf
        members[one] += members[two]
        members[two] = []
    labels = np.empty(n, dtype=np.intp)
    for label, words in enumerate(filter(None, members)):
        labels[words] = label
    return labels


def threshold(targets: Sequence[Floats], attributes: Sequence[Floats]) -> float:
    """How alike two words of a list must be to be kin: twice as alike as a target and an attribute are.

    Alike by the root mean square of the cosines of their directions within their lists.
    """
    width = targets[0].shape[1]
    unrelated = np.concatenate([(one @ two.T).ravel() for one in targets for two in attributes])
    # Where directions are all equally likely the root mean square is 1 / sqrt(width); it is not less in any model.
    usual = max(math.sqrt(float(np.square(unrelated).mean())), 1 / math.sqrt(width))
    return min(0.9, ALIKE * usual) if width >= _DIMENSIONS else math.inf


def families_by_list(targets: Sequence[Floats], attributes: Sequence[Floats]) -> tuple[list[Labels], list[Labels]]:
    """The families of the words of any number of lists of targets and of attributes (unit vectors)."""
    within = [[directions_within(vectors) for vectors in lists] for lists in (targets, attributes)]
    alike = threshold(*within)
    of_targets, of_attributes = ([find_families(each, alike=alike) for each in lists] for lists in within)
    return of_targets, of_attributes


def find_kin(
    x: Floats,
    y: Floats,
    a: Floats,
    b: Floats,
    *,
    partners: Sequence[tuple[int, int]] = (),
    named: Sequence[Units | None] = (None, None, None, None),
) -> Kin:
    """The families of four lists of unit vectors: as they are ``named`` or, where they are not, by the geometry.

    Two words are kin where they are twice as alike as a target and an attribute are (root mean square of the cosines of
    their directions within their lists). Of matched pairs it is the differences that count.
    """
    # What is tested does not count: of many independent words some are near each other by chance, also along the axis
    # between the attributes, and as one family they would seem to vary more than they do.
    of_targets, of_attributes = a.mean(axis=0) - b.mean(axis=0), x.mean(axis=0) - y.mean(axis=0)
    lists = [
        *(directions_within(vectors, besides=of_targets) for vectors in (x, y)),
        *(directions_within(vectors, besides=of_attributes) for vectors in (a, b)),
    ]
    alike = threshold(lists[:2], lists[2:])
    in_x, in_y, in_a, in_b = (
        find_families(directions, alike=alike) if names is None else as_labels(names, len(directions))
        for directions, names in zip(lists, named, strict=True)
    )
    of_pairs: Units = ()
    if partners:
        first, second = np.array(partners).T
        of_pairs = (
            find_families(directions_within(x[first] - y[second], besides=of_targets), alike=alike)
            if named[0] is None
            else in_x[first]
        )
    return Kin(in_x, in_y, in_a, in_b, tuple(partners), of_pairs)


def kin_along(words: Floats, pairs: Floats, families: Families = TWO_UNNAMED) -> tuple[Labels, Labels]:
    """The families of words at unit length and of the pairs, as differences, that they are measured along."""
    of_words, of_pairs = families
    kin = find_kin(words, words, pairs, pairs, named=(of_words, of_words, of_pairs, of_pairs))
    return as_labels(kin.x, len(words)), as_labels(kin.a, len(pairs))


def word_families(words: ArrayLike, others: ArrayLike) -> Labels:
    """The families of words, where ``others`` are words that have nothing to do with them, such as those of pairs."""
    w = rows("words", words)
    return kin_along(unit(w), unit(rows("others", others, like=w)))[0]


def kin_between(words: Floats, one: Floats, two: Floats, families: Families = THREE_UNNAMED) -> list[Labels]:
    """The families of words and of the words of the two poles that they are measured between, all at unit length."""
    of_words, first, second = families
    kin = find_kin(words, words, one, two, named=(of_words, of_words, first, second))
    return [as_labels(labels, len(labels)) for labels in (kin.x, kin.a, kin.b)]


def list_families(
    targets: Sequence[Floats], attributes: Sequence[Floats], named: Families = ()
) -> tuple[list[Labels], list[Labels]]:
    """The families of the words of any number of lists: as they are ``named``, targets first, or by the geometry."""
    n = len(targets)
    if named and len(named) != n + len(attributes):
        raise BadInput(f"{n} lists of targets and {len(attributes)} of attributes, but families of {len(named)}")
    of_targets, of_attributes = families_by_list([unit(each) for each in targets], [unit(each) for each in attributes])
    labels = [*of_targets, *of_attributes]
    for place, names in enumerate(named):
        if names is not None:
            labels[place] = as_labels(names, len(labels[place]))
    return labels[:n], labels[n:]


def generalise(
    x: Floats,
    y: Floats,
    a: Floats,
    b: Floats,
    *,
    partners: Partners = (),
    families: Families = UNNAMED,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> CrossedTest:
    """Does the association of X and Y with A and B hold for other words on either side? (``crossed_test``)

    Args:
        x, y, a, b: the mean unit vector of every word.
        partners: which words of X and Y are matched.
        families: names of the families of the words of X, Y, A and B; found from the vectors where None.
        alternative, permutations, seed: of the tests.
    """
    towards = np.concatenate([a, b]).T
    kin = find_kin(x, y, a, b, partners=partners, named=families)
    return crossed_test(
        x @ towards,
        y @ towards,
        n_a=len(a),
        kin=kin,
        alternative=alternative,
        permutations=permutations,
        seed=seed,
    )


class Bands(NamedTuple):
    """Bands of frequency: of arbitrary words, and of the words whose places they take (None where it is not known)."""

    arbitrary: Sequence[int]
    replaced: Sequence[int | None]


def draw_words(n: int, k: int, *, bands: Bands | None = None, draws: int = 1_000, seed: int = 0) -> Labels:
    """k of n arbitrary words, so many times: (draws x k) places, each of a word of the band of the one it replaces.

    A word whose band is not known, or has no more words, is replaced by any.

    >>> draw_words(4, 2, bands=Bands([1, 2, 2, 1], [2, 1]), draws=50).max(axis=0).tolist()
    [2, 3]
    """
    rng = generator(seed, "draw")
    keys, drawn = rng.random((draws, n)), np.empty((draws, k), dtype=np.intp)
    places: dict[int | None, list[int]] = {}
    for place, band in enumerate([None] * k if bands is None else bands.replaced):
        places.setdefault(band, []).append(place)
    anywhere = places.pop(None, [])
    of = np.array([0] * n if bands is None else bands.arbitrary)
    for band, wanted in places.items():
        members = np.flatnonzero(of == band)
        anywhere += wanted[members.size :]
        taken = wanted[: members.size]
        if taken:
            nearest = keys[:, members].argpartition(len(taken) - 1, axis=1)[:, : len(taken)]
            drawn[:, taken] = members[nearest]
            np.put_along_axis(keys, drawn[:, taken], 2.0, axis=1)
    if anywhere:
        drawn[:, anywhere] = keys.argpartition(len(anywhere) - 1, axis=1)[:, : len(anywhere)]
    return drawn


def deal(n: int, sizes: tuple[int, int], *, bands: Bands | None = None, draws: int = 1_000, seed: int = 0) -> Floats:
    """Weights of two sets of these sizes, drawn from n words: (words x draws), 1/size and -1/size.

    >>> deal(10, (2, 2), draws=3).sum(axis=0).tolist()
    [0.0, 0.0, 0.0]
    """
    chosen = draw_words(n, sum(sizes), bands=bands, draws=draws, seed=seed)
    weights = np.zeros((draws, n))
    np.put_along_axis(weights, chosen, np.repeat([1 / sizes[0], -1 / sizes[1]], sizes), axis=1)
    dealt: Floats = weights.T
    return dealt
