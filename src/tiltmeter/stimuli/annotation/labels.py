"""Labels of people: what is put to them, in which order, and one file of answers for each."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import BaseModel, Field

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import check, read_json, write_atomically
from tiltmeter.stimuli.datasets.cloze_data import load_cloze
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, ClozeSet
from tiltmeter.stimuli.sentences.sentence import Sentence
from tiltmeter.stimuli.text import comparable, normalise

#: The label of who expects neither group more than the other, where it may be given.
EITHER = "either"
TASK, LINKS = "task.json", "links.csv"
#: Without a task file these are the groups; GenderLex writes M and W for them.
_GROUPS = ("men", "women")
_SHORT = {"m": "men", "w": "women", "him": "men", "her": "women", "he": "men", "she": "women"}
_COLUMNS = ("item", "stage", "label", "sentence", "context")
_NAME = re.compile(r"[^\W_][\w .-]{0,39}")
_STAGES = ("1", "2")


def item_id(text: str) -> str:
    """What a sentence is called in files of labels, by its version of the first group.

    >>> item_id("The bridge was designed by him")
    '1f477c81'
    """
    return hashlib.blake2b(normalise(text).rstrip(".").encode(), digest_size=4).hexdigest()


class LabelItem(BaseModel, frozen=True, extra="forbid"):
    """A sentence around a blank, the words that could stand there, and the context word it is about."""

    id: str
    before: str
    after: str
    words: tuple[str, str]
    context: str


class LabelTask(BaseModel, frozen=True, extra="forbid"):
    """What is put to everybody: the items, the groups that the words stand for, and the seed of the order."""

    source: str
    groups: tuple[str, str]
    language: str
    either: bool
    seed: Annotated[int, Field(ge=0)]
    items: Annotated[tuple[LabelItem, ...], Field(min_length=1)]

    @property
    def labels(self) -> tuple[str, ...]:
        return (*self.groups, *((EITHER,) if self.either else ()))

    def order(self, person: str, stage: int) -> list[LabelItem]:
        """The items in the order in which a person meets them: their own, and the same whenever they come back."""
        rng = self._rng(person, stage)
        return [self.items[place] for place in rng.permutation(len(self.items))]

    def first_group(self, place: int) -> int:
        """Which group's word the person at this place of the list sees first, 0 or 1: people take turns."""
        return (self.seed + place) % 2

    def _rng(self, person: str, stage: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, stage, *comparable(person).encode()])

    @classmethod
    def of(cls, source: str | Path, *, either: bool = False, seed: int = 0) -> Self:
        """The sentences of a cloze set's first variant, each once; see ``load_cloze`` for what a source may be."""
        if seed < 0:
            raise BadInput(f"a seed must be a whole number from 0 on, not {seed}")
        sets = [each for each in load_cloze(source) if not each.races]
        if not sets:
            raise BadInput(f"{source}: these sentences have one pronoun for all, so there is nothing to choose")
        chosen = [each for each in sets if each.variant == sets[0].variant]
        # Who holds the occupation is what people think of, so that is what an item is about, where it is known.
        chosen.sort(key=lambda each: each.context != "occupation")
        items: dict[str, LabelItem] = {}
        for sentence in (sentence for each in chosen for sentence in each.sentences):
            if not {"before", "after"} & set(sentence.slots):
                item = _item(sentence)
                items.setdefault(item.id, item)
        if not items:
            raise BadInput(f"{source}: the versions of every sentence differ in more than the pronoun: nothing to ask")
        one, two = chosen[0].groups
        return cls(
            source=Path(source).name, groups=(one, two), language=chosen[0].language, either=either, seed=seed,
            items=tuple(items.values()),
        )  # fmt: skip

    @classmethod
    def load(cls, folder: Path) -> Self | None:
        """The task of a folder of labels; None where there is none."""
        file = folder / TASK
        return check(f"{folder.name}/{TASK}", read_json(file), cls) if file.is_file() else None

    def store(self, folder: Path) -> None:
        """Write the task into a folder of labels; one that holds another task is refused."""
        before = LabelTask.load(folder)
        if before is None:
            write_atomically(folder / TASK, json.dumps(self.model_dump(), ensure_ascii=False, indent=1).encode())
        elif before != self:
            raise BadInput(
                f"{folder} holds labels of other sentences ({before.source}), or with another seed or other choices: "
                "name another folder with --labels"
            )


def _item(sentence: Sentence) -> LabelItem:
    first = sentence.of_group(1)
    before, after = first.around(PRONOUN)
    one, two = sentence.forms[PRONOUN]
    return LabelItem(id=item_id(first.text), before=before, after=after, words=(one, two), context=sentence.unit)


def check_people(names: Sequence[str]) -> tuple[str, ...]:
    """The names of those who label, each a name that a file can have and nobody else's.

    >>> check_people(["Ann", "ann"])
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: two people are called 'ann': give each a name of their own
    """
    people = tuple(normalise(name) for name in names)
    if not people:
        raise BadInput("nobody is named: give --people ann,ben,...")
    for name in people:
        if not _NAME.fullmatch(name) or name.endswith(".") or comparable(name) in ("links", "task"):
            raise BadInput(
                f"'{name}' cannot be the name of a person here: take up to 40 letters, digits, spaces, - or _"
            )
    _check_distinct(people)
    return people


def _check_distinct(names: Iterable[str]) -> None:
    for name, times in Counter(map(comparable, names)).items():
        if times > 1:
            raise BadInput(f"two people are called '{name}': give each a name of their own")


@dataclasses.dataclass(frozen=True, slots=True)
class Labels:
    """One person's labels by stage and item."""

    person: str
    given: Mapping[tuple[int, str], str]

    def stage(self, number: int) -> dict[str, str]:
        return {item: label for (stage, item), label in self.given.items() if stage == number}


def read_person(folder: Path, task: LabelTask, person: str) -> Labels:
    """The labels that a person has given so far."""
    file = folder / f"{person}.csv"
    if not file.is_file():
        return Labels(person, {})
    return _read_file(file, task.labels)[0]


def write_person(folder: Path, task: LabelTask, labels: Labels) -> None:
    """Write one person's labels whole, in the order of the items, or leave the file as it was."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for stage in (1, 2):
        labelled = labels.stage(stage)
        for item in task.items:
            if item.id in labelled:
                sentence = f"{item.before}___{item.after}"
                writer.writerow((item.id, stage, labelled[item.id], sentence, item.context))
    write_atomically(folder / f"{labels.person}.csv", text.getvalue().encode())


def read_labels(path: str | Path) -> tuple[tuple[Labels, ...], LabelTask | None]:
    """Everybody's labels, from a folder with one file each, or from one table with a column ``person``."""
    place = Path(path)
    if not place.exists():
        raise BadInput(f"no file or folder {place}: give the labels of tiltmeter serve --annotate, or a CSV file")
    task = LabelTask.load(place) if place.is_dir() else None
    files = [file for file in sorted(place.glob("*.csv")) if file.name != LINKS] if place.is_dir() else [place]
    if not files:
        raise BadInput(f"{place}: nobody has given a label yet")
    allowed = task.labels if task else (*_GROUPS, EITHER)
    people = [labels for file in files for labels in _read_file(file, allowed)]
    _check_distinct(labels.person for labels in people)
    return tuple(people), task


def _read_file(file: Path, allowed: tuple[str, ...]) -> list[Labels]:
    table = read_table(file)
    rows = table.need("item", "label")
    people: dict[str, dict[tuple[int, str], str]] = {}
    for row in rows:
        label = normalise(row["label"])
        known = label if label in allowed else _SHORT.get(label.lower(), label)
        if known not in allowed:
            raise table.wrong(row, str(unknown("label", label, allowed)))
        stage = row.cells.get("stage", "").strip() or "1"
        if stage not in _STAGES:
            raise table.wrong(row, f"stage is '{stage}', not 1 or 2")
        person, item = normalise(row.cells.get("person", "")) or file.stem, normalise(row["item"])
        by_row = people.setdefault(person, {})
        if (int(stage), item) in by_row:
            raise table.wrong(row, f"{person} has labelled '{item}' before: one label per item, person and stage")
        by_row[int(stage), item] = known
    return [Labels(person, by_row) for person, by_row in people.items()]


def expected_labels(source: str | Path) -> dict[str, str]:
    """What a cloze set says people expect (GenderLex: its column HB), by item."""
    labels: dict[str, str] = {}
    for cloze_set in load_cloze(source):
        for sentence in _expecting(cloze_set):
            labels.setdefault(item_id(sentence.of_group(1).text), sentence.tags["expected"])
    return labels


def _expecting(stimuli: ClozeSet) -> list[Sentence]:
    return [] if stimuli.races else [sentence for sentence in stimuli.sentences if "expected" in sentence.tags]
