"""Vectors in word2vec's binary form, also .gz: a line "count size", then word, space, size x float32.

The original tool writes a line end after each vector, others do not; both are read.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.models.static import opening as files
from tiltmeter.models.static.lookup import Sought, usable

FASTTEXT = b"\xba\x16\x4f\x2f"  # how fastText's own models begin
LONGEST_WORD = 1 << 16


def rows(path: Path, wanted: set[str]) -> Generator[tuple[str, Vector], None, None]:
    """The rows of the wanted words, in the order of the file; see ``text.rows`` for what is checked."""
    sought = Sought(wanted)
    starts = {end + word for word in [*sought.utf8, *sought.latin1] for end in (b"", b"\n")}
    number, rest = 0, b""
    with files.opened(path) as stream:
        count, size = _header(path, stream)
        stride = 1 + 4 * size
        # Twice as fast as a loop: the words of all whole rows at once, then b"" for the row that is cut off.
        row = re.compile(rb"(?s)([^ ]*+) .{%d}|.+" % (4 * size))
        while block := stream.read(files.BLOCK):
            data = rest + block
            words = row.findall(data)
            if not words[-1]:
                words.pop()
            if not starts.isdisjoint(words):
                for place, nth, word in _hits(words, starts, stride):
                    if (spelling := sought.take(word.lstrip(b"\n"))) is not None:
                        vector = np.frombuffer(data, "<f4", size, place).astype(np.float32)
                        yield spelling, usable(vector, f"{path}, word {number + nth} ('{spelling}')")
            number += len(words)
            rest = data[sum(map(len, words)) + len(words) * stride :]
            if len(rest) > len(block) + stride + LONGEST_WORD:
                raise BadInput(f"{path}: no word follows word {number}, so this is not word2vec's binary form")
    if number < count:
        raise BadInput(f"{path}: ends after {number} of {count} words; download it again")
    if number > count or rest.strip(b"\n"):
        raise BadInput(f"{path}: holds more than the {count} words of {size} values its first line promises")
    sought.check_encoding(path)


def _hits(words: list[bytes], starts: set[bytes], stride: int) -> Iterator[tuple[int, int, bytes]]:
    """Where in the block the values of a wanted word begin, and which word of the block it is, from 1."""
    place = 0
    for nth, word in enumerate(words, 1):
        place += len(word)
        if word in starts:
            yield place + 1, nth, word
        place += stride


def _header(path: Path, stream: BinaryIO) -> tuple[int, int]:
    line = stream.readline(100)
    if line.startswith(FASTTEXT):
        raise BadInput(f"{path}: is a fastText model, not word2vec's binary form; use the .vec file of the same name")
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or not int(fields[1]):
        raise BadInput(f"{path}: does not begin with 'count size', so it is not word2vec's binary form")
    return int(fields[0]), int(fields[1])
