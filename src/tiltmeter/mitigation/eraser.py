"""What a method does to vectors: take a low-rank part of them away, and give some words vectors of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg.blas import get_blas_funcs

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit, vanishes
from tiltmeter.statistics.groups import Floats

#: Rows that are mapped at once: few enough to stay in the processor's cache.
_BLOCK = 2_048
#: Products of matrices with no more steps than these are not shared out to threads, which would wait for each other
#: longer than they work, above all beside other programs (OpenBLAS decides so). Fewer rows than this are too few.
_UNSHARED, _FEWEST_ROWS = 262_144, 32
#: Vectors by word, each as any row of numbers.
WordVectors: TypeAlias = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Eraser:
    """The map v' = v - (v L) R + shift of row vectors, L of size d x k and R of size k x d.

    With ``unit_length`` the vector goes in at length 1 and comes out at length 1. Words in ``replaced`` have a vector
    of their own instead: those that a method leaves as they are, or makes equally far from the others.

    >>> Eraser.projection([[1.0, 0.0]]).apply([[3.0, 4.0]]).tolist()
    [[0.0, 4.0]]
    """

    left: Floats
    right: Floats
    shift: Floats
    unit_length: bool = False
    replaced: Mapping[str, Floats] = dataclasses.field(default_factory=dict)

    @classmethod
    def projection(cls, directions: ArrayLike, *, unit_length: bool = False) -> Eraser:
        """What takes orthonormal directions away: L = Gᵀ, R = G."""
        across = rows("directions", directions)
        return cls(across.T, across, np.zeros(across.shape[1]), unit_length)

    @property
    def rank(self) -> int:
        return int(self.left.shape[1])

    @property
    def width(self) -> int:
        return int(self.left.shape[0])

    def then(self, other: Eraser) -> Eraser:
        """This map and another after it: (I - A)(I - B) = I - A(I - B) - B, so the ranks add up."""
        right = self.right - (self.right @ other.left) @ other.right
        shift = self.shift - (self.shift @ other.left) @ other.right + other.shift
        return dataclasses.replace(
            self,
            left=np.hstack([self.left, other.left]),
            right=np.vstack([right, other.right]),
            shift=shift,
            replaced={**self.replaced, **other.replaced},
        )

    def apply(self, vectors: ArrayLike, *, out: Floats | None = None) -> Floats:
        """The map of every row, in the precision of the vectors; with ``out=vectors`` it needs no further memory."""
        before = np.asarray(vectors)
        if before.ndim != 2 or before.shape[1] != self.width:
            raise BadInput(f"the vectors are {before.shape[-1]} wide, those that the method was fitted on {self.width}")
        after: Floats = np.empty_like(before) if out is None else out
        left, right, shift = (part.astype(before.dtype, copy=False) for part in (self.left, self.right, self.shift))
        unshared = _UNSHARED // max(1, self.width * self.rank)
        block = min(_BLOCK, unshared) if unshared >= _FEWEST_ROWS else _BLOCK
        for start in range(0, len(before), block):
            some, part = before[start : start + block], after[start : start + block]
            if self.unit_length and shift.any():  # without a shift the length that it goes in with does not matter
                np.divide(some, _lengths(some), out=part)
            elif after is not before:
                part[:] = some
            _take_off(part, part @ left, right)
            if shift.any():
                part += shift
            if self.unit_length:
                part /= _lengths(part)
        return after

    def apply_to_words(self, words: Sequence[str], vectors: ArrayLike) -> Floats:
        """The map of every row, but for words that have a vector of their own."""
        after = self.apply(vectors)
        for place, word in enumerate(words):
            if word in self.replaced:
                after[place] = self.replaced[word]
        return after


def _take_off(part: Floats, along: Floats, right: Floats) -> None:
    """part -= along @ right, without a second array of that size where the memory allows it: in half the time."""
    if part.flags.c_contiguous and part.dtype in (np.float32, np.float64) and along.size:
        multiply = get_blas_funcs("gemm", (part,))
        # The transpose of rows in memory is what the library calls columns: it writes into the rows themselves.
        multiply(-1.0, right.T, along.T, beta=1.0, c=part.T, overwrite_c=1)
    else:
        part -= along @ right


def _lengths(vectors: Floats) -> Floats:
    """As a column. That of a vector of which nothing is left is no 0: it stays nothing, and who uses it refuses it."""
    squares = np.einsum("ij,ij->i", vectors, vectors)
    lengths: Floats = np.sqrt(np.maximum(squares, np.finfo(vectors.dtype).tiny))[:, None]
    return lengths


def subspace(sets: Sequence[ArrayLike], *, rank: int, unit_length: bool = True) -> Floats:
    """The directions in which the members of each set differ: principal components of vectors around their middle.

    Each points to the first members of the sets, as ``measures.bias_direction`` does; unlike there, sets may have more
    than two members, and vectors are taken as long as they are without ``unit_length``.

    >>> subspace([[[1.0, 0.1], [-1.0, 0.1]]], rank=1).round(3).tolist()
    [[1.0, 0.0]]
    """
    centred: list[Floats] = []
    for place, members in enumerate(sets, 1):
        raw = rows(f"set {place}", members, like=centred[0] if centred else None, at_least=2)
        vectors = unit(raw) if unit_length else raw
        centred.append(vectors - vectors.mean(axis=0))
    together = np.concatenate(centred) if centred else np.empty((0, 0))
    most = sum(len(part) - 1 for part in centred)
    if not 1 <= rank <= min(most, together.shape[-1] or 0):
        raise BadInput(
            f"a rank of {rank} is too high or too low: {len(sets)} sets of words give 1 to {most} directions"
        )
    if vanishes(together, np.ones(1)):
        raise BadInput("the words of each set do not differ, so they give no direction")
    directions: Floats = np.linalg.svd(together, full_matrices=False)[2][:rank]
    towards_first = sum(part[0] for part in centred) @ directions.T
    signed: Floats = directions * np.where(towards_first < 0, -1.0, 1.0)[:, None]
    return signed
