"""An audit at a glance in the terminal: dimensions down, models across, then what to look at first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Column, Table
from rich.text import Text

from tiltmeter.readings import Lean, State
from tiltmeter.views.rows import ReadingRow
from tiltmeter.views.summary import MARKS, Square, Summary
from tiltmeter.views.terminal.table import STATE_STYLES

#: Letters that "◐ suggestive 1/9" needs, and the most that a cell takes.
_LEAST, _WIDEST = 16, 44
#: What the numbers in the cells are.
_COUNTED = "n/m tests"
#: More models than these stand one below the other, without their directions.
_MOST_ACROSS = 10


class Glance:
    """The headline, the grid with the controls below it, and what to look at first, as wide as the terminal."""

    def __init__(self, summary: Summary, *, first: int = 3) -> None:
        self._summary, self._first = summary, first

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        summary, width, marks = self._summary, options.max_width, not options.ascii_only
        yield Text(summary.headline, style="bold")
        if summary.dimensions:
            many = len(summary.models) > _MOST_ACROSS
            yield from _models_down(summary, width, marks) if many else _models_across(summary, width, marks)
        for sentence in summary.sentences:
            yield Text(sentence, style="bold red" if summary.broken and sentence == summary.control_sentence else "")
        if chosen := summary.first(self._first):
            yield Text("Look at first", style="bold")
            yield _first(chosen, width, marks)


def _first(rows: Sequence[ReadingRow], width: int, marks: bool) -> Table:
    """One line per reading where the terminal has room for it: on which model, which way, by which test, how far."""
    lines = Table.grid(padding=(0, 1))
    models = [_end(row.reading.model, width // 3) for row in rows]
    room = width - 3 - max(map(len, models))
    for row, model in zip(rows, models, strict=True):
        state, leaning = row.verdict.state, row.reading.leaning
        towards = str(leaning[0]) if leaning else ""
        if len(towards) > room // 2:
            towards = " ".join(_fitted(leaning, room // 4))
        around = f"{towards} (; {row.value})" if towards else f": {row.value}"
        title = _start(row.title, max(_LEAST, room - len(around)))
        said = f"{towards} ({title}; {row.value})" if towards else f"{title}: {row.value}"
        lines.add_row(Text(MARKS[state] if marks else "-", STATE_STYLES[state]), Text(model, "bold"), Text(said))
    return lines


def _models_across(summary: Summary, width: int, marks: bool) -> Iterator[Table]:
    """As many tables as the terminal needs to show all models."""
    names = max(map(len, (*summary.dimensions, _COUNTED)))
    fit = max(1, (width - names) // (_LEAST + 2))
    blocks = -(-len(summary.models) // fit)
    size = -(-len(summary.models) // blocks)  # as many in each, so that no model stands alone in the last
    cell = max(1, min(_WIDEST, (width - names) // size - 2))
    for start in range(0, len(summary.models), size):
        yield _across(summary, summary.models[start : start + size], cell, marks)


def _across(summary: Summary, models: Sequence[str], cell: int, marks: bool) -> Table:
    heads = (Column(Text(_end(model, cell)), width=cell, no_wrap=True) for model in models)
    table = _grid(Column(_COUNTED, no_wrap=True), *heads)
    for dimension in summary.dimensions:
        squares = [summary.square(dimension, model) for model in models]
        if any(squares):
            table.add_row(Text(dimension, style="bold"), *(_cell(square, cell, marks) for square in squares))
    if summary.controls:
        table.add_row(Text("controls"), *(_control(summary.control(model), marks) for model in models))
    return table


def _models_down(summary: Summary, width: int, marks: bool) -> Iterator[Table]:
    columns = (*summary.dimensions, *(("controls",) if summary.controls else ()))
    room = max(_LEAST, width - len(columns) * (_LEAST + 1))
    table = _grid(Column(_COUNTED, max_width=room, no_wrap=True), *columns)
    for model in summary.models:
        squares = (summary.square(dimension, model) for dimension in summary.dimensions)
        cells = [Text("-", "dim") if square is None else _head(square, marks) for square in squares]
        control = [_control(summary.control(model), marks)] if summary.controls else []
        table.add_row(Text(_end(model, room)), *cells, *control)
    yield table


def _grid(*columns: Column | str) -> Table:
    return Table(*columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def _control(state: State | None, marks: bool) -> Text:
    return Text("none", "dim") if state is None else _state(state, "", marks)


def _cell(square: Square | None, width: int, marks: bool) -> Text:
    if square is None:
        return Text("-", "dim")
    text = _head(square, marks)
    for line in _fitted(square.leaning, width):
        text.append(f"\n{line}", "" if square.state == "clear" else "dim")
    return text


def _head(square: Square, marks: bool) -> Text:
    return _state(square.state, f" {square.n}/{square.of}", marks)


def _state(state: State, count: str, marks: bool) -> Text:
    mark = f"{MARKS[state]} " if marks else ""
    return Text(f"{mark}{state}{count}", STATE_STYLES[state])


def _fitted(leaning: Sequence[Lean], width: int) -> list[str]:
    """A direction on one line where there is room, otherwise who on one and towards what on the next.

    >>> _fitted([Lean("names common among white people", "pleasant words"), Lean("names of others", "the rest")], 16)
    ['…white people', '→ pleasant words']
    """
    if not leaning:
        return []
    first, *others = leaning
    for text in (", ".join(map(str, leaning)), str(first)):
        if len(text) <= width:
            return [text]
    if not first.towards:
        return [_start(first.who, width)]
    other = others[0].who if others else ""
    return [_who(first.who, other, width), _start(f"→ {first.towards}", width)]


def _who(name: str, other: str, width: int) -> str:
    """A group's name, or of one that is too long the words that tell it from the other group.

    >>> _who("words for nondisabled people", "words for disabled people", 16)
    '…nondisabled…'
    """
    words, others = name.split(), other.split()
    start = _same(words, others)
    end = len(words) - _same(words[start:][::-1], others[start:][::-1])
    shorter = (f"…{' '.join(words[start:])}", f"…{' '.join(words[start:end])}…" if start < end else "")
    return next((text for text in (name, *shorter) if text and len(text) <= width), _end(name, width))


def _same(one: Sequence[str], two: Sequence[str]) -> int:
    """How many words both begin with."""
    return next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))


def _end(text: str, width: int) -> str:
    """The end of a name that is too long, whole words of it where there are any: it tells more than the start."""
    if len(text) <= width:
        return text
    kept = text[len(text) - width + 1 :]
    whole = kept.partition(" ")[2] if text[-len(kept) - 1] != " " else kept
    return f"…{whole or kept}"


def _start(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: max(0, width - 1)].rstrip()}…"
