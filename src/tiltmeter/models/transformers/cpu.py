"""How CPUs are used: several batches at a time, one thread each, as many as pay; products by the faster library; and
half-precision weights that are widened while they compute.

Splitting one batch over threads makes them wait for each other in every layer, and as soon as another
process takes one of the CPUs they all wait for it: throughput falls by a factor of ten. Batches that are
computed side by side never wait for each other. They also give the same bits whatever the number of CPUs.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T")
R = TypeVar("R")

#: Below this share of a CPU per lane, the lanes are in each other's way or in another process's.
CROWDED = 0.8
#: A speed below this part of the best seen with the setting means that the machine has changed.
DROP = 0.6
#: A crowded machine is measured anew after this many seconds.
LOOK_AGAIN = 10.0
#: Shorter measurements are mostly noise.
LEAST_SECONDS = 0.2
#: Below so many rows the faster library takes longer to prepare a product than it saves.
LEAST_ROWS = 16
#: Numbers of a matrix that are widened at a time (256 MB).
_WIDENED = 1 << 26
_CPUINFO = Path("/proc/cpuinfo")


@dataclasses.dataclass(frozen=True, slots=True)
class Timing:
    """When a batch of ``size`` tokens, sent off with so many ``lanes``, ran, and the seconds of CPU it got."""

    size: int
    lanes: int
    start: float
    end: float
    cpu: float


class ThreadTuner:
    """Chooses how many lanes compute at a time, from the timings of the batches themselves.

    All lanes run while each gets its CPU. Where they do not, fewer lanes are tried in turn and the
    fastest setting is kept, until the speed drops or some seconds have passed.

    >>> ThreadTuner(2).lanes
    2
    """

    def __init__(self, most: int) -> None:
        self.lanes = self.most = most
        self._candidates = sorted({most, max(1, most // 2), 1}, reverse=True)
        self._best = 0.0
        self._look_at = -math.inf
        self._last = self._since = 0.0
        #: What was finished since then, with one setting.
        self._seen: list[Timing] = []
        self._tried: dict[int, float] = {}

    def begin(self, now: float) -> None:
        """A run starts; many short ones are measured like a long one, without the pauses between them."""
        self._since += now - self._last
        self._last = now

    def saw(self, batch: Timing) -> None:
        """Take note of a finished batch, and change ``lanes`` where that pays."""
        self._last = batch.end
        if batch.lanes != self.lanes:  # it shared the CPUs with lanes of the setting before
            self._since = max(self._since, batch.end)
            return
        self._seen.append(batch)
        seconds = batch.end - self._since
        if len(self._seen) >= 2 * self.lanes and seconds >= LEAST_SECONDS:
            share = sum(seen.cpu for seen in self._seen) / sum(seen.end - seen.start for seen in self._seen)
            self._judge(sum(seen.size for seen in self._seen) / seconds, share, batch.end)

    def _judge(self, speed: float, share: float, now: float) -> None:
        crowded = self.most > 1 and (share < CROWDED or self.lanes < self.most)
        changed = now >= self._look_at or speed < DROP * self._best
        if not self._tried and not (crowded and changed):
            self._best = max(self._best, speed)
            self._change(self.lanes, now)
            return
        self._tried[self.lanes] = speed
        untried = [lanes for lanes in self._candidates if lanes not in self._tried]
        if untried:
            self._change(untried[0], now)
            return
        self._change(max(self._tried, key=lambda lanes: self._tried[lanes]), now)
        self._best, self._look_at, self._tried = self._tried[self.lanes], now + LOOK_AGAIN, {}

    def _change(self, lanes: int, now: float) -> None:
        self.lanes, self._since, self._seen = lanes, now, []


def usable_cpus() -> int:
    """The CPUs this process may use: those it is bound to, and no more than torch was told to use."""
    import torch

    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(bound, torch.get_num_threads()))


def in_lanes(work: Callable[[T], R], items: Iterable[tuple[T, int]], *, tuner: ThreadTuner) -> Iterator[R]:
    """Results of ``work`` on each (item, size in tokens), as they are ready.

    Each lane computes with one torch thread; the caller's setting is back at the end.
    """
    import torch

    def timed(item: T, size: int, lanes: int) -> tuple[R, Timing]:
        start, cpu = time.perf_counter(), time.thread_time()
        result = work(item)
        return result, Timing(size, lanes, start, time.perf_counter(), time.thread_time() - cpu)

    threads = torch.get_num_threads()
    waiting = iter(items)
    running: set[Future[tuple[R, Timing]]] = set()
    finished: list[tuple[R, Timing]] = []
    pool = ThreadPoolExecutor(tuner.most, "lane", initializer=torch.set_num_threads, initargs=(1,))
    try:
        tuner.begin(time.perf_counter())
        while True:
            while len(running) < tuner.lanes and (following := next(waiting, None)) is not None:
                running.add(pool.submit(timed, *following, tuner.lanes))
            for result, _ in finished:  # only now: the lanes compute on while the caller saves these
                yield result
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            finished = sorted((future.result() for future in done), key=lambda pair: pair[1].end)
            for _, timing in finished:
                tuner.saw(timing)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(threads)


def product(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """``torch.nn.functional.linear``, by the library that is faster on this processor."""
    import torch

    worth_it = states.numel() >= LEAST_ROWS * states.shape[-1] and states.dtype == weight.dtype == torch.float32
    if worth_it and onednn_is_faster() and not torch.is_grad_enabled():
        return _by_onednn(states, weight, bias)
    return torch.nn.functional.linear(states, weight, bias)


def multiply_by_product(model: Any) -> None:
    """Let every linear layer of a model on the CPU multiply by ``product``: the weights stay as they are."""
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    if not onednn_is_faster():
        return
    for module in model.modules():
        kind = {nn.Linear: _linear, Conv1D: _conv1d}.get(type(module))
        if kind and "forward" not in vars(module):
            vars(module)["forward"] = functools.partial(kind, module)


def _linear(layer: Any, states: Tensor) -> Tensor:
    return product(states, layer.weight, layer.bias)


def _conv1d(layer: Any, states: Tensor) -> Tensor:
    return product(states, layer.weight.T, layer.bias)


@functools.cache
def onednn_is_faster() -> bool:
    """Whether float32 products should go to oneDNN, which comes with torch, instead of to torch's default.

    The default is Intel's MKL, which does without AVX-512 on processors of other makers; oneDNN uses it, and is twice
    as fast there. A trial decides whether this torch has the function, under the name and with the meaning known here.
    It is the processor that decides, never a timing, so that two runs on one machine give the same bits.
    """
    import torch

    backends: Any = torch.backends
    if backends.cpu.get_cpu_capability() != "AVX512" or not backends.mkl.is_available():
        return False
    if "AuthenticAMD" not in _processor():
        return False
    states, weight, bias = torch.eye(3, 4), torch.arange(8.0).reshape(2, 4), torch.tensor([1.0, 2.0])
    try:
        with torch.inference_mode():
            both = _by_onednn(states, weight, bias), _by_onednn(states, weight, None)
    except (AttributeError, RuntimeError, TypeError):
        return False
    return torch.equal(both[0], states @ weight.T + bias) and torch.equal(both[1], states @ weight.T)


def _by_onednn(states: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    import torch

    result: Tensor = torch.ops.mkldnn._linear_pointwise(states, weight, bias, "none", [], "")
    return result


def _processor() -> str:
    """What the machine says of its processor: its maker is in it."""
    with suppress(OSError):
        return _CPUINFO.read_text()
    return platform.processor()


def computed_in_float32(model: Any) -> Any:
    """The model with each layer in float32, its weights held in fewer bits: they are widened while it computes.

    Widening changes no number, so answers are those of weights held in float32. What is no matrix (a bias, a norm) is
    small, and held in float32. An architecture that reaches past its layers to their weights is widened as a whole.
    """
    import torch
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    hooks = []
    module: Any
    for module in model.modules():
        matrix = isinstance(module, nn.Linear | nn.Embedding | Conv1D)
        for name, parameter in module.named_parameters(recurse=False):
            if parameter.is_floating_point() and not (matrix and name == "weight"):
                setattr(module, name, nn.Parameter(parameter.float(), requires_grad=False))
        for name, buffer in module.named_buffers(recurse=False):
            if buffer.dtype in (torch.float16, torch.bfloat16):
                setattr(module, name, buffer.float())
        if isinstance(module, nn.Embedding):
            hooks.append(module.register_forward_hook(lambda _module, _inputs, output: output.float()))
        elif isinstance(module, nn.Linear):
            vars(module)["forward"] = _widened_linear(module)
        elif isinstance(module, Conv1D):
            vars(module)["forward"] = _widened_conv1d(module)
    if _runs(model):
        return model
    for module in model.modules():
        module.__dict__.pop("forward", None)
    for hook in hooks:
        hook.remove()
    return model.float()


def _runs(model: Any) -> bool:
    import torch

    part = model.get_encoder() if model.config.is_encoder_decoder else model
    with torch.inference_mode():
        try:
            part(input_ids=torch.tensor([[1, 2, 3], [3, 2, 1]]), attention_mask=torch.tensor([[1, 1, 1], [1, 1, 0]]))
        except Exception:
            return False
    return True


def _widened_linear(module: Any) -> Any:
    import torch

    rows = max(1, _WIDENED // module.in_features)

    def forward(states: Tensor) -> Tensor:
        weight, bias = module.weight, module.bias
        if module.out_features <= rows:
            return product(states, weight.float(), bias)
        parts = [product(states, some.float(), None) for some in weight.split(rows)]
        return torch.cat(parts, dim=-1) if bias is None else torch.cat(parts, dim=-1) + bias

    return forward


def _widened_conv1d(module: Any) -> Any:
    def forward(states: Tensor) -> Tensor:
        whole = product(states.reshape(-1, states.shape[-1]), module.weight.float().T, module.bias)
        return whole.view(*states.shape[:-1], module.nf)

    return forward
