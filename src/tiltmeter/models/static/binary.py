"""Vectors in word2vec's binary form, also .gz: a line "count size", then word, space, size x float32.

The original tool writes a line end after each vector, others do not; both are read.
"""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.models.static import files
from tiltmeter.models.static.lookup import Sought, usable

FASTTEXT = b"\xba\x16\x4f\x2f"  # how fastText's own models begin
LONGEST_WORD = 1 << 16


def rows(path: Path, wanted: set[str]) -> Generator[tuple[str, Vector], None, None]:
    """The rows of the wanted words, in the order of the file."""
    sought = Sought(wanted)
    starts = {end + word for word in [*sought.utf8, *sought.latin1] for end in (b"", b"\n")}
    with files.opened(path) as stream:
        count, size = _header(path, stream)
        width = 4 * size
        number, data = 0, b""
        while block := stream.read(files.BLOCK):
            data += block
            find, start, last = data.find, 0, len(data) - width
            while number < count and 0 <= (space := find(b" ", start)) < last:
                number += 1
                if data[start:space] in starts:
                    spelling = sought.take(data[start:space].lstrip(b"\n"))
                    if spelling is not None:
                        vector = np.frombuffer(data, "<f4", size, space + 1).astype(np.float32)
                        yield spelling, usable(vector, f"{path}, word {number} ('{spelling}')")
                start = space + 1 + width
            data = data[start:]
            if len(data) > width + LONGEST_WORD + len(block):
                raise BadInput(
                    f"{path}: no word follows word {number}, so this is not word2vec's binary form"
                )
    if number < count:
        raise BadInput(f"{path}: ends after {number} of {count} words; download it again")
    if data.strip(b"\n"):
        raise BadInput(f"{path}: holds more than the {count} words of {size} values its first line promises")
    sought.check_encoding(path)


def _header(path: Path, stream: BinaryIO) -> tuple[int, int]:
    line = stream.readline(100)
    if line.startswith(FASTTEXT):
        raise BadInput(
            f"{path}: is a fastText model, not word2vec's binary form; use the .vec file of the same name"
        )
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or not int(fields[1]):
        raise BadInput(f"{path}: does not begin with 'count size', so it is not word2vec's binary form")
    return int(fields[0]), int(fields[1])
