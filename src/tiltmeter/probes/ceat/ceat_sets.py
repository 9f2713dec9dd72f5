"""Mined words in context as CEAT takes them: four sets of words, each with the places where it was found."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from tiltmeter import stimuli
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Span

if TYPE_CHECKING:
    from tiltmeter.stimuli.mining import Mined, Occurrence

Sampling = Literal["random", "fixed"]
#: Characters kept on either side of a word where a window is as long as its text: a model reads only so far.
_REACH = 400


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """How contexts are read and drawn. With ``fixed`` draws the same contexts stand for a word in every model."""

    sampling: Sampling = "fixed"
    draws: int = 5000
    at_least: int = 2
    root_only: bool = False

    @classmethod
    def parse(cls, text: str | None) -> Method:
        """Words and numbers with commas between them.

        >>> Method.parse("random,draws=1000,root-only")
        Method(sampling='random', draws=1000, at_least=2, root_only=True)
        """
        options: dict[str, Any] = {}
        for part in (piece.strip() for piece in (text or "").split(",")):
            name, _, value = part.partition("=")
            if part in get_args(Sampling):
                options["sampling"] = part
            elif part == "root-only":
                options["root_only"] = True
            elif name in ("draws", "at-least"):
                options[name.replace("-", "_")] = _number(name, value)
            elif part:
                raise unknown("method of ceat", part, ["fixed", "random", "root-only", "draws=N", "at-least=N"])
        return cls(**options)


@dataclasses.dataclass(frozen=True, slots=True)
class ContextWords:
    """The words of one group, and the places where each was found; ``dimension`` is what such groups differ in."""

    address: str
    label: str
    dimension: str
    words: Mapping[str, tuple[Span, ...]]


@dataclasses.dataclass(frozen=True, slots=True)
class WordsInContext:
    """Two sets of targets and two of attributes, in windows of one length; of all lengths where ``length`` is empty.

    ``mined`` identifies the occurrences as they were mined.
    """

    length: str
    targets: tuple[ContextWords, ContextWords]
    attributes: tuple[ContextWords, ContextWords]
    method: Method
    language: str
    mined: str
    cut: int

    @property
    def sets(self) -> tuple[ContextWords, ...]:
        return (*self.targets, *self.attributes)

    @property
    def labels(self) -> tuple[tuple[str, str], tuple[str, str]]:
        (x, y), (a, b) = self.targets, self.attributes
        return (x.label, y.label), (a.label, b.label)

    @property
    def title(self) -> str:
        targets, attributes = map(" / ".join, self.labels)
        return f"{targets} × {attributes}, {self.around}"

    @property
    def around(self) -> str:
        """How much text there is around a word, in words."""
        return in_words(self.length)


def in_words(length: str) -> str:
    """A length as it stands in a sentence.

    >>> in_words("9"), in_words(">75"), in_words("sentence"), in_words("")
    ('in 9 words', 'in more than 75 words', 'in a sentence', 'in context')
    """
    if length.startswith(">"):
        return f"in more than {length[1:]} words"
    return {"sentence": "in a sentence", "": "in context"}.get(length, f"in {length} words")


def words_in_context(
    folder: str | Path, targets: Sequence[str] | None, attributes: Sequence[str] | None, method: Method
) -> list[WordsInContext]:
    """What was mined into a folder: all lengths together, then each of them where there are several."""
    from tiltmeter.stimuli.mining import load_mined

    mined = load_mined(folder)
    addresses = _addresses(mined, folder, targets, attributes)
    lengths = mined.lengths if len(mined.lengths) == 1 else ("", *mined.lengths)
    return [_of_length(mined, addresses, method, length) for length in lengths]


def _addresses(
    mined: Mined, folder: str | Path, targets: Sequence[str] | None, attributes: Sequence[str] | None
) -> list[str]:
    """Which groups are X, Y, A and B: those named, or the four that were asked for, in their order."""
    if targets is None and attributes is None:
        if len(mined.groups) != 4:
            raise BadInput(
                f"{folder} holds {len(mined.groups)} group(s) of words, and ceat compares four: name them with "
                f"--targets X,Y --attributes A,B from {', '.join(mined.groups)}"
            )
        return list(mined.groups)
    for name, pair in (("targets", targets), ("attributes", attributes)):
        if pair is None or len(pair) != 2:
            raise BadInput(f"ceat needs two {name}, and {len(pair or ())} were given: name two groups that were mined")
    chosen = [*(targets or ()), *(attributes or ())]
    for address in chosen:
        if address not in mined.groups:
            raise unknown(f"group of words in {folder}", address, mined.groups)
    if len(set(chosen)) < 4:
        raise BadInput("ceat compares four different groups, and one of them was named twice")
    return chosen


def _of_length(mined: Mined, addresses: Sequence[str], method: Method, length: str) -> WordsInContext:
    rows = [row for row in mined.rows if not length or row.length == length]
    named = _named(addresses)
    sets = []
    for address in addresses:
        # Words that were looked for and never found are there too, to be named.
        places: dict[str, dict[Span, None]] = {
            count["word"]: {} for count in mined.about["counts"] if address in count["groups"]
        }
        for row in rows:
            if row.group == address:
                places[row.word][_span(row, root_only=method.root_only)] = None
        sets.append(ContextWords(address, *named[address], {word: tuple(spans) for word, spans in places.items()}))
    cut = sum(_is_open(row) and len(row.text) > len(_span(row, root_only=False).text) for row in rows)
    x, y, a, b = sets
    return WordsInContext(length, (x, y), (a, b), method, mined.language, mined.sha256, cut)


def _is_open(row: Occurrence) -> bool:
    return not row.length.isdigit()


def _span(row: Occurrence, *, root_only: bool) -> Span:
    """The word where it was found; a window as long as its text is cut around it, at a space where there is one."""
    end = row.root_end if root_only else row.end
    first, last = 0, len(row.text)
    if _is_open(row):
        if row.start > _REACH:
            first = row.start - _REACH
            first = max(first, row.text.find(" ", first, row.start) + 1)
        if last - row.end > _REACH:
            space = row.text.rfind(" ", row.end, row.end + _REACH)
            last = space if space > 0 else row.end + _REACH
    return Span(row.text[first:last], row.start - first, end - first)


def _named(addresses: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The label and the dimension of each group; two labels that are the same bear their addresses."""
    named = {}
    for address in addresses:
        try:
            group = stimuli.group(address)
            named[address] = group.label, group.dimension
        except BadInput:  # the file it came from is no longer there
            named[address] = address.rpartition(".")[2].replace("_", " "), ""
    often = Counter(label for label, _ in named.values())
    return {
        address: (f"{label} ({address})" if often[label] > 1 else label, dimension)
        for address, (label, dimension) in named.items()
    }


def _number(name: str, value: str) -> int:
    if not value.isascii() or not value.isdigit() or int(value) < 1:
        raise BadInput(f"{name} must be a whole number from 1 on, not '{value}': write e.g. {name}=1000")
    return int(value)
