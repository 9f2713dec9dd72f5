"""ClozeGender: which pronoun a model expects, revised by what a context word is near to."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.cells import Cell, in_words, numbers
from tiltmeter.probes.cloze.choices import measure_choices
from tiltmeter.probes.cloze.cloze_rows import asked, choose_form, probabilities
from tiltmeter.probes.cloze.similarities import similarities, words_of
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Asked, Measured
from tiltmeter.probes.old_language import Beside, LanguageKind, LanguageProbe, Replies
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.sentences import shipped as own_sets
from tiltmeter.stimuli.sentences.sets import ClozeSet, RaceSet

VECTORS = "bundled:glove"
_PUBLIC = ("genderlex", "genderlex_ja", "genderlex_winobias", "genderlex_winogender")


def make(
    *, data: str | Path | None = None, vectors: Any = None, method: str | None = None, options: Options
) -> list[LanguageProbe]:
    """All contexts of a variant combined, then each alone, variant by variant; then the race sets."""
    sets, races = _load(data)
    cells: list[Cell] = []
    for variant in dict.fromkeys(each.variant for each in sets):
        mine = tuple(each for each in sets if each.variant == variant)
        form = choose_form([row for each in mine for row in each.rows], method)
        if len(mine) > 1 and len({tuple(row.texts for row in each.rows) for each in mine}) == 1:
            cells.append(Cell(mine, form))
        cells += [Cell((each,), form) for each in mine]
    cells += [Cell((), "last", race) for race in races]
    made = [_probe(cell, VECTORS if vectors is None else vectors, options) for cell in cells]
    return [dataclasses.replace(made[0], id="cloze"), *made[1:]]


def _load(data: str | Path | None) -> tuple[tuple[ClozeSet, ...], tuple[RaceSet, ...]]:
    if data is None or str(data) in own_sets.set_names("cloze") or str(data).endswith((".yaml", ".yml")):
        return own_sets.cloze_sets(str(data or "cloze_en")), ()
    if str(data) == "pairs_ja":
        return (own_sets.japanese_cloze(),), ()
    path = datasets.find(str(data)) if str(data) in _PUBLIC else Path(data)
    if not path.exists():
        known = ", ".join((*own_sets.set_names("cloze"), "pairs_ja", *_PUBLIC))
        raise BadInput(f"no cloze data '{data}': give a folder or CSV file of GenderLex, or one of {known}")
    return datasets.load_cloze_files(path)


def _probe(cell: Cell, vectors: Any, options: Options) -> LanguageProbe:
    if cell.race:
        words = [word for race in cell.race.races for word in race] + [row.context for row in cell.race.rows]
    else:
        rows = [row for each in cell.sets for row in each.rows]
        words = [word for row in rows for word in (*row.pronouns, *row.contexts)]
    part = cell.variant if cell.context == "combined" else f"{cell.variant}-{cell.context}"
    first, second = cell.groups
    what = "all contexts combined" if cell.context == "combined" else f"context {cell.context}"
    title = (
        f"Race: {first} or {second} by occupation"
        if cell.race
        else f"Cloze ({cell.variant}): {first} or {second}, {what}"
    )
    return LanguageProbe(f"cloze-{part}", title, KIND, cell, options, Beside(vectors, words_of(dict.fromkeys(words))))


def _ask(cell: Cell, answers: Callable[[Question], bool]) -> Asked | None:
    rows = cell.race.rows if cell.race else cell.sets[0].rows
    return asked(rows, cell.form, answers)


def _measure(cell: Cell, replies: Replies, options: Options) -> Measured:
    if replies.answered(Question.CHOICES):
        return measure_choices(cell.sets[0], replies, options)
    if len(cell.sets) > 1:
        return _combined(cell, replies, options)
    found, items, details = _one(cell, replies, options)
    return in_words(cell, found, found.corrected, items, details)


def _one(cell: Cell, replies: Replies, options: Options) -> tuple[Any, list[dict[str, Any]], dict[str, Any]]:
    rows: Sequence[Any] = cell.race.rows if cell.race else cell.sets[0].rows
    chances = [probabilities(row, cell.form, replies) for row in rows]
    plain = np.array([each.plain for each in chances]).T
    ended = np.array([each.ended for each in chances]).T if all(each.ended for each in chances) else None
    if cell.race:
        terms = [[race] * len(rows) for race in cell.race.races]
        contexts = [[row.context for row in rows]] * 2
        labels = None
    else:
        terms = [[(row.pronouns[side],) for row in rows] for side in (0, 1)]
        contexts = [[row.contexts[side] for row in rows] for side in (0, 1)]
        labels = [row.label for row in rows]
    (sim_1, known_1), (sim_2, known_2) = (similarities(terms[side], contexts[side], replies.words) for side in (0, 1))
    known = known_1 & known_2
    missing = sorted({contexts[0][i] for i in np.flatnonzero(~known)})
    for word in missing:
        replies.leave_out(f"context '{word}'", "has no word vector: similarity 0 as published, the mean when corrected")
    found = measures.cloze(
        plain[0],
        plain[1],
        sim_1,
        sim_2,
        ended_1=None if ended is None else ended[0],
        ended_2=None if ended is None else ended[1],
        known=known,
        labels=labels if labels and any(labels) else None,
        clusters=contexts[0],
        permutations=options.permutations,
        seed=options.seed,
    )
    items = [
        {
            "word": contexts[0][i],
            "sentence": row.text if cell.race else row.text_1,
            "label": None if cell.race else row.label,
            "p_1": plain[0][i],
            "p_2": plain[1][i],
            "ended_1": None if ended is None else ended[0][i],
            "ended_2": None if ended is None else ended[1][i],
            "similarity_1": sim_1[i],
            "similarity_2": sim_2[i],
            "has_vector": bool(known[i]),
            "published_1": found.scores_1[i],
            "published_2": found.scores_2[i],
            "corrected_1": found.corrected.scores_1[i],
            "corrected_2": found.corrected.scores_2[i],
            "lean": _log_ratio(found.corrected.scores_1[i], found.corrected.scores_2[i]),
        }
        for i, row in enumerate(rows)
    ]
    details = {
        "published": {**numbers(found), "weat": _weat(found.winners, sim_1, sim_2, known)},
        "corrected": {**numbers(found.corrected), "weat": _weat(found.corrected.winners, sim_1, sim_2, known)},
        "steps": [each._asdict() for each in found.steps],
        "contexts_without_vector": missing,
        "cps": _cps(cell, replies, rows),
        "amplification": _amplification(contexts[0], found.winners),
    }
    return found, items, details


def _combined(cell: Cell, replies: Replies, options: Options) -> Measured:
    """The product of the scores over contexts, as published and corrected."""
    parts = [_one(dataclasses.replace(cell, sets=(each,)), replies, options)[0] for each in cell.sets]
    rows = cell.sets[0].rows
    person = next((each for each in cell.sets if each.context == "occupation"), cell.sets[0])
    clusters = [row.contexts[0] for row in person.rows]
    labels = [row.label for row in person.rows]
    combined = functools.partial(
        measures.cloze_combined,
        labels=labels if any(labels) else None,
        clusters=clusters,
        permutations=options.permutations,
        seed=options.seed,
    )
    published = combined([p.scores_1 for p in parts], [p.scores_2 for p in parts])
    corrected = combined([p.corrected.scores_1 for p in parts], [p.corrected.scores_2 for p in parts])
    base = parts[0].steps[0]
    items = [
        {
            "word": clusters[i],
            "sentence": row.text_1,
            "label": labels[i],
            "published_1": published.scores_1[i],
            "published_2": published.scores_2[i],
            "corrected_1": corrected.scores_1[i],
            "corrected_2": corrected.scores_2[i],
            "lean": _log_ratio(corrected.scores_1[i], corrected.scores_2[i]),
        }
        for i, row in enumerate(rows)
    ]
    details = {
        "published": numbers(published),
        "corrected": numbers(corrected),
        "steps": [base._asdict(), published.step("as published")._asdict(), corrected.step("corrected")._asdict()],
        "contexts": [each.context for each in cell.sets],
    }
    return in_words(cell, published, corrected, items, details)


def _weat(winners: Sequence[int], sim_1: Any, sim_2: Any, known: Any) -> float | None:
    """WEAT's score of the two words between the contexts that lean to the one and to the other."""
    won = np.array(winners)
    a, b = known & (won == 1), known & (won == 2)
    if not a.any() or not b.any():
        return None
    difference = sim_1 - sim_2
    return float(difference[a].mean() - difference[b].mean())


def _cps(cell: Cell, replies: Replies, rows: Sequence[Any]) -> dict[str, Any] | None:
    """The baseline of shared tokens (CPS). With the pronoun last they all stand before it, so every row is a tie."""
    if cell.race or not (replies.answered(Question.CONTINUATIONS) or replies.answered(Question.TOKENS)):
        return None
    if cell.form == "last":
        return {"to_1": None, "ties": len(rows)}
    scored = [[replies.of(Question.TOKENS, text) for text in row.texts] for row in rows]
    pairs = [measures.nangia(a.logprobs, a.ids.tolist(), b.logprobs, b.ids.tolist()) for a, b in scored]
    found = measures.crows_pairs([one for one, _ in pairs], [two for _, two in pairs])
    return {"to_1": found.score, "ties": found.ties}


def _amplification(contexts: Sequence[str], winners: Sequence[int]) -> Mapping[str, Any] | None:
    if not any(winners):
        return None
    found = measures.amplification(contexts, winners)
    return {"mean": found.mean, "contexts": len(found.by_context)}


def _log_ratio(one: float, two: float) -> float:
    return math.log(max(one, 1e-300) / max(two, 1e-300))


KIND = LanguageKind(
    name="cloze",
    summary="Which pronoun the model expects at the end of a sentence, revised by a verb, noun or occupation in it",
    citation="Sabir & Sharma (2025), Exploring Gender Bias Beyond Occupational Titles",
    idea="a model that is level expects either pronoun equally often over a balanced set of sentences.",
    needs="log-probabilities of a pronoun (a causal or masked language model, or a chat model)",
    ask=_ask,
    measure=_measure,
    warnings=(
        "The similarities come from other word vectors than the model's own, and bring their own lean along.",
        "Only two pronouns are compared; people of other genders do not appear in this number.",
    ),
)
