"""The one loop behind all providers: batches within their limits, budget, retries, checked answers."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from tiltmeter.errors import ModelFailed, TiltmeterError, require
from tiltmeter.models.api.budget import Budget, estimate_cost, estimate_tokens
from tiltmeter.models.api.connection import FaultError, Post, UnusableError, connect
from tiltmeter.models.api.keys import scrub, scrubbed_logs, secrets_of
from tiltmeter.models.api.provider import Limits, Service, revision_at
from tiltmeter.models.protocol import Identity

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
    base_url: str | None = field(repr=False)  # it may hold a password
    budget: Budget
    timeout: float
    max_tries: int
    sleep: Callable[[float], object] = time.sleep
    secrets: Sequence[str] = field(default=(), repr=False)
    jitter: random.Random = field(default_factory=random.Random, repr=False)

    @property
    def name(self) -> str:
        return f"{self.service.name}:{self.model}"

    def identity(self, settings: Mapping[str, str]) -> Identity:
        """What the answers depend on. Providers publish no revision of their weights: the name has to do."""
        return Identity(self.name, revision_at(self.model, self.base_url), settings)

    def dollars(self, tokens: int, *, written: int = 0) -> float | None:
        """What tokens cost; no price is known for a self-hosted server."""
        return None if self.base_url else estimate_cost(self.name, tokens, written=written)

    @contextmanager
    def connected(self) -> Iterator[Post]:
        """While open, requests can be sent: the key is looked up now, and shows in no log."""
        require("asking an API", "api", "httpx")  # before the key, which is of no use without
        key = self.service.key_at(self.base_url)
        self.secrets = secrets_of(key, self.base_url)
        with ExitStack() as stack:
            reason = ""
            try:
                client = connect(self.base_url or self.service.address_for(key), key, self.timeout)
                post = stack.enter_context(client)
            except TiltmeterError:
                raise
            except Exception as error:  # e.g. a proxy in the environment that the HTTP library cannot use
                reason = f"the client cannot be set up: {_one_line(scrub(str(error), self.secrets))}"
            if reason:
                raise self.failed(reason)
            stack.enter_context(scrubbed_logs(self.secrets))
            yield post

    def buy(self, send: Callable[[], tuple[T, Any]], *, tokens: int, inputs: int = 1) -> T:
        """What ``send`` answers.

        It gives an answer and the tokens that the server says it billed; ``tokens`` is the estimate, which stays where
        the server says nothing that can be true. At least one per input counts: a budget must come to its end.
        """
        fault = FaultError("not asked yet")
        for tried in range(self.max_tries):
            if tried:
                self.sleep(self._wait(fault, tried))
            outcome = self._try(send, tokens, inputs)
            if not isinstance(outcome, FaultError):
                return outcome
            fault = outcome
            if not _may_pass(fault):
                raise self.failed(f"{_refusal(fault)}: {self._advice(fault)}")
        tries = "1 try" if self.max_tries == 1 else f"{self.max_tries} tries"
        raise self.failed(f"gave up after {tries}: {_refusal(fault)}")

    def failed(self, why: str) -> ModelFailed:
        return ModelFailed(f"{self.name}: {why}")

    def _try(self, send: Callable[[], tuple[T, Any]], reserved: int, inputs: int) -> T | FaultError:
        # A copy of a fault is returned, not raised: the exception itself drags the client's own along as its context,
        # and with it the request and the key.
        self.budget.reserve(reserved, model=self.name)
        try:
            answer, billed = send()
        except FaultError as error:
            fault = replace(error)
        except Exception as error:  # anything from ValueError to AttributeError, on a broken body
            kind = "" if isinstance(error, UnusableError) else f"{type(error).__name__}: "
            fault = FaultError(f"an answer that cannot be used ({kind}{error})")
        else:
            if type(billed) in (int, float) and 0 <= billed < math.inf:
                self.budget.settle(reserved, max(math.ceil(billed), inputs))
            return answer
        if fault.status is not None:
            self.budget.settle(reserved, 0)
        return replace(fault, reason=_one_line(scrub(fault.reason, self.secrets)))

    def _wait(self, fault: FaultError, tried: int) -> float:
        asked = _retry_after(fault.headers)
        if asked > LONGEST_RETRY_AFTER:
            raise self.failed(
                f"asks to wait {asked:,.0f} s ({_refusal(fault)}), longer than the "
                f"{LONGEST_RETRY_AFTER:.0f} s waited at most: run again later, what was bought is kept"
            )
        # Full jitter: clients that were refused together do not come back together.
        return max(asked, self.jitter.uniform(0.0, min(LONGEST_BACKOFF, 2.0 ** (tried - 1))))

    def _advice(self, fault: FaultError) -> str:
        if fault.advice:
            return fault.advice
        if fault.no_credit:
            return "the account has no credit left, add some and run again"
        if fault.status in (401, 403):
            variables = self.service.key_variables(self.base_url)
            if variables:
                return f"check the key in {' or '.join(variables)} and what it may do"
            return self.service.key_advice(self.base_url)
        if fault.status == 404:
            return f"check the model name '{self.model}' and the base URL"
        return "check the model name and the options"


def _may_pass(fault: FaultError) -> bool:
    """Whether the same request may succeed later."""
    return not fault.no_credit and (fault.status is None or fault.status >= 500 or fault.status in (408, 409, 429))


def _refusal(fault: FaultError) -> str:
    return fault.reason if fault.status is None else f"HTTP {fault.status}, {fault.reason}"


def _one_line(text: str) -> str:
    # A server's words must not move the cursor of a terminal.
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split()).rstrip(".")
    return line if len(line) <= _LONGEST_REASON else f"{line[:_LONGEST_REASON]}…"


def _retry_after(headers: Mapping[str, str]) -> float:
    """Seconds the provider asks to wait: ``retry-after-ms``, or ``retry-after`` in seconds or as a date.

    >>> _retry_after({"retry-after": "7"}), _retry_after({"retry-after-ms": "250"}), _retry_after({})
    (7.0, 0.25, 0.0)
    >>> now, later = "Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT"
    >>> _retry_after({"retry-after": later, "date": now})
    30.0
    """
    for header, in_a_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(ValueError):
            number = float(headers.get(header, ""))
            if not math.isnan(number):
                return max(number, 0.0) / in_a_second
    until = _date(headers.get("retry-after", ""))
    if until is None:
        return 0.0
    # By the server's clock where it tells the time: the user's own may be wrong.
    now = _date(headers.get("date", "")) or datetime.now(UTC)
    try:
        return max((until - now).total_seconds(), 0.0)
    except OverflowError:  # the last year there is, in a zone behind
        return math.inf


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
