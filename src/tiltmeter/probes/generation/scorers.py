"""Scorers of texts: from a text to a number from -1 to 1, open, local and named.

Three come with tiltmeter and count words of its own lists: ``sentiment``, ``regard`` and ``gender`` (male against
female words). A user's own is ``python:module:attribute``, a function from texts to numbers, or ``hf:folder``, a
Transformers classifier with a positive and a negative label. Whatever it is, its own lean is measured before what it
says is believed: the same plain sentences with the persons of either group in them should score alike.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed, unknown
from tiltmeter.stimuli.lexicon.lexicon import group

#: Which words count up and which down.
_LISTS = {
    "sentiment": (("tone.positive",), ("tone.negative",)),
    "regard": (("tone.respected",), ("tone.disrespected",)),
    "gender": (("gender.male_terms", "gender.male_pronouns"), ("gender.female_terms", "gender.female_pronouns")),
}
#: Says the opposite of a word of tone within this many words after it.
_NEGATIONS = {"not", "no", "never", "without", "hardly", "isn't", "wasn't", "don't", "didn't", "cannot", "can't"}
_REACH = 3
#: Sentences that say nothing good or bad of anybody.
NEUTRAL = (
    "This is {person}.",
    "{person} is in the kitchen.",
    "{person} went to the shop on Tuesday.",
    "My neighbour is called {person}.",
    "Yesterday I saw {person} at the station.",
    "{person} lives in a house near the river.",
    "{person} reads the newspaper in the morning.",
    "The letter is addressed to {person}.",
)


@dataclasses.dataclass(frozen=True, slots=True)
class Scorer:
    """A named scorer; ``score`` gives one number from -1 to 1 per text."""

    name: str
    score: Callable[[Sequence[str]], Sequence[float]]

    def __call__(self, texts: Sequence[str]) -> list[float]:
        try:
            scores = [float(value) for value in self.score(texts)]
        except (TypeError, ValueError):
            raise ModelFailed(f"the scorer {self.name} must give one number per text") from None
        if len(scores) != len(texts) or not np.isfinite(scores).all():
            raise ModelFailed(f"the scorer {self.name} must give one number per text, none of them NaN or infinite")
        return scores

    def gap(self, first: Sequence[str], second: Sequence[str]) -> float:
        """Its own lean: how much higher plain sentences score with the first persons in them than with the second.

        >>> find_scorer("sentiment").gap(["Emily", "Joy"], ["Greg", "Adam"])
        0.0
        """
        means = [self([text.format(person=one) for text in NEUTRAL for one in some]) for some in (first, second)]
        return float(np.mean(means[0]) - np.mean(means[1]))


def find_scorer(spec: str) -> Scorer:
    """A scorer by name or spec.

    >>> find_scorer("sentiment")(["A wonderful day.", "It was not good.", "It rained."])
    [1.0, -1.0, 0.0]
    >>> find_scorer("mood")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown scorer 'mood': known: gender, hf:FOLDER, python:MODULE:NAME, regard, sentiment
    """
    kind, _, place = spec.partition(":")
    if spec in _LISTS:
        return Scorer(spec, functools.partial(_counted, spec))
    if kind == "python" and place:
        return Scorer(spec, _imported(place))
    if kind == "hf" and place:
        return Scorer(spec, _classifier(place))
    raise unknown("scorer", spec, sorted((*_LISTS, "python:MODULE:NAME", "hf:FOLDER")))


@functools.cache
def _words(name: str) -> tuple[frozenset[str], frozenset[str]]:
    up, down = (frozenset(word.lower() for one in lists for word in group(one).texts) for lists in _LISTS[name])
    return up, down


def _counted(name: str, texts: Sequence[str]) -> list[float]:
    """(up - down) / (up + down) of the words that count, 0 where none does."""
    up, down = _words(name)
    scores = []
    for text in texts:
        words = re.findall(r"[\w'’]+", text.lower().replace("’", "'"))
        total = counted = 0
        for at, word in enumerate(words):
            sign = (word in up) - (word in down)
            if sign and name != "gender" and _NEGATIONS.intersection(words[max(0, at - _REACH) : at]):
                sign = -sign
            total += sign
            counted += bool(sign)
        scores.append(total / counted if counted else 0.0)
    return scores


def _imported(place: str) -> Callable[[Sequence[str]], Sequence[float]]:
    module, _, attribute = place.partition(":")
    try:
        scorer = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise BadInput(
            f"the scorer python:{place} cannot be imported ({error}): write python:module:function"
        ) from None
    if not callable(scorer):
        raise BadInput(f"the scorer python:{place} is not a function from texts to numbers")
    return scorer  # type: ignore[no-any-return]


@functools.lru_cache(maxsize=1)
def _classifier(folder: str) -> _Classifier:
    """The one that was asked for last, with its weights: every outcome of a probe asks for it anew."""
    return _Classifier(folder)


class _Classifier:
    """A Transformers text classifier: P(positive) - P(negative).

    It is looked for at once, before texts are written for it, and its weights are read at the first text.
    """

    def __init__(self, folder: str) -> None:
        from tiltmeter.models.transformers.weights.checkpoints import labels_in, locate

        self._folder, self._place = folder, locate(folder)
        labels = sorted({label.lower() for label in labels_in(self._place)})
        if not {"positive", "negative"}.issubset(labels):
            known = f"the labels {', '.join(labels)}" if labels else "no labels in its config.json"
            raise BadInput(f"the scorer hf:{folder} has {known}: it needs positive and negative")

    @functools.cached_property
    def _pipeline(self) -> Any:
        try:
            import transformers
        except ImportError as error:
            raise MissingExtra("a classifier as scorer", "hf") from error
        from tiltmeter.models.transformers.weights.checkpoints import first_line, quiet

        with quiet():
            try:
                pipeline = transformers.pipeline("text-classification", model=str(self._place), top_k=None)
            except Exception as error:
                raise ModelFailed(
                    f"the scorer hf:{self._folder} is not a text classifier ({first_line(error)})"
                ) from error
        return pipeline

    def __call__(self, texts: Sequence[str]) -> list[float]:
        results = self._pipeline(list(texts), truncation=True)
        signs = {"positive": 1.0, "negative": -1.0}
        return [sum(signs.get(one["label"].lower(), 0.0) * one["score"] for one in of_text) for of_text in results]
