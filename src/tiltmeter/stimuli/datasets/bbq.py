"""BBQ (Parrish et al. 2022): a text about two persons, a question, and three answers, one of them "unknown"."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import read_text
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.stimuli.text import normalise

_METADATA = "additional_metadata.csv"
_CONDITIONS = ("ambig", "disambig")
_ANSWERS = ("ans0", "ans1", "ans2")
#: Examples about the same two persons, which stand together: both conditions, both polarities of the question.
TOGETHER = 4


@dataclasses.dataclass(frozen=True, slots=True)
class BbqExample:
    """One question after one text. ``people`` says of each answer whom it names ("unknown": nobody), ``label`` is the
    right answer and ``target`` the one that fits the stereotype, None where there is none.
    """

    id: int
    category: str
    question_index: str
    polarity: str
    condition: str
    context: str
    question: str
    answers: tuple[str, ...]
    people: tuple[str, ...]
    label: int
    target: int | None

    @property
    def unit(self) -> str:
        """The question with its category: what the examples are observations of."""
        return f"{self.category} {self.question_index}"

    def to_entry(self) -> dict[str, Any]:
        """What the measure reads of it, in the form of the file."""
        return {
            "example_id": self.id,
            "category": self.category,
            "question_index": self.question_index,
            "question_polarity": self.polarity,
            "context_condition": self.condition,
            "answer_info": {
                name: [text, people] for name, text, people in zip(_ANSWERS, self.answers, self.people, strict=True)
            },
            "label": self.label,
        }


def load_bbq(path: str | Path) -> tuple[BbqExample, ...]:
    """Read the examples of one file, or of all in a folder, with their targets from the metadata beside them."""
    place = Path(path)
    files = sorted(place.glob("*.jsonl")) if place.is_dir() else [place]
    if not files:
        raise BadInput(f"{place}: no files of BBQ (Age.jsonl, ...) in this folder")
    targets = _targets((place if place.is_dir() else place.parent) / _METADATA)
    return tuple(example for file in files for example in _read(file, targets))


def sample_bbq(examples: Iterable[BbqExample], limit: int, *, seed: int = 0) -> tuple[BbqExample, ...]:
    """About ``limit`` examples of each category: those about the same persons stay together, questions take turns."""
    if limit < TOGETHER:
        raise BadInput(
            f"limit={limit}: BBQ's examples come in fours, so a sample has at least {TOGETHER} of each category"
        )
    sets: dict[str, dict[str, dict[int, list[BbqExample]]]] = {}
    for example in examples:
        questions = sets.setdefault(example.category, {})
        questions.setdefault(example.question_index, {}).setdefault(example.id // TOGETHER, []).append(example)
    rng = np.random.default_rng(seed)
    chosen: list[BbqExample] = []
    for questions in sets.values():
        turns = [
            (turn, rng.random(), some)
            for question in questions.values()
            for turn, some in enumerate(_shuffled(question, rng))
        ]
        ordered = sorted(turns, key=lambda one: one[:2])[: limit // TOGETHER]
        chosen += sorted((example for *_, some in ordered for example in some), key=lambda example: example.id)
    return tuple(chosen)


def _shuffled(sets: Mapping[int, list[BbqExample]], rng: np.random.Generator) -> list[list[BbqExample]]:
    some = list(sets.values())
    return [some[i] for i in rng.permutation(len(some))]


def _targets(file: Path) -> dict[tuple[str, str], int | None]:
    table = read_table(file)
    targets: dict[tuple[str, str], int | None] = {}
    for row in table.need("category", "example_id", "target_loc"):
        target = row["target_loc"].strip()
        if target not in ("0", "1", "2", "NA"):
            raise table.wrong(row, f"target_loc is '{target}', not 0, 1, 2 or NA")
        targets[row["category"], row["example_id"]] = None if target == "NA" else int(target)
    return targets


def _read(file: Path, targets: Mapping[tuple[str, str], int | None]) -> Iterable[BbqExample]:
    lines = [(number, line) for number, line in enumerate(read_text(file).split("\n"), 1) if line.strip()]
    if not lines:
        raise BadInput(f"{file.name}: the file is empty")
    for number, line in lines:
        where = f"{file.name}: line {number}"
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            raise BadInput(f"{where}: not JSON: every line of BBQ is one example") from None
        yield _example(entry, targets, where)


def _example(entry: Any, targets: Mapping[tuple[str, str], int | None], where: str) -> BbqExample:
    texts = {
        name: _text(entry, name, where)
        for name in (
            "category",
            "question_index",
            "question_polarity",
            "context_condition",
            "context",
            "question",
            *_ANSWERS,
        )
    }
    number, label = (_number(entry, name, where) for name in ("example_id", "label"))
    if texts["context_condition"] not in _CONDITIONS or label not in range(len(_ANSWERS)):
        raise BadInput(f"{where}: context_condition should be {' or '.join(_CONDITIONS)}, and label 0, 1 or 2")
    people = _people(entry.get("answer_info"), where)
    target = targets.get((texts["category"], str(number)))
    if target is not None and people[target] == "unknown":
        raise BadInput(f"{where}: its target_loc in {_METADATA} is the answer 'unknown'")
    answers = tuple(texts[name] for name in _ANSWERS)
    if len(set(answers)) < len(answers):
        raise BadInput(f"{where}: two answers are the same")
    category, index, polarity, condition, context, question = list(texts.values())[:6]
    return BbqExample(number, category, index, polarity, condition, context, question, answers, people, label, target)


def _people(value: Any, where: str) -> tuple[str, ...]:
    try:
        people = tuple(str(value[name][1]) for name in _ANSWERS)
    except (KeyError, IndexError, TypeError):
        raise BadInput(f"{where}: 'answer_info' should say of each answer whom it names") from None
    if people.count("unknown") != 1:
        raise BadInput(f"{where}: one answer of 'answer_info' should be 'unknown', not {people.count('unknown')}")
    return people


def _text(entry: Any, key: str, where: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    text = normalise(str(value)) if isinstance(value, str | int) else ""
    if not text:
        raise BadInput(f"{where}: '{key}' is missing or blank")
    return text


def _number(entry: Mapping[str, Any], key: str, where: str) -> int:
    value = entry.get(key)
    if not isinstance(value, int) or value < 0:
        raise BadInput(f"{where}: '{key}' should be a number, not {value!r}")
    return value
