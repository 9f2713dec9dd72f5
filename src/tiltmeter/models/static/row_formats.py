"""Vectors word by word: word2vec and fastText as text, GloVe, word2vec's binary form; also .gz.

As text, a line is a word, then ``size`` numbers, separated by spaces; word2vec and fastText begin with a line "count
size", GloVe does not. The word itself may hold spaces (GloVe 840B has ". . ."), so the numbers are counted from the
end. In the binary form a line "count size" comes first, then word, space, size x float32. The original tool writes a
line end after each vector, others do not; both are read.
"""

from __future__ import annotations

import codecs
import contextlib
import gzip
import io
import itertools
import re
import zlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput

#: Spellings, their numbers, and where they stand.
VectorRows: TypeAlias = Generator[tuple[str, Sequence[float] | NDArray[Any], str], None, None]

#: Small enough to stay in the processor's second-level cache between copy and search, and to be reused by the
#: allocator: at twice this size each block is fresh memory from the system, which makes reading half as fast.
BLOCK = 1 << 17
#: What is looked at of a text before the scan; no line of numbers is longer than this.
_HEAD = 1 << 20
_FASTTEXT = b"\xba\x16\x4f\x2f"  # how fastText's own models begin
_LONGEST_WORD = 1 << 16
#: More digits than any count of words has, and more values than any vector has.
_MOST_DIGITS, _MOST_VALUES = 18, 1 << 20


def text_rows(path: Path, wanted: set[str]) -> VectorRows:
    """The rows of the wanted words, in the order of the file.

    Only these are parsed and checked. The number of rows a header promises is checked when the scan gets to
    the end, that is, unless the caller has found every word before.
    """
    size, promised, offset, first_line = _layout_of(path)
    missing = _Wanted(wanted)
    # Every line is cut at its first space and looked up here. Blank lines show up as the two empty starts.
    starts: dict[bytes, list[bytes]] = {b"": [], b"\r": []}
    for word in [*missing.utf8, *missing.latin1]:
        starts.setdefault(word.partition(b" ")[0], []).append(word)
    ragged: dict[bytes, str] = {}
    blank, number = 0, first_line - 1
    with open_vectors(path) as stream:
        stream.read(offset)
        for number, line in enumerate(stream, first_line):
            if (start := line[: line.find(b" ")]) in starts:
                fields = line.split()
                blank += not fields
                spelling = missing.take(b" ".join(fields[:-size]))
                if spelling is not None:
                    where = f"{path}, line {number} ('{spelling}')"
                    yield spelling, _numbers(fields[-size:], where), where
                    continue
                for word in starts[start]:
                    complaint = _ragged(fields, word, size)
                    if complaint:
                        ragged.setdefault(word, f"{path}, line {number} {complaint}")
    for word in ragged.keys() & missing.utf8.keys():
        raise BadInput(ragged[word])
    missing.check_encoding(path)
    count = number - first_line + 1 - blank
    if promised not in (None, count):
        raise BadInput(f"{path}: the first line promises {promised} words, the file holds {count}; download it again")


def _layout_of(path: Path) -> tuple[int, int | None, int, int]:
    """Values per row, rows promised by a header, bytes before the first row and its line number; or why the file is no
    file of vectors."""
    with open_vectors(path) as stream:
        head = stream.read(_HEAD)
    _check_beginning(path, head)
    if len(head) == _HEAD and b"\n" not in head:
        raise BadInput(f"{path}: has no line end in the first {_HEAD} bytes, so it is not a text of vectors")
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    first, newline, rest = head[mark:].partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() and len(field) <= _MOST_DIGITS for field in fields):
        count, size = map(int, fields)
        row = rest.partition(b"\n")[0].split()
        if not row:
            raise BadInput(f"{path}: has a first line and no vectors after it")
        if not size or _ragged(row, row[0], size):
            raise BadInput(f"{path}: the first line promises {size} values a word, line 2 holds {len(row) - 1}")
        return size, count, mark + len(first) + len(newline), 2
    size = 0
    while size < len(fields) - 1 and _is_number(fields[-1 - size]):
        size += 1
    if not size or b" " not in first:
        raise BadInput(f"{path}, line 1: is neither a word and its numbers, separated by spaces, nor 'count size'")
    return size, None, mark, 1


def _check_beginning(path: Path, head: bytes) -> None:
    if not head.strip():
        raise BadInput(f"{path}: is empty")
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) or head.count(0) > len(head) // 8:
        raise BadInput(f"{path}: is UTF-16 or binary, not UTF-8 text; save it as UTF-8, or as .bin if it is that")
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(head)
    wrong = text.count("\N{REPLACEMENT CHARACTER}") - head.count("\N{REPLACEMENT CHARACTER}".encode())
    right = len(text) - len(text.encode("ascii", "ignore")) - wrong
    # Published files hold a few words that were cut inside a letter; they are no reason to refuse the file.
    if wrong > right and wrong * 100 > head.count(b"\n"):
        raise BadInput(f"{path}: is not UTF-8 text; save it as UTF-8")


def _ragged(fields: list[bytes], word: bytes, size: int) -> str:
    """What is wrong with a row that starts with ``word``, unless it is the row of a longer phrase."""
    parts = word.split(b" ")
    values = fields[len(parts) :]
    if fields[: len(parts)] != parts or len(values) == size:
        return ""
    if len(values) > size and not all(map(_is_number, values)):
        return ""
    return f"('{word.decode('utf-8', 'replace')}'): has {len(values)} values instead of {size}"


def _numbers(values: list[bytes], where: str) -> list[float]:
    for value in values:
        if not _is_number(value):
            raise BadInput(f"{where}: '{value.decode('utf-8', 'replace')}' is not a number")
    return [float(value) for value in values]


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def binary_rows(path: Path, wanted: set[str]) -> VectorRows:
    """The rows of the wanted words, in the order of the file; see ``text_rows`` for what is checked."""
    missing = _Wanted(wanted)
    starts = {end + word for word in [*missing.utf8, *missing.latin1] for end in (b"", b"\n")}
    number, rest = 0, b""
    with open_vectors(path) as stream:
        count, size = _header(path, stream)
        stride = 1 + 4 * size
        # Twice as fast as a loop: the words of all whole rows at once, then b"" for the row that is cut off.
        row = re.compile(rb"(?s)([^ ]*+) .{%d}|.+" % (4 * size))
        while block := stream.read(BLOCK):
            data = rest + block
            words = row.findall(data)
            if not words[-1]:
                words.pop()
            if not starts.isdisjoint(words):
                for place, nth, word in _hits(words, starts, stride):
                    if (spelling := missing.take(word.lstrip(b"\n"))) is not None:
                        vector = np.frombuffer(data, "<f4", size, place)
                        yield spelling, vector, f"{path}, word {number + nth} ('{spelling}')"
            number += len(words)
            rest = data[sum(map(len, words)) + len(words) * stride :]
            if len(rest) > len(block) + stride + _LONGEST_WORD:
                raise BadInput(f"{path}: no word follows word {number}, so this is not word2vec's binary form")
    if number < count:
        raise BadInput(f"{path}: ends after {number} of {count} words; download it again")
    if number > count or rest.strip(b"\n"):
        raise BadInput(f"{path}: holds more than the {count} words of {size} values its first line promises")
    missing.check_encoding(path)


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
    if line.startswith(_FASTTEXT):
        raise BadInput(f"{path}: is a fastText model, not word2vec's binary form; use the .vec file of the same name")
    fields = line.split()
    if len(fields) != 2 or not all(field.isdigit() for field in fields) or not int(fields[1]):
        raise BadInput(f"{path}: does not begin with 'count size', so it is not word2vec's binary form")
    if int(fields[1]) > _MOST_VALUES:
        raise BadInput(
            f"{path}: its first line promises {int(fields[1]):,} values a word, which no file of vectors has"
        )
    return int(fields[0]), int(fields[1])


def first_text_words(path: Path, n: int) -> list[str]:
    """The words of the first rows of a text."""
    size, _, offset, _ = _layout_of(path)
    with open_vectors(path) as stream:
        stream.read(offset)
        return _decoded(b" ".join(line.split()[:-size]) for line in itertools.islice(stream, n))


def first_binary_words(path: Path, n: int) -> list[str]:
    """The words of the first rows of word2vec's binary form."""
    with open_vectors(path) as stream:
        count, size = _header(path, stream)
        row = re.compile(rb"(?s)([^ ]*+) .{%d}" % (4 * size))
        words, rest = list[bytes](), b""
        while len(words) < min(n, count) and (block := stream.read(BLOCK)):
            data = rest + block
            matches = list(row.finditer(data))
            words += (match[1].lstrip(b"\n") for match in matches)
            rest = data[matches[-1].end() :] if matches else data
    return _decoded(words[:n])


def _decoded(words: Iterable[bytes]) -> list[str]:
    """Words that can be asked for: published files hold a few that were cut inside a letter."""
    return [text for word in words if (text := word.decode("utf-8", "ignore")).encode() == word and text]


class _Wanted:
    """The spellings still to be found in a file of bytes, and the ones found in the wrong encoding."""

    def __init__(self, wanted: Iterable[str]) -> None:
        wanted = sorted(wanted)
        # A lone surrogate cannot stand in a UTF-8 file; it must end up out of vocabulary, not as a crash.
        self.utf8 = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
        narrow = {word.encode("latin-1"): word for word in wanted if word and max(word) <= "\xff"}
        # Only what is not UTF-8 can be told from it.
        self.latin1 = {raw: word for raw, word in narrow.items() if raw.decode("utf-8", "ignore").encode() != raw}
        self._misread: set[str] = set()

    def take(self, word: bytes) -> str | None:
        """The spelling these bytes mean, once: later rows of the same word do not count."""
        if word in self.latin1:
            self._misread.add(self.latin1[word])
        return self.utf8.pop(word, None)

    def check_encoding(self, path: Path) -> None:
        """Called at the end of a file: a word that is there, but as Latin-1, must not pass for unknown."""
        for word in sorted(self._misread.intersection(self.utf8.values())):
            raise BadInput(f"{path}: '{word}' is written in Latin-1, not UTF-8; save the vectors again in UTF-8")


@contextlib.contextmanager
def open_vectors(path: Path) -> Iterator[BinaryIO]:
    """The (decompressed) bytes of a file; read errors inside the block become BadInput."""
    try:
        with contextlib.ExitStack() as stack:
            if path.suffix.lower() != ".gz":
                yield stack.enter_context(path.open("rb", buffering=BLOCK))
            else:
                unpacked = stack.enter_context(gzip.open(path, "rb"))
                # GzipFile hands out lines through Python code; a buffer around it does so in C.
                yield stack.enter_context(io.BufferedReader(unpacked, BLOCK))
    except EOFError as error:
        raise BadInput(f"{path}: the compressed data end too early; download the file again") from error
    except (gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{path}: is not valid gzip data; download it again or drop the .gz") from error
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or error})") from error
