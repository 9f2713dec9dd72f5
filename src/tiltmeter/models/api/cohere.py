"""Cohere's embedding API, version 2."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.models.api.provider import Limits, Provider, Target, VectorAnswer


def _limits(model: str) -> Limits:
    longest = 512 if "-v3" in model or "-v2" in model else 128_000
    return Limits(inputs=96, tokens=128_000, tokens_each=longest)


def _body(target: Target, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "texts": list(texts),
        "model": target.model,
        "input_type": target.input_type,
        "embedding_types": ["float"],
        "truncate": "NONE",
        **({} if target.dimensions is None else {"output_dimension": target.dimensions}),
    }


def _read(answer: Any) -> VectorAnswer:
    billed = (answer.get("meta") or {}).get("billed_units") or {}
    return VectorAnswer(answer["embeddings"]["float"], order=None, tokens=billed.get("input_tokens"))


COHERE = Provider(
    name="cohere",
    variables=("COHERE_API_KEY", "CO_API_KEY"),
    address="https://api.cohere.com",
    limits=_limits,
    path="/v2/embed",
    body=_body,
    read=_read,
    input_types=("clustering", "classification", "search_document", "search_query"),
    # Measures compare texts of one kind with each other; the search types are made for unlike sides.
    input_type="clustering",
)
