"""Rows of tokens, and batches of nearly equal length under a token budget: almost nothing is computed on padding.

Texts that begin alike are laid out as a tree, so that what they share is computed once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.protocol import Answer, Continuation, Question

if TYPE_CHECKING:
    from torch import Tensor

Logprobs = NDArray[np.float32]
#: Tokens in the rows that are laid out at a time.
CHUNK = 1_000_000
#: A place in a row of tokens, and the token whose log-probability there is asked for.
Read = tuple[int, int]
#: Opening a batch costs about as much as this many tokens, so padding up to it is cheaper than a batch more.
SLACK = 32
#: Batches come in multiples of this, which shares them out evenly.
SHARES = 4


def by_length(lengths: Sequence[int], *, budget: int, slack: int = SLACK) -> list[list[int]]:
    """Positions grouped by length, the longest first.

    A batch holds at most ``budget`` tokens, padding included (a longer text stands alone), of which at
    most ``slack`` are padding.

    >>> by_length([3, 9, 3, 8, 3], budget=20, slack=2)
    [[1, 3], [0, 2, 4]]
    """
    batches: list[list[int]] = []
    widest = padding = 0
    for position in np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable").tolist():
        padding += widest - lengths[position]
        if batches and padding <= slack and widest * (len(batches[-1]) + 1) <= budget:
            batches[-1].append(position)
        else:
            batches.append([position])
            widest, padding = lengths[position], 0
    return batches


def fair_budget(lengths: Sequence[int], *, budget: int, least: int = 64) -> int:
    """The token budget, made smaller where that gives every one of two or four CPUs the same number of batches.

    The machine's own number of CPUs plays no part: batches, and with them the last digits, are the same everywhere.

    >>> fair_budget([20] * 60, budget=512)  # four batches of 15 texts, not two of 25 and one of 10
    319
    """
    total, longest = sum(lengths), max(lengths, default=0)
    batches = SHARES * -(-total // (budget * SHARES))
    return min(budget, max(least, total // max(batches, 1) + longest - 1))


def pad(rows: Sequence[Sequence[int]], *, fill: int) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Token ids as one array, padded on the right, and which of them are real: None when all are.

    >>> ids, real = pad([[5, 6], [7]], fill=0)
    >>> ids.tolist(), real.tolist()
    ([[5, 6], [7, 0]], [[True, True], [True, False]])
    """
    lengths = np.array([len(row) for row in rows])
    real = np.arange(lengths.max()) < lengths[:, None]
    if real.all():
        return np.array(rows, dtype=np.int64), None
    ids = np.full(real.shape, fill, dtype=np.int64)
    ids[real] = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    return ids, real


def in_chunks(texts: Sequence[str], *, most: int) -> Iterator[range]:
    """Positions in chunks of about ``most``; a text that stands several times in a row is in one of them.

    >>> list(in_chunks(["a", "b", "b", "b", "c"], most=2))
    [range(0, 4), range(4, 5)]
    """
    first = 0
    while first < len(texts):
        last = min(first + most, len(texts))
        while last < len(texts) and texts[last] == texts[last - 1]:
            last += 1
        yield range(first, last)
        first = last


@dataclasses.dataclass(frozen=True, slots=True)
class TokenRow:
    """Tokens as the model sees them, and what is read off them."""

    ids: tuple[int, ...]
    reads: Sequence[Read]


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """One input: the rows it needs, and how its answer follows from what was read off each."""

    rows: tuple[TokenRow, ...]
    answer: Callable[[list[Logprobs]], Answer]


@dataclasses.dataclass(frozen=True, slots=True)
class SharedRow(TokenRow):
    """Rows of the same tokens: computed once, read for every asker (its position, the row's, and its reads)."""

    reads: list[Read]
    askers: list[tuple[int, int, int, int]]


def chunks(question: Question, inputs: Sequence[Any]) -> Iterator[list[int]]:
    """Positions of inputs whose rows together stay small; bytes stand for tokens, four to one."""
    chunk: list[int] = []
    size = 0
    for position, item in enumerate(inputs):
        length = _length(item)
        size += length * length if question is Question.PSEUDO else length
        chunk.append(position)
        if size >= CHUNK:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _length(item: Any) -> int:
    text = item if isinstance(item, str) else item.stem if isinstance(item, Continuation) else item.text
    times = len(getattr(item, "fillers", ())) or len(getattr(item, "endings", ())) or getattr(item, "n", 1)
    return (len(text.encode(errors="replace")) // 4 + 8) * times


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
