"""OpenAI, and any server that speaks its protocol (Ollama, vLLM, Text Embeddings Inference)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tiltmeter.models.api.provider import Fault, Limits, Provider, Send, Target, VectorAnswer, http_fault, load_sdk


def _limits(_model: str) -> Limits:
    return Limits(inputs=2048, tokens=300_000, tokens_each=8192)


def open_client(target: Target) -> Any:
    """The SDK's client, to be closed by whoever opens it; it tries nothing again by itself."""
    return load_sdk("openai").OpenAI(
        api_key=str(target.key),
        # Spelled out, because the SDK would otherwise follow OPENAI_BASE_URL and the identity would not.
        base_url=target.base_url or "https://api.openai.com/v1",
        timeout=target.timeout,
        max_retries=0,
    )


@contextmanager
def _connect(target: Target) -> Iterator[Send]:
    options = {} if target.dimensions is None else {"dimensions": target.dimensions}
    client = open_client(target)

    def send(texts: Sequence[str]) -> VectorAnswer:
        response = client.embeddings.create(input=list(texts), model=target.model, encoding_format="base64", **options)
        usage = getattr(response, "usage", None)
        return VectorAnswer(
            vectors=[item.embedding for item in response.data],
            order=[item.index for item in response.data],
            tokens=getattr(usage, "total_tokens", None),
        )

    with client:
        yield send


def _fault(error: Exception) -> Fault | None:
    sdk = load_sdk("openai")
    if isinstance(error, sdk.APIStatusError):
        reason = error.body.get("message") if isinstance(error.body, dict) else None
        fault = http_fault(error.status_code, error.response.headers, reason or error.message)
        if "insufficient_quota" in (error.code, error.type):
            return Fault(fault.reason, status=fault.status, no_credit=True)
        return fault
    if isinstance(error, sdk.APITimeoutError):
        return Fault("no answer in time")
    if isinstance(error, sdk.APIConnectionError):
        return Fault(f"the connection failed ({error.__cause__ or error})")
    return None


OPENAI = Provider(name="openai", variables=("OPENAI_API_KEY",), limits=_limits, connect=_connect, fault=_fault)
