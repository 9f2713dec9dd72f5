"""How often occupations stand beside the words of two groups in a text of one's own."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.sentences.marked import MarkedSet
from tiltmeter.stimuli.text import comparable


def in_corpus(sentences: MarkedSet, folder: str | Path) -> tuple[MarkedSet, str]:
    """The sentences with the counts of a mined folder in place of their own, and what these were counted in.

    An occurrence counts for a group when its window holds one of the words that mark the group in the sentences: he,
    him, his. Where the miner kept only a sample, the sample is counted: PMI needs the share of each group beside an
    occupation, and a sample has it.
    """
    from tiltmeter.stimuli.languages import language
    from tiltmeter.stimuli.mining import load_mined

    mined = load_mined(folder)
    length = "sentence" if "sentence" in mined.lengths else mined.lengths[0]
    marks = {comparable(row.mark): row.group for row in sentences.rows}
    cut = language(mined.language)
    occupations = dict.fromkeys(row.occupation for row in sentences.rows)
    counts = {word: [0, 0] for word in occupations}
    by_name = {comparable(word): word for word in occupations}
    for row in mined.rows:
        word = by_name.get(comparable(row.word))
        if word is None or row.length != length:
            continue
        beside = {comparable(row.text[start:end]) for start, end in cut.words(row.text) if start != row.start}
        for group in {marks[each] for each in beside if each in marks}:
            counts[word][group - 1] += 1
    if not any(map(any, counts.values())):
        raise BadInput(
            f"{Path(folder).name} has no occupation beside {', '.join(marks)}: mine the occupations first, "
            "e.g. tiltmeter mine my.txt --lexicon occupations.all --lengths sentence"
        )
    found: Mapping[str, tuple[int, ...]] = {word: tuple(own) for word, own in counts.items()}
    return dataclasses.replace(sentences, counts=found), f"'{Path(folder).name}' ({length})"
