"""Several requests under way at once: answers come a few at a time, and can be saved before more are bought."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from tiltmeter.models.api.connection import Post
from tiltmeter.models.api.requests import Requests
from tiltmeter.models.protocol import Batch

I = TypeVar("I", bound=Hashable)  # noqa: E741 - an input
M = TypeVar("M")
R = TypeVar("R")

#: Requests under way at once: few, because providers count them and small servers have one machine.
AT_ONCE = 4


class StoppedError(Exception):
    """Not asked, or not asked again, because another request failed or nobody waits any more."""


def buy_side_by_side(
    requests: Requests,
    places: Mapping[I, Sequence[int]],
    *,
    messages: Callable[[I], Sequence[M]],
    ask: Callable[[Requests, Post, M], R],
    answer: Callable[[I, list[R]], Any],
    sleep: Callable[[float], object] | None = None,
    at_once: int = AT_ONCE,
) -> Iterator[Batch]:
    """Answers to inputs, a few inputs at a time and in order, at the positions where each stands.

    Where a request fails for good, those that were answered along with it still come before the error.

    Args:
        requests: whom to ask.
        places: the different inputs, and the positions of each.
        messages: what is sent for an input.
        ask: sends one message.
        answer: makes the answer to an input of the replies to its messages.
        sleep: waits between two tries; by default until the time is over or another request has failed.
        at_once: inputs whose messages are under way at the same time.
    """
    if not places:
        return
    items, stop = list(places), threading.Event()

    def pause(seconds: float) -> None:
        (sleep or stop.wait)(seconds)
        if stop.is_set():
            raise StoppedError

    def ask_unless_stopped(message: M) -> R:
        # The failure of one message ends the waiting of the others; what is under way is finished.
        if stop.is_set():
            raise StoppedError
        try:
            return ask(patient, post, message)
        except BaseException:
            stop.set()
            raise

    patient = replace(requests, sleep=pause)
    with patient.connected() as post, ThreadPoolExecutor(at_once) as pool:
        try:
            for start in range(0, len(items), at_once):
                some = items[start : start + at_once]
                replies = {item: [pool.submit(ask_unless_stopped, one) for one in messages(item)] for item in some}
                failures = {item: [reply.exception() for reply in asked] for item, asked in replies.items()}
                answers = {
                    item: answer(item, [reply.result() for reply in asked])
                    for item, asked in replies.items()
                    if not any(failures[item])
                }
                if answers:
                    positions = [place for item in answers for place in places[item]]
                    yield positions, [one for item, one in answers.items() for _ in places[item]]
                for failure in (one for some_failed in failures.values() for one in some_failed):
                    if failure and not isinstance(failure, StoppedError):
                        raise failure
        finally:
            stop.set()


def sample_seed(seed: int, sample: int) -> int:
    """A seed of its own for each sample, small enough for every server.

    >>> sample_seed(0, 0) != sample_seed(0, 1)
    True
    """
    return int(np.random.SeedSequence([seed, sample]).generate_state(1)[0] >> 1)
