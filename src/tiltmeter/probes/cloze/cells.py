"""A cell of the cloze table, and what was found in it, in words."""

from __future__ import annotations

import dataclasses
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.measures.cloze_scores import ClozeScores
from tiltmeter.probes.old_kind import Estimate, Measured
from tiltmeter.probes.wording import ALPHA, p_text, percent_text
from tiltmeter.stimuli.sentences.sets import ClozeSet, RaceSet


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the table: a set with one context, several that are combined, or a race set."""

    sets: tuple[ClozeSet, ...]
    form: str
    race: RaceSet | None = None

    @property
    def variant(self) -> str:
        return "race" if self.race else self.sets[0].variant

    @property
    def context(self) -> str:
        if self.race:
            return "/".join("+".join(race) for race in self.race.races)
        return self.sets[0].context if len(self.sets) == 1 else "combined"

    @property
    def warnings(self) -> list[str]:
        of_sets = [warning for each in self.sets for warning in each.warnings]
        return list(dict.fromkeys([*of_sets, *(self.race.warnings if self.race else ())]))

    @property
    def groups(self) -> tuple[str, str]:
        if self.race:
            first, second = ("+".join(race) for race in self.race.races)
            return first, second
        return self.sets[0].groups


def in_words(
    cell: Cell, published: ClozeScores, corrected: ClozeScores, items: list[dict[str, Any]], details: dict[str, Any]
) -> Measured:
    first, second = cell.groups
    n, decided = len(items), len(items) - corrected.ties
    details |= {
        "variant": cell.variant,
        "context": cell.context,
        "form": cell.form,
        "groups": list(cell.groups),
        "rows": n,
        "warnings": cell.warnings,
    }
    if corrected.share_1 is None or corrected.ci is None or corrected.p_value is None:
        raise BadInput(f"all {n} rows tie between {first} and {second}: nothing can be told apart")
    name = f"share to {first}"
    clear = corrected.p_value <= ALPHA
    towards = first if corrected.share_1 > 0.5 else second
    people = (
        ""
        if corrected.human_match is None
        else f" It agrees with what people expect in {corrected.human_match:.0%} of the sentences."
    )
    plain_words = (
        f"{_percent(corrected.share_1)} of {decided:,} sentences lean to {first} and the others to {second} "
        f"({percent_text(corrected.ci)}, {p_text(corrected.p_value)}); 50% is level."
        + ("" if clear else " That is no clear lean either way.")
        + (f" As published it would be {_percent(published.share_1)}." if published.share_1 is not None else "")
        + people
    )
    better = "nearer to 0.5 is better"
    return Measured(
        Estimate(name, corrected.share_1, 0.5, better, corrected.ci, corrected.p_value, "two-sided", False),
        f"→ {towards}" if clear else "no clear lean",
        "",
        plain_words,
        tuple(items),
        n,
        len({item["word"] for item in items}),
        published=None
        if published.share_1 is None
        else Estimate(name, published.share_1, 0.5, better, published.ci, published.p_value, "two-sided", False),
        correction=_why(cell, published.share_1, corrected.share_1),
        details=details,
    )


def _why(cell: Cell, published: float | None, corrected: float) -> str:
    """The difference between the two, in one sentence."""
    moved = "" if published is None else f" ({_percent(published)} becomes {_percent(corrected)})"
    ended = 'the sentence is ended, because P("her") after a stem also counts "her mother", and '
    return (
        f"Corrected{moved}: {'' if cell.form != 'last' or cell.race else ended}the similarities are centred, because a "
        "constant difference between the two words' vectors would otherwise decide every row."
    )


def numbers(scores: ClozeScores) -> dict[str, Any]:
    return {
        "to_1": scores.share_1,
        "to_2": scores.share_2,
        "kl": scores.kl,
        "human_match": scores.human_match,
        "ties": scores.ties,
        "low": scores.ci.low if scores.ci else None,
        "high": scores.ci.high if scores.ci else None,
        "p_value": scores.p_value,
    }


def _percent(value: float) -> str:
    return f"{100 * value:.0f}%"
