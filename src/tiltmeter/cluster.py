"""Work shared out: to processes of this machine, or, where one machine is not enough, to a Ray cluster, on which what a
dead worker had is done again."""

from __future__ import annotations

import contextlib
import functools
import importlib
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed, TiltmeterError

T = TypeVar("T")
R = TypeVar("R")

#: Items handed out ahead of the workers, so that none waits.
_AHEAD = 2
_RETRIES = 5
#: Seconds that a worker which died may take to be started anew, and between two looks at whether it is.
_START, _POLL = 600.0, 0.2


class Cluster:
    """What ``connected`` gives: functions run on it."""

    def __init__(self, ray: Any, workers: int, *, gpus_per_model: float = 0) -> None:
        self._ray, self._gpus = ray, gpus_per_model
        self.cpus = max(workers, int(ray.cluster_resources().get("CPU", 1)))

    def share_out(self, work: Callable[[Any, T], R], shared: Any, items: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Each item with ``work(shared, item)``, as they are ready; ``shared`` is sent to every machine once."""
        once = self._ray.put(shared)
        task = self._ray.remote(max_retries=_RETRIES)(_run_task)
        waiting: dict[Any, T] = {}
        queue = iter(items)
        while True:
            for item in itertools.islice(queue, self.cpus * _AHEAD - len(waiting)):
                waiting[task.remote(work, once, item)] = item
            if not waiting:
                return
            (done,), _ = self._ray.wait(list(waiting))
            yield waiting.pop(done), self._answer(done)

    def in_order(self, work: Callable[[Any, T], R], shared: Any, items: Sequence[T]) -> Iterator[R | TiltmeterError]:
        """``work(shared, item)`` of each item, in order; what a user can mend comes as the error itself."""
        once = self._ray.put(shared)
        task = self._ray.remote(max_retries=_RETRIES)(_run_task)
        for done in [task.remote(work, once, item) for item in items]:
            try:
                yield self._answer(done)
            except TiltmeterError as error:
                yield error

    def host(self, make: Callable[..., Any], *arguments: Any) -> Hosted:
        """An actor that holds what ``make`` makes, for as long as it is wanted; it is started anew where it dies."""
        actor = self._ray.remote(max_restarts=-1, num_cpus=1, num_gpus=self._gpus)(_Host)
        return Hosted(self._ray, actor.remote(make, arguments))

    def _answer(self, done: Any) -> Any:
        try:
            error, answer = self._ray.get(done)
        except self._ray.exceptions.RayError as failed:
            raise _gave_up(failed) from None
        if error:
            raise _mendable(error)
        return answer


class Hosted:
    """Something that an actor holds, and is asked for one part of an answer after another."""

    def __init__(self, ray: Any, actor: Any) -> None:
        self._ray, self._actor = ray, actor

    def parts(self, work: Callable[..., Iterator[T]], *arguments: Any) -> Iterator[T]:
        """The parts of ``work(held, *arguments)``, as they are ready.

        Raises:
            WorkerDied: where the actor died; what came before is whole.
        """
        self._wait()
        for part in self._actor.parts.options(num_returns="streaming").remote(work, arguments):
            try:
                error, answer = self._ray.get(part)
            except self._ray.exceptions.RayActorError:
                raise WorkerDied from None
            except self._ray.exceptions.RayError as failed:
                raise _gave_up(failed) from None
            if error:
                raise _mendable(error)
            yield answer

    def _wait(self) -> None:
        """Until the actor takes calls: while it is started anew each fails at once, and that is no further death."""
        late = time.monotonic() + _START
        while True:
            try:
                self._ray.get(self._actor.__ray_ready__.remote())
                return
            except self._ray.exceptions.ActorUnavailableError:
                if time.monotonic() > late:
                    raise WorkerDied from None
                time.sleep(_POLL)
            except self._ray.exceptions.RayActorError:
                raise WorkerDied from None

    def end(self) -> None:
        self._ray.kill(self._actor)


class WorkerDied(Exception):
    """A worker was ended from outside."""


@contextlib.contextmanager
def connected(*, workers: int, address: str | None = None, gpus_per_model: float = 0) -> Iterator[Cluster]:
    """The cluster at an address or at RAY_ADDRESS, or else one of so many workers on this machine, while it is open."""
    try:
        ray: Any = importlib.import_module("ray")
    except ImportError:
        raise MissingExtra("--engine ray", "ray") from None
    ours = not ray.is_initialized()
    if ours:
        place = address or os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {"address": place} if place else {"num_cpus": workers, "include_dashboard": False}
        try:
            ray.init(log_to_driver=False, logging_level="ERROR", **options)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise TiltmeterError(f"no Ray cluster at {place or 'this machine'}: {str(error).splitlines()[0]}") from None
    try:
        yield Cluster(ray, workers, gpus_per_model=gpus_per_model)
    finally:
        if ours:
            ray.shutdown()


#: An error as it travels: the name of its class, and what it says. Ray would wrap it into a traceback of its own.
_Told = tuple[str, str] | None


def _run_task(work: Callable[[Any, Any], Any], shared: Any, item: Any) -> tuple[_Told, Any]:
    """The answer, or the error in words."""
    try:
        return None, work(shared, item)
    except TiltmeterError as error:
        return (type(error).__name__, str(error)), None


class _Host:
    """The actor: it makes what it holds when it is first asked."""

    def __init__(self, make: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        self._held = functools.cache(lambda: make(*arguments))

    def parts(self, work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> Iterator[tuple[_Told, Any]]:
        try:
            for part in work(self._held(), *arguments):
                yield None, part
        except TiltmeterError as error:
            yield (type(error).__name__, str(error)), None


def _mendable(error: tuple[str, str]) -> TiltmeterError:
    name, message = error
    return {"BadInput": BadInput, "ModelFailed": ModelFailed}.get(name, TiltmeterError)(message)


def _gave_up(error: Exception) -> TiltmeterError:
    return TiltmeterError(f"the Ray cluster gave up: {str(error).strip().splitlines()[-1]}")


def in_a_pool(work: Callable[[Any, T], R], shared: Any, items: Iterable[T], *, workers: int) -> Iterator[tuple[T, R]]:
    """Each item with ``work(shared, item)``, as they are ready; ``shared`` is sent to every process once."""
    # Spawned, because a fork of a process that has threads may hang.
    with ProcessPoolExecutor(workers, get_context("spawn"), _keep_shared, (shared,)) as executor:
        waiting: dict[Future[R], T] = {}
        queue = iter(items)
        try:
            while True:
                for item in itertools.islice(queue, workers * _AHEAD - len(waiting)):
                    waiting[executor.submit(_run_here, work, item)] = item
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(future), future.result()
        except BrokenProcessPool:
            raise TiltmeterError(
                "a worker process was ended from outside (out of memory?): run the same command again to resume, "
                "with fewer --workers"
            ) from None
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


#: In a worker: what all of its work shares.
_shared: Any = None


def _keep_shared(shared: Any) -> None:
    global _shared
    _shared = shared


def _run_here(work: Callable[[Any, T], R], item: T) -> R:
    return work(_shared, item)
