"""Who does the work: this process, a pool of processes, or a Ray cluster. What is found is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from tiltmeter.cluster import connected
from tiltmeter.errors import TiltmeterError
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.priority import Numbers
from tiltmeter.stimuli.mining.scan import Scanner
from tiltmeter.stimuli.mining.settings import Settings

Limits = Callable[[], Numbers]
Advance = Callable[[int], None]
Done = Iterator[tuple[Shard, bytes]]
#: Parts handed out ahead of the workers, so that none waits.
_AHEAD = 2

_scanner: Scanner | None = None


def here(settings: Settings, shards: Sequence[Shard], limits: Limits, advance: Advance) -> Done:
    """One part after another, in this process."""
    scanner = Scanner(settings)
    for shard in shards:
        yield shard, scanner.scan(shard, limits(), advance).to_bytes()


def pool(settings: Settings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int) -> Done:
    """Parts shared out to processes of this machine."""
    # Spawned, because a fork of a process that has threads may hang.
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (settings,)) as executor:
        waiting: dict[Future[bytes], Shard] = {}
        queue = iter(shards)
        try:
            while True:
                for shard in _take(queue, workers * _AHEAD - len(waiting)):
                    waiting[executor.submit(_scan, shard, limits())] = shard
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    shard = waiting.pop(future)
                    yield shard, future.result()
                    advance(shard.size)
        except BrokenProcessPool:
            raise TiltmeterError(
                "a worker process was ended from outside (out of memory?): run the same command again to go on, "
                "with fewer --workers"
            ) from None
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def ray(
    settings: Settings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int, address: str | None
) -> Done:
    """Parts shared out to a Ray cluster; one whose worker dies is done again by another."""
    handed_out = ((shard, limits()) for shard in shards)
    with connected(workers=workers, address=address) as cluster:
        for (shard, _), content in cluster.share_out(_scan_on_cluster, settings, handed_out):
            yield shard, content
            advance(shard.size)


def _start(settings: Settings) -> None:
    global _scanner
    _scanner = Scanner(settings)


def _scan(shard: Shard, limits: Numbers) -> bytes:
    assert _scanner is not None
    return _scanner.scan(shard, limits).to_bytes()


def _scan_on_cluster(settings: Settings, item: tuple[Shard, Numbers]) -> bytes:
    global _scanner
    if _scanner is None or settings != _scanner.settings:
        _scanner = Scanner(settings)
    return _scan(*item)


def _take(queue: Iterator[Shard], n: int) -> list[Shard]:
    return [shard for _, shard in zip(range(n), queue, strict=False)]
