"""GenderLex (Sabir and Sharma): sentences that end in him or her, with a verb, noun or occupation as context."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import Row, Table, read_table, rows_named
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, ClozeSet, two_versions
from tiltmeter.stimuli.sentences.sentence import Sentence
from tiltmeter.stimuli.text import normalise

GROUPS = ("men", "women")
LABELS = dict(zip("MW", GROUPS, strict=True))
CONTEXTS = {"noun": "noun", "verb": "verb", "occ": "occupation"}
_VARIANTS = {None: "all", "someone": "someone", "gn_pn": "person"}
_CLOZE_NAME = re.compile(r"(?:^|_)(noun|verb|occ)(?:_(someone|gn_pn))?$", re.IGNORECASE)
_RACE_NAME = re.compile(r"_[A-Z]_[A-Z]$")


def load_genderlex(folder: str | Path) -> tuple[ClozeSet, ...]:
    """Read all gender files of GenderLex in a folder and the folders below it, or a single file.

    The file name gives the context and the variant: ``GenderLex_noun.csv``, ``GenderLex_occ_someone.csv``,
    ``GenderLex_verb_GN_PN.csv``. Rows that are there twice are kept, because the published numbers count them.
    """
    files = _files(folder, _CLOZE_NAME, "GenderLex_noun.csv, GenderLex_occ_someone.csv, ...")
    return _with_label_conflicts([_cloze_set(file) for file in files])


def load_race_sets(folder: str | Path) -> tuple[ClozeSet, ...]:
    """Read all race files (``GenderLex_W_B.csv``) in a folder and the folders below it, or a single file."""
    files = _files(folder, _RACE_NAME, "GenderLex_W_B.csv, ...")
    return tuple(_race_set(file) for file in files)


def group_of(table: Table, row: Row) -> str:
    """The group that people expect, from the column HB."""
    label = row["HB"].strip()
    if label not in LABELS:
        raise table.wrong(row, f"HB is '{label}', not M or W")
    return LABELS[label]


def doubled_spaces(table: Table, columns: Iterable[str]) -> tuple[str, ...]:
    """A warning that names the rows whose white space was changed."""
    columns = tuple(columns)
    changed = [row.number for row in table.rows if any(" ".join(row[key].split()) != row[key] for key in columns)]
    if not changed:
        return ()
    return (f"{table.name}: doubled or loose white space in {rows_named(changed)}: made single",)


def repeated_rows(table: Table, columns: Iterable[str]) -> tuple[str, ...]:
    """A warning that says how many rows are there more than once."""
    columns = tuple(columns)
    unique = len({tuple(normalise(row[key]) for key in columns) for row in table.rows})
    if unique == len(table.rows):
        return ()
    return (f"{table.name}: {len(table.rows)} rows, {unique} unique: repeated rows kept, as published",)


def _files(folder: str | Path, pattern: re.Pattern[str], examples: str) -> list[Path]:
    path = Path(folder)
    if not path.exists():
        raise BadInput(f"no folder {path}: give the one that holds {examples}")
    if path.is_file():
        return [path]  # whatever it is called, its columns are checked
    files = [file for file in sorted(path.rglob("GenderLex_*.csv")) if pattern.search(file.stem)]
    if not files:
        raise BadInput(f"{path}: no file called {examples} in it")
    return files


def _cloze_set(file: Path) -> ClozeSet:
    named = _CLOZE_NAME.search(file.stem)
    context, variant = (part.lower() if part else None for part in named.groups()) if named else (None, None)
    table = read_table(file)
    columns = ("sent_m", "sent_w", "context", "HB")
    sentences = tuple(_sentence(table, row) for row in table.need(*columns))
    return ClozeSet(
        file.stem,
        sentences,
        groups=GROUPS,
        notes=doubled_spaces(table, columns) + repeated_rows(table, columns),
        variant=_VARIANTS[variant],
        context=CONTEXTS.get(context or "", "context"),
    )


def _sentence(table: Table, row: Row) -> Sentence:
    # White space first: with a double space left in, the last word would count as two.
    text_1, text_2, context = (normalise(row[key]) for key in ("sent_m", "sent_w", "context"))
    stem_1, _, last_1 = text_1.rpartition(" ")
    stem_2, _, last_2 = text_2.rpartition(" ")
    if stem_1 != stem_2 or last_1 == last_2 or not stem_1:
        raise table.wrong(row, "sent_m and sent_w should differ in their last word and in nothing else")
    pronouns = (last_1.rstrip("."), last_2.rstrip("."))
    expected = group_of(table, row)
    return two_versions(text_1, text_2, pronouns, contexts=(context, context), row=row.number, expected=expected)


def _with_label_conflicts(sets: list[ClozeSet]) -> tuple[ClozeSet, ...]:
    """Say where files of one variant give the same sentences different labels."""
    conflicts: dict[str, list[str]] = {}
    for one, other in itertools.combinations(sets, 2):
        if one.variant != other.variant or one.versions != other.versions:
            continue
        labels = zip(one.sentences, one.labels, other.labels, strict=True)
        differ = [int(sentence.tags["number"]) for sentence, mine, theirs in labels if mine != theirs]
        if differ:
            message = f"HB differs between {one.name} and {other.name} in {rows_named(differ)}: kept"
            conflicts.setdefault(one.name, []).append(message)
            conflicts.setdefault(other.name, []).append(message)
    return tuple(dataclasses.replace(each, notes=(*each.notes, *conflicts.get(each.name, []))) for each in sets)


def _race_set(file: Path) -> ClozeSet:
    table = read_table(file)
    columns = ("sent", "context", "race_A1", "race_B1")
    rows = table.need(*columns)
    races = (normalise(rows[0]["race_A1"]), normalise(rows[0]["race_B1"]))
    for row in rows:
        if (normalise(row["race_A1"]), normalise(row["race_B1"])) != races:
            raise table.wrong(
                row, f"race_A1 and race_B1 should be {races[0]} and {races[1]} as in row {rows[0].number}"
            )
        if len(row["sent"].split()) < 2:
            raise table.wrong(row, "sent should be a sentence that ends in a pronoun")
    # "black african" means the sum of two vectors: a colour alone can be taken for the colour.
    terms = tuple(tuple(race.split()) for race in races)
    groups = tuple("+".join(term) for term in terms)
    return ClozeSet(
        file.stem,
        tuple(_race_sentence(row) for row in rows),
        groups=groups,
        dimension="race",
        notes=doubled_spaces(table, columns) + repeated_rows(table, columns),
        variant="race",
        context="/".join(groups),
        races=terms,
    )


def _race_sentence(row: Row) -> Sentence:
    text = normalise(row["sent"]).rstrip(".")
    place = (text.rindex(" ") + 1, len(text))
    return Sentence(text, {PRONOUN: place}, normalise(row["context"]), tags={"number": str(row.number)})
