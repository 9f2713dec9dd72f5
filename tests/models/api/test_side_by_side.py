"""Several requests at once: in order, at every position, and nothing lost that was answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tiltmeter.models.api.side_by_side import buy_side_by_side, sample_seed
from tiltmeter.models.protocol import Batch


@dataclass
class Asking:
    """Stands where ``Requests`` do: nothing of a provider is needed here."""

    sleep: Callable[[float], object] = print

    @contextmanager
    def connected(self) -> Iterator[object]:
        yield None


def buy(places: dict[str, list[int]], ask: Callable[[str], str], **options: Any) -> Iterator[Batch]:
    return buy_side_by_side(
        Asking(),  # type: ignore[arg-type]
        places,
        messages=lambda item: [f"{item}1", f"{item}2"],
        ask=lambda _requests, _post, message: ask(message),
        answer=lambda item, replies: f"{item}: {' '.join(replies)}",
        **options,
    )


def test_answers_come_in_order_at_every_position_of_their_input() -> None:
    first_waits = threading.Event()

    def ask(message: str) -> str:
        if message == "a1":
            assert first_waits.wait(60)  # answered last, and still the first to come
        elif message == "b2":
            first_waits.set()
        return message.upper()

    batches = list(buy({"a": [0, 3], "b": [1], "c": [2]}, ask, at_once=4))
    assert [place for places, _ in batches for place in places] == [0, 3, 1, 2]
    assert [answer for _, answers in batches for answer in answers] == ["a: A1 A2", "a: A1 A2", "b: B1 B2", "c: C1 C2"]


def test_what_was_answered_comes_before_the_error_and_nothing_is_asked_after_it() -> None:
    asked = list[str]()

    def ask(message: str) -> str:
        asked.append(message)
        if message == "b1":
            raise RuntimeError("no more money")
        return message

    batches = buy({"a": [0], "b": [1], "c": [2]}, ask, at_once=1)
    assert next(batches) == ([0], ["a: a1 a2"])
    with pytest.raises(RuntimeError, match="no more money"):
        next(batches)
    assert not {"c1", "c2"} & set(asked)


def test_nothing_to_ask_opens_no_connection() -> None:
    assert list(buy({}, lambda message: message)) == []


def test_every_sample_has_a_seed_of_its_own() -> None:
    assert len({sample_seed(seed, sample) for seed in range(20) for sample in range(20)}) == 400
    assert sample_seed(3, 4) == sample_seed(3, 4) < 2**31
