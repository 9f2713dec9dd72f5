"""What APIs charge, and how many tokens a text may come to, without asking anyone."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date

#: When the prices below were noted. Providers change them: an estimate is not an invoice.
NOTED = date(2026, 11, 16)

#: US dollars for a million input tokens, list price without batch or volume discount.
DOLLARS_PER_MILLION = {
    "openai:text-embedding-3-small": 0.02,
    "openai:text-embedding-3-large": 0.13,
    "openai:text-embedding-ada-002": 0.10,
    "cohere:embed-v4.0": 0.12,
    "cohere:embed-english-v3.0": 0.10,
    "cohere:embed-english-light-v3.0": 0.10,
    "cohere:embed-multilingual-v3.0": 0.10,
    "cohere:embed-multilingual-light-v3.0": 0.10,
    "voyage:voyage-4-large": 0.12,
    "voyage:voyage-4": 0.06,
    "voyage:voyage-4-lite": 0.02,
    "voyage:voyage-3.5": 0.06,
    "voyage:voyage-3.5-lite": 0.02,
    "voyage:voyage-3-large": 0.18,
    "voyage:voyage-3": 0.06,
    "voyage:voyage-3-lite": 0.02,
    "voyage:voyage-code-3": 0.18,
    "voyage:voyage-finance-2": 0.12,
    "voyage:voyage-law-2": 0.12,
    "voyage:voyage-multilingual-2": 0.12,
    "chat:gpt-3.5-turbo": 0.50,
    "chat:gpt-4": 30.00,
    "chat:gpt-4-turbo": 10.00,
    "chat:gpt-4o": 2.50,
    "chat:gpt-4o-mini": 0.15,
    "chat:gpt-4.1": 2.00,
    "chat:gpt-4.1-mini": 0.40,
    "chat:gpt-4.1-nano": 0.10,
}
#: The same for a million tokens that a chat model writes.
DOLLARS_PER_MILLION_WRITTEN = {
    "chat:gpt-3.5-turbo": 1.50,
    "chat:gpt-4": 60.00,
    "chat:gpt-4-turbo": 30.00,
    "chat:gpt-4o": 10.00,
    "chat:gpt-4o-mini": 0.60,
    "chat:gpt-4.1": 8.00,
    "chat:gpt-4.1-mini": 1.60,
    "chat:gpt-4.1-nano": 0.40,
}


@dataclass(frozen=True, slots=True)
class Estimate:
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
    price = DOLLARS_PER_MILLION.get(name)
    if price is None:
        return None
    return (price * tokens + DOLLARS_PER_MILLION_WRITTEN.get(name, 0.0) * written) / 1_000_000
