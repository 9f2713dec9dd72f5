"""Asking a model everything that some probes need, at once: nothing twice, and the price said beforehand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.probes import AnyProbe
from tiltmeter.probes.kind import Asked
from tiltmeter.progress import progress_bar
from tiltmeter.statistics import Alternative

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


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


Vectors: TypeAlias = tuple[Identity, dict[str, Any]]


def side_words(planned: Sequence[Planned]) -> dict[Any, tuple[Any, list[str]]]:
    """The second models that some probes need, and of which words each has to give the vectors."""
    wanted: dict[Any, tuple[Any, dict[str, None]]] = {}
    for side in (probe.vectors for probe, _ in planned):
        if side is not None:
            wanted.setdefault(side.key, (side.model, {}))[1].update(dict.fromkeys(side.words))
    return {key: (model, list(words)) for key, (model, words) in wanted.items()}


def side_vectors(planned: Sequence[Planned], store: VectorStore | None, budget: Budget | None) -> dict[Any, Vectors]:
    """What the second models answer. They are asked first: without them the answers of the first are worth nothing."""
    vectors = {}
    for key, (spec, words) in side_words(planned).items():
        model = CachedModel(load(spec, budget=budget), store)
        vectors[key] = (model.identity, model.answers(Question.WORDS, words))
    return vectors


def vectors_for(probe: AnyProbe, vectors: Mapping[Any, Vectors]) -> Vectors | None:
    """The vectors of the probe's second model, if it has one that knows the words it cannot do without."""
    side = probe.vectors
    if side is None:
        return None
    identity, answers = vectors[side.key]

    def has_vector(word: str) -> bool:
        return answers.get(word) is not None

    missing = next(
        (term for term in side.required if not has_vector(term) and not all(map(has_vector, term.split()))), None
    )
    if missing is None and side.words and all(answers[word] is None for word in side.words):
        missing = side.words[0]
    if missing is not None:
        raise BadInput(
            f"'{(missing or side.words)[0]}' has no word vector in {identity.name}, so no similarity can be computed: "
            "use other vectors"
        )
    return identity, answers


def check_options(probes: Sequence[AnyProbe]) -> None:
    """Done before a model is asked: a typing error must not cost a request."""
    for options in {probe.options for probe in probes}:
        if options.alternative not in get_args(Alternative):
            raise unknown("alternative", options.alternative, get_args(Alternative))
        if options.permutations < 1:
            raise BadInput(f"permutations must be at least 1, not {options.permutations}")
        if options.seed < 0:
            raise BadInput(f"the seed must be 0 or more, not {options.seed}")


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
