"""Columns of Arrow tables made of bytes and numbers as they lie in memory.

What Arrow itself offers for this copies every value on its own, and imports pandas to look whether there is any of it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


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


def texts_of(column: Any) -> npt.NDArray[np.object_]:
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
