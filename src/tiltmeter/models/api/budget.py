"""What paid APIs cost: prices, estimates made without asking anyone, and a limit checked before each request."""

from __future__ import annotations

import re
import threading
from dataclasses import asdict, dataclass

from tiltmeter.errors import BadInput, BudgetSpent

_ITEM = r"(\d[\d_,]{0,20}(?:\.\d{1,9})?)\s*([km]?)\s*(token|request)s?"
_FACTOR = {"": 1, "k": 1_000, "m": 1_000_000}
#: US dollars for a million tokens read, and for a million that a chat model writes: list prices without batch or volume
#: discount, as noted on 16 November 2026. Providers change them: an estimate is not an invoice.
DOLLARS_PER_MILLION = {
    "openai:text-embedding-3-small": (0.02, 0.0),
    "openai:text-embedding-3-large": (0.13, 0.0),
    "openai:text-embedding-ada-002": (0.10, 0.0),
    "cohere:embed-v4.0": (0.12, 0.0),
    "cohere:embed-english-v3.0": (0.10, 0.0),
    "cohere:embed-english-light-v3.0": (0.10, 0.0),
    "cohere:embed-multilingual-v3.0": (0.10, 0.0),
    "cohere:embed-multilingual-light-v3.0": (0.10, 0.0),
    "voyage:voyage-4-large": (0.12, 0.0),
    "voyage:voyage-4": (0.06, 0.0),
    "voyage:voyage-4-lite": (0.02, 0.0),
    "voyage:voyage-3.5": (0.06, 0.0),
    "voyage:voyage-3.5-lite": (0.02, 0.0),
    "voyage:voyage-3-large": (0.18, 0.0),
    "voyage:voyage-3": (0.06, 0.0),
    "voyage:voyage-3-lite": (0.02, 0.0),
    "voyage:voyage-code-3": (0.18, 0.0),
    "voyage:voyage-finance-2": (0.12, 0.0),
    "voyage:voyage-law-2": (0.12, 0.0),
    "voyage:voyage-multilingual-2": (0.12, 0.0),
    "chat:gpt-3.5-turbo": (0.50, 1.50),
    "chat:gpt-4": (30.00, 60.00),
    "chat:gpt-4-turbo": (10.00, 30.00),
    "chat:gpt-4o": (2.50, 10.00),
    "chat:gpt-4o-mini": (0.15, 0.60),
    "chat:gpt-4.1": (2.00, 8.00),
    "chat:gpt-4.1-mini": (0.40, 1.60),
    "chat:gpt-4.1-nano": (0.10, 0.40),
    "completions:babbage-002": (0.40, 0.40),
    "completions:davinci-002": (2.00, 2.00),
}


class Budget:
    """At most so many tokens and so many requests, for all models of a run; None is not a limit.

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
                    f"{self._account()}; everything bought is kept: raise the budget and run again to resume"
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


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run may cost at most; ``dollars`` is None where no price is known."""

    requests: int
    tokens: int
    dollars: float | None

    def to_dict(self) -> dict[str, float | None]:
        return asdict(self)


def estimate_tokens(text: str) -> int:
    """A cautious count of tokens: 1, plus 1 for every 3 ASCII characters, plus 2 for any other character.

    English comes to 4 or more characters a token, and scripts that byte-level tokenizers split finely
    (Bengali, say) to less than 2 tokens a character, so this rarely counts too few and often too many.

    >>> estimate_tokens("The nurse slept."), estimate_tokens("নার্স")
    (7, 11)
    """
    plain = sum(character.isascii() for character in text)
    return 1 + -(-plain // 3) + 2 * (len(text) - plain)


def estimate_cost(name: str, tokens: int, *, written: int = 0) -> float | None:
    """US dollars for so many tokens read, and written, by a model; None for a model whose price is not known.

    >>> estimate_cost("openai:text-embedding-3-large", 500_000)
    0.065
    >>> estimate_cost("chat:gpt-4o-mini", 1_000_000, written=500_000)
    0.45
    >>> estimate_cost("openai:my-own-model", 500_000) is None
    True
    """
    if name not in DOLLARS_PER_MILLION:
        return None
    to_read, to_write = DOLLARS_PER_MILLION[name]
    return (to_read * tokens + to_write * written) / 1_000_000
