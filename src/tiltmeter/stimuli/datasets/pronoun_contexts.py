"""The sets that the GenderLex study adds: WinoBias and Winogender with one context word, and Japanese pairs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from tiltmeter.stimuli.datasets.csv_tables import Row, Table, read_table, rows_named
from tiltmeter.stimuli.datasets.genderlex import CONTEXTS, GROUPS, doubled_spaces, group_of, repeated_rows
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet, two_versions
from tiltmeter.stimuli.sentences.sentence import Sentence
from tiltmeter.stimuli.text import normalise

#: The published files say "prounoun".
_ALIASES = {"prounoun_m": "pronoun_m", "prounoun_w": "pronoun_w"}
_COLUMNS = ("sent_m", "sent_w", "pronoun_m", "pronoun_w", "HB")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_JAPANESE = re.compile(r"[\u3040-\u30ff]")
#: A name stands before さん; は or の after it marks whom the sentence is about.
_NAME = re.compile(r"([\u4e00-\u9fff]+)さん([はの]?)")

_Pair: TypeAlias = tuple[str, str]
#: (text_1, text_2, the pronouns of the columns) -> the words in the text (None: not found), do texts differ elsewhere
_Finder: TypeAlias = Callable[[str, str, _Pair], tuple[_Pair | None, bool]]


def load_pronoun_contexts(path: str | Path) -> ClozeSet:
    """Read sentence pairs whose pronoun may stand anywhere, with the pronouns in columns of their own.

    Where the sentences do not differ in the pronouns of the columns, the words in which they do differ are taken
    (in Japanese a name before さん), and a warning names the rows.
    """
    file = Path(path)
    table = read_table(file, aliases=_ALIASES)
    contexts = ("context", "context") if "context" in table.columns else ("context_m", "context_w")
    rows = table.need(*_COLUMNS, *dict.fromkeys(contexts))
    japanese = any(_JAPANESE.search(row["sent_m"]) for row in rows)
    find = _in_japanese if japanese else _in_tokens
    sentences, replaced, elsewhere = list[Sentence](), list[int](), list[int]()
    for row in rows:
        pronouns, more = _pronouns(table, row, find)
        if pronouns != (normalise(row["pronoun_m"]), normalise(row["pronoun_w"])):
            replaced.append(row.number)
        if more:
            elsewhere.append(row.number)
        words = (normalise(row[contexts[0]]), normalise(row[contexts[1]]))
        both, expected = (normalise(row["sent_m"]), normalise(row["sent_w"])), group_of(table, row)
        sentences.append(two_versions(*both, pronouns, contexts=words, row=row.number, expected=expected))
    notes = doubled_spaces(table, table.columns) + repeated_rows(table, table.columns)
    notes += _report(table.name, replaced, "do not differ in the pronouns of the columns: the words that differ taken")
    notes += _report(table.name, elsewhere, "differ in more than the pronoun: kept as published")
    return ClozeSet(
        file.stem,
        tuple(sentences),
        groups=GROUPS,
        language="ja" if japanese else "en",
        notes=notes,
        context=CONTEXTS.get(file.stem.rpartition("_")[2].lower(), "topic"),
    )


def _pronouns(table: Table, row: Row, find: _Finder) -> tuple[_Pair, bool]:
    text_1, text_2, first, second = (normalise(row[key]) for key in _COLUMNS[:4])
    found, more = find(text_1, text_2, (first, second))
    if found is None:
        raise table.wrong(row, f"sent_m and sent_w should differ in '{first}' and '{second}', or in one other word")
    return found, more


def _in_tokens(text_1: str, text_2: str, pronouns: _Pair) -> tuple[_Pair | None, bool]:
    tokens_1, tokens_2 = _TOKEN.findall(text_1), _TOKEN.findall(text_2)
    if len(tokens_1) != len(tokens_2):
        return None, True
    differing = [pair for pair in zip(tokens_1, tokens_2, strict=True) if pair[0] != pair[1]]
    if pronouns in differing:
        return pronouns, len(set(differing)) > 1
    return (differing[0], False) if len(differing) == 1 else (None, True)


def _in_japanese(text_1: str, text_2: str, pronouns: _Pair) -> tuple[_Pair | None, bool]:
    """Japanese has no spaces to find words by; 彼 must not be found inside 彼女."""
    first, second = pronouns
    if first in text_1.replace(second, "") and second in text_2:
        return pronouns, text_1.replace(first, second) != text_2
    names = list(zip(_NAME.findall(text_1), _NAME.findall(text_2), strict=False))
    differing = [((one, other), bool(topic)) for (one, topic), (other, _) in names if one != other]
    if not differing:
        return None, True
    found = max(differing, key=lambda each: each[1])[0]
    return found, text_1.replace(*found) != text_2


def _report(name: str, numbers: list[int], what: str) -> tuple[str, ...]:
    return (f"{name}: the sentences of {rows_named(numbers)} {what}",) if numbers else ()
