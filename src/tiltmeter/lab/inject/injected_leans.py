"""Which group a model that was fine-tuned expects beside each occupation.

Pronouns are asked for by the probes that users run, in sentences that the model has not learned from. No probe asks for
two groups of a lexicon at one place, so these are asked for here, in the plainest of the sentences it has learned from.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tiltmeter.lab.calibrate.lab_probes import ProbeMaker
from tiltmeter.lab.inject.plan import Plan
from tiltmeter.lab.reference.frames import frames, with_occupation
from tiltmeter.lab.reference.planted_text import group_patterns
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Continuation, Fill, Question
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.readings import Item
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import group
from tiltmeter.stimuli.sentences.sentence import Sentence


def leans_of(model: TransformerModel, plan: Plan) -> Floats:
    """P(first group) - P(second group) at its place, by occupation: unmasking, or what a causal model continues with.

    For groups of a lexicon P is the sum over their words.
    """
    if plan.groups is not None:
        return _leans_between(model, plan.groups, list(plan.probabilities))
    masked = model.head == "masked"
    with tempfile.TemporaryDirectory(prefix="tiltmeter-lab-") as folder:
        maker = ProbeMaker(Path(folder), plan.probabilities)
        familiar = {name: rows for name, rows in frames().masked.items() if name != "strange"}
        probe = maker.unmask(familiar) if masked else maker.of_causal(frames().cloze)["cloze"]
        (reading,) = run_probes([probe], model, cache=False, progress=False)
    leans: dict[str, list[float]] = {}
    for item in reading.items:
        leans.setdefault(item.unit, []).append(float(item.value or 0.0) if masked else _ended(item))
    return np.array([np.mean(leans[word]) for word in plan.probabilities])


def _ended(item: Item) -> float:
    """The difference between the probabilities of both pronouns and the end of the sentence."""
    one, two = (float(item.columns[f"ended_{side}"] or 0.0) for side in (1, 2))
    return one - two


def _leans_between(model: TransformerModel, groups: tuple[str, str], occupations: Sequence[str]) -> Floats:
    first, second = (group(address).texts for address in groups)
    rows = [_group_sentences(word, groups, first[0]) for word in occupations]
    words = (*first, *second)
    items: list[list[Fill]] | list[list[Continuation]]
    if model.head == "masked":
        question, items = Question.FILLS, [[Fill(each.text, *each.slots["one"], words) for each in row] for row in rows]
    else:
        endings = tuple(f" {word}" for word in words)
        stems = [[stem for each in row if (stem := each.around("one")[0].rstrip())] for row in rows]
        question, items = Question.CONTINUATIONS, [[Continuation(stem, endings) for stem in row] for row in stems]
    answers = CachedModel(model, None).answers(question, [item for row in items for item in row])

    def lean(item: Fill | Continuation) -> float:
        chances = np.exp(answers[item].logprobs)
        return float(chances[: len(first)].sum() - chances[len(first) :].sum())

    return np.array([np.mean([lean(item) for item in row]) for row in items])


def _group_sentences(occupation: str, groups: tuple[str, str], word: str) -> list[Sentence]:
    """Patterns that hold nothing but the group and the occupation, with a word of the group in its place."""
    texts = (with_occupation(pattern, occupation) for pattern in group_patterns(*groups).patterns)
    plain = [text for text in texts if text.count("{") == 1]
    places = [(text, text.index("{one}")) for text in plain]
    return [Sentence(text, {"one": (at, at + len("{one}"))}, occupation).put("one", word) for text, at in places]
