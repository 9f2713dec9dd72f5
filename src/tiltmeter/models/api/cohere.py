"""Cohere's embedding API, version 2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tiltmeter.models.api.provider import Fault, Limits, Provider, Send, Target, VectorAnswer, http_fault, load_sdk


def _limits(model: str) -> Limits:
    longest = 512 if "-v3" in model or "-v2" in model else 128_000
    return Limits(inputs=96, tokens=128_000, tokens_each=longest)


@contextmanager
def _connect(target: Target) -> Iterator[Send]:
    options = {} if target.dimensions is None else {"output_dimension": target.dimensions}
    client = load_sdk("cohere").ClientV2(
        api_key=str(target.key),
        # Spelled out, because the SDK would otherwise follow CO_API_URL and the identity would not.
        base_url=target.base_url or "https://api.cohere.com",
        timeout=target.timeout,
    )

    def send(texts: Sequence[str]) -> VectorAnswer:
        response = client.embed(
            texts=list(texts),
            model=target.model,
            input_type=target.input_type,
            embedding_types=["float"],
            truncate="NONE",
            request_options={"max_retries": 0},
            **options,
        )
        billed = getattr(response.meta, "billed_units", None)
        tokens = getattr(billed, "input_tokens", None)
        return VectorAnswer(response.embeddings.float_, order=None, tokens=None if tokens is None else int(tokens))

    with client:
        yield send


def _fault(error: Exception) -> Fault | None:
    httpx, api_error = load_sdk("httpx"), load_sdk("cohere.core.api_error").ApiError
    if isinstance(error, api_error):
        reason = error.body.get("message") if isinstance(error.body, dict) else None
        return http_fault(error.status_code, error.headers, reason or error.body)
    if isinstance(error, httpx.TimeoutException):
        return Fault("no answer in time")
    if isinstance(error, httpx.TransportError):
        return Fault(f"the connection failed ({error})")
    return None


COHERE = Provider(
    name="cohere",
    variables=("COHERE_API_KEY", "CO_API_KEY"),
    limits=_limits,
    connect=_connect,
    fault=_fault,
    input_types=("clustering", "classification", "search_document", "search_query"),
    # Measures compare texts of one kind with each other; the search types are made for unlike sides.
    input_type="clustering",
)
