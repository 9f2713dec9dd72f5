"""ClozeGender: which pronoun a model expects, revised by what a context word is near to."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.cells import Cell, measure_cell
from tiltmeter.probes.cloze.pronoun_chances import ask_chances, choose_form
from tiltmeter.probes.cloze.similarity import other_context, term_of, words_to_ask
from tiltmeter.probes.kind import OF_PROBABILITIES, Asked, CanAnswer, Kind, Part, SideVectors
from tiltmeter.stimuli import Group, SomeWords, datasets, group, neutral_words
from tiltmeter.stimuli.sentences.cloze_sets import COMPARED, ClozeSet

VECTORS = "bundled:glove"
#: Chooses the names in a text over the pronouns in its file's columns.
_NAMES = "names"
#: So many words of a race stand in its name.
_NAMED = 3


def make(
    *,
    data: str | Path | None = None,
    vectors: Any = None,
    method: str | None = None,
    targets: Sequence[SomeWords] | None = None,
) -> list[Part[Cell]]:
    """All contexts of a variant combined, then each alone, variant by variant; then the sets of races.

    Args:
        data: A shipped set, a YAML file in its form, a folder or CSV file of GenderLex, or a draft, of which the
            accepted rows count.
        vectors: The model whose word vectors give the similarities; the bundled GloVe if there is none.
        method: How a sentence is scored: last, all or mean; and names, to compare the context with the names in the
            text where the file has columns of pronouns; with a comma between.
        targets: Groups of words for races. The vectors of a group are summed for the race that is one of its words, as
            the paper sums those of black and african.

    >>> [part.name for part in make()][:3]
    ['', 'all-noun', 'all-verb']
    """
    ways = [way.strip() for way in method.split(",")] if method else []
    names = _NAMES in ways
    method = ",".join(way for way in ways if way != _NAMES) or None
    sets, asked = datasets.load_cloze(data), method is not None
    if names:
        sets = tuple(_with_names(each) for each in sets)
    if targets is not None:
        sets = _with_races(sets, [group(words) for words in targets])
    cells: list[Cell] = []
    for variant in dict.fromkeys(each.variant for each in sets if not each.races):
        members = tuple(each for each in sets if each.variant == variant)
        form = choose_form([sentence for each in members for sentence in each.sentences], method)
        same = len(members) > 1 and len({each.versions for each in members}) == 1
        if same:
            cells.append(Cell(members, form, asked))
        cells += [Cell((each,), form, asked, repeats=same) for each in members]
    cells += [Cell((each,), "last") for each in sets if each.races]
    parts = [_part(cell, VECTORS if vectors is None else vectors) for cell in cells]
    return [dataclasses.replace(parts[0], name=""), *parts[1:]]


def _with_names(stimuli: ClozeSet) -> ClozeSet:
    """The set with the words in its text, where the file's columns have others, compared with the context."""
    tags = ({name: tag for name, tag in row.tags.items() if name not in COMPARED} for row in stimuli.sentences)
    rows = (dataclasses.replace(row, tags=kept) for row, kept in zip(stimuli.sentences, tags, strict=True))
    return dataclasses.replace(stimuli, sentences=tuple(rows))


def _with_races(sets: Sequence[ClozeSet], groups: Sequence[Group]) -> tuple[ClozeSet, ...]:
    """The sets with each race as all the words of the group that holds it."""
    terms = [tuple(word.lower() for word in each.texts) for each in groups]
    used, changed = set[tuple[str, ...]](), []
    for each in sets:
        races = tuple(next((term for term in terms if race[0] in term), race) for race in each.races)
        used |= {*races} & {*terms}
        named = tuple("+".join(race[:_NAMED]) + ("+..." if len(race) > _NAMED else "") for race in races)
        summed = dataclasses.replace(each, races=races, groups=named, context="/".join(named))
        changed.append(summed if races else each)
    if idle := [each.name for each, term in zip(groups, terms, strict=True) if term not in used]:
        here = sorted({race[0] for each in sets for race in each.races})
        known = f"the races here are {', '.join(here)}" if here else "there are no races here"
        raise BadInput(f"targets of cloze are groups that hold a race's word, and '{idle[0]}' holds none: {known}")
    return tuple(changed)


def _part(cell: Cell, vectors: Any) -> Part[Cell]:
    first, second = cell.groups
    combined, races = cell.context == "combined", cell.sets[0].races
    context = "all contexts combined" if combined else f"context {cell.context}"
    title = f"Cloze ({cell.variant}): {first} or {second}, {context}"
    sentences = [sentence for each in cell.sets for sentence in each.sentences]
    compared = (term_of(each, sentence, side) for each in cell.sets for sentence in each.sentences for side in (0, 1))
    terms = dict.fromkeys(word for term in compared for word in term)
    contexts = dict.fromkeys(word for sentence in sentences for word in (sentence.unit, other_context(sentence)))
    return Part(
        cell.variant if combined else f"{cell.variant}-{cell.context}",
        f"Race: {first} or {second} by occupation" if races else title,
        cell,
        cell.sets[0].dimension,
        SideVectors(vectors, words_to_ask([*terms, *contexts, *neutral_words(cell.sets[0].language)]), tuple(terms)),
    )


def _ask(cell: Cell, can: CanAnswer) -> Asked | None:
    asked = ask_chances(cell.sets[0].sentences, cell.form, can, asked_for=cell.asked_for)
    # A choice in words does not depend on the context: one reading has all that it tells.
    return None if asked is not None and Question.CHOICES in asked and cell.repeats else asked


KIND = Kind(
    name="cloze",
    summary="Which pronoun the model expects at the end of a sentence, revised by a verb, noun or occupation in it",
    citation="Sabir & Sharma (2025), Exploring Gender Bias Beyond Occupational Titles",
    idea="over a balanced set of sentences, a level model expects both pronouns equally often.",
    needs="log-probabilities of a pronoun (a causal or masked language model, or a chat model)",
    make=make,
    ask=_ask,
    measure=measure_cell,
    caveats=(
        *OF_PROBABILITIES,
        "The similarities come from word vectors that are not the model's own and have a lean of their own.",
        "Only two pronouns are compared; this number says nothing about people of other genders.",
    ),
)
