"""Which group a model that was fine-tuned expects beside each occupation.

Pronouns are asked for in sentences that it has not learned from; groups of a lexicon in the plainest of those it has.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np

from tiltmeter.lab.inject.plan import Plan
from tiltmeter.lab.reference.frames import columns, frames, marked, placed
from tiltmeter.lab.reference.planted_text import group_patterns
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Continuation, Fill, Question
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import group


def leans_of(model: TransformerModel, plan: Plan) -> Floats:
    """P(first group) - P(second group) at its place, by occupation: unmasking, or what a causal model goes on with.

    For groups of a lexicon P is the sum over their words.
    """
    words = list(plan.probabilities)
    masked = model.head == "masked"
    rows: list[list[Any]] = [(_fills if masked else _continuations)(word, plan) for word in words]
    question = Question.FILLS if masked else Question.CONTINUATIONS
    found = CachedModel(model, None).answers(question, list(chain.from_iterable(rows)))
    cut = 1 if plan.groups is None else len(group(plan.groups[0]).words)

    def lean(item: Fill | Continuation) -> float:
        chances = np.exp(found[item].logprobs)
        return float(chances[:cut].sum() - chances[cut:].sum())

    return np.array([np.mean([lean(item) for item in row]) for row in rows])


def _fills(word: str, plan: Plan) -> list[Fill]:
    if plan.groups is None:
        sets = {name: rows for name, rows in frames().masked.items() if name != "strange"}
        return [marked(frame, word).fill for _, frame in columns(sets)]
    texts = _group_texts(word, plan.groups)
    fillers = _words(plan.groups)
    return [Fill(text.replace("{one}", fillers[0]), at, at + len(fillers[0]), fillers) for text, at in texts]


def _continuations(word: str, plan: Plan) -> list[Continuation]:
    if plan.groups is None:
        return [marked(frame, word).continuation(ended=True) for _, frame in columns(frames().cloze)]
    endings = tuple(f" {each}" for each in _words(plan.groups))
    return [Continuation(text[:at].rstrip(), endings) for text, at in _group_texts(word, plan.groups) if at > 0]


def _words(groups: tuple[str, str]) -> tuple[str, ...]:
    return tuple(chain.from_iterable(group(address).texts for address in groups))


def _group_texts(word: str, groups: tuple[str, str]) -> list[tuple[str, int]]:
    """Patterns that hold nothing but the group and the occupation, and where the group stands."""
    texts = [placed(pattern, word) for pattern in group_patterns(*groups).patterns]
    return [(text, text.index("{one}")) for text in texts if text.count("{") == 1]
