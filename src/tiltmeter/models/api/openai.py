"""OpenAI, and any server that speaks its protocol (Ollama, vLLM, Text Embeddings Inference)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.models.api.provider import Limits, Provider, Target, listed_vectors


def _limits(_model: str) -> Limits:
    return Limits(inputs=2048, tokens=300_000, tokens_each=8192)


def _body(target: Target, texts: Sequence[str]) -> dict[str, Any]:
    options = {} if target.dimensions is None else {"dimensions": target.dimensions}
    return {"input": list(texts), "model": target.model, "encoding_format": "base64", **options}


OPENAI = Provider(
    name="openai",
    variables=("OPENAI_API_KEY",),
    address="https://api.openai.com/v1",
    needs_key=False,
    limits=_limits,
    path="/embeddings",
    body=_body,
    read=listed_vectors,
)
