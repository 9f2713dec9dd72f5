"""For each word and length, the windows with the smallest numbers: each once, a uniform sample, of bounded size.

Windows are held as columns: as objects of their own, millions of them would keep the garbage collector busy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.mining.priority import Numbers
from tiltmeter.stimuli.mining.words import Places

#: What is known of a window beside its text: where in it the word begins and ends and where its root ends, where its
#: form stands in the bytes of the text, and where the window was found.
FIELDS = ("start", "end", "root_end", "form_byte", "form_bytes", "shard", "line", "at")
_PLACE = [FIELDS.index(name) for name in ("shard", "line", "at")]
_MOST = np.iinfo(np.uint64).max
#: How many windows may wait before the reservoirs are cut back to their size.
_WAITING = 20_000


@dataclass(frozen=True, slots=True)
class Batch:
    """Windows as columns: number of the reservoir, rank, text as UTF-8, and a row of ``numbers`` for each of FIELDS."""

    reservoir: Places
    rank: Numbers
    text: npt.NDArray[np.object_]
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rank)

    @classmethod
    def together(cls, batches: Sequence[Batch]) -> Self:
        """All windows of several batches."""
        columns = [(each.reservoir, each.rank, each.text) for each in batches]
        reservoir, rank, text = (np.concatenate(column) for column in zip(*columns, strict=True))
        return cls(reservoir, rank, text, np.concatenate([each.numbers for each in batches], axis=1))

    @classmethod
    def empty(cls) -> Self:
        none = np.zeros(0, np.int64)
        return cls(none, np.zeros(0, np.uint64), np.zeros(0, object), np.zeros((len(FIELDS), 0), np.int64))

    def take(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        return type(self)(self.reservoir[chosen], self.rank[chosen], self.text[chosen], self.numbers[:, chosen])


class Reservoirs:
    """``limits`` are the largest ranks that may still enter each reservoir."""

    def __init__(self, n: int, keep: int) -> None:
        self._keep = keep
        self._settled = Batch.empty()
        self._waiting: list[Batch] = []
        self._n_waiting = 0
        self.limits: Numbers = np.full(n, _MOST, np.uint64)

    def put(self, batch: Batch) -> None:
        """Keep windows, as long as they are among the smallest ranks."""
        entering = batch.rank <= self.limits[batch.reservoir]
        batch = batch if entering.all() else batch.take(entering)
        self._waiting.append(batch)
        self._n_waiting += len(batch)
        if self._n_waiting > max(_WAITING, len(self._settled)):
            self.settle()

    def known_limits(self) -> Numbers:
        """A copy of the limits as they are now."""
        return self.limits.copy()

    def settle(self) -> Batch:
        """What is kept, by reservoir and rank."""
        if self._n_waiting:
            batch = Batch.together([self._settled, *self._waiting])
            order = _first_places(batch, np.lexsort((batch.rank, batch.reservoir)))
            reservoir = batch.reservoir[order]
            starts = np.searchsorted(reservoir, np.arange(len(self.limits)))
            chosen = order[np.arange(len(order)) - starts[reservoir] < self._keep]
            self._settled = batch.take(chosen)
            self._lower_limits()
        self._waiting, self._n_waiting = [], 0
        return self._settled

    def _lower_limits(self) -> None:
        counts = np.bincount(self._settled.reservoir, minlength=len(self.limits))
        full = np.flatnonzero(counts >= self._keep)
        last = np.cumsum(counts)[full] - 1
        self.limits[full] = np.minimum(self.limits[full], self._settled.rank[last])


def _first_places(batch: Batch, order: Places) -> Places:
    """The order without windows that are there already; of several places of one window the first is kept.

    Windows are told apart by reservoir and rank: two different ones have the same 64 bits as good as never.
    """
    reservoir, rank = batch.reservoir[order], batch.rank[order]
    new = np.append(True, (rank[1:] != rank[:-1]) | (reservoir[1:] != reservoir[:-1]))[: len(order)]
    window = np.cumsum(new) - 1
    first: Places = order[new]
    again = np.flatnonzero((np.bincount(window) > 1)[window])
    if len(again):
        shard, line, at = batch.numbers[_PLACE][:, order[again]]
        by_place = again[np.lexsort((at, line, shard, window[again]))]
        first[window[by_place[new[again]]]] = order[by_place[new[again]]]
    return first
