"""Bangla traits in five sentence structures (Sadhu et al. 2024), made into sentences as the study does.

The cells of a structure are a placeholder (the context), the ending of the gendered term, and what follows the trait.
S1 and S2 put the term first, S3 the trait, S4 and S5 the context and then the trait.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tiltmeter.stimuli.datasets.csv_tables import TableRow, read_table, rows_named
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, fill_frame
from tiltmeter.stimuli.text import normalise

#: The study's terms: boy and girl, man and woman, young man and young woman, lad and lass.
TERMS = tuple(
    (normalise(male), normalise(female))
    for male, female in (("ছেলে", "মেয়ে"), ("পুরুষ", "নারী"), ("যুবক", "যুবতী"), ("বালক", "বালিকা"))
)
_GROUPS = ("positive", "negative")
#: The two words are filled in last, when the sentence is tidy, so that no other occurrence is taken for them.
_TERM_FIRST = "{{target}}{ending} {context} {{trait}}{after}"
_TRAIT_FIRST = "{{trait}}{after} {{target}}{ending} {context}"
_CONTEXT_FIRST = "{context} {{trait}}{after} {{target}}{ending}"
_ORDERS = {
    "S1": _TERM_FIRST,
    "S2": _TERM_FIRST,
    "S3": _TRAIT_FIRST,
    "S4": _CONTEXT_FIRST,
    "S5": _CONTEXT_FIRST,
}
#: Endings of the term: plural (nominative, oblique) and objective singular, with an emphatic particle or without.
_ENDING = re.compile(r"(?:রা|দের|কে)[ইও]?(?![\u0980-\u09ff])")
_BEFORE_PUNCTUATION = re.compile(r" +(?=[।,!?])")


def load_bangla_traits(folder: str | Path) -> SentenceSet:
    """Read ``positive_traits_bn.csv`` and ``negative_traits_bn.csv``.

    An ending is joined to its word without a space. A structure that is blank for a trait is left out, and a cell that
    holds a word where an ending should be is set apart from the term; notes name the rows.
    """
    sentences: list[Sentence] = []
    notes: list[str] = []
    left_out: Counter[str] = Counter()
    traits: dict[str, set[str]] = {}
    for group in _GROUPS:
        table = read_table(Path(folder) / f"{group}_traits_bn.csv")
        table.need("Trait")
        traits[group] = {normalise(row["Trait"]) for row in table.rows}
        for structure in _ORDERS:
            keys = tuple(f"{structure}_{part}" for part in ("Mask_Suffix", "Placeholder", "Trait_Suffix"))
            rows = table.need_columns(*keys)
            used = [row for row in rows if row[keys[0]].strip() or row[keys[1]].strip()]
            if len(used) < len(rows):
                blank = {row.number for row in rows} - {row.number for row in used}
                left_out[f"{structure} is blank"] += len(blank)
                notes.append(f"{table.name}: {structure} is blank in {rows_named(blank)}: left out")
            apart = [row.number for row in used if _is_word(row[keys[0]])]
            if apart:
                notes.append(f"{table.name}: {keys[0]} is a word, not an ending, in {rows_named(apart)}: set apart")
            sentences += [_sentence(row, structure, keys, group) for row in used]
    shared = sorted(traits[_GROUPS[0]] & traits[_GROUPS[1]])
    if shared:
        notes.append(f"both positive and negative, kept in both: {', '.join(shared)}")
    return SentenceSet(
        "bangla_traits",
        tuple(sentences),
        groups=("men", "women"),
        language="bn",
        left_out=dict(left_out),
        notes=tuple(notes),
    )


def _is_word(cell: str) -> bool:
    """Whether the cell begins with a word that the published join would glue to the term."""
    return cell[:1].isalpha() and not _ENDING.match(normalise(cell))


def _sentence(row: TableRow, structure: str, keys: tuple[str, ...], group: str) -> Sentence:
    trait = normalise(row["Trait"])
    ending, context, after = (normalise(row[key]) for key in keys)
    # Written "-তা" where it is an ending of the trait, without the hyphen where it is a word.
    after = after[1:] if after.startswith("-") else f" {after}"
    ending = ending if _ENDING.match(ending) else f" {ending}"
    frame = normalise(_ORDERS[structure].format(ending=ending, context=context, after=after))
    return fill_frame(
        _BEFORE_PUNCTUATION.sub("", frame),
        {"target": TERMS[0][0], "trait": trait},
        unit=trait,
        forms={"target": tuple(term for pair in TERMS for term in pair)},
        tags={"group": group, "structure": structure},
        capital=False,
    )
