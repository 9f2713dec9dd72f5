"""Texts that begin alike as trees of tokens: what they share is computed once.

BBQ asks four questions after two texts, of which one begins with the other, and offers three answers to each: twelve
texts of 45 tokens, 540 in all, are a tree of 125. A tree goes through the model as one row. Each token sees those that
lead to it and no others, and knows its place by how many these are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.protocol import Answer
from tiltmeter.models.transformers.batching import Logprobs, SharedRow, Task, by_length, fair_budget

if TYPE_CHECKING:
    from torch import Tensor

#: Tokens of a tree: attention is over all of them, and in larger ones it costs more than sharing saves.
MOST_TOKENS = 256
#: Tokens that a text must share with the one before to grow on its tree.
LEAST_SHARED = 4
#: Settings by which an architecture says that a token sees only so many before it.
_WINDOWS = ("sliding_window", "window_size", "attention_chunk_size")


@dataclasses.dataclass(slots=True)
class Tree:
    """Tokens, each with its parent (-1 for the first) and depth, and the rows that were laid along its branches."""

    ids: list[int] = dataclasses.field(default_factory=list)
    parents: list[int] = dataclasses.field(default_factory=list)
    depths: list[int] = dataclasses.field(default_factory=list)
    rows: list[tuple[SharedRow, list[int]]] = dataclasses.field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def branches(self) -> bool:
        """Whether it is more than one row of tokens."""
        return self.parents != list(range(-1, len(self.ids) - 1))

    def add(self, row: SharedRow, shared: int) -> None:
        """Lay a row along the tree, whose first tokens it shares with the row before."""
        path = self.rows[-1][1][:shared] if self.rows else []
        for depth, token in enumerate(row.ids[shared:], shared):
            self.parents.append(path[-1] if path else -1)
            path.append(len(self.ids))
            self.ids.append(token)
            self.depths.append(depth)
        self.rows.append((row, path))

    def sees(self, width: int) -> NDArray[np.bool_]:
        """Which tokens each of ``width`` tokens sees; padding sees itself.

        >>> tree = Tree()
        >>> tree.add(SharedRow((7, 8), [], []), 0)
        >>> tree.add(SharedRow((7, 9), [], []), 1)
        >>> tree.sees(3).astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [1, 0, 1]]
        """
        seen = np.eye(width, dtype=np.bool_)
        for token, parent in enumerate(self.parents):
            if parent >= 0:
                seen[token] |= seen[parent]
        return seen


def grow(rows: Iterable[SharedRow], *, most: int = MOST_TOKENS) -> list[Tree]:
    """Rows as trees of at most so many tokens; with 0, every row is a tree of its own.

    >>> rows = [SharedRow(ids, [], []) for ids in [(1, 2, 3, 4, 5), (1, 2, 3, 4, 6, 7), (9, 9)]]
    >>> [tree.ids for tree in grow(rows)]
    [[1, 2, 3, 4, 5, 6, 7], [9, 9]]
    """
    trees: list[Tree] = []
    before: tuple[int, ...] = ()
    # In the order of their tokens, each row stands after the one that it shares the most with.
    for row in sorted(rows, key=lambda row: row.ids) if most else rows:
        shared = _shared(before, row.ids) if most else 0
        if shared < LEAST_SHARED or len(trees[-1]) + len(row.ids) - shared > most:
            trees.append(Tree())
            shared = 0
        trees[-1].add(row, shared)
        before = row.ids
    return trees


def _shared(one: Sequence[int], other: Sequence[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def answered(
    tasks: Sequence[Task],
    known: Collection[int],
    run: Callable[[Iterable[tuple[Any, int]]], Iterator[list[tuple[SharedRow, Logprobs]]]],
    *,
    budget: int,
    most: int = 0,
) -> Iterator[tuple[list[int], list[Answer]]]:
    """Answers by position, as the batches of trees that they need are ready; ``most`` is how large trees may be.

    Batches are made of the rows of all tasks, and those that only known tasks need are then left out, but never a part
    of one: which rows share a batch changes the last digits, and a run that resumes after a kill must give the same.
    """
    trees = grow(_shared_rows(tasks), most=most)
    lengths = [len(tree) for tree in trees]
    groups = by_length(lengths, budget=fair_budget(lengths, budget=budget))
    batches = [
        ([trees[i] for i in group], sum(lengths[i] for i in group))
        for group in groups
        if any(asker[0] not in known for i in group for row, _ in trees[i].rows for asker in row.askers)
    ]
    nothing = np.empty(0, dtype=np.float32)
    values = {position: [nothing] * len(task.rows) for position, task in enumerate(tasks) if position not in known}
    left = {position: len(rows) for position, rows in values.items()}
    for batch in run(batches):
        done: list[int] = []
        for one, logprobs in batch:
            for position, slot, first, last in one.askers:
                if position in values:
                    values[position][slot] = logprobs[first:last]
                    left[position] -= 1
                    if not left[position]:
                        done.append(position)
        if done:
            yield done, [tasks[position].answer(values.pop(position)) for position in done]


def _shared_rows(tasks: Sequence[Task]) -> list[SharedRow]:
    unique: dict[tuple[int, ...], SharedRow] = {}
    for position, task in enumerate(tasks):
        for slot, row in enumerate(task.rows):
            one = unique.setdefault(row.ids, SharedRow(row.ids, [], []))
            one.askers.append((position, slot, len(one.reads), len(one.reads) + len(row.reads)))
            one.reads.extend(row.reads)
    return list(unique.values())


def tree_inputs(trees: Sequence[Tree], *, fill: int, device: str, dtype: Any) -> dict[str, Tensor]:
    """Trees as the model takes them: tokens, their depths as places, and which sees which."""
    import torch

    width = max(map(len, trees))
    ids, places = np.full((len(trees), width), fill), np.zeros((len(trees), width), dtype=np.int64)
    for number, tree in enumerate(trees):
        ids[number, : len(tree)], places[number, : len(tree)] = tree.ids, tree.depths
    seen = torch.from_numpy(np.stack([tree.sees(width) for tree in trees]))[:, None]
    # By adding: not every architecture takes a mask of truth values.
    mask = torch.zeros(seen.shape, dtype=dtype).masked_fill_(~seen, torch.finfo(dtype).min)
    arrays = {"input_ids": torch.from_numpy(ids), "position_ids": torch.from_numpy(places), "attention_mask": mask}
    return {name: array.to(device) for name, array in arrays.items()}


def largest(config: Any, limit: int | None) -> int:
    """Tokens of the largest tree: never more than a model reads, nor than a token sees before it."""
    bounds = [limit, *(getattr(config, name, None) for name in _WINDOWS)]
    return min([MOST_TOKENS, *(bound for bound in bounds if isinstance(bound, int) and bound > 0)])
