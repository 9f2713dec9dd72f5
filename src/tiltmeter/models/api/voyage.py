"""Voyage's embedding API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.models.api.provider import Limits, Provider, Target, listed_vectors


def _limits(_model: str) -> Limits:
    # Some models take up to a million tokens in one request; all take 120,000.
    return Limits(inputs=1000, tokens=120_000, tokens_each=32_000)


def _body(target: Target, texts: Sequence[str]) -> dict[str, Any]:
    options = {"output_dimension": target.dimensions, "input_type": target.input_type}
    return {
        "input": list(texts),
        "model": target.model,
        "truncation": False,
        "encoding_format": "base64",
        **{name: value for name, value in options.items() if value is not None},
    }


VOYAGE = Provider(
    name="voyage",
    variables=("VOYAGE_API_KEY",),
    address="https://api.voyageai.com/v1",
    addresses={"al-": "https://ai.mongodb.com/v1"},
    limits=_limits,
    path="/embeddings",
    body=_body,
    read=listed_vectors,
    # Without a type Voyage embeds the text alone; with one it puts a prompt for retrieval before it.
    input_types=("query", "document"),
)
