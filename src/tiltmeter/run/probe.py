"""Probes put to one model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, get_args

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.probes import AnyProbe, Options, make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.ask import ask, plan, side_vectors, vectors_for
from tiltmeter.statistics import Alternative

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


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

    Word probes take ``targets``, ``attributes``, ``pairs`` and ``templates``; probes of language models ``data``,
    ``vectors`` and ``method``. Of a probe with several parts this is the whole; ``put(make_probes(...))`` gives all.

    >>> words = {"he": [1, 0.1], "him": [1, 0], "she": [0.1, 1], "her": [0, 1], "job": [0.9, 0.2], "home": [0.1, 0.9]}
    >>> terms = ["gender.male_pronouns", "gender.female_pronouns"]
    >>> probe("weat", words, targets=terms, attributes=["attributes.career", "attributes.family"], cache=False).leans
    'no clear lean'
    """
    options = Options(alternative, permutations, seed)
    whole = make_probes(name, options=options, **stimuli)[:1]
    return put(whole, model, cache=cache, budget=budget, progress=progress)[0]


def put(
    probes: Sequence[AnyProbe],
    model: str | object,
    *,
    cache: bool | VectorStore = True,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> list[Reading]:
    """Put ready-made probes to one model; one that cannot be measured is an error, but for parts after the first."""
    check_options(probes)
    with stored(cache) as store:
        wrapped = CachedModel(load(model, budget=budget), store)
        planned, others = plan(wrapped, probes)
        for missing in others:
            # A further part of a probe may be for other models.
            if missing is probes[0] or missing.kind is not probes[0].kind:
                raise BadInput(
                    f"{missing.kind.name} needs {missing.kind.needs}: {wrapped.identity.name} does not give that"
                )
        vectors = side_vectors(planned, store)
        answers = ask(wrapped, planned, announce, progress)
        return [probe.read(wrapped.identity, asked, answers, vectors_for(probe, vectors)) for probe, asked in planned]


def check_options(probes: Sequence[AnyProbe]) -> None:
    """Done before a model is asked: a typing error must not cost a request."""
    for options in {each.options for each in probes}:
        if options.alternative not in get_args(Alternative):
            raise unknown("alternative", options.alternative, get_args(Alternative))
        if options.permutations < 1:
            raise BadInput(f"permutations must be at least 1, not {options.permutations}")
        if options.seed < 0:
            raise BadInput(f"the seed must be 0 or more, not {options.seed}")


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
