"""Words looked for in a few lines of text, as the tests of mining do it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from tiltmeter.stimuli import Group, Word
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.engines import Scanner
from tiltmeter.stimuli.mining.finds import FIELDS, Finds, Reservoirs
from tiltmeter.stimuli.mining.mining_settings import MiningSettings, find_words, parse_lengths


def group(*words: str | Word, code: str = "en", name: str = "test.words") -> Group:
    made = tuple(word if isinstance(word, Word) else Word(word) for word in words)
    return Group(name, name, made, code)


def settings(
    words: Iterable[str | Word], *, code: str = "en", lengths: Sequence[str] = (">0",), **more
) -> MiningSettings:
    chosen = {"keep": 1000, "within": "text", "across": "none", "errors": "strict", "seed": 0} | more
    speech = language(code)
    return MiningSettings(
        speech, find_words({"test.words": group(*words, code=code)}, speech), parse_lengths(lengths), **chosen
    )


def look(text: str, asked: MiningSettings) -> Finds:
    finds = Finds.none(asked)
    Scanner(asked).look(text, finds, shard=0, line=1)
    return finds


class Window(NamedTuple):
    """A window that was kept, and where it was found."""

    reservoir: int
    rank: int
    text: str
    start: int
    end: int
    root_end: int
    shard: int
    line: int
    at: int


def kept(reservoirs: Reservoirs) -> list[Window]:
    """All windows kept, by reservoir and rank."""
    batch = reservoirs.settle()
    numbers = batch.numbers[[FIELDS.index(name) for name in Window._fields[3:]]]
    columns = (batch.reservoir.tolist(), batch.rank.tolist(), [text.decode() for text in batch.text], *numbers.tolist())
    return list(map(Window, *columns))


def windows(text: str, asked: MiningSettings) -> list[Window]:
    """All windows found, by place."""
    found = kept(look(text, asked).reservoirs)
    return sorted(found, key=lambda window: (window.line, window.at, window.end, window.text))


def forms(text: str, *words: str | Word, code: str = "en") -> list[tuple[int, int, str]]:
    """Line, place and form of every occurrence."""
    found = windows(text, settings(words, code=code))
    return [(window.line, window.at, window.text[window.start : window.end]) for window in found]
