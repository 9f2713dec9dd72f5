"""Rows of tokens that a language model reads, each once, and the questions that are answered from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.protocol import Continuation, Question
from tiltmeter.models.scores import Answer
from tiltmeter.models.transformers.batching import by_length, fair_budget

Logprobs = NDArray[np.float32]
#: Tokens in the rows that are laid out at a time.
CHUNK = 1_000_000
#: A place in a row of tokens, and the token whose log-probability there is asked for.
Read = tuple[int, int]


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """Tokens as the model sees them, and what is read off them."""

    ids: tuple[int, ...]
    reads: tuple[Read, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Task:
    """One input: the rows it needs, and how its answer is made of what was read off each."""

    rows: tuple[Row, ...]
    answer: Callable[[list[Logprobs]], Answer]


@dataclasses.dataclass(slots=True)
class _Shared:
    """Rows of the same tokens: computed once, read for everyone who asked."""

    row: Row
    askers: list[tuple[int, int, int, int]]


def answered(
    tasks: Sequence[Task],
    known: Collection[int],
    run: Callable[[Iterable[tuple[Any, int]]], Iterator[list[tuple[_Shared, Logprobs]]]],
    *,
    budget: int,
) -> Iterator[tuple[list[int], list[Answer]]]:
    """Answers by position, as the batches that they need are ready.

    Batches are made of the rows of all tasks, and those that only known tasks need are then left out, but never a part
    of one: which rows share a batch changes the last digits, and a run that goes on after a kill must give the same.
    """
    shared = _shared(tasks)
    lengths = [len(each.row.ids) for each in shared]
    groups = by_length(lengths, budget=fair_budget(lengths, budget=budget))
    wanted = [
        [shared[i] for i in group]
        for group in groups
        if any(asker[0] not in known for i in group for asker in shared[i].askers)
    ]
    batches = [(batch, sum(len(each.row.ids) for each in batch)) for batch in wanted]
    nothing = np.empty(0, dtype=np.float32)
    found = {position: [nothing] * len(task.rows) for position, task in enumerate(tasks) if position not in known}
    left = {position: len(rows) for position, rows in found.items()}
    for batch in run(batches):
        done: list[int] = []
        for each, logprobs in batch:
            for position, slot, first, last in each.askers:
                if position in found:
                    found[position][slot] = logprobs[first:last]
                    left[position] -= 1
                    if not left[position]:
                        done.append(position)
        if done:
            yield done, [tasks[position].answer(found.pop(position)) for position in done]


def _shared(tasks: Sequence[Task]) -> list[_Shared]:
    unique: dict[tuple[int, ...], _Shared] = {}
    for position, task in enumerate(tasks):
        for slot, row in enumerate(task.rows):
            each = unique.setdefault(row.ids, _Shared(Row(row.ids, ()), []))
            first = len(each.row.reads)
            each.row = Row(row.ids, each.row.reads + row.reads)
            each.askers.append((position, slot, first, first + len(row.reads)))
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
    times = len(getattr(item, "fillers", ())) or len(getattr(item, "endings", ())) or 1
    return (len(text.encode(errors="replace")) // 4 + 8) * times
