"""Who does the work: this process, a pool of processes, or a Ray cluster. What comes out is the same."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context

from tiltmeter.cluster import connected
from tiltmeter.errors import TiltmeterError
from tiltmeter.stimuli.mining.blocks import Hashes
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.mining_settings import MiningSettings
from tiltmeter.stimuli.mining.scan import Scanner

Limits = Callable[[], Hashes]
Advance = Callable[[int], None]
Done = Iterator[tuple[Shard, bytes]]
#: Parts handed out ahead of the workers, so that none waits.
_AHEAD = 2

#: In a worker: what it scans with.
_scanner: Scanner | None = None


def in_this_process(settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance) -> Done:
    """One part after another, in this process."""
    scanner = Scanner(settings)
    for shard in shards:
        yield shard, scanner.scan(shard, limits(), advance).to_bytes()


def in_a_pool(
    settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int
) -> Done:
    """Parts shared out to processes of this machine."""
    # Spawned, because a fork of a process that has threads may hang.
    with ProcessPoolExecutor(workers, get_context("spawn"), _start, (settings,)) as executor:
        waiting: dict[Future[bytes], Shard] = {}
        queue = iter(shards)
        try:
            while True:
                for shard in itertools.islice(queue, workers * _AHEAD - len(waiting)):
                    waiting[executor.submit(_scan, shard, limits())] = shard
                if not waiting:
                    return
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    shard = waiting.pop(future)
                    yield shard, future.result()
                    advance(shard.size)
        except BrokenProcessPool:
            raise TiltmeterError(
                "a worker process was ended from outside (out of memory?): run the same command again to resume, "
                "with fewer --workers"
            ) from None
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def on_ray(
    settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int,
    address: str | None,
) -> Done:  # fmt: skip
    """Parts shared out to a Ray cluster; one whose worker dies is done again by another."""
    handed_out = ((shard, limits()) for shard in shards)
    with connected(workers=workers, address=address) as cluster:
        for (shard, _), content in cluster.share_out(_scan_on_cluster, settings, handed_out):
            yield shard, content
            advance(shard.size)


def _start(settings: MiningSettings) -> None:
    global _scanner
    _scanner = Scanner(settings)


def _scan(shard: Shard, limits: Hashes) -> bytes:
    assert _scanner is not None
    return _scanner.scan(shard, limits).to_bytes()


def _scan_on_cluster(settings: MiningSettings, item: tuple[Shard, Hashes]) -> bytes:
    global _scanner
    if _scanner is None or settings != _scanner.settings:
        _scanner = Scanner(settings)
    return _scan(*item)
