"""CrowS-Pairs (Nangia et al. 2020): sentence pairs of nine kinds of bias; those on gender also as a cloze set.

ClozeGender takes the pairs in which a man and a woman are exchanged, with a concept for each as its context (Sabir &
Sharma 2025, section 7). The published concepts are not public: a column ``concept`` of one's own names them.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import Table, TableRow, read_table, rows_named
from tiltmeter.stimuli.lexicon.lexicon import group, pairs
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet, two_versions
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, joint_dimension, sentence_pair
from tiltmeter.stimuli.text import comparable, normalise

_DIRECTIONS = ("stereo", "antistereo")
_DIMENSIONS = {"race-color": "race", "socioeconomic": "socioeconomic status"}


def load_crows_pairs(path: str | Path) -> SentenceSet:
    """Read the pairs. ``sent_more`` is the sentence that fits the stereotype in both directions.

    The direction says which of the two sentences was written first: one that shows a stereotype of a disadvantaged
    group (stereo), or one that goes against it (antistereo).
    """
    table = read_table(path)
    pairs = []
    for row in table.need("sent_more", "sent_less", "stereo_antistereo", "bias_type"):
        more, less, direction = (normalise(row[key]) for key in ("sent_more", "sent_less", "stereo_antistereo"))
        if direction not in _DIRECTIONS:
            raise table.wrong(row, f"stereo_antistereo is '{direction}', not stereo or antistereo")
        if more == less:
            raise table.wrong(row, "both sentences are the same")
        kind = normalise(row["bias_type"])
        pairs.append(sentence_pair(more, less, kind=kind, number=str(row.number), direction=direction))
    kinds = {pair.tags["kind"] for pair in pairs}
    dimension = joint_dimension(_DIMENSIONS.get(kind, kind.replace("-", " ")) for kind in kinds)
    first = {pair.forms["sentence"]: pair for pair in reversed(pairs)}
    again = [int(pair.tags["number"]) for pair in pairs if first[pair.forms["sentence"]] is not pair]
    notes = (f"{table.name}: an earlier pair is repeated in {rows_named(again)}: kept as published",) if again else ()
    return SentenceSet("crows_pairs", tuple(pairs), dimension=dimension, notes=notes)


_GROUPS = ("men", "women")
_TERMS = (("gender.male_terms", "gender.male_names"), ("gender.female_terms", "gender.female_names"))
_TOKEN = re.compile(r"\w+|[^\w\s]")


@dataclasses.dataclass(frozen=True, slots=True)
class GenderPair:
    """A pair that exchanges a man and a woman: its row in the file, the texts and words of men and of women, and which
    of the two fits the stereotype (0 men, 1 women)."""

    row: TableRow
    texts: tuple[str, str]
    words: tuple[str, str]
    side: int

    @property
    def blanked(self) -> str:
        """The sentence with a blank for whom it is about."""
        text, word = self.texts[0], self.words[0]
        return re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", "____", text, count=1)


def gender_pairs(table: Table) -> tuple[list[GenderPair], int]:
    """The pairs of a table in the form of CrowS-Pairs that exchange a man and a woman, and how many do not.

    The first word in which the two sentences differ is the place of the choice; it must be a gendered word of ours, so
    that it is known who is meant.
    """
    sides, pairs, others = gendered_words(), list[GenderPair](), 0
    for row in table.need("sent_more", "sent_less"):
        more, less = (normalise(row[key]) for key in ("sent_more", "sent_less"))
        words = _first_difference(more, less)
        side = sides.get(comparable(words[0])) if words else None
        if words is None or side is None or sides.get(comparable(words[1])) != 1 - side:
            others += 1
            continue
        ordered = ((more, less), words) if side == 0 else ((less, more), words[::-1])
        pairs.append(GenderPair(row, ordered[0], (ordered[1][0], ordered[1][1]), side))
    return pairs, others


def load_crows_cloze(path: str | Path) -> ClozeSet:
    """The pairs of a table in the form of CrowS-Pairs that exchange a man and a woman, each with its ``concept``.

    Other pairs, and rows without a concept, are left out and counted. People are taken to expect the sentence that fits
    the stereotype.
    """
    table = read_table(path)
    table.need("concept", filled=False)
    sentences, left_out = list[Sentence](), Counter[str]()
    pairs, others = gender_pairs(table)
    for pair in pairs:
        concept = normalise(pair.row["concept"])
        if not concept:
            left_out["no concept"] += 1
            continue
        about: dict[str, Any] = {"contexts": (concept, concept), "row": pair.row.number, "expected": _GROUPS[pair.side]}
        sentences.append(two_versions(*pair.texts, pair.words, **about))
    if others:
        left_out["does not exchange a man and a woman"] = others
    if not sentences:
        raise BadInput(f"{table.name}: no pair of it can be used ({', '.join(left_out) or 'it is empty'})")
    notes = tuple(f"{table.name}: {count} pair(s) left out: {reason}" for reason, count in left_out.items())
    return ClozeSet(
        Path(path).stem, tuple(sentences), groups=_GROUPS, left_out=dict(left_out), notes=notes, variant="stereotype",
        context="concept",
    )  # fmt: skip


def gendered_words() -> dict[str, int]:
    """Gendered words and names of ours, 0 for men and 1 for women, with their regular plurals."""
    words = [[word for address in addresses for word in group(address).texts] for addresses in _TERMS]
    for woman, man in pairs("gender.gender").pairs:
        words[0].append(man)
        words[1].append(woman)
    forms = {
        form: side for side in (0, 1) for word in words[side] for form in (comparable(word), f"{comparable(word)}s")
    }
    return {**forms, "his": 0, "hers": 1}


def _first_difference(one: str, two: str) -> tuple[str, str] | None:
    """The first two words in which the sentences differ; None where one sentence ends before that."""
    words = zip(_TOKEN.findall(one), _TOKEN.findall(two), strict=False)
    return next(((a, b) for a, b in words if a != b), None)
