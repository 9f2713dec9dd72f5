"""The one loop behind all providers: batches within their limits, budget, retries, checked answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tiltmeter.errors import ModelFailed, TiltmeterError
from tiltmeter.models.api.budget import Budget, estimate_tokens
from tiltmeter.models.api.keys import scrub
from tiltmeter.models.api.provider import Fault, Limits, Service

T = TypeVar("T")

#: A provider that asks for a longer wait than this (seconds) is not waited for.
LONGEST_RETRY_AFTER = 300.0
LONGEST_BACKOFF = 60.0
_LONGEST_REASON = 300


def batches(texts: Sequence[str], limits: Limits) -> Iterator[Sequence[str]]:
    """Cut texts, in order, into requests as large as the provider takes.

    >>> list(batches(["a", "b", "c"], Limits(inputs=2, tokens=100, tokens_each=10)))
    [['a', 'b'], ['c']]
    """
    batch: list[str] = []
    tokens = 0
    for text in texts:
        cost = estimate_tokens(text)
        if batch and (len(batch) == limits.inputs or tokens + cost > limits.tokens):
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += cost
    if batch:
        yield batch


@dataclass(slots=True)
class Requests:
    """Asks one model for one thing at a time, again and again until the answer is whole."""

    service: Service
    model: str
    budget: Budget
    max_tries: int
    sleep: Callable[[float], object]
    secrets: Sequence[str] = field(default=(), repr=False)
    jitter: random.Random = field(default_factory=random.Random, repr=False)

    def open(self, client: AbstractContextManager[T], stack: ExitStack) -> T:
        """Open the client of an SDK until the stack closes it."""
        try:
            return stack.enter_context(client)
        except TiltmeterError:
            raise
        except Exception as error:  # e.g. a proxy in the environment that the HTTP library cannot use
            reason = scrub(" ".join(str(error).split()), self.secrets)
        raise self.failed(f"the client cannot be set up: {reason}")

    def buy(self, send: Callable[[], tuple[T, int | None]], *, tokens: int) -> T:
        """What ``send`` answers.

        It gives an answer and the tokens billed for it, None where that is not told; ``tokens`` is the estimate.
        """
        fault = Fault("not asked yet")
        for tried in range(self.max_tries):
            if tried:
                self.sleep(self._wait(fault, tried))
            outcome = self._try(send, tokens)
            if not isinstance(outcome, Fault):
                return outcome
            fault = outcome
            if not _may_pass(fault):
                raise self.failed(f"{_refusal(fault)}: {self._advice(fault)}")
        tries = "1 try" if self.max_tries == 1 else f"{self.max_tries} tries"
        raise self.failed(f"gave up after {tries}: {_refusal(fault)}")

    def failed(self, why: str) -> ModelFailed:
        return ModelFailed(f"{self.service.name}:{self.model}: {why}")

    def _try(self, send: Callable[[], tuple[T, int | None]], reserved: int) -> T | Fault:
        # A fault is returned, not raised: an exception would drag the SDK's own along as its context,
        # and with it the request and the key.
        self.budget.reserve(reserved, model=f"{self.service.name}:{self.model}")
        try:
            answer, billed = send()
        except UnusableError as error:
            fault = Fault(f"an answer that cannot be used ({error})")
        except Exception as error:  # SDKs raise anything from ValueError to AttributeError on a broken body
            unknown = Fault(f"an answer that cannot be used ({type(error).__name__}: {error})")
            fault = self.service.fault(error) or unknown
        else:
            if billed is not None:
                self.budget.settle(reserved, billed)
            return answer
        if fault.status is not None:
            self.budget.settle(reserved, 0)
        return replace(fault, reason=_one_line(scrub(fault.reason, self.secrets)))

    def _wait(self, fault: Fault, tried: int) -> float:
        asked = _retry_after(fault.headers)
        if asked > LONGEST_RETRY_AFTER:
            raise self.failed(
                f"asks to wait {asked:,.0f} s ({_refusal(fault)}), longer than the "
                f"{LONGEST_RETRY_AFTER:.0f} s waited at most: run again later, what was bought is kept"
            )
        # Full jitter: clients that were refused together do not come back together.
        return max(asked, self.jitter.uniform(0.0, min(LONGEST_BACKOFF, 2.0 ** (tried - 1))))

    def _advice(self, fault: Fault) -> str:
        if fault.no_credit:
            return "the account has no credit left, add some and run again"
        if fault.status in (401, 403):
            return f"check the key in {' or '.join(self.service.variables)} and what it may do"
        if fault.status == 404:
            return f"check the model name '{self.model}' and the base URL"
        return "check the model name and the options"


class UnusableError(Exception):
    """An answer that came, and is not what was asked for."""


def _may_pass(fault: Fault) -> bool:
    """Whether the same request may succeed later."""
    return not fault.no_credit and (fault.status is None or fault.status >= 500 or fault.status in (408, 409, 429))


def _refusal(fault: Fault) -> str:
    return fault.reason if fault.status is None else f"HTTP {fault.status}, {fault.reason}"


def _one_line(text: str) -> str:
    line = " ".join(text.split()).rstrip(".")
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds the provider asks to wait: ``retry-after-ms``, or ``retry-after`` in seconds or as a date.

    >>> _retry_after({"retry-after": "7"}), _retry_after({"retry-after-ms": "250"}), _retry_after({})
    (7.0, 0.25, 0.0)
    >>> now, later = "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT"
    >>> _retry_after({"retry-after": later, "date": now})
    30.0
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    asked = headers.get("retry-after", "")
    seconds = _number(asked)
    if seconds is not None:
        return seconds
    until = _date(asked)
    if until is None:
        return 0.0
    # By the server's clock where it tells the time: the user's own may be wrong.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    return max((until - now).total_seconds(), 0.0)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return max(number, 0.0) if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
