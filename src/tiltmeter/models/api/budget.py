"""A limit on what paid APIs may cost, shared by all models of a run and checked before each request."""

from __future__ import annotations

import re
import threading

from tiltmeter.errors import BadInput, BudgetSpent

_ITEM = r"(\d[\d_,]*(?:\.\d+)?)\s*([km]?)\s*(token|request)s?"
_FACTOR = {"": 1, "k": 1_000, "m": 1_000_000}


class Budget:
    """At most so many tokens and so many requests; None is no limit.

    Every request sent counts, also one that is tried again. Its tokens are reserved by estimate, then
    corrected to what the provider says it billed; a refused request (an HTTP error) costs no tokens.

    >>> Budget(tokens=1000)
    Budget(tokens=1000, requests=None)
    """

    def __init__(self, tokens: int | None = None, requests: int | None = None) -> None:
        for unit, limit in (("tokens", tokens), ("requests", requests)):
            if limit is not None and limit < 0:
                raise BadInput(f"a budget of {limit} {unit}: give 0 or more")
        self.tokens, self.requests = tokens, requests
        self.spent_tokens = self.spent_requests = 0
        self._lock = threading.Lock()

    @classmethod
    def parse(cls, text: str) -> Budget:
        """Read a budget as people write it.

        >>> Budget.parse("100k tokens"), Budget.parse("50requests")
        (Budget(tokens=100000, requests=None), Budget(tokens=None, requests=50))
        >>> Budget.parse("1.5M tokens, 20 requests")
        Budget(tokens=1500000, requests=20)
        """
        lower = text.lower().strip()
        items = re.findall(_ITEM, lower)
        units = [unit for _, _, unit in items]
        whole = re.fullmatch(rf"{_ITEM}(?:(?:\s*,\s*|\s+and\s+|\s+){_ITEM})?", lower)
        amounts = {unit: float(re.sub("[_,]", "", n)) * _FACTOR[scale] for n, scale, unit in items}
        if not whole or len(units) != len(set(units)) or any(n != int(n) for n in amounts.values()):
            raise BadInput(f"cannot read the budget '{text}': write e.g. '100k tokens' or '50 requests'")
        limits = {unit: int(amount) for unit, amount in amounts.items()}
        return cls(tokens=limits.get("token"), requests=limits.get("request"))

    def reserve(self, tokens: int, *, model: str) -> None:
        """Set tokens aside for one request that is about to be sent, or refuse it."""
        with self._lock:
            over_tokens = self.tokens is not None and self.spent_tokens + tokens > self.tokens
            over_requests = self.requests is not None and self.spent_requests + 1 > self.requests
            if over_tokens or over_requests:
                raise BudgetSpent(
                    f"the next request to {model} (about {tokens:,} tokens) would go over the budget: "
                    f"{self._account()}; everything bought is kept: raise the budget and run again to go on"
                )
            self.spent_tokens += tokens
            self.spent_requests += 1

    def settle(self, reserved: int, billed: int) -> None:
        """Replace what was set aside by what was billed."""
        with self._lock:
            self.spent_tokens += billed - reserved

    def _account(self) -> str:
        lines = (("tokens", self.spent_tokens, self.tokens), ("requests", self.spent_requests, self.requests))
        return ", ".join(
            f"{spent:,} of {limit:,} {unit} spent, {max(limit - spent, 0):,} remain"
            for unit, spent, limit in lines
            if limit is not None
        )

    def __repr__(self) -> str:
        return f"Budget(tokens={self.tokens}, requests={self.requests})"
