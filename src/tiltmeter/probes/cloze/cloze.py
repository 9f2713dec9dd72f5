"""ClozeGender: which pronoun a model expects, revised by what a context word is near to."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.probes.cloze.cells import Cell, measure_cell, other_context, words_of
from tiltmeter.probes.cloze.pronoun_chances import ask_chances, choose_form
from tiltmeter.probes.kind import OF_PROBABILITIES, Kind, Part, SideVectors
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, ClozeSet, cloze_sets, japanese_cloze
from tiltmeter.stimuli.sentences.shipped import set_names

VECTORS = "bundled:glove"
_PUBLIC = ("genderlex", "genderlex_ja", "genderlex_winobias", "genderlex_winogender")


def make(*, data: str | Path | None = None, vectors: Any = None, method: str | None = None) -> list[Part[Cell]]:
    """All contexts of a variant combined, then each alone, variant by variant; then the sets of races.

    Args:
        data: A shipped set, a YAML file in its form, or a folder or CSV file of GenderLex.
        vectors: The model whose word vectors give the similarities; the bundled GloVe if there is none.
        method: How a sentence is scored: last, all or mean.

    >>> [part.name for part in make()][:3]
    ['', 'all-noun', 'all-verb']
    """
    sets = _load(data)
    cells: list[Cell] = []
    for variant in dict.fromkeys(each.variant for each in sets if not each.races):
        members = tuple(each for each in sets if each.variant == variant)
        form = choose_form([sentence for each in members for sentence in each.sentences], method)
        if len(members) > 1 and len({each.versions for each in members}) == 1:
            cells.append(Cell(members, form))
        cells += [Cell((each,), form) for each in members]
    cells += [Cell((each,), "last") for each in sets if each.races]
    parts = [_part(cell, VECTORS if vectors is None else vectors) for cell in cells]
    return [dataclasses.replace(parts[0], name=""), *parts[1:]]


def _load(data: str | Path | None) -> tuple[ClozeSet, ...]:
    if data is None or str(data) in set_names("cloze") or str(data).endswith((".yaml", ".yml")):
        return cloze_sets(str(data or "cloze_en"))
    if str(data) == "pairs_ja":
        return (japanese_cloze(),)
    path = datasets.find(str(data)) if str(data) in _PUBLIC else Path(data)
    if not path.exists():
        names = ", ".join((*set_names("cloze"), "pairs_ja", *_PUBLIC))
        raise BadInput(f"no cloze data '{data}': give a folder or CSV file of GenderLex, or one of {names}")
    return datasets.load_cloze_files(path)


def _part(cell: Cell, vectors: Any) -> Part[Cell]:
    first, second = cell.groups
    combined, races = cell.context == "combined", cell.sets[0].races
    context = "all contexts combined" if combined else f"context {cell.context}"
    title = f"Cloze ({cell.variant}): {first} or {second}, {context}"
    sentences = [sentence for each in cell.sets for sentence in each.sentences]
    pronouns = [form for sentence in sentences for form in sentence.forms.get(PRONOUN, ())]
    terms = dict.fromkeys([word for race in races for word in race] or pronouns)
    contexts = dict.fromkeys(word for sentence in sentences for word in (sentence.unit, other_context(sentence)))
    return Part(
        cell.variant if combined else f"{cell.variant}-{cell.context}",
        f"Race: {first} or {second} by occupation" if races else title,
        cell,
        cell.sets[0].dimension,
        SideVectors(vectors, words_of([*terms, *contexts]), tuple(terms)),
    )


KIND = Kind(
    name="cloze",
    summary="Which pronoun the model expects at the end of a sentence, revised by a verb, noun or occupation in it",
    citation="Sabir & Sharma (2025), Exploring Gender Bias Beyond Occupational Titles",
    idea="a model that is level expects either pronoun equally often over a balanced set of sentences.",
    needs="log-probabilities of a pronoun (a causal or masked language model, or a chat model)",
    make=make,
    ask=lambda cell, can: ask_chances(cell.sets[0].sentences, cell.form, can),
    measure=measure_cell,
    caveats=(
        *OF_PROBABILITIES,
        "The similarities come from other word vectors than the model's own, and bring their own lean along.",
        "Only two pronouns are compared; people of other genders do not appear in this number.",
    ),
)
