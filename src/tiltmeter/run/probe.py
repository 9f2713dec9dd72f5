"""Probes put to one model: everything that they need is asked at once, nothing twice, and the price said beforehand."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, get_args

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.probes import Options, Probe, make_probes
from tiltmeter.probes.kind import Asked
from tiltmeter.progress import progress_bar
from tiltmeter.readings import Reading
from tiltmeter.statistics import Alternative

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


#: What a model says, by question and input.
Answers: TypeAlias = dict[Question, dict[Any, Any]]
#: A second model, and its vectors by word.
Vectors: TypeAlias = tuple[Identity, dict[str, Any]]


def probe(
    name: str,
    model: str | object,
    *,
    cache: bool | VectorStore = True,
    seed: int = 0,
    permutations: int = 10_000,
    alternative: str = "two-sided",
    budget: Budget | None = None,
    progress: bool | None = None,
    **stimuli: Any,
) -> Reading:
    """One probe on one model, with the stimuli given or its default ones.

    Of a probe with several parts this is the whole, or the first; ``run_probes(make_probes(...))`` gives all.

    Args:
        name: the kind of probe.
        model: a spec, or an object of your own.
        cache: whether answers are stored, or where.
        seed: of every random draw.
        permutations: draws of a permutation test that is too large to count.
        alternative: "two-sided", "greater" or "less".
        budget: the most to spend at a paid API.
        progress: whether to show a bar; by default on a terminal or in a notebook.
        stimuli: what the kind accepts: word probes ``targets`` and ``attributes`` or ``pairs``, as addresses or as
            the words themselves, others ``data``, ``vectors``, ``method``; see ``make_probes``.

    >>> words = {"he": [1, 0.1], "him": [1, 0], "she": [0.1, 1], "her": [0, 1], "job": [0.9, 0.2], "home": [0.1, 0.9]}
    >>> terms = [["he", "him"], ["she", "her"]]
    >>> probe("weat", words, targets=terms, attributes=["attributes.career", "attributes.family"], cache=False).leans
    'no clear lean'
    """
    options = Options(alternative, permutations, seed)
    whole = make_probes(name, options=options, **stimuli)[:1]
    return run_probes(whole, model, cache=cache, budget=budget, progress=progress)[0]


def run_probes(
    probes: Sequence[Probe[Any]],
    model: str | object,
    *,
    cache: bool | VectorStore = True,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> list[Reading]:
    """Readings of probes on one model; one that cannot be measured is an error, unless it is a part after the first.

    ``announce`` is told, before a paid API is asked, what that costs at most.
    """
    check_options(probes)
    with stored(cache) as store:
        wrapped = CachedModel(load(model, budget=budget), store)
        planned, others = plan(wrapped, probes)
        for missing in others:
            # A further part of a probe may be for other models.
            if missing is probes[0] or missing.kind is not probes[0].kind:
                kind, called = missing.kind, wrapped.identity.name
                raise BadInput(f"{kind.name} needs {kind.needs}: {called} does not give that")
        if others:
            named = ", ".join(missing.id for missing in others)
            announce(
                f"left out: {named} ({wrapped.identity.name} does not answer them, or they would repeat a reading)"
            )
        sides = side_vectors(planned, store, budget)
        ready = [(entry.probe, entry.asked, entry.vectors(sides)) for entry in planned]
        answers = ask(wrapped, planned, announce, progress)
        return [
            marked(probe.read(wrapped.identity, asked, answers, vectors), wrapped, asked)
            for probe, asked, vectors in ready
        ]


def marked(reading: Reading, model: CachedModel, asked: Asked) -> Reading:
    """The reading with a remark on words that its model was fitted on: they prove little of what was done to it."""
    fit_words: frozenset[str] = getattr(model.model, "fit_words", frozenset())
    if not fit_words:
        return reading
    words = dict.fromkeys([*asked.get(Question.WORDS, ()), *(item.unit for item in reading.items)])
    seen = [word for word in words if word.lower() in fit_words]
    if not seen:
        return reading
    some = f"{', '.join(seen[:5])}{', ...' if len(seen) > 5 else ''}"
    note = f"Measured on fitting words: {model.identity.name} was fitted on {len(seen)} of these words: {some}"
    return dataclasses.replace(reading, notes=(*reading.notes, note))


@contextlib.contextmanager
def stored(cache: bool | VectorStore) -> Iterator[VectorStore | None]:
    """The caller's store as it is, or the usual one for as long as it is needed."""
    if isinstance(cache, VectorStore):
        yield cache
    elif cache:
        with VectorStore() as store:
            yield store
    else:
        yield None


class Planned(NamedTuple):
    """A probe, and what it asks one model."""

    probe: Probe[Any]
    asked: Asked

    def vectors(self, sides: Mapping[Any, Vectors]) -> Vectors | None:
        """The vectors of the probe's second model, if it has one that knows the words it cannot do without."""
        side = self.probe.vectors
        if side is None:
            return None
        identity, answers = sides[side.key]
        known = {word for word, vector in answers.items() if vector is not None}
        missing = [term for term in side.required if term not in known and not known.issuperset(term.split())]
        if missing or known.isdisjoint(side.words):
            raise BadInput(
                f"'{(missing or side.words)[0]}' has no word vector in {identity.name}, so no similarity can be "
                "computed: use other vectors"
            )
        return identity, answers


def plan(model: CachedModel, probes: Sequence[Probe[Any]]) -> tuple[list[Planned], list[Probe[Any]]]:
    """What each probe asks the model, and the probes whose question it does not answer."""
    asked = [(probe, probe.asks(model.answers_question)) for probe in probes]
    fitting = [Planned(probe, inputs) for probe, inputs in asked if inputs is not None]
    return fitting, [probe for probe, inputs in asked if inputs is None]


def ask(
    model: CachedModel, planned: Sequence[Planned], announce: Callable[[str], None], progress: bool | None
) -> Answers:
    """Ask everything all probes need at once: nothing twice, and batches as full as can be."""
    answers: Answers = {}
    asked = inputs_of(planned)
    memory = getattr(model.model, "memory", "")
    if memory and any(model.unknown_inputs(question, inputs) for question, inputs in asked.items()):
        announce(f"{model.identity.name}: {memory}")
    for question, inputs in asked.items():
        announce_cost(model, question, inputs, announce)
        what, name = question.about.partition(",")[0], model.identity.name
        with progress_bar(what, len(inputs), model=name, show=progress) as advance:
            answers[question] = model.answers(question, inputs, progress=advance)
    return answers


def inputs_of(planned: Sequence[Planned]) -> dict[Question, list[Any]]:
    """Every different input that any of the probes asks about, by question."""
    inputs: dict[Question, dict[Any, None]] = {}
    for _, asked in planned:
        for question, some in asked.items():
            inputs.setdefault(question, {}).update(dict.fromkeys(some))
    return {question: list(some) for question, some in inputs.items()}


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


def check_options(probes: Sequence[Probe[Any]]) -> None:
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
    cost = _cost(model, question, inputs) if hasattr(model.model, "estimate") else {"new": 0}
    if cost["new"]:
        price, dollars = "price unknown", cost["dollars"]
        if dollars is not None:
            price = "less than $0.01" if dollars < 0.01 else f"at most about ${dollars:.2f}"
        say(
            f"{cost['model']}: {cost['new']:,} new {_inputs(question)} to ask for "
            f"({len(inputs) - cost['new']:,} known), {cost['requests']:,} requests, at most about "
            f"{cost['tokens']:,} tokens, {price}"
        )


def costs(models: Sequence[Any], probes: Sequence[Probe[Any]]) -> list[dict[str, Any]]:
    """What probes would ask of each model and of their second ones, and what that would cost; nothing is asked.

    A second model that is not here costs the probes that need it, as in an audit.
    """
    rows, every = [], list[Planned]()
    missing: dict[Any, BadInput] = {}
    with VectorStore() as store:
        for spec in models:
            model = CachedModel(load(spec), store)
            planned, _ = plan(model, probes)
            for key, (side, _words) in side_words(planned).items():
                try:
                    load(side)
                except BadInput as error:
                    missing[key] = error
            planned = [entry for entry in planned if not (entry.probe.vectors and entry.probe.vectors.key in missing)]
            rows += [_cost(model, question, inputs) for question, inputs in inputs_of(planned).items()]
            every += planned
        sides = side_words(every).values()
        rows += [_cost(CachedModel(load(side), store), Question.WORDS, words) for side, words in sides]
    if missing and not rows:
        raise next(iter(missing.values()))
    return rows


def _inputs(question: Question) -> str:
    """What a question takes: the name of some says what they give."""
    return {Question.GENERATE: "prompts", Question.TOKENS: "texts"}.get(question, question.value)


def _cost(model: CachedModel, question: Question, inputs: list[Any]) -> dict[str, Any]:
    new = model.unknown_inputs(question, inputs)
    cost = model.model.estimate(new) if hasattr(model.model, "estimate") else None
    row = {
        "model": model.identity.name,
        "asked for": _inputs(question),
        "inputs": len(inputs),
        "new": len(new),
    }
    return row | {name: getattr(cost, name, None) for name in ("requests", "tokens", "dollars")}
