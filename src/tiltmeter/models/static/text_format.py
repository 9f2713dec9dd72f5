"""Vectors as text: word2vec and fastText (first line "count size"), GloVe (no such line), also .gz.

A line is a word, then ``size`` numbers, separated by spaces. The word itself may hold spaces (GloVe
840B has ". . ."), so the numbers are counted from the end.
"""

from __future__ import annotations

import codecs
import dataclasses
from collections.abc import Generator
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.models.static.lookup import Sought, narrowed
from tiltmeter.models.static.opening import opened

#: What is looked at before the scan; no line of numbers is longer than this.
HEAD = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Layout:
    """Values per row, rows promised by a header, bytes before the first row and its line number."""

    size: int
    count: int | None
    start: int
    line: int


def rows(path: Path, wanted: set[str]) -> Generator[tuple[str, Vector], None, None]:
    """The rows of the wanted words, in the order of the file.

    Only these are parsed and checked. The number of rows a header promises is checked when the scan gets to
    the end, that is, unless the caller has found every word before.
    """
    layout = layout_of(path)
    sought = Sought(wanted)
    # Every line is cut at its first space and looked up here. Blank lines show up as the two empty starts.
    starts: dict[bytes, list[bytes]] = {b"": [], b"\r": []}
    for word in [*sought.utf8, *sought.latin1]:
        starts.setdefault(word.partition(b" ")[0], []).append(word)
    ragged: dict[bytes, str] = {}
    blank, number = 0, layout.line - 1
    with opened(path) as stream:
        stream.read(layout.start)
        for number, line in enumerate(stream, layout.line):
            if (start := line[: line.find(b" ")]) in starts:
                fields = line.split()
                blank += not fields
                spelling = sought.take(b" ".join(fields[: -layout.size]))
                if spelling is not None:
                    yield spelling, _vector(fields[-layout.size :], f"{path}, line {number} ('{spelling}')")
                    continue
                for word in starts[start]:
                    complaint = _ragged(fields, word, layout.size)
                    if complaint:
                        ragged.setdefault(word, f"{path}, line {number} {complaint}")
    for word in ragged.keys() & sought.utf8.keys():
        raise BadInput(ragged[word])
    sought.check_encoding(path)
    found = number - layout.line + 1 - blank
    if layout.count not in (None, found):
        raise BadInput(
            f"{path}: the first line promises {layout.count} words, the file holds {found}; download it again"
        )


def layout_of(path: Path) -> Layout:
    """What the beginning of the file says about the rest, or why it is no file of vectors."""
    with opened(path) as stream:
        head = stream.read(HEAD)
    _check_encoding(path, head)
    if len(head) == HEAD and b"\n" not in head:
        raise BadInput(f"{path}: has no line end in the first {HEAD} bytes, so it is not a text of vectors")
    mark = len(codecs.BOM_UTF8) if head.startswith(codecs.BOM_UTF8) else 0
    first, newline, rest = head[mark:].partition(b"\n")
    fields = first.split()
    if len(fields) == 2 and all(field.isdigit() for field in fields):
        layout = Layout(int(fields[1]), int(fields[0]), mark + len(first) + len(newline), 2)
        _check_header(path, layout, rest.partition(b"\n")[0].split())
        return layout
    size = 0
    while size < len(fields) - 1 and _is_number(fields[-1 - size]):
        size += 1
    if not size or b" " not in first:
        raise BadInput(f"{path}, line 1: is neither a word and its numbers, separated by spaces, nor 'count size'")
    return Layout(size, None, mark, 1)


def _check_header(path: Path, layout: Layout, row: list[bytes]) -> None:
    if not row:
        raise BadInput(f"{path}: has a first line and no vectors after it")
    if not layout.size or _ragged(row, row[0], layout.size):
        raise BadInput(f"{path}: the first line promises {layout.size} values a word, line 2 holds {len(row) - 1}")


def _check_encoding(path: Path, head: bytes) -> None:
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
    return f"('{word.decode('utf-8', 'replace')}'): has {len(values)} values where {size} are due"


def _vector(values: list[bytes], where: str) -> Vector:
    for value in values:
        if not _is_number(value):
            raise BadInput(f"{where}: '{value.decode('utf-8', 'replace')}' is not a number")
    return narrowed([float(value) for value in values], where)


def _is_number(value: bytes) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
