"""How steady the scores of occupations are from model to model, by CABM and by the measures beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.measures import stability
from tiltmeter.readings import Item, Reading
from tiltmeter.readings.studies import Steadiness

#: What is compared: a name in plain words, and where the items of a CABM reading have it.
MEASURES: Mapping[str, str] = {
    "CABM, repaired": "value",
    "CABM, as published": "published",
    "WEAT (association)": "isolated_cosine",
    "MAC": "mac",
    "SAME": "same",
    "PMI alone": "pmi",
    "cosine in context alone": "published_cosine",
}


def across_models(readings: Sequence[Reading]) -> list[Steadiness]:
    """Mean SD per occupation across models, by measure: CABM readings of one probe on at least two models.

    Every model is brought to root mean square 1 first, because a measure in small units varies little in any case; the
    published form, without that, stands beside it. Lower is steadier, not truer: PMI counts sentences, so it is the
    same for every model whatever the models are.
    """
    readings = [reading for reading in readings if reading.probe == "cabm"]
    by_model = _by_model(readings)
    if len({reading.id for reading in readings}) > 1:
        raise BadInput("stability compares readings of one probe: choose one of them")
    if len(by_model) < 2:
        raise BadInput(f"stability compares at least two models, found readings of cabm for {len(by_model)}")
    shared = words_in_all(readings)
    if len(shared) < 2:
        raise BadInput("the models have fewer than two occupations in common: measure the same sentences on each")
    return [_steadiness(name, column, by_model, shared) for name, column in MEASURES.items()]


def words_in_all(readings: Sequence[Reading]) -> list[str]:
    """The occupations that every model has a score for, in the order of the first."""
    first, *others = _by_model(readings).values()
    return [word for word in first if all(word in items for items in others)]


def _by_model(readings: Sequence[Reading]) -> dict[str, dict[str, Item]]:
    return {reading.model: {item.label: item for item in reading.items} for reading in readings}


def _steadiness(name: str, column: str, by_model: Mapping[str, Mapping[str, Item]], words: Sequence[str]) -> Steadiness:
    columns: dict[str, list[Any]] = {m: [items[word].get(column) for word in words] for m, items in by_model.items()}
    scores = {model: values for model, values in columns.items() if None not in values}
    without = [model for model in columns if model not in scores]
    note = f"without {', '.join(without)}, which lacks the number for some occupations" if without else ""
    if len(scores) < 2:
        return Steadiness(name, None, note)
    if any(not any(values) for values in scores.values()):
        return Steadiness(name, None, "it is 0 for every occupation")
    return Steadiness(name, stability(scores), note)
