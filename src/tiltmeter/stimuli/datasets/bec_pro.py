"""BEC-Pro (Bartl et al. 2020): a person, a template and a profession, for men and women alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import Row, Table, read_table, rows_named
from tiltmeter.stimuli.sentences.sets import MASK, PronounSentence, PronounSet, TraitSentence, TraitSet
from tiltmeter.stimuli.text import normalise

_COLUMNS = ("Sentence", "Sent_TM", "Template", "Person", "Gender", "Profession", "Prof_Gender")
_GENDERS = ("male", "female")
_EXPECTED = {"male": 1, "female": 2, "balanced": None}


def load_bec_pro(path: str | Path) -> PronounSet:
    """Read the sentences; ``forms`` are the person and the counterpart of the other gender (brother, sister).

    The counterpart of the n-th man of a template and a profession is the n-th woman. ``kind`` is the template.
    """
    table = read_table(path)
    rows = table.need(*_COLUMNS)
    counterparts = _counterparts(table, rows)
    made = []
    for row in rows:
        start, end = _place(table, row)
        man, woman = counterparts[row.number]
        forms = (normalise(man["Person"]), normalise(woman["Person"]))
        sentence = PronounSentence(
            normalise(row["Sentence"]),
            start,
            end,
            forms,
            normalise(row["Profession"]),
            _EXPECTED[row["Prof_Gender"].strip()],
            normalise(row["Template"]),
            str(row.number),
        )
        other = woman if row is man else man
        if sentence.other != normalise(other["Sentence"]):
            raise table.wrong(row, f"row {other.number} should be the same sentence with '{other['Person']}'")
        made.append(sentence)
    twice = [row.number for row in rows if row["Sent_TM"].count(MASK) > 1]
    warnings = (f"{table.name}: Sent_TM masks more than the person in {rows_named(twice)}: not used",) if twice else ()
    return PronounSet("bec_pro", tuple(made), warnings=warnings)


def load_bec_pro_traits(path: str | Path) -> tuple[TraitSet, ...]:
    """The same sentences for the log-probability bias of professions: one set a frame (He, This man, My brother).

    Each set has its own terms, the target is the person and the attribute the profession; professions that are
    balanced belong to neither group and are left out.
    """
    rows = load_bec_pro(path).rows
    frames: dict[str, list[PronounSentence]] = {}
    for row in rows:
        frames.setdefault(row.text[: row.start], []).append(row)
    return tuple(_trait_set(frame, found) for frame, found in frames.items())


def _trait_set(frame: str, rows: list[PronounSentence]) -> TraitSet:
    terms = tuple(dict.fromkeys(row.forms for row in rows))
    shown = [row for row in rows if row.word == terms[0][0]]
    used = [row for row in shown if row.expected is not None]
    left_out = {row.occupation for row in shown} - {row.occupation for row in used}
    warnings = (f"{len(left_out)} balanced professions belong to neither group: left out",) if left_out else ()
    name = f"bec_pro {frame}{terms[0][0]}"
    return TraitSet(name, tuple(_trait(row) for row in used), terms, _GENDERS, warnings=warnings)


def _trait(row: PronounSentence) -> TraitSentence:
    start = row.text.index(row.occupation, row.end)
    attribute = (start, start + len(row.occupation))
    group = _GENDERS[(row.expected or 1) - 1]
    return TraitSentence(row.text, (row.start, row.end), attribute, row.occupation, group, row.kind)


def _counterparts(table: Table, rows: tuple[Row, ...]) -> Mapping[int, tuple[Row, Row]]:
    """The man and the woman of each row, by its number."""
    cells: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        gender, stereotype = row["Gender"].strip(), row["Prof_Gender"].strip()
        if gender not in _GENDERS:
            raise table.wrong(row, f"Gender is '{gender}', not male or female")
        if stereotype not in _EXPECTED:
            raise table.wrong(row, f"Prof_Gender is '{stereotype}', not male, female or balanced")
        cell = cells.setdefault((row["Template"], row["Profession"]), {gender: [] for gender in _GENDERS})
        cell[gender].append(row)
    pairs: dict[int, tuple[Row, Row]] = {}
    for (template, profession), cell in cells.items():
        if len(cell["male"]) != len(cell["female"]):
            counts = f"{len(cell['male'])} men and {len(cell['female'])} women"
            raise BadInput(
                f"{table.name}: {counts} with '{profession}' in '{template}': there should be as many of each"
            )
        for man, woman in zip(cell["male"], cell["female"], strict=True):
            pairs[man.number] = pairs[woman.number] = (man, woman)
    return pairs


def _place(table: Table, row: Row) -> tuple[int, int]:
    """Where the person stands: at the first mask of the sentence with the target masked.

    The first, because the published sentences also mask inside a profession: "This [MASK] is a lodging [MASK]ager."
    """
    text, masked, person = (normalise(row[key]) for key in ("Sentence", "Sent_TM", "Person"))
    before, found, _ = masked.partition(MASK)
    if not found or not text.startswith(before + person):
        raise table.wrong(row, f"Sent_TM should be the sentence with {MASK} in place of '{person}'")
    if normalise(row["Profession"]) not in text:
        raise table.wrong(row, f"the sentence does not hold the profession '{row['Profession']}'")
    return len(before), len(before) + len(person)
