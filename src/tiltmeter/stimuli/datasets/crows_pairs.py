"""CrowS-Pairs (Nangia et al. 2020): sentence pairs of nine kinds of bias; those on gender also as a cloze set.

ClozeGender takes the pairs in which a man and a woman are exchanged, with a concept for each as its context (Sabir &
Sharma 2025, section 7). The published concepts are not public: a column ``concept`` of one's own names them.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import read_table, rows_named
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
    found = []
    for row in table.need("sent_more", "sent_less", "stereo_antistereo", "bias_type"):
        more, less, direction = (normalise(row[key]) for key in ("sent_more", "sent_less", "stereo_antistereo"))
        if direction not in _DIRECTIONS:
            raise table.wrong(row, f"stereo_antistereo is '{direction}', not stereo or antistereo")
        if more == less:
            raise table.wrong(row, "both sentences are the same")
        kind = normalise(row["bias_type"])
        found.append(sentence_pair(more, less, kind=kind, number=str(row.number), direction=direction))
    kinds = {pair.tags["kind"] for pair in found}
    dimension = joint_dimension(_DIMENSIONS.get(kind, kind.replace("-", " ")) for kind in kinds)
    first = {pair.forms["sentence"]: pair for pair in reversed(found)}
    again = [int(pair.tags["number"]) for pair in found if first[pair.forms["sentence"]] is not pair]
    notes = (f"{table.name}: an earlier pair is repeated in {rows_named(again)}: kept as published",) if again else ()
    return SentenceSet("crows_pairs", tuple(found), dimension=dimension, notes=notes)


_GROUPS = ("men", "women")
_TERMS = (("gender.male_terms", "gender.male_names"), ("gender.female_terms", "gender.female_names"))
_TOKEN = re.compile(r"\w+|[^\w\s]")


def load_crows_cloze(path: str | Path) -> ClozeSet:
    """The pairs of a table in the form of CrowS-Pairs that exchange a man and a woman, each with its ``concept``.

    The first word in which the two sentences differ is the place of the choice; it must be a gendered word of ours, so
    that it is known who is meant. Other pairs, and rows without a concept, are left out and counted. People are taken
    to expect the sentence that fits the stereotype.
    """
    table = read_table(path)
    rows = table.need("sent_more", "sent_less")
    table.need("concept", filled=False)
    sides = _sides()
    sentences, left_out = list[Sentence](), Counter[str]()
    for row in rows:
        texts, concept = [normalise(row[key]) for key in ("sent_more", "sent_less")], normalise(row["concept"])
        words = _first_difference(*texts)
        side = sides.get(comparable(words[0])) if words else None
        if not concept or words is None or side is None or sides.get(comparable(words[1])) != 1 - side:
            left_out["no concept" if not concept else "does not exchange a man and a woman"] += 1
            continue
        (one, two), (first, second) = (texts, words) if side == 0 else (texts[::-1], words[::-1])
        expected, contexts = _GROUPS[side], (concept, concept)
        sentences.append(two_versions(one, two, (first, second), contexts=contexts, row=row.number, expected=expected))
    if not sentences:
        raise BadInput(f"{table.name}: no pair of it can be used ({', '.join(left_out) or 'it is empty'})")
    notes = tuple(f"{table.name}: {count} pair(s) left out: {reason}" for reason, count in left_out.items())
    return ClozeSet(
        Path(path).stem, tuple(sentences), groups=_GROUPS, left_out=dict(left_out), notes=notes, variant="stereotype",
        context="concept",
    )  # fmt: skip


def _sides() -> dict[str, int]:
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
