"""Training: AdaGrad over all pairs again and again, with the group confined after each step; resumes at an iteration.

In one step every block of words meets one block of contexts, so that no two threads touch the same vector: the result
is the same for any number of them.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tiltmeter.files import UNFINISHED, writable
from tiltmeter.lab.glove.cooccurrence import BLOCKS, read_block
from tiltmeter.lab.glove.loss import Matrix, corners, group_directions

STATE = "state.safetensors"


@dataclass(frozen=True, slots=True)
class Seeds:
    """Words that say a group, as numbers in the vocabulary, group by group; none for plain GloVe."""

    groups: tuple[NDArray[np.int64], ...] = ()
    strength: float = 1.0

    @property
    def reserved(self) -> int:
        """How many dimensions are reserved."""
        return max(0, len(self.groups) - 1)

    def group_of(self, size: int) -> NDArray[np.int32]:
        """The group of every word, -1 for one that says none."""
        numbers = np.full(size, -1, np.int32)
        for group, members in enumerate(self.groups):
            numbers[members] = group
        return numbers


@dataclass(slots=True)
class State:
    """Vectors and biases of words (0) and contexts (1), the squares of their gradients so far, and each iteration's
    mean loss."""

    vectors: Matrix
    biases: Matrix
    vector_squares: Matrix
    bias_squares: Matrix
    losses: list[float] = field(default_factory=list)

    @classmethod
    def drawn(cls, size: int, width: int, seeds: Seeds, *, seed: int) -> Self:
        """Small random numbers, and words that say a group at its corner."""
        rng = np.random.default_rng(seed)
        drawn = ((rng.random((2, size, width + 1), np.float32) - np.float32(0.5)) / (width + 1)).astype(np.float32)
        vectors, biases = np.ascontiguousarray(drawn[:, :, :width]), np.ascontiguousarray(drawn[:, :, width])
        for members, corner in zip(seeds.groups, corners(max(1, len(seeds.groups))), strict=False):
            vectors[:, members, width - seeds.reserved :] = corner
        return cls(vectors, biases, np.ones_like(vectors), np.ones_like(biases))

    @classmethod
    def load(cls, path: Path) -> Self:
        from safetensors.numpy import load_file

        parts = load_file(path)
        losses = parts.pop("losses").tolist()
        return cls(**parts, losses=losses)

    def save(self, path: Path) -> None:
        """Under another name until it is whole; not by way of one piece of memory, which would be as large again."""
        from safetensors.numpy import save_file

        names = ("vectors", "biases", "vector_squares", "bias_squares")
        with writable(path):
            handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=UNFINISHED)
            os.close(handle)
            try:
                save_file({name: getattr(self, name) for name in names} | {"losses": np.array(self.losses)}, unfinished)
                with Path(unfinished).open("rb") as file:
                    os.fsync(file.fileno())
                Path(unfinished).replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(unfinished).unlink()
                raise


def descend(
    state: State, blocks: Path, seeds: Seeds, *, iterations: int, rate: float, seed: int, threads: int,
    keep: Callable[[State], None], advance: Callable[[int], None],
) -> State:  # fmt: skip
    """Iterations until there are so many, each kept when it is done; ``advance`` is told after each step."""
    group_of = seeds.group_of(state.vectors.shape[1])
    entries = sum(path.stat().st_size for path in blocks.glob("block-*.bin")) // 16
    with ThreadPoolExecutor(threads) as pool:
        for iteration in range(len(state.losses), iterations):
            loss = 0.0
            for shift in np.random.default_rng([seed, iteration]).permutation(BLOCKS).tolist():
                directions = _directions(state, seeds)
                work = [
                    pool.submit(_block, state, blocks, row, (row + shift) % BLOCKS, group_of, seeds, directions, rate)
                    for row in range(BLOCKS)
                ]
                loss += sum(done.result() for done in work)
                advance(1)
            state.losses.append(loss / max(1, entries))
            keep(state)
    return state


def _directions(state: State, seeds: Seeds) -> Matrix:
    if not seeds.groups:
        return np.zeros((0, 0), np.float32)
    neutral = state.vectors.shape[2] - seeds.reserved
    words, contexts = ([side[members, :neutral].astype(float) for members in seeds.groups] for side in state.vectors)
    return group_directions(words, contexts).astype(np.float32)


def _block(
    state: State, blocks: Path, row: int, column: int, group_of: NDArray[np.int32], seeds: Seeds, directions: Matrix,
    rate: float,
) -> float:  # fmt: skip
    from tiltmeter.lab.glove import kernels

    matrices = (*state.vectors, *state.biases, *state.vector_squares, *state.bias_squares)
    neutral = state.vectors.shape[2] - seeds.reserved
    learn: Any = kernels.learn
    loss: float = learn(read_block(blocks, row, column), *matrices, np.float32(rate), group_of, neutral)
    if seeds.groups:
        points = corners(len(seeds.groups)).astype(np.float32)
        for side, first in zip(state.vectors, (row, column), strict=True):
            kernels.confine(side, first, BLOCKS, group_of, points, directions, np.float32(seeds.strength))
    return loss
