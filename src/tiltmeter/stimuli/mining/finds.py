"""What was found: of each word and length a uniform sample of bounded size, added up over the parts of a corpus.

Windows are held as columns: as objects of their own, millions of them would keep the garbage collector busy.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tiltmeter.files import UNFINISHED, write_atomically
from tiltmeter.stimuli.mining.blocks import Hashes, Places
from tiltmeter.stimuli.mining.mining_settings import MiningSettings

#: Numbers of a window: where in it the word begins and ends and where its root ends, where its form stands in the bytes
#: of the text, and where the window stands in the corpus.
FIELDS = ("start", "end", "root_end", "form_byte", "form_bytes", "shard", "line", "at")
_PLACE = [FIELDS.index(name) for name in ("shard", "line", "at")]
_LARGEST_RANK = np.iinfo(np.uint64).max
#: How many windows may wait before the reservoirs are cut back to their size.
_WAITING = 20_000
#: A window longer than so many bytes counts as several.
_LONG = 1 << 12
_METADATA = b"tiltmeter"
#: How many parts may lie on disk before they are put together into one.
_MOST_PARTS = 64
_RUN, _ALL = "run.json", "all.arrow"


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows as columns: number of the reservoir, rank, text as UTF-8, and a row of ``numbers`` for each of FIELDS."""

    reservoir: Places
    rank: Hashes
    text: npt.NDArray[np.object_]
    numbers: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rank)

    @classmethod
    def together(cls, parts: Sequence[Windows]) -> Self:
        """All windows of several tables."""
        columns = [(part.reservoir, part.rank, part.text) for part in parts]
        reservoir, rank, text = (np.concatenate(column) for column in zip(*columns, strict=True))
        return cls(reservoir, rank, text, np.concatenate([part.numbers for part in parts], axis=1))

    def take(self, chosen: npt.NDArray[np.int64] | npt.NDArray[np.bool_]) -> Self:
        return type(self)(self.reservoir[chosen], self.rank[chosen], self.text[chosen], self.numbers[:, chosen])


class Reservoirs:
    """For each word and length, the windows with the smallest ranks, each once.

    ``limits`` are the largest ranks that may still enter each reservoir.
    """

    def __init__(self, n: int, keep: int) -> None:
        self._keep = keep
        none = np.zeros((len(FIELDS), 0), np.int64)
        self._settled = Windows(none[0], np.zeros(0, np.uint64), np.zeros(0, object), none)
        self._waiting: list[Windows] = []
        self._n_waiting = 0
        self.limits: Hashes = np.full(n, _LARGEST_RANK, np.uint64)

    def add(self, windows: Windows) -> None:
        """Keep windows, as long as they are among the smallest ranks."""
        entering = windows.rank <= self.limits[windows.reservoir]
        windows = windows if entering.all() else windows.take(entering)
        self._waiting.append(windows)
        self._n_waiting += len(windows) + sum(map(len, windows.text)) // _LONG
        if self._n_waiting > max(_WAITING, len(self._settled)):
            self.settle()

    def settle(self) -> Windows:
        """What is kept, by reservoir and rank."""
        if self._n_waiting:
            windows = Windows.together([self._settled, *self._waiting])
            order = _first_places(windows, np.lexsort((windows.rank, windows.reservoir)))
            reservoir = windows.reservoir[order]
            starts = np.searchsorted(reservoir, np.arange(len(self.limits)))
            chosen = order[np.arange(len(order)) - starts[reservoir] < self._keep]
            self._settled = windows.take(chosen)
            counts = np.bincount(self._settled.reservoir, minlength=len(self.limits))
            full = np.flatnonzero(counts >= self._keep)
            last = np.cumsum(counts)[full] - 1
            self.limits[full] = np.minimum(self.limits[full], self._settled.rank[last])
        self._waiting, self._n_waiting = [], 0
        return self._settled


def _first_places(windows: Windows, order: Places) -> Places:
    """The order without windows that are there already; of several places of one window the first is kept.

    Windows are told apart by reservoir and rank: two different ones practically never have the same 64 bits.
    """
    reservoir, rank = windows.reservoir[order], windows.rank[order]
    new = np.append(True, (rank[1:] != rank[:-1]) | (reservoir[1:] != reservoir[:-1]))[: len(order)]
    window = np.cumsum(new) - 1
    first: Places = order[new]
    again = np.flatnonzero((np.bincount(window) > 1)[window])
    if len(again):
        shard, line, at = windows.numbers[_PLACE][:, order[again]]
        by_place = again[np.lexsort((at, line, shard, window[again]))]
        first[window[by_place[new[again]]]] = order[by_place[new[again]]]
    return first


@dataclass(frozen=True, slots=True)
class Tally:
    """How many records a part of the corpus holds, and how many characters in it were no UTF-8."""

    records: int
    broken: int


@dataclass(slots=True)
class Finds:
    """The windows kept so far, how many there were of each word and length, and the parts of the corpus they are of."""

    reservoirs: Reservoirs
    windows: Places
    hits: Places
    shards: dict[int, Tally] = field(default_factory=dict)

    @classmethod
    def none(cls, settings: MiningSettings) -> Finds:
        """Nothing found yet."""
        n = settings.reservoirs
        return cls(Reservoirs(n, settings.keep), np.zeros(n, np.int64), np.zeros(len(settings.words), np.int64))

    def add(self, content: bytes) -> None:
        """Take in what was found elsewhere; the order does not matter."""
        import pyarrow as pa

        table = pa.ipc.open_file(content).read_all()
        counts = json.loads(table.schema.metadata[_METADATA])
        reservoir, rank, *numbers = (numbers_of(table.column(name)) for name in ("reservoir", "rank", *FIELDS))
        self.shards |= {int(number): Tally(**tally) for number, tally in counts["shards"].items()}
        self.windows += np.array(counts["found"], np.int64)
        self.hits += np.array(counts["hits"], np.int64)
        self.reservoirs.add(Windows(reservoir, rank, text_column(table.column("text")), np.stack(numbers)))

    def to_bytes(self) -> bytes:
        """An Arrow file: the same finds give the same bytes."""
        import pyarrow as pa

        windows = self.reservoirs.settle()
        numbers = zip(("reservoir", "rank", *FIELDS), (windows.reservoir, windows.rank, *windows.numbers), strict=True)
        columns = {**{name: of_numbers(column) for name, column in numbers}, "text": of_texts(windows.text)}
        shards = {str(n): asdict(tally) for n, tally in sorted(self.shards.items())}
        counts = {"shards": shards, "found": self.windows.tolist(), "hits": self.hits.tolist()}
        table = pa.table(columns).replace_schema_metadata({_METADATA: json.dumps(counts).encode()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content


class PartsFolder:
    """Finds on disk, so that an interrupted run resumes where it was."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self._folder = folder
        self._identity = json.dumps(identity, sort_keys=True).encode()

    @property
    def outdated(self) -> bool:
        """Whether the folder holds parts of a run with other settings or another corpus."""
        run = self._folder / _RUN
        return self._folder.is_dir() and not (run.is_file() and run.read_bytes() == self._identity)

    def begin(self) -> None:
        """Make the folder ready for this run; what is left of another one is removed."""
        if self.outdated:
            self.clear()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._folder / _RUN, self._identity)

    def load(self, finds: Finds) -> None:
        """Add all finds that are there."""
        contents = [content for path in sorted(self._folder.glob("*.arrow")) if (content := _unsealed(path))]
        # A run that ended while parts were put together leaves both the whole and some of its parts.
        for content in sorted(contents, key=lambda content: -len(_covered(content))):
            if not _covered(content) <= finds.shards.keys():
                finds.add(content)

    def keep(self, number: int, content: bytes) -> None:
        """Store the finds of one part of the corpus."""
        write_atomically(self._folder / f"{number:08}.arrow", _sealed(content))

    def combine(self, finds: Finds) -> None:
        """Store all finds as one file, where there are many."""
        parts = [path for path in self._folder.glob("*.arrow") if path.name != _ALL]
        if len(parts) > _MOST_PARTS:
            write_atomically(self._folder / _ALL, _sealed(finds.to_bytes()))
            for path in parts:
                path.unlink()

    def clear(self) -> None:
        """Remove the parts and their folder."""
        if self._folder.is_dir():
            for pattern in ("*.arrow", _RUN, f"*{UNFINISHED}"):
                for path in self._folder.glob(pattern):
                    path.unlink()
            self._folder.rmdir()


def _sealed(content: bytes) -> bytes:
    return hashlib.sha256(content).digest() + content


def _unsealed(path: Path) -> bytes:
    """What was stored; nothing where a disk has changed it, so that it is mined again."""
    stored = path.read_bytes()
    content = stored[hashlib.sha256().digest_size :]
    return content if stored == _sealed(content) else b""


def _covered(content: bytes) -> set[int]:
    import pyarrow as pa

    counts = json.loads(pa.ipc.open_file(content).schema.metadata[_METADATA])
    return set(map(int, counts["shards"]))


# Columns of Arrow tables made of bytes and numbers as they lie in memory. What Arrow itself offers for this copies each
# value on its own, and imports pandas to look whether there is any of it.


def of_texts(texts: Sequence[bytes] | npt.NDArray[np.object_]) -> Any:
    """A column of texts that are UTF-8."""
    import pyarrow as pa

    offsets = np.zeros(len(texts) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def of_numbers(numbers: npt.NDArray[np.int64] | npt.NDArray[np.uint64]) -> Any:
    """A column of numbers."""
    import pyarrow as pa

    kind = pa.uint64() if numbers.dtype == np.uint64 else pa.int64()
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(np.ascontiguousarray(numbers))])


def of_names(names: Sequence[str], numbers: npt.NDArray[np.int64]) -> Any:
    """A column of texts of which there are few: each by its number."""
    texts = [name.encode() for name in names]
    return of_texts([texts[number] for number in numbers.tolist()])


def text_column(column: Any) -> npt.NDArray[np.object_]:
    """The texts of a column as UTF-8."""
    pieces = ((content, itertools.pairwise(places.tolist())) for places, content in pieces_of(column))
    texts = [bytes(content[start:end]) for content, spans in pieces for start, end in spans]
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


def pieces_of(column: Any) -> Iterator[tuple[npt.NDArray[np.int64], memoryview]]:
    """The texts of a column as they lie in memory, one after the other, and where each begins and the last one ends."""
    for chunk in column.chunks:
        _, offsets, data = chunk.buffers()
        yield np.frombuffer(offsets, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1], memoryview(data or b"")


def numbers_of(column: Any) -> npt.NDArray[Any]:
    """The numbers of a column that has one for each row."""
    kind = np.uint64 if str(column.type) == "uint64" else np.int64
    parts = [
        np.frombuffer(chunk.buffers()[1] or b"", kind)[chunk.offset : chunk.offset + len(chunk)]
        for chunk in column.chunks
    ]
    return np.concatenate([np.zeros(0, kind), *parts])
