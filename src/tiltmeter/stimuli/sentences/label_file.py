"""What a user knows of occupations: a table with the columns occupation and label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.text import comparable

#: What a label may say of an occupation that is known for no group.
NEITHER = ("neither", "neutral")


@dataclass(frozen=True, slots=True)
class LabelFile:
    """Labels by occupation: 1 or 2 for a group, 0 for neither. ``missing`` says why a file could not be had."""

    name: str
    labels: Mapping[str, int]
    missing: str = ""


def read_labels(path: str | Path, *, groups: Sequence[str]) -> LabelFile:
    """Read a CSV or TSV table; a label is the name of a group, its number, or neither; a blank one is not known.

    A file that is not there stops nothing: what does not need it can still be measured.

    >>> read_labels("nowhere.csv", groups=("men", "women"))
    LabelFile(name='nowhere.csv', labels={}, missing='there is no such file')
    """
    file = Path(path)
    if not file.is_file():
        return LabelFile(file.name, {}, "there is no such file")
    table = read_table(file)
    table.need("occupation")
    numbers = {comparable(name): number for number, name in enumerate(groups, 1)}
    numbers |= {str(number): number for number in (0, 1, 2)} | dict.fromkeys(NEITHER, 0)
    labels: dict[str, int] = {}
    for row in table.need_columns("label"):
        word, label = comparable(row["occupation"]), comparable(row["label"])
        if not label:
            continue
        if label not in numbers:
            raise table.wrong(row, f"'{row['label']}' is no label: write {', '.join(groups)} or neither")
        if labels.setdefault(word, numbers[label]) != numbers[label]:
            raise table.wrong(row, f"'{word}' has two different labels: keep one")
    if not labels:
        raise BadInput(f"{file.name}: no occupation has a label")
    return LabelFile(file.name, labels)
