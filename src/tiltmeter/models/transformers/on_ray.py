"""Where vectors are computed: on this machine, or on a Ray cluster. What comes out is the same to the last bit.

Batches are laid out here, whoever computes them, and each is computed with one thread: neither the number of workers
nor their order changes a digit.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from tiltmeter.cluster import Cluster, connected
from tiltmeter.models.protocol import Batch

cluster_in_use: ContextVar[Cluster | None] = ContextVar("cluster", default=None)
#: In a worker: the model it has read, by what it was made of.
_read: dict[str, Any] = {}


@contextlib.contextmanager
def on_ray(*, workers: int, address: str | None = None, gpus_per_model: float = 0) -> Iterator[None]:
    """Within this, encoders compute their batches on a cluster, and audits of several models ask them there."""
    with connected(workers=workers, address=address, gpus_per_model=gpus_per_model) as cluster:
        before = cluster_in_use.set(cluster)
        try:
            yield
        finally:
            cluster_in_use.reset(before)


def compute_in_worker(encoder: Any, rows: Any) -> Batch:
    """The answers to a batch of rows, by a worker that keeps the model it has read."""
    import torch

    key = f"{type(encoder).__name__} {encoder.identity}"
    if key not in _read:
        _read.clear()
        torch.set_num_threads(1)
        _read[key] = encoder
    answer: Batch = _read[key]._compute(rows)
    return answer
