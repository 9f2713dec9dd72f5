"""Where vectors are computed: on this machine, or on a Ray cluster. What comes out is the same to the last bit.

Batches are laid out here, whoever computes them, and each is computed with one thread: neither the number of workers
nor their order changes a digit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import Any

from tiltmeter.cluster import Cluster, connected
from tiltmeter.models.protocol import Batch

_cluster: ContextVar[Cluster | None] = ContextVar("cluster", default=None)
#: In a worker: the model it has read, by what it was made of.
_read: dict[str, Any] = {}


@contextlib.contextmanager
def on_ray(*, workers: int, address: str | None = None) -> Iterator[None]:
    """Within this, encoders compute their batches on a cluster."""
    with connected(workers=workers, address=address) as cluster:
        before = _cluster.set(cluster)
        try:
            yield
        finally:
            _cluster.reset(before)


def cluster_in_use() -> Cluster | None:
    return _cluster.get()


def computed_on(cluster: Cluster, encoder: Any, batches: Iterable[Any]) -> Iterator[Batch]:
    """The answers to batches of rows, each computed by some worker that has read the same model."""
    for _, answer in cluster.share_out(_compute, encoder, batches):
        yield answer


def _compute(encoder: Any, rows: Any) -> Batch:
    import torch

    key = f"{type(encoder).__name__} {encoder.identity}"
    if key not in _read:
        _read.clear()
        torch.set_num_threads(1)
        _read[key] = encoder
    answer: Batch = _read[key]._compute(rows)
    return answer
