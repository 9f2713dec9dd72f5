"""The models of an audit on a cluster: each is held and asked by an actor of its own, and its probes are read as tasks.

What is asked, in which batches, and what is stored is decided here as in any audit; workers compute. So readings and
stored answers are those of one machine. Models that cost money are asked from here: one budget, one rate.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from tiltmeter.cluster import Cluster, Hosted, WorkerDied
from tiltmeter.errors import ModelFailed, TiltmeterError
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.models.protocol import Batch, Changes, Identified, Streams
from tiltmeter.progress import MODEL, Step, tell
from tiltmeter.readings import Reading
from tiltmeter.run.audit import Call, ModelRun, said_by, shown_spec
from tiltmeter.run.probe import ask

#: How often a model is started anew on another worker before it is given up.
_DEATHS = 5


class HostedModel:
    """A model that an actor holds: what it is, is known here; what it is asked, is answered there."""

    def __init__(self, model: Any, hosted: Hosted) -> None:
        self._model, self._hosted = model, hosted
        self.identity: Identity = model.identity
        here = CachedModel(model)
        self.questions = tuple(question for question in Question if here.asked_itself(question))

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """Batch by batch; where the worker dies, another goes on after the last batch that came."""
        answered = set(known)
        for _ in range(_DEATHS):
            try:
                for positions, answers in self._hosted.parts(_stream, question, list(inputs), frozenset(answered)):
                    answered.update(positions)
                    yield positions, answers
                return
            except WorkerDied:
                continue
        raise ModelFailed(f"{self.identity.name}: {_DEATHS} workers died while they were asked: too little memory?")

    def end(self) -> None:
        """Nothing more will be asked."""
        self._hosted.end()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)


def _stream(model: Any, question: Question, inputs: list[Any], known: frozenset[int]) -> Iterator[Batch]:
    yield from model.stream(question, inputs, known=known)


@dataclasses.dataclass(frozen=True, slots=True)
class ModelResult:
    """What came of one model."""

    name: str
    run: ModelRun
    model: CachedModel
    notes: list[str]


def measure_on(
    cluster: Cluster,
    specs: Sequence[Any],
    models: Sequence[Any],
    store: VectorStore | None,
    run: ModelRun,
    announce: Callable[[str], None],
) -> Iterator[ModelResult]:
    """Every model of an audit, as many at a time as there are workers, in their order."""

    def measure(place: int) -> ModelResult:
        spec, model = specs[place], models[place]
        shown = shown_spec(spec)
        tell(Step(MODEL, shown, done=place, total=len(specs)))

        def read(calls: Sequence[Call]) -> Iterator[Reading | TiltmeterError]:
            # All is answered: the actor makes room for those who read, or none could where actors fill the cluster.
            if isinstance(asked_there, HostedModel):
                asked_there.end()
            # The answers go to the cluster once, not with every probe.
            shared = (calls[0].answers if calls else {}, _threads())
            return cluster.in_order(_read, shared, [call._replace(answers={}) for call in calls])

        # Bars of several models would write over each other.
        part = dataclasses.replace(
            run, seen=list(filter(None, earlier[:place])), readings=[], files=[], skipped=[], read=read,
            ask=lambda asked, planned: ask(asked, planned, announce, False),
        )  # fmt: skip
        with _hosted(cluster, spec, model) as asked_there:
            wrapped = CachedModel(asked_there, store)
            return ModelResult(part.measure(wrapped, shown), part, wrapped, said_by(model))

    earlier = [_identity(model) for model in models]
    with ThreadPoolExecutor(max(1, min(cluster.cpus, len(specs)))) as pool:
        parts = [pool.submit(contextvars.copy_context().run, measure, place) for place in range(len(specs))]
        try:
            for part in parts:
                yield part.result()
        finally:
            for part in parts:
                part.cancel()


@contextlib.contextmanager
def _hosted(cluster: Cluster, spec: object, model: Any) -> Iterator[Any]:
    """The model on a worker, or as it is: an object of the user's, a paid model, and one made of another's vectors."""
    stays = not isinstance(spec, str) or isinstance(model, Changes) or hasattr(model, "estimate")
    try:
        stays = stays or not (isinstance(model, Identified) and isinstance(model, Streams))
    except TiltmeterError:  # what is wrong with it is said where it is asked
        stays = True
    if stays:
        yield model
        return
    hosted = cluster.host(load, spec)
    try:
        yield HostedModel(model, hosted)
    finally:
        hosted.end()


def _threads() -> int:
    """Threads of numpy's linear algebra in this process."""
    pools = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    return max(pools, default=1)


def _read(shared: tuple[Any, int], call: Call) -> Reading:
    answers, threads = shared
    # Sums run in another order with other threads, and a worker has one: its last bits would be its own.
    with threadpool_limits(threads, user_api="blas"):
        return call.probe.read(call.identity, call.asked, answers, call.vectors)


def _identity(model: Any) -> Identity | None:
    try:
        return CachedModel(model).identity
    except TiltmeterError:  # what is wrong with it is said where it is asked
        return None
