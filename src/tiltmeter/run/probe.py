"""Probes put to one model."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.probes import AnyProbe, Options, make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.ask import ask, check_options, plan, side_vectors, vectors_for

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

    Of a probe with several parts this is the whole, or the first; ``run_probes(make_probes(...))`` gives all.

    Args:
        name: the kind of probe.
        model: a spec, or an object of your own.
        cache: whether answers are stored, or where.
        seed: of every random draw.
        permutations: draws of a permutation test that is too large to count.
        alternative: "two-sided", "greater" or "less".
        budget: the most to spend at a paid API.
        progress: whether to show a bar; by default on a terminal only.
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
    probes: Sequence[AnyProbe],
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
                raise BadInput(
                    f"{missing.kind.name} needs {missing.kind.needs}: {wrapped.identity.name} does not give that"
                )
        vectors = side_vectors(planned, store, budget)
        ready = [(probe, asked, vectors_for(probe, vectors)) for probe, asked in planned]
        answers = ask(wrapped, planned, announce, progress)
        return [probe.read(wrapped.identity, asked, answers, side) for probe, asked, side in ready]


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
