"""BEC-Pro (Bartl et al. 2020): a person, a template and a profession, for men and women alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import Table, TableRow, read_table, rows_named
from tiltmeter.stimuli.sentences.sentence import MASK, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.text import normalise

_COLUMNS = ("Sentence", "Sent_TM", "Template", "Person", "Gender", "Profession", "Prof_Gender")
_GENDERS = ("male", "female")
_EXPECTED = {"male": "men", "female": "women", "balanced": None}


def load_bec_pro(path: str | Path) -> SentenceSet:
    """Read the sentences; the forms are the person and the counterpart of the other gender (brother, sister).

    The counterpart of the n-th man of a template and a profession is the n-th woman. The tag ``kind`` is the template.
    """
    table = read_table(path)
    rows = table.need(*_COLUMNS)
    counterparts = _counterparts(table, rows)
    sentences = []
    for row in rows:
        man, woman = counterparts[row.number]
        place, persons = _place(table, row), (normalise(man["Person"]), normalise(woman["Person"]))
        text, profession, template = (normalise(row[key]) for key in ("Sentence", "Profession", "Template"))
        tags = {"expected": _EXPECTED[row["Prof_Gender"].strip()], "kind": template, "id": str(row.number)}
        sentence = pronoun_sentence(text, place, persons, profession, **tags)
        other, group = (woman, 2) if row is man else (man, 1)
        if sentence.version("pronoun", group).text != normalise(other["Sentence"]):
            raise table.wrong(row, f"row {other.number} should be the same sentence with '{other['Person']}'")
        sentences.append(sentence)
    twice = [row.number for row in rows if row["Sent_TM"].count(MASK) > 1]
    notes = (f"{table.name}: Sent_TM masks more than the person in {rows_named(twice)}: not used",) if twice else ()
    return SentenceSet("bec_pro", tuple(sentences), groups=("men", "women"), notes=notes)


def _counterparts(table: Table, rows: tuple[TableRow, ...]) -> Mapping[int, tuple[TableRow, TableRow]]:
    """The man and the woman of each row, by its number."""
    cells: dict[tuple[str, str], dict[str, list[TableRow]]] = {}
    for row in rows:
        gender, stereotype = row["Gender"].strip(), row["Prof_Gender"].strip()
        if gender not in _GENDERS:
            raise table.wrong(row, f"Gender is '{gender}', not male or female")
        if stereotype not in _EXPECTED:
            raise table.wrong(row, f"Prof_Gender is '{stereotype}', not male, female or balanced")
        cell = cells.setdefault((row["Template"], row["Profession"]), {gender: [] for gender in _GENDERS})
        cell[gender].append(row)
    pairs: dict[int, tuple[TableRow, TableRow]] = {}
    for (template, profession), cell in cells.items():
        men, women = cell["male"], cell["female"]
        if len(men) != len(women):
            counts = f"{len(men)} men and {len(women)} women with '{profession}' in '{template}'"
            raise BadInput(f"{table.name}: {counts}: there should be as many of each")
        for man, woman in zip(men, women, strict=True):
            pairs[man.number] = pairs[woman.number] = (man, woman)
    return pairs


def _place(table: Table, row: TableRow) -> tuple[int, int]:
    """Where the person stands: at the first mask of the sentence with the target masked.

    The first, because the published sentences also mask inside a profession: "This [MASK] is a lodging [MASK]ager."
    """
    text, masked, person = (normalise(row[key]) for key in ("Sentence", "Sent_TM", "Person"))
    before, mask, _ = masked.partition(MASK)
    if not mask or not text.startswith(before + person):
        raise table.wrong(row, f"Sent_TM should be the sentence with {MASK} in place of '{person}'")
    if normalise(row["Profession"]) not in text:
        raise table.wrong(row, f"the sentence does not hold the profession '{row['Profession']}'")
    return len(before), len(before) + len(person)
