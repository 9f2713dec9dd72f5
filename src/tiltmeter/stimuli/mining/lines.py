"""Lines of a file, decoded a block at a time; what is no UTF-8 is named by its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Literal

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining.corpus import BLOCK, CorpusFile, Shard, opened

_MARK = "\ufeff"
_REPLACED = "\ufffd"


@dataclass(slots=True)
class Lines:
    """The lines of one part of a file; ``broken`` counts what was no UTF-8 and was replaced."""

    shard: Shard
    errors: Literal["strict", "replace"]
    broken: int = 0

    def blocks(self) -> Iterator[tuple[str, int]]:
        """Whole lines, about BLOCK bytes of them at a time, and how many bytes of the file they took."""
        with opened(self.shard.file) as (stream, raw):
            start, stop = self._borders(stream)
            at, told = start, start
            for block in _whole_lines(stream, None if stop is None else stop - start):
                text = self._decode(block, at)
                at += len(block)
                position = raw.tell() if self.shard.file.packed else at
                yield text.removesuffix("\n"), position - told
                told = position

    def _borders(self, stream: BinaryIO) -> tuple[int, int | None]:
        """The part from the first line that begins in it to the first that begins after it."""
        if self.shard.stop is None:
            return 0, None
        start, stop = (_next_line(stream, at) for at in (self.shard.start, self.shard.stop))
        stream.seek(start)
        return start, stop

    def _decode(self, block: bytes, at: int) -> str:
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            if self.errors == "strict":
                place = at + error.start
                line = breaks_before(self.shard.file, place) + 1
                raise BadInput(
                    f"{self.shard.file.source}: not UTF-8 at byte {place} (line {line}): "
                    "save it as UTF-8, or go on with --errors replace"
                ) from None
            text = block.decode("utf-8", errors="replace")
            self.broken += text.count(_REPLACED) - block.count(_REPLACED.encode())
        return text.removeprefix(_MARK) if at == 0 else text


def breaks_before(file: CorpusFile, place: int) -> int:
    """How many lines of a file end before a byte of it."""
    breaks = 0
    with opened(file) as (stream, _):
        while place > 0 and (data := stream.read(min(BLOCK, place))):
            breaks += data.count(b"\n")
            place -= len(data)
    return breaks


def _next_line(stream: BinaryIO, at: int) -> int:
    """Where the first line begins that begins at this byte or after it."""
    if at == 0:
        return 0
    stream.seek(at - 1)
    stream.readline()
    return stream.tell()


def _whole_lines(stream: BinaryIO, most: int | None) -> Iterator[bytes]:
    """The bytes of a stream, or ``most`` of them, cut at ends of lines."""
    parts: list[bytes] = []
    while data := stream.read(BLOCK if most is None else min(BLOCK, most)):
        most = None if most is None else most - len(data)
        end = data.rfind(b"\n") + 1
        if end:  # a line may be longer than many blocks
            yield b"".join([*parts, data[:end]])
            parts = []
        parts.append(data[end:])
    if rest := b"".join(parts):
        yield rest
