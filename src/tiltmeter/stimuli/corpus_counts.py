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
    marks = {
        comparable(sentence.word("pronoun")): place
        for place, side in enumerate(sentences.sentences)
        for sentence in side
    }
    cut = language(mined.language)
    occupations = dict.fromkeys(row.unit for row in sentences.versions)
    counts = {word: [0, 0] for word in occupations}
    by_name = {comparable(word): word for word in occupations}
    for row in mined.rows:
        word = by_name.get(comparable(row.word))
        if word is None or row.length != length:
            continue
        others = {comparable(row.text[start:end]) for start, end in cut.words(row.text) if start != row.start}
        for place in {marks[other] for other in others if other in marks}:
            counts[word][place] += 1
    if not any(map(any, counts.values())):
        raise BadInput(
            f"{Path(folder).name} has no occupation beside {', '.join(marks)}: mine the occupations first, "
            "e.g. tiltmeter mine my.txt --lexicon occupations.all --lengths sentence"
        )
    counted: Mapping[str, tuple[int, ...]] = {word: tuple(by_group) for word, by_group in counts.items()}
    return dataclasses.replace(sentences, counts=counted), f"'{Path(folder).name}' ({length})"
