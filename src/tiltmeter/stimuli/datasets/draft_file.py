"""A draft: proposed cloze sentences in a CSV file, which a person accepts or rejects in a browser or a spreadsheet."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from tiltmeter.errors import BadInput
from tiltmeter.files import write_atomically
from tiltmeter.stimuli.annotation.rules import PLACE
from tiltmeter.stimuli.datasets.csv_tables import Table, TableRow, read_table
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, ClozeSet
from tiltmeter.stimuli.sentences.sentence import fill_frame
from tiltmeter.stimuli.text import normalise

#: What may decide between the pronouns, each a column.
CONTEXTS = ("occupation", "noun", "verb")
ACCEPT = "accept"
_NEEDED = ("id", ACCEPT, "sentence", "pronoun_1", "pronoun_2")
_DEFAULTS = {"group_1": "men", "group_2": "women", "language": "en", "expected": ""}
COLUMNS = (
    *("id", ACCEPT, "sentence", *CONTEXTS, "expected"),
    *("pronoun_1", "pronoun_2", "group_1", "group_2", "language"),
)
Decision = Literal["yes", "no", ""]
_DECISIONS: Mapping[str, Decision] = {
    **dict.fromkeys(("yes", "y", "true", "1", "x", "accept"), "yes"),
    **dict.fromkeys(("no", "n", "false", "0", "reject"), "no"),
    "": "",
}


@dataclasses.dataclass(frozen=True, slots=True)
class DraftRow:
    """A proposed sentence with ``{pronoun}`` as its last word, the words that may decide, and what a person made of it.

    ``more`` are the cells of columns that are not ours, which are kept.
    """

    sentence: str
    contexts: Mapping[str, str]
    pronouns: tuple[str, str]
    groups: tuple[str, str] = ("men", "women")
    language: str = "en"
    decision: Decision = ""
    expected: str = ""
    id: str = ""
    more: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", hashlib.blake2b(self.sentence.encode(), digest_size=4).hexdigest())

    @property
    def cells(self) -> dict[str, str]:
        return {
            "id": self.id, ACCEPT: self.decision, "sentence": self.sentence,
            **{name: self.contexts.get(name, "") for name in CONTEXTS}, "expected": self.expected,
            "pronoun_1": self.pronouns[0], "pronoun_2": self.pronouns[1],
            "group_1": self.groups[0], "group_2": self.groups[1], "language": self.language, **self.more,
        }  # fmt: skip


def is_draft(columns: Iterable[str]) -> bool:
    """Whether a table is a draft, by its columns."""
    return ACCEPT in columns


def read_draft(path: str | Path) -> tuple[DraftRow, ...]:
    """The rows of a draft, decided or not."""
    table = read_table(path)
    rows = table.need(*_NEEDED, filled=False)
    contexts = [name for name in CONTEXTS if name in table.columns]
    if not contexts:
        raise BadInput(f"{table.name}: no column '{CONTEXTS[0]}', '{CONTEXTS[1]}' or '{CONTEXTS[2]}': name the context")
    drafts = tuple(_row(table, row, contexts) for row in rows)
    places: dict[str, int] = {}
    for row, cells in zip(drafts, rows, strict=True):
        if row.id in places:
            raise table.wrong(cells, f"the id '{row.id}' is that of row {places[row.id]} too: give it another")
        places[row.id] = cells.number
    return drafts


def _row(table: Table, row: TableRow, contexts: list[str]) -> DraftRow:
    said = row[ACCEPT].strip().lower()
    if said not in _DECISIONS:
        raise table.wrong(row, f"accept is '{row[ACCEPT].strip()}': write yes or no, or leave it blank")
    sentence = normalise(row["sentence"])
    if sentence.count(PLACE) != 1:
        raise table.wrong(row, f"the sentence needs {PLACE} once, where the pronoun stands")
    cells = {name: normalise(row.cells.get(name, "")) for name in (*_NEEDED, *_DEFAULTS)}
    if not cells["pronoun_1"] or not cells["pronoun_2"]:
        raise table.wrong(row, "pronoun_1 and pronoun_2 must be filled in")
    values = {name: cells[name] or default for name, default in _DEFAULTS.items()}
    groups = (values["group_1"], values["group_2"])
    if values["expected"] not in ("", *groups):
        raise table.wrong(row, f"expected is '{values['expected']}', not {groups[0]} or {groups[1]}")
    words = {name: word for name in contexts if (word := normalise(row[name]))}
    if not words:
        raise table.wrong(row, "no context word: fill in the occupation, the noun or the verb")
    more = {name: text for name, text in row.cells.items() if name not in COLUMNS}
    pronouns = cells["pronoun_1"], cells["pronoun_2"]
    decision, expected = _DECISIONS[said], values["expected"]
    return DraftRow(sentence, words, pronouns, groups, values["language"], decision, expected, cells["id"], more)


def write_draft(path: Path, rows: Iterable[DraftRow]) -> None:
    """Write a draft whole, or leave the file as it was."""
    rows = tuple(rows)
    columns = dict.fromkeys([*COLUMNS, *(name for row in rows for name in row.more)])
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(row.cells for row in rows)
    write_atomically(path, text.getvalue().encode())


def load_draft(path: str | Path) -> tuple[ClozeSet, ...]:
    """The accepted rows of a draft as cloze sets, one for each kind of context word that they have."""
    file = Path(path)
    rows = read_draft(file)
    accepted = [row for row in rows if row.decision == "yes"]
    if not accepted:
        raise BadInput(
            f"{file.name}: no row is accepted: write yes in the column accept, or run tiltmeter serve --annotate "
            f"{file.name}"
        )
    about = {(row.groups, row.language) for row in accepted}
    if len(about) > 1:
        raise BadInput(f"{file.name}: the rows are of several languages or groups: make a draft of each")
    waiting = sum(not row.decision for row in rows)
    notes = (f"{file.name}: {waiting} of {len(rows)} rows wait for a decision and are left out",) if waiting else ()
    (groups, language), sets = about.pop(), []
    for context in CONTEXTS:
        chosen = [row for row in accepted if context in row.contexts]
        sentences = []
        for number, row in enumerate(chosen, 1):
            tags = {"number": str(number), **({"expected": row.expected} if row.expected else {})}
            words, forms = {PRONOUN: row.pronouns[0]}, {PRONOUN: row.pronouns}
            frame, unit = row.sentence, row.contexts[context]
            sentences.append(fill_frame(frame, words, unit=unit, forms=forms, tags=tags, capital=False))
        if sentences:
            named = f"{file.stem}-{context}"
            sets.append(
                ClozeSet(named, tuple(sentences), groups=groups, language=language, notes=notes, context=context)
            )
    return tuple(sets)
