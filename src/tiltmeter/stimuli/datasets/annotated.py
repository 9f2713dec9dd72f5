"""Sentences with an occupation and a gendered pronoun in a table: one's own, or BUG (Levy et al. 2021).

A table of one's own has the columns ``sentence``, ``occupation`` and ``group`` (men or women; he and she, male and
female, M and F say the same) and, where a sentence does not tell it, ``pronoun`` or the places ``start`` and ``end`` of
it. BUG calls them ``sentence_text``, ``profession`` and ``g``, which is the pronoun.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import Table, TableRow, read_table
from tiltmeter.stimuli.sentences.sentence import Place, Sentence, SentenceSet, pronoun_sentence
from tiltmeter.stimuli.text import comparable

GROUPS = ("men", "women")
#: What says a group, and the place of that group.
GROUP_NAMES = {
    "men": 0, "male": 0, "m": 0, "he": 0, "man": 0, "1": 0,
    "women": 1, "female": 1, "f": 1, "w": 1, "she": 1, "woman": 1, "2": 1,
}  # fmt: skip
_FORMS = {
    "he": ("he", "she"), "she": ("he", "she"), "him": ("him", "her"), "himself": ("himself", "herself"),
    "herself": ("himself", "herself"), "hers": ("his", "hers"),
}  # fmt: skip
_FEMALE = frozenset({"she", "her", "hers", "herself"})
_PRONOUNS = frozenset({*_FORMS, "his", *_FEMALE})
_WORD = re.compile(r"\w+(?:'\w+)?")
#: After one of these words, or at the end of a clause, "her" stands for him and "his" for hers.
_NO_NOUN = frozenset({
    "a", "about", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "because", "before",
    "but", "by", "can", "could", "did", "do", "does", "during", "for", "from", "had", "has", "have", "how", "if", "in",
    "into", "is", "it", "may", "might", "must", "not", "of", "off", "on", "or", "out", "over", "since", "so", "than",
    "that", "the", "then", "there", "they", "this", "through", "to", "too", "until", "up", "was", "we", "were", "what",
    "when", "where", "whether", "which", "while", "who", "why", "will", "with", "without", "would", "you",
})  # fmt: skip
_ALIASES = {"sentence_text": "sentence", "profession": "occupation", "g": "pronoun"}
_STRAY = "another word in the sentence says a gender"
_NOT_FOUND = "the pronoun is not in the sentence"


def is_annotated(path: str | Path) -> bool:
    """Whether a table means to hold annotated sentences: one of their two columns is enough to be told of the other."""
    return not {"sentence", "occupation"}.isdisjoint(read_table(path, aliases=_ALIASES).columns)


def load_annotated(path: str | Path) -> SentenceSet:
    """Read a table of annotated sentences; ``path`` may be the folder of BUG, of which the gold file is read.

    A sentence in which another word says a gender too is left out, because its other version would say two. What "her"
    is for a man (him or his) follows from the word after it.
    """
    file = Path(path)
    file = file / "gold_BUG.csv" if file.is_dir() else file
    table = read_table(file, aliases=_ALIASES)
    table.need("sentence", "occupation")
    if not {"group", "pronoun"} & set(table.columns):
        raise BadInput(f"{table.name}: no column 'group' or 'pronoun'; found: {', '.join(table.columns)}")
    sentences, left_out = list[Sentence](), Counter[str]()
    for row in table.rows:
        # As it is: white space that was changed would move the places.
        text, occupation = row["sentence"], comparable(row["occupation"])
        place = _place(table, row, text)
        if isinstance(place, str):
            left_out[place] += 1
            continue
        group, forms = _forms(text, place)
        said = _group(table, row)
        if said is not None and said != group:
            word = text[place[0] : place[1]]
            raise table.wrong(row, f"'{word}' does not stand for {GROUPS[said]}, which the column 'group' says")
        sentences.append(pronoun_sentence(text, place, forms, occupation, expected=_expected(row, group), kind=""))
    if not sentences:
        raise BadInput(f"{table.name}: no sentence of it can be used ({', '.join(left_out) or 'it is empty'})")
    return SentenceSet(file.stem, tuple(sentences), groups=GROUPS, left_out=dict(left_out))


def _place(table: Table, row: TableRow, text: str) -> Place | str:
    """Where the pronoun stands, or why the sentence cannot be used."""
    words = [word for word in _WORD.finditer(text) if word[0].lower() in _PRONOUNS]
    if "start" in table.columns and row["start"].strip():
        place = _given(table, row, text)
        stray = any(word.span() != place for word in words)
        return _STRAY if stray else place
    named = row.cells.get("pronoun", "").strip().lower()
    side = None if named else _group(table, row)
    wanted = {named} if named else {word for word in _PRONOUNS if side is not None and (word in _FEMALE) == side}
    fitting = [word for word in words if word[0].lower() in wanted]
    if not fitting:
        return _NOT_FOUND
    return fitting[0].span() if len(words) == 1 else _STRAY


def _given(table: Table, row: TableRow, text: str) -> Place:
    try:
        start, end = int(row["start"]), int(row.cells.get("end") or "")
    except ValueError:
        raise table.wrong(row, "start and end should be whole numbers, the places of the pronoun") from None
    if text[start:end].lower() not in _PRONOUNS or start < 0:
        raise table.wrong(row, f"'{text[max(start, 0) : end]}' at {start} to {end} is not a gendered pronoun")
    return start, end


def _group(table: Table, row: TableRow) -> int | None:
    said = comparable(row.cells.get("group", ""))
    if not said:
        return None
    if said not in GROUP_NAMES:
        raise table.wrong(row, f"group is '{row['group']}', not men or women")
    return GROUP_NAMES[said]


def _forms(text: str, place: Place) -> tuple[int, tuple[str, str]]:
    """The group of the pronoun, and what it is for a man and for a woman, with the case it has."""
    word = text[place[0] : place[1]]
    small = word.lower()
    forms = _FORMS.get(small) or _case(small, text[place[1] :])
    capital = word[0].isupper()
    one, two = (form.capitalize() if capital else form for form in forms)
    return int(small in _FEMALE), (one, two)


def _case(small: str, after: str) -> tuple[str, str]:
    """her and his: before a noun both are its owner's, elsewhere they are him and hers."""
    following = re.match(r"\s+(\w+)", after)
    owner = following is not None and following[1].lower() not in _NO_NOUN
    if small == "his":
        return ("his", "her") if owner else ("his", "hers")
    return ("his", "her") if owner else ("him", "her")


def _expected(row: TableRow, group: int) -> str | None:
    """The group that a stereotype gives the occupation, where the table says whether the sentence follows it."""
    side = {"1": group, "-1": 1 - group}.get(row.cells.get("stereotype", "").strip())
    return None if side is None else GROUPS[side]
