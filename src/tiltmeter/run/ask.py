"""Asking a model everything that some probes need, at once: nothing twice, and the price said beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.probes import AnyProbe
from tiltmeter.probes.language import Beside
from tiltmeter.progress import progress_bar


def ask(
    model: CachedModel, probes: Sequence[AnyProbe], announce: Callable[[str], None], progress: bool | None
) -> dict[Question, dict[Any, Any]]:
    """Ask everything all probes need at once: nothing twice, and batches as full as can be."""
    answers: dict[Question, dict[Any, Any]] = {}
    for question, inputs in inputs_of(model, probes).items():
        announce_cost(model, question, inputs, announce)
        with progress_bar(f"{model.identity.name}: {question.value}", len(inputs), show=progress) as advance:
            answers[question] = model.answers(question, inputs, progress=advance)
    return answers


def inputs_of(model: CachedModel, probes: Sequence[AnyProbe]) -> dict[Question, list[Any]]:
    """Every different input that any of the probes asks about, by question."""
    found: dict[Question, dict[Any, None]] = {}
    for probe in probes:
        for question, inputs in (probe.asks(model.answers_question) or {}).items():
            found.setdefault(question, {}).update(dict.fromkeys(inputs))
    return {question: list(inputs) for question, inputs in found.items()}


Words = tuple[Identity, dict[Any, Any]]


def words_beside(probes: Sequence[AnyProbe], store: VectorStore | None) -> dict[Any, Words]:
    """The vectors of words that some probes need from a second model, by its spec or its identity as an object."""
    wanted: dict[Any, tuple[Any, dict[str, None]]] = {}
    for each in (probe.beside for probe in probes):
        if isinstance(each, Beside):
            wanted.setdefault(each.key, (each.model, {}))[1].update(dict.fromkeys(each.words))
    found = {}
    for key, (spec, words) in wanted.items():
        model = CachedModel(load(spec), store)
        found[key] = (model.identity, model.answers(Question.WORDS, list(words)))
    return found


def words_for(probe: AnyProbe, beside: Mapping[Any, Words]) -> Any:
    return beside[probe.beside.key] if isinstance(probe.beside, Beside) else None


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
