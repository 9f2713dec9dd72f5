"""Sentences with a pronoun for the holder of an occupation, from the shipped set or a public one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from tiltmeter.errors import unknown
from tiltmeter.stimuli import datasets, group
from tiltmeter.stimuli.sentences import shipped as own_sets
from tiltmeter.stimuli.sentences.sets import PronounSentence, PronounSet

_PUBLIC = ("winobias", "winogender", "bec_pro")
#: Below the first share of women the shipped set expects a man, above the second a woman.
_EXPECTED = (0.4, 0.6)
#: In these sentences of Winogender the pronoun refers to somebody else than the holder of the occupation.
SOMEBODY_ELSE = "participant"


@dataclasses.dataclass(frozen=True, slots=True)
class Pronouns:
    """Sentences, each once; ``by_share`` where what is expected was derived from the share of women."""

    sentences: PronounSet
    by_share: bool = False


def load_pronouns(data: str | Path | None) -> Pronouns:
    """The shipped set, a public one by name or path, or a set of one's own in the form of the shipped one.

    >>> row = load_pronouns(None).sentences.rows[0]
    >>> row.text, row.forms, row.expected
    ('The technician said that he was tired.', ('he', 'she'), None)
    """
    return _prepared(read_pronouns(data))


def parts_of(row: PronounSentence) -> tuple[str, str]:
    """What stands before the pronoun and after it.

    >>> parts_of(PronounSentence("The nurse said he left.", 15, 17, ("he", "she"), "nurse", 2, "type1", "1"))
    ('The nurse said ', ' left.')
    """
    return row.text[: row.start], row.text[row.end :]


def read_pronouns(data: str | Path | None) -> PronounSet:
    """The same sentences as their source has them: a sentence may be there twice, or with either pronoun."""
    if data is None or str(data).endswith((".yaml", ".yml")):
        return _own("occupations_en" if data is None else data)
    name = str(data)
    path = datasets.find(name) if name in _PUBLIC else Path(data)
    if not path.exists() and not path.suffix:
        raise unknown("data of pronouns", name, _PUBLIC)
    if not path.is_dir():
        return datasets.load_bec_pro(path)
    winogender = (path / "all_sentences.tsv").is_file()
    return (datasets.load_winogender if winogender else datasets.load_winobias)(path)


def _own(name: str | Path) -> PronounSet:
    """A set of masked sentences with the first form in the place of the mask."""
    masked = own_sets.masked_set(name)
    rows = []
    for number, row in enumerate(masked.rows, 1):
        (start, end), form, share = row.place, row.fillers[0], masked.shares.get(row.occupation)
        text = row.text[:start] + form + row.text[end:]
        expected = None if share is None else 1 if share < _EXPECTED[0] else 2 if share > _EXPECTED[1] else None
        kind = "/".join(row.fillers).lower()
        place = (start, start + len(form))
        rows.append(PronounSentence(text, *place, row.fillers, row.occupation, expected, kind, str(number)))
    return PronounSet(masked.name, tuple(rows), masked.shares, masked.language, masked.warnings)


def _prepared(found: PronounSet) -> Pronouns:
    """Every sentence once, what is expected of it, and the shares of women that are known."""
    once: dict[Any, PronounSentence] = {}
    for row in found.rows:
        kind = row.kind.split()[0] if found.name == "winobias" else row.kind
        once.setdefault((parts_of(row), row.forms, row.occupation), dataclasses.replace(row, kind=kind))
    rows, shares = tuple(once.values()), dict(found.shares)
    if found.name == "winobias":
        known = {word.text: word.properties.get("female_share") for word in group("occupations.all").words}
        named = dict.fromkeys(row.occupation for row in rows)
        shares = {name: share / 100 for name in named if isinstance(share := known.get(name), float)}
    by_share = bool(shares) and all(row.expected is None for row in rows)
    if by_share:
        rows = tuple(
            dataclasses.replace(row, expected=1 if shares[row.occupation] < 0.5 else 2)
            if row.occupation in shares and row.kind != SOMEBODY_ELSE
            else row
            for row in rows
        )
    return Pronouns(dataclasses.replace(found, rows=rows, shares=shares), by_share)
