"""What a user knows of occupations: labels in a table, and counts in a text of one's own."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.annotated import GROUP_NAMES, GROUPS
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.sentences.marked import MarkedSet
from tiltmeter.stimuli.text import comparable

#: What a label may say of an occupation that is known for no group.
NEITHER = ("neither", "neutral")


@dataclasses.dataclass(frozen=True, slots=True)
class LabelFile:
    """Labels by occupation: 1 or 2 for a group, 0 for neither. ``missing`` says why a file could not be had."""

    name: str
    labels: Mapping[str, int]
    missing: str = ""


def read_occupation_labels(path: str | Path, *, groups: Sequence[str]) -> LabelFile:
    """Read a CSV or TSV table; a label is the name of a group, its number, or neither; a blank one is not known.

    Men and women may be called male and female, M and F, as in a table of sentences.

    A file that is not there stops nothing: what does not need it can still be measured.

    >>> read_occupation_labels("nowhere.csv", groups=("men", "women"))
    LabelFile(name='nowhere.csv', labels={}, missing='there is no such file')
    """
    file = Path(path)
    if not file.is_file():
        return LabelFile(file.name, {}, "there is no such file")
    table = read_table(file)
    table.need("occupation")
    numbers = {comparable(name): number for number, name in enumerate(groups, 1)}
    numbers |= {str(number): number for number in (0, 1, 2)} | dict.fromkeys(NEITHER, 0)
    if tuple(groups) == GROUPS:
        numbers |= {name: place + 1 for name, place in GROUP_NAMES.items()}
    labels: dict[str, int] = {}
    for row in table.need("label", filled=False):
        word, label = comparable(row["occupation"]), comparable(row["label"])
        if not label:
            continue
        if label not in numbers:
            raise table.wrong(row, f"'{row['label']}' is not a label: write {', '.join(groups)} or neither")
        if labels.setdefault(word, numbers[label]) != numbers[label]:
            raise table.wrong(row, f"'{word}' has two different labels: keep one")
    if not labels:
        raise BadInput(f"{file.name}: no occupation has a label")
    return LabelFile(file.name, labels)


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
    sides = enumerate(sentences.sentences)
    marks = {comparable(sentence.word("pronoun")): place for place, side in sides for sentence in side}
    cut = language(mined.language)
    counts = {row.unit: [0, 0] for row in sentences.versions}
    by_mark: dict[str, tuple[Counter[str], ...]] = {word: (Counter(), Counter()) for word in counts}
    by_name = {comparable(word): word for word in counts}
    for row in mined.rows:
        word = by_name.get(comparable(row.word))
        if word is None or row.length != length:
            continue
        others = {comparable(row.text[start:end]) for start, end in cut.words(row.text) if start != row.start}
        seen = others & marks.keys()
        for place in {marks[mark] for mark in seen}:
            counts[word][place] += 1
        for mark in seen:
            by_mark[word][marks[mark]][mark] += 1
    if not any(map(any, counts.values())):
        raise BadInput(
            f"{Path(folder).name} has no occupation beside {', '.join(marks)}: mine the occupations first, "
            "e.g. tiltmeter mine my.txt --lexicon occupations.all --lengths sentence"
        )
    by_group = {word: tuple(both) for word, both in counts.items()}
    counted = dataclasses.replace(sentences, counts=by_group, mark_counts=by_mark)
    return counted, f"'{Path(folder).name}' ({length})"
