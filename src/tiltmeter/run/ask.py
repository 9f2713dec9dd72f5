"""Asking a model everything that some probes need, at once: nothing twice, and the price said beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.probes import AnyProbe
from tiltmeter.probes.kind import Asked
from tiltmeter.progress import progress_bar


class Planned(NamedTuple):
    """A probe, and what it asks one model."""

    probe: AnyProbe
    asked: Asked


def plan(model: CachedModel, probes: Sequence[AnyProbe]) -> tuple[list[Planned], list[AnyProbe]]:
    """What each probe asks the model, and the probes whose question it does not answer."""
    fitting, others = [], []
    for probe in probes:
        asked = probe.asks(model.answers_question)
        if asked is None:
            others.append(probe)
        else:
            fitting.append(Planned(probe, asked))
    return fitting, others


def ask(
    model: CachedModel, planned: Sequence[Planned], announce: Callable[[str], None], progress: bool | None
) -> dict[Question, dict[Any, Any]]:
    """Ask everything all probes need at once: nothing twice, and batches as full as can be."""
    answers: dict[Question, dict[Any, Any]] = {}
    for question, inputs in inputs_of(planned).items():
        announce_cost(model, question, inputs, announce)
        with progress_bar(f"{model.identity.name}: {question.value}", len(inputs), show=progress) as advance:
            answers[question] = model.answers(question, inputs, progress=advance)
    return answers


def inputs_of(planned: Sequence[Planned]) -> dict[Question, list[Any]]:
    """Every different input that any of the probes asks about, by question."""
    inputs: dict[Question, dict[Any, None]] = {}
    for _, asked in planned:
        for question, some in asked.items():
            inputs.setdefault(question, {}).update(dict.fromkeys(some))
    return {question: list(some) for question, some in inputs.items()}


Vectors = tuple[Identity, dict[Any, Any]]


def side_vectors(planned: Sequence[Planned], store: VectorStore | None) -> dict[Any, Vectors]:
    """The vectors of words that some probes need from a second model, by its spec or its identity as an object."""
    wanted: dict[Any, tuple[Any, dict[str, None]]] = {}
    for side in (probe.vectors for probe, _ in planned):
        if side is not None:
            wanted.setdefault(side.key, (side.model, {}))[1].update(dict.fromkeys(side.words))
    vectors = {}
    for key, (spec, words) in wanted.items():
        model = CachedModel(load(spec), store)
        vectors[key] = (model.identity, model.answers(Question.WORDS, list(words)))
    return vectors


def vectors_for(probe: AnyProbe, vectors: Mapping[Any, Vectors]) -> Any:
    return vectors[probe.vectors.key] if probe.vectors is not None else None


def announce_cost(model: CachedModel, question: Question, inputs: list[Any], say: Callable[[str], None]) -> None:
    """Before a paid run: what is new to the model, and what it costs at most."""
    estimate = getattr(model.model, "estimate", None)
    if estimate is None:
        return
    new = model.unknown_inputs(question, inputs)
    if new:
        cost = estimate(new)
        price = _price(cost.dollars)
        say(
            f"{model.identity.name}: {len(new):,} new {question.value} to ask for ({len(inputs) - len(new):,} known), "
            f"{cost.requests:,} requests, at most about {cost.tokens:,} tokens, {price}"
        )


def _price(dollars: float | None) -> str:
    if dollars is None:
        return "price unknown"
    return "less than $0.01" if dollars < 0.01 else f"at most about ${dollars:.2f}"
