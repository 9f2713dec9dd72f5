"""Labels of people beside each other, beside an expert's, and beside what models answer to the same sentences.

The layout is that of the human evaluation of Sabir & Sharma (section 6): every person with the share of sentences in
which they expect the first group, then how far they agree with the expert, with the others and with each model; in two
stages, before and after they were told to look things up.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tiltmeter.compare.comparison import SomeAudit, find_audit
from tiltmeter.errors import BadInput
from tiltmeter.readings import Reading
from tiltmeter.readings.details.cloze import ClozeDetails
from tiltmeter.readings.frames import frame
from tiltmeter.statistics import ChanceCorrected, Interval, Result, cohen_kappa, fleiss_kappa, krippendorff_alpha
from tiltmeter.statistics.estimates import wilson
from tiltmeter.stimuli.annotation.labels import EITHER, expected_labels, item_id, read_labels

if TYPE_CHECKING:
    import pandas as pd

MAJORITY, EXPERT = "majority", "expert"
Kind = Literal["person", "expert", "majority", "model"]


@dataclasses.dataclass(frozen=True, slots=True)
class Match(Result):
    """Two sets of labels on the items that both have: the share that is equal, and Cohen's kappa beyond chance."""

    first: str
    second: str
    same: float
    kappa: ChanceCorrected


@dataclasses.dataclass(frozen=True, slots=True)
class RaterRow(Result):
    """One line of the table: to which group somebody, or a model, gives how many sentences, and with whom they agree.

    ``to_1`` and ``to_2`` are shares of the sentences that were given to one of the two groups, ``ci`` the interval of
    the first. ``matches`` is by name of the other: the expert, the majority (of the others), the models.
    """

    name: str
    kind: Kind
    items: int
    to_1: float | None
    to_2: float | None
    ci: Interval | None
    either: int
    matches: Mapping[str, Match]


@dataclasses.dataclass(frozen=True, slots=True)
class StageAgreement(Result):
    """One stage: agreement of all people, of every two of them, and the table. ``fleiss`` needs items that all have."""

    stage: int
    people: tuple[str, ...]
    items: int
    alpha: ChanceCorrected | None
    fleiss: ChanceCorrected | None
    pairs: tuple[Match, ...]
    rows: tuple[RaterRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def to_1(self) -> float | None:
        """The mean over people of the share that they give to the first group."""
        shares = [row.to_1 for row in self.rows if row.kind == "person" and row.to_1 is not None]
        return sum(shares) / len(shares) if shares else None


@dataclasses.dataclass(frozen=True, slots=True)
class Agreement(Result):
    """How far people agree, stage by stage."""

    groups: tuple[str, str]
    expert: str
    stages: tuple[StageAgreement, ...]

    @property
    def change(self) -> float | None:
        """By how much the mean share to the first group changes from stage 1 to stage 2; None without both."""
        both = [stage.to_1 for stage in self.stages]
        return both[1] - both[0] if len(both) == 2 and both[0] is not None and both[1] is not None else None

    def to_frame(self) -> pd.DataFrame:
        """One row per person, majority and model of each stage, and with whom they agree how far."""
        return frame(_flat(stage, row) for stage in self.stages for row in stage.rows)

    def __repr__(self) -> str:
        alphas = [_short(stage.alpha) for stage in self.stages]
        return f"<Agreement of {len(self.stages[0].people)} people: Krippendorff's alpha {', '.join(alphas)}>"


def agreement(
    labels: str | Path,
    results: SomeAudit | Reading | Sequence[SomeAudit] | None = None,
    *,
    expert: str | Path | None = None,
    seed: int = 0,
) -> Agreement:
    """How far people agree beyond chance, with each other, with an expert and with models.

    Args:
        labels: A folder with one file of labels per person, or one CSV file with a column person.
        results: Audits, their folders or readings, with readings of cloze on the same sentences.
        expert: The name of the person who is one, or a cloze set that says what people expect (GenderLex: column HB).
        seed: Of the bootstrap over context words.

    >>> agreement("labels", "tiltmeter-results", expert="ann").to_frame()  # doctest: +SKIP
    """
    people, task = read_labels(labels)
    groups = task.groups if task else ("men", "women")
    if len(people) < 2:
        raise BadInput(f"{labels}: only {people[0].person} has given labels: agreement needs two people")
    contexts = {item.id: item.context for item in task.items} if task else {}
    named = _expert(expert, [each.person for each in people])
    models = _models(_readings(results), groups)
    stages = []
    for number in (1, 2):
        by_person = {each.person: each.stage(number) for each in people if each.stage(number)}
        if len(by_person) > 1:
            known = {item for items in by_person.values() for item in items}
            fitting = {name: _restricted(chosen, known) for name, chosen in models.items()}
            if models and not any(fitting.values()):
                raise BadInput("no labelled sentence is in the results: run cloze on the sentences that were labelled")
            stages.append(_stage(number, by_person, fitting, named, groups, contexts, seed))
    if not stages:
        raise BadInput(f"{labels}: no stage has the labels of two people: agreement needs two")
    return Agreement(groups, next(iter(named), ""), tuple(stages))


def _expert(expert: str | Path | None, people: list[str]) -> dict[str, Mapping[str, str] | None]:
    """The name of the expert, and their labels where they are none of the people."""
    if expert is None:
        return {}
    if str(expert) in people:
        return {str(expert): None}
    try:
        labels = expected_labels(expert)
    except BadInput as error:
        who = ", ".join(people)
        raise BadInput(f"'{expert}' is none of the people ({who}), and no cloze set either: {error}") from None
    if not labels:
        raise BadInput(f"{expert}: it does not say what people expect in any sentence")
    return {EXPERT: labels}


def _readings(results: Any) -> list[Reading]:
    """The readings of whatever results may be; a list holds readings, or audits."""
    if results is None or isinstance(results, Reading):
        return [] if results is None else [results]
    several = isinstance(results, list) and not any(isinstance(result, Reading) for result in results)
    audits = results if several else [results]
    return [reading for audit in audits for reading in find_audit(audit).readings]


def _models(readings: list[Reading], groups: tuple[str, str]) -> dict[str, dict[str, str]]:
    """What every reading of cloze says of each sentence, by model and context; ties are left out."""
    models: dict[str, dict[str, str]] = {}
    for reading in readings:
        details = reading.details
        if not isinstance(details, ClozeDetails) or details.groups != groups:
            continue
        named = f"{reading.model}, {details.context}"
        models.setdefault(named, {}).update(_choices(reading, groups))
    if readings and not models:
        raise BadInput(f"the results hold no reading of cloze on {groups[0]} and {groups[1]}: run probe cloze")
    return models


def _choices(reading: Reading, groups: tuple[str, str]) -> dict[str, str]:
    won = {item_id(item.label): item.get("won") for item in reading.items}
    return {item: groups[0] if side == 1 else groups[1] for item, side in won.items() if side in (0, 1)}


def _restricted(chosen: Mapping[str, str], known: set[str]) -> dict[str, str]:
    return {item: label for item, label in chosen.items() if item in known}


def _stage(
    number: int, by_person: Mapping[str, Mapping[str, str]], models: Mapping[str, Mapping[str, str]],
    expert: Mapping[str, Mapping[str, str] | None], groups: tuple[str, str], contexts: Mapping[str, str], seed: int,
) -> StageAgreement:  # fmt: skip
    items = list(dict.fromkeys(item for labels in by_person.values() for item in labels))
    units = [contexts.get(item, item) for item in items]
    table = [[labels.get(item) for labels in by_person.values()] for item in items]
    whole = all(None not in row for row in table)
    complete = any(None not in row for row in table)
    shared = any(sum(label is not None for label in row) > 1 for row in table)
    notes = [] if whole else [f"{sum(None in row for row in table)} of {len(items)} items lack somebody's label"]

    def match(first: str, one: Mapping[str, str], second: str, two: Mapping[str, str]) -> Match | None:
        both = [item for item in items if item in one and item in two]
        if not both:
            return None
        sides = [one[item] for item in both], [two[item] for item in both]
        same = sum(map(str.__eq__, *sides)) / len(both)
        kappa = cohen_kappa(*sides, clusters=[contexts.get(item, item) for item in both], seed=seed)
        return Match(first, second, same, kappa)

    pairs = (match(one, by_person[one], two, by_person[two]) for one, two in itertools.combinations(by_person, 2))
    experts = dict[str, Mapping[str, str]]()
    for name, labels in expert.items():
        experts[EXPERT] = by_person.get(name, {}) if labels is None else labels
    raters: list[tuple[str, Kind, Mapping[str, str]]] = [(name, "person", labels) for name, labels in by_person.items()]
    if EXPERT in expert:
        raters.append((EXPERT, "expert", _restricted(experts[EXPERT], set(items))))
    raters.append((MAJORITY, "majority", majority(by_person.values())))
    raters += [(name, "model", labels) for name, labels in models.items()]
    rows = []
    for name, kind, labels in raters:
        others = [theirs for person, theirs in by_person.items() if person != name]
        references = {**experts, MAJORITY: majority(others), **models}
        # An expert is not held against themselves, nor the majority or a model.
        mine = {name, *([EXPERT] if name in expert else [])}
        agreements = {
            other: match(name, labels, other, theirs) for other, theirs in references.items() if other not in mine
        }
        rows.append(_row(name, kind, labels, groups, {other: each for other, each in agreements.items() if each}))
    return StageAgreement(
        number, tuple(by_person), len(items),
        krippendorff_alpha(table, clusters=units, seed=seed) if shared else None,
        fleiss_kappa(table, clusters=units, seed=seed) if complete else None,
        tuple(pair for pair in pairs if pair), tuple(rows), tuple(notes),
    )  # fmt: skip


def majority(people: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """The label that most people gave to each item; none where two labels are given equally often.

    >>> majority([{"a": "men", "b": "men"}, {"a": "men", "b": "women"}, {"a": "women"}])
    {'a': 'men'}
    """
    counts: dict[str, Counter[str]] = {}
    for labels in people:
        for item, label in labels.items():
            counts.setdefault(item, Counter())[label] += 1
    ranked = {item: [*count.most_common(2), ("", 0)] for item, count in counts.items()}
    return {item: first for item, ((first, most), (_, second), *_) in ranked.items() if most > second}


def _row(
    name: str, kind: Kind, labels: Mapping[str, str], groups: tuple[str, str], matches: Mapping[str, Match]
) -> RaterRow:
    counts = Counter(labels.values())
    decided = counts[groups[0]] + counts[groups[1]]
    to_1 = counts[groups[0]] / decided if decided else None
    ci = None if to_1 is None else wilson(to_1, decided)
    to_2 = None if to_1 is None else counts[groups[1]] / decided
    return RaterRow(name, kind, len(labels), to_1, to_2, ci, counts[EITHER], matches)


def _flat(stage: StageAgreement, row: RaterRow) -> dict[str, Any]:
    values = {"stage": stage.stage, "name": row.name, "kind": row.kind, "items": row.items, "to_1": row.to_1}
    values |= {"to_2": row.to_2, "either": row.either}
    for other, match in row.matches.items():
        values |= {f"same as {other}": match.same, f"kappa with {other}": match.kappa.value}
    return values


def _short(kappa: ChanceCorrected | None) -> str:
    return "-" if kappa is None or kappa.value is None else f"{kappa.value:.2f}"
