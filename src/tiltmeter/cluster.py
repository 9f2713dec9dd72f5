"""Work shared out: to processes of this machine, or, where one machine is not enough, to a Ray cluster, on which what a
dead worker had is done again."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from tiltmeter.errors import MissingExtra, TiltmeterError

T = TypeVar("T")
R = TypeVar("R")

#: Items handed out ahead of the workers, so that none waits.
_AHEAD = 2
_RETRIES = 5


class Cluster:
    """What ``connected`` gives: functions run on it."""

    def __init__(self, ray: Any, workers: int) -> None:
        self._ray = ray
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
            try:
                error, answer = self._ray.get(done)
            except self._ray.exceptions.RayError as failed:
                raise TiltmeterError(f"the Ray cluster gave up: {str(failed).strip().splitlines()[-1]}") from None
            if error:
                raise TiltmeterError(error)
            yield waiting.pop(done), answer


@contextlib.contextmanager
def connected(*, workers: int, address: str | None = None) -> Iterator[Cluster]:
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
        yield Cluster(ray, workers)
    finally:
        if ours:
            ray.shutdown()


def _run_task(work: Callable[[Any, Any], Any], shared: Any, item: Any) -> tuple[str, Any]:
    """The answer, or the error in words: Ray would wrap it into a traceback of its own."""
    try:
        return "", work(shared, item)
    except TiltmeterError as error:
        return str(error), None


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
