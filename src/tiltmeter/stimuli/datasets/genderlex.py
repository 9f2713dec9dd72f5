"""GenderLex (Sabir and Sharma): sentences that end in him or her, with a verb, noun or occupation as context.

And the sets that the study adds: WinoBias and Winogender with one context word, and Japanese pairs.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.crows_pairs import load_crows_cloze
from tiltmeter.stimuli.datasets.csv_tables import Table, TableRow, read_table, rows_named
from tiltmeter.stimuli.datasets.draft_file import is_draft, load_draft
from tiltmeter.stimuli.sentences.cloze_sets import COMPARED, PRONOUN, ClozeSet, two_versions
from tiltmeter.stimuli.sentences.sentence import Sentence
from tiltmeter.stimuli.text import normalise

_GROUPS = ("men", "women")
_LABELS = dict(zip("MW", _GROUPS, strict=True))
_CONTEXTS = {"noun": "noun", "verb": "verb", "occ": "occupation"}
_VARIANTS = {None: "all", "someone": "someone", "gn_pn": "person"}
_CLOZE_NAME = re.compile(r"(?:^|_)(noun|verb|occ)(?:_(someone|gn_pn))?$", re.IGNORECASE)
_RACE_NAME = re.compile(r"_[A-Z]_[A-Z]$")
#: The published files say "prounoun".
_ALIASES = {"prounoun_m": "pronoun_m", "prounoun_w": "pronoun_w"}
_PAIR_COLUMNS = ("sent_m", "sent_w", "pronoun_m", "pronoun_w", "HB")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_JAPANESE = re.compile(r"[\u3040-\u30ff]")
#: A name stands before さん; は or の after it marks whom the sentence is about.
_NAME = re.compile(r"([\u4e00-\u9fff]+)さん([はの]?)")

_Pair: TypeAlias = tuple[str, str]


def load_cloze_files(path: str | Path) -> tuple[ClozeSet, ...]:
    """The cloze sets in a CSV file, or in all those in a folder and the folders below it; sets of races come last."""
    place = Path(path)
    if not place.exists():
        raise BadInput(f"no file or folder {place}: give one that holds GenderLex files (GenderLex_noun.csv, ...)")
    files = sorted(place.rglob("*.csv")) if place.is_dir() else [place]
    if not files:
        raise BadInput(f"{place}: no CSV file in this folder")
    sets, races = list[ClozeSet](), list[ClozeSet]()
    for file in files:
        columns = read_table(file).columns
        if is_draft(columns):
            sets += load_draft(file)
        elif "race_A1" in columns:
            races += load_race_sets(file)
        elif "sent_more" in columns:
            sets.append(load_crows_cloze(file))
        elif "pronoun_m" in columns or "prounoun_m" in columns:
            sets.append(load_pronoun_contexts(file))
        else:
            sets += load_genderlex(file)
    return (*_with_label_conflicts(sets), *races)


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


def _group_of(table: Table, row: TableRow) -> str:
    """The group that people expect, from the column HB."""
    label = row["HB"].strip()
    if label not in _LABELS:
        raise table.wrong(row, f"HB is '{label}', not M or W")
    return _LABELS[label]


def _oddities(table: Table, columns: Sequence[str]) -> tuple[str, ...]:
    """Warnings that name the rows whose white space was changed, and count those that are there more than once."""
    warnings = []
    if loose := [row.number for row in table.rows if any(" ".join(row[key].split()) != row[key] for key in columns)]:
        warnings.append(f"{table.name}: doubled or loose white space in {rows_named(loose)}: made single")
    unique = len({tuple(normalise(row[key]) for key in columns) for row in table.rows})
    if unique < len(table.rows):
        warnings.append(f"{table.name}: {len(table.rows)} rows, {unique} unique: repeated rows kept, as published")
    return tuple(warnings)


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
        file.stem, sentences, groups=_GROUPS, notes=_oddities(table, columns), variant=_VARIANTS[variant],
        context=_CONTEXTS.get(context or "", "context"),
    )  # fmt: skip


def _sentence(table: Table, row: TableRow) -> Sentence:
    # White space first: with a double space left in, the last word would count as two.
    text_1, text_2, context = (normalise(row[key]) for key in ("sent_m", "sent_w", "context"))
    stem_1, _, last_1 = text_1.rpartition(" ")
    stem_2, _, last_2 = text_2.rpartition(" ")
    if stem_1 != stem_2 or last_1 == last_2 or not stem_1:
        raise table.wrong(row, "sent_m and sent_w should differ in their last word and in nothing else")
    pronouns = (last_1.rstrip("."), last_2.rstrip("."))
    expected = _group_of(table, row)
    return two_versions(text_1, text_2, pronouns, contexts=(context, context), row=row.number, expected=expected)


def _with_label_conflicts(sets: list[ClozeSet]) -> tuple[ClozeSet, ...]:
    """Say where files of one variant give the same sentences different labels."""
    conflicts: dict[str, list[str]] = {}
    for one, other in itertools.combinations(sets, 2):
        if one.variant != other.variant or one.versions != other.versions:
            continue
        labels = zip(one.sentences, one.labels, other.labels, strict=True)
        if differ := [int(sentence.tags["number"]) for sentence, mine, theirs in labels if mine != theirs]:
            message = f"HB differs between {one.name} and {other.name} in {rows_named(differ)}: kept"
            conflicts.setdefault(one.name, []).append(message)
            conflicts.setdefault(other.name, []).append(message)
    return tuple(
        dataclasses.replace(cloze_set, notes=(*cloze_set.notes, *conflicts.get(cloze_set.name, [])))
        for cloze_set in sets
    )


def _race_set(file: Path) -> ClozeSet:
    table = read_table(file)
    columns = ("sent", "context", "race_A1", "race_B1")
    rows = table.need(*columns)
    races = (normalise(rows[0]["race_A1"]), normalise(rows[0]["race_B1"]))
    for row in rows:
        if (normalise(row["race_A1"]), normalise(row["race_B1"])) != races:
            both = f"{races[0]} and {races[1]}"
            raise table.wrong(row, f"race_A1 and race_B1 should be {both} as in row {rows[0].number}")
        if len(row["sent"].split()) < 2:
            raise table.wrong(row, "sent should be a sentence that ends in a pronoun")
    # "black african" means the sum of two vectors: a colour alone can be taken for the colour.
    terms = tuple(tuple(race.split()) for race in races)
    groups = tuple("+".join(term) for term in terms)
    sentences = []
    for row in rows:
        text = normalise(row["sent"]).rstrip(".")
        slots, tags = {PRONOUN: (text.rindex(" ") + 1, len(text))}, {"number": str(row.number)}
        sentences.append(Sentence(text, slots, normalise(row["context"]), tags=tags))
    return ClozeSet(
        file.stem, tuple(sentences), groups=groups, dimension="race", notes=_oddities(table, columns), variant="race",
        context="/".join(groups), races=terms,
    )  # fmt: skip


def load_pronoun_contexts(path: str | Path) -> ClozeSet:
    """Read sentence pairs whose pronoun may stand anywhere, with the pronouns in columns of their own.

    Where the sentences do not differ in the pronouns of the columns, the words in which they do differ (in Japanese a
    name before さん) are scored, the pronouns are compared with the context, and a note names the rows.
    """
    file = Path(path)
    table = read_table(file, aliases=_ALIASES)
    contexts = ("context", "context") if "context" in table.columns else ("context_m", "context_w")
    rows = table.need(*_PAIR_COLUMNS, *dict.fromkeys(contexts))
    japanese = any(_JAPANESE.search(row["sent_m"]) for row in rows)
    find = _in_japanese if japanese else _in_tokens
    sentences, replaced, elsewhere = list[Sentence](), list[int](), list[int]()
    for row in rows:
        text_1, text_2, first, second = (normalise(row[key]) for key in _PAIR_COLUMNS[:4])
        pronouns, more = find(text_1, text_2, (first, second))
        if pronouns is None:
            raise table.wrong(row, f"sent_m and sent_w should differ in '{first}' and '{second}', or in one other word")
        replaced += [row.number] if pronouns != (first, second) else []
        elsewhere += [row.number] if more else []
        words, expected = (normalise(row[contexts[0]]), normalise(row[contexts[1]])), _group_of(table, row)
        sentence = two_versions(text_1, text_2, pronouns, contexts=words, row=row.number, expected=expected)
        other = dict(zip(COMPARED, (first, second), strict=True)) if pronouns != (first, second) else {}
        sentences.append(sentence.tagged(**other))
    notes = list(_oddities(table, table.columns))
    for numbers, what in (
        (
            replaced,
            "differ in other words than the pronouns of the columns: these words are scored, and the pronouns "
            "compared with the context as published, unless the method is names",
        ),
        (elsewhere, "differ in more than the pronoun: kept where the whole sentence is read"),
    ):
        notes += [f"{table.name}: the sentences of {rows_named(numbers)} {what}"] if numbers else []
    spoken, context = "ja" if japanese else "en", _CONTEXTS.get(file.stem.rpartition("_")[2].lower(), "topic")
    return ClozeSet(file.stem, tuple(sentences), groups=_GROUPS, language=spoken, notes=tuple(notes), context=context)


def _in_tokens(text_1: str, text_2: str, pronouns: _Pair) -> tuple[_Pair | None, bool]:
    """The words in which the texts differ, those of the columns if they do in them; and whether in others as well."""
    tokens_1, tokens_2 = _TOKEN.findall(text_1), _TOKEN.findall(text_2)
    if len(tokens_1) != len(tokens_2):
        return None, True
    differing = [pair for pair in zip(tokens_1, tokens_2, strict=True) if pair[0] != pair[1]]
    if pronouns in differing:
        return pronouns, len(set(differing)) > 1
    return (differing[0], False) if len(differing) == 1 else (None, True)


def _in_japanese(text_1: str, text_2: str, pronouns: _Pair) -> tuple[_Pair | None, bool]:
    """The same, without spaces to find words by; 彼 must not be found inside 彼女."""
    first, second = pronouns
    if first in text_1.replace(second, "") and second in text_2:
        return pronouns, text_1.replace(first, second) != text_2
    names = list(zip(_NAME.findall(text_1), _NAME.findall(text_2), strict=False))
    differing = [((one, other), bool(topic)) for (one, topic), (other, _) in names if one != other]
    if not differing:
        return None, True
    occupation = max(differing, key=lambda each: each[1])[0]
    return occupation, text_1.replace(*occupation) != text_2
