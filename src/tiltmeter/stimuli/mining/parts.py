"""What was found in parts of a corpus: put together, sent between processes, and kept on disk until all is done."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tiltmeter.files import UNFINISHED, write_atomically
from tiltmeter.stimuli.mining.columns import numbers_of, of_numbers, of_texts, texts_of
from tiltmeter.stimuli.mining.reservoir import FIELDS, Batch, Reservoirs
from tiltmeter.stimuli.mining.settings import Settings

_METADATA = b"tiltmeter"
#: How many parts may lie on disk before they are put together into one.
_MOST_PARTS = 64
_RUN, _ALL = "run.json", "all.arrow"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many records a part of the corpus holds, and how many characters in it were no UTF-8."""

    records: int
    broken: int


@dataclass(slots=True)
class Finds:
    """The windows kept so far, how many there were of each word and length, and the parts of the corpus they are of."""

    reservoirs: Reservoirs
    found: npt.NDArray[np.int64]
    hits: npt.NDArray[np.int64]
    shards: dict[int, Tally] = field(default_factory=dict)

    @classmethod
    def none(cls, settings: Settings) -> Finds:
        """Nothing found yet."""
        n = settings.reservoirs
        return cls(Reservoirs(n, settings.keep), np.zeros(n, np.int64), np.zeros(len(settings.sought), np.int64))

    def add(self, content: bytes) -> None:
        """Take in what was found elsewhere; the order does not matter."""
        batch, told = _read(content)
        self.shards |= {int(number): Tally(**tally) for number, tally in told["shards"].items()}
        self.found += np.array(told["found"], np.int64)
        self.hits += np.array(told["hits"], np.int64)
        self.reservoirs.put(batch)

    def to_bytes(self) -> bytes:
        """An Arrow file: the same finds give the same bytes."""
        import pyarrow as pa

        batch = self.reservoirs.settle()
        numbers = {"reservoir": batch.reservoir, "rank": batch.rank, **dict(zip(FIELDS, batch.numbers, strict=True))}
        table = pa.table(
            {**{name: of_numbers(column) for name, column in numbers.items()}, "text": of_texts(batch.text)}
        )
        table = table.replace_schema_metadata({_METADATA: json.dumps(self._told()).encode()})
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table)
        content: bytes = sink.getvalue().to_pybytes()
        return content

    def _told(self) -> dict[str, Any]:
        shards = {str(n): {"records": each.records, "broken": each.broken} for n, each in sorted(self.shards.items())}
        return {"shards": shards, "found": self.found.tolist(), "hits": self.hits.tolist()}


class PartsFolder:
    """Finds on disk, so that an interrupted run goes on where it was."""

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self._folder = folder
        self._identity = json.dumps(identity, sort_keys=True)

    @property
    def outdated(self) -> bool:
        """Whether the folder holds parts of a run with other settings or another corpus."""
        return self._folder.is_dir() and self._kept_identity() != self._identity

    def begin(self) -> None:
        """Make the folder ready for this run; what is left of another one goes."""
        if self.outdated:
            self.clear()
        self._folder.mkdir(parents=True, exist_ok=True)
        write_atomically(self._folder / _RUN, self._identity.encode())

    def load(self, finds: Finds) -> None:
        """Add all finds that are there."""
        contents = [path.read_bytes() for path in sorted(self._folder.glob("*.arrow"))]
        # A run that ended while parts were put together leaves both the whole and some of its parts.
        for content in sorted(contents, key=lambda content: -len(_covered(content))):
            if not _covered(content) <= finds.shards.keys():
                finds.add(content)

    def keep(self, number: int, content: bytes) -> None:
        """Store the finds of one part of the corpus."""
        write_atomically(self._folder / f"{number:08}.arrow", content)

    def put_together(self, finds: Finds) -> None:
        """Store all finds as one file, where there are many."""
        parts = [path for path in self._folder.glob("*.arrow") if path.name != _ALL]
        if len(parts) > _MOST_PARTS:
            write_atomically(self._folder / "all.arrow", finds.to_bytes())
            for path in parts:
                path.unlink()

    def clear(self) -> None:
        """Remove the parts and their folder."""
        if self._folder.is_dir():
            for pattern in ("*.arrow", _RUN, f"*{UNFINISHED}"):
                for path in self._folder.glob(pattern):
                    path.unlink()
            self._folder.rmdir()

    def _kept_identity(self) -> str:
        path = self._folder / _RUN
        return path.read_text(encoding="utf-8") if path.is_file() else ""


def _read(content: bytes) -> tuple[Batch, dict[str, Any]]:
    import pyarrow as pa

    table = pa.ipc.open_file(content).read_all()
    reservoir, rank, *numbers = (numbers_of(table.column(name)) for name in ("reservoir", "rank", *FIELDS))
    batch = Batch(reservoir, rank, texts_of(table.column("text")), np.stack(numbers))
    return batch, json.loads(table.schema.metadata[_METADATA])


def _covered(content: bytes) -> set[int]:
    import pyarrow as pa

    told = json.loads(pa.ipc.open_file(content).schema.metadata[_METADATA])
    return set(map(int, told["shards"]))
