"""Rows of tokens, and batches of nearly equal length under a token budget: almost nothing is computed on padding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.protocol import Answer, Continuation, Question

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
    """One input: the rows it needs, and how its answer is made of what was read off each."""

    rows: tuple[TokenRow, ...]
    answer: Callable[[list[Logprobs]], Answer]


@dataclasses.dataclass(frozen=True, slots=True)
class SharedRow(TokenRow):
    """Rows of the same tokens: computed once, read for every asker (its position, the row's, and its reads)."""

    reads: list[Read]
    askers: list[tuple[int, int, int, int]]


def answered(
    tasks: Sequence[Task],
    known: Collection[int],
    run: Callable[[Iterable[tuple[Any, int]]], Iterator[list[tuple[SharedRow, Logprobs]]]],
    *,
    budget: int,
) -> Iterator[tuple[list[int], list[Answer]]]:
    """Answers by position, as the batches that they need are ready.

    Batches are made of the rows of all tasks, and those that only known tasks need are then left out, but never a part
    of one: which rows share a batch changes the last digits, and a run that resumes after a kill must give the same.
    """
    shared = _shared(tasks)
    lengths = [len(one.ids) for one in shared]
    groups = by_length(lengths, budget=fair_budget(lengths, budget=budget))
    batches = [
        ([shared[i] for i in group], sum(lengths[i] for i in group))
        for group in groups
        if any(asker[0] not in known for i in group for asker in shared[i].askers)
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


def _shared(tasks: Sequence[Task]) -> list[SharedRow]:
    unique: dict[tuple[int, ...], SharedRow] = {}
    for position, task in enumerate(tasks):
        for slot, row in enumerate(task.rows):
            one = unique.setdefault(row.ids, SharedRow(row.ids, [], []))
            one.askers.append((position, slot, len(one.reads), len(one.reads) + len(row.reads)))
            one.reads.extend(row.reads)
    return list(unique.values())


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
