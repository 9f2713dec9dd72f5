"""A text to replicate: its tables, the numbers that it prints, and what its tables have in common."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Literal

from tiltmeter.errors import BadInput
from tiltmeter.files import read_yaml
from tiltmeter.lab.replicate.asked_models import AskedModels
from tiltmeter.readings import Cell
from tiltmeter.readings.paper_tables import Drawn, PaperCell, PaperColumn, PaperRow, PaperTable

_PRINTED = resources.files(__package__) / "printed"


@dataclasses.dataclass(frozen=True, slots=True)
class Wishes:
    """What a user may choose. ``form`` is the statistic as published or repaired; the others are for single texts."""

    form: Literal["published", "repaired"] = "published"
    data: str | Path | None = None
    mined: str | Path | None = None
    pairs: Sequence[Sequence[str]] | None = None
    seed: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class TableDefinition:
    """One table or figure: what it shows, its columns, and what makes its rows.

    Where something that the rows need is missing they raise an error, and its text becomes the table's one line.
    """

    title: str
    columns: tuple[PaperColumn, ...] | Callable[[AskedModels, Wishes], tuple[PaperColumn, ...]]
    rows: Callable[[AskedModels, Wishes], Iterable[PaperRow]]
    notes: tuple[str, ...] = ()
    drawn: Drawn = ""


@dataclasses.dataclass(frozen=True, slots=True)
class Paper:
    """One of the four texts. ``usual`` are the models it is measured on where none are named, ``takes`` what of the
    user's own it can be measured with."""

    name: str
    title: str
    citation: str
    usual: tuple[str, ...]
    tables: Mapping[str, TableDefinition]
    takes: tuple[Literal["data", "mined", "pairs"], ...] = ()

    def make(self, name: str, asked: AskedModels, wishes: Wishes) -> PaperTable:
        """One table: our rows with those of the text; where nothing can be measured, the text's alone and why."""
        wanted = self.tables[name]
        columns: tuple[PaperColumn, ...] = ()
        rows, missing = list[PaperRow](), ""
        try:
            columns = wanted.columns if isinstance(wanted.columns, tuple) else wanted.columns(asked, wishes)
            rows = list(wanted.rows(asked, wishes))
        except BadInput as error:
            missing = str(error)
        printed = printed_rows(self.name, name, len(columns))
        notes = asked.take_notes()
        if not rows and not missing:
            missing, notes = (notes[0], notes[1:]) if notes else ("none of these models can be asked for it", ())
        return PaperTable(
            name, wanted.title, columns, (*rows, *printed), (*wanted.notes, *notes), missing, wanted.drawn
        )


@functools.cache
def _content(paper: str) -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    file = _PRINTED / f"{paper}.yaml"
    content: Mapping[str, Mapping[str, Mapping[str, str]]] = read_yaml(file) if file.is_file() else {}
    return content


def printed_rows(paper: str, table: str, width: int) -> tuple[PaperRow, ...]:
    """What a text prints in one of its tables.

    >>> printed_rows("bangla", "Table 4", 5)[0].cells[0]
    PaperCell(value=1.77, mark='*', shade=0)
    """
    rows = []
    for part, lines in _content(paper).get(table, {}).items():
        for label, text in lines.items():
            cells = [_printed_cell(word) for word in str(text).split()]
            rows.append(PaperRow(label, (*cells, *[PaperCell(None)] * (width - len(cells))), part, printed=True))
    return tuple(rows)


def _printed_cell(word: str) -> PaperCell:
    if word == "-":
        return PaperCell(None)
    number = word.rstrip("*")
    return PaperCell(float(number) if "." in number else int(number), "*" if word.endswith("*") else "")


def cells(values: Sequence[Cell]) -> tuple[PaperCell, ...]:
    """Plain values as cells."""
    return tuple(PaperCell(value) for value in values)


def short_name(name: str) -> str:
    """A model's name as a row of a table bears it.

    >>> short_name("hf:../models/minilm-mlm"), short_name("bundled:glove")
    ('minilm-mlm', 'glove')
    """
    return name.partition(":")[2].rstrip("/").rpartition("/")[2] or name


#: Names of word vectors as they stand in specs, and what the tables call them.
_VECTORS = {"gn-glove": "GN-GloVe", "dd-glove": "DD-GloVe", "rn-glove": "RN-GloVe", "glove": "GloVe", "word2vec": "w2v",
            "w2v": "w2v", "fasttext": "fasttext"}  # fmt: skip


def printed_name(vectors: str) -> str:
    """What the papers call word vectors that are named like this; empty for others.

    >>> printed_name("bundled:word2vec"), printed_name("static:my.vec")
    ('w2v', '')
    """
    return next((name for part, name in _VECTORS.items() if part in vectors.lower().replace("_", "-")), "")
