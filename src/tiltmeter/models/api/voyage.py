"""Voyage's embedding API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from tiltmeter.models.api.provider import Fault, Limits, Provider, Send, Target, VectorAnswer, http_fault, load_sdk


def _limits(_model: str) -> Limits:
    # Some models take up to a million tokens in one request; all take 120,000.
    return Limits(inputs=1000, tokens=120_000, tokens_each=32_000)


@contextmanager
def _connect(target: Target) -> Iterator[Send]:
    sdk = load_sdk("voyageai")
    asked = {"base_url": target.base_url, "output_dimension": target.dimensions, "input_type": target.input_type}
    options = {name: value for name, value in asked.items() if value is not None}

    def send(texts: Sequence[str]) -> VectorAnswer:
        # Not Client.embed: that drops the index of each vector, and runs some models on this machine.
        response = sdk.Embedding.create(
            input=list(texts),
            model=target.model,
            truncation=False,
            encoding_format="base64",
            api_key=str(target.key),
            request_timeout=target.timeout,
            **options,
        )
        return VectorAnswer(
            vectors=[item["embedding"] for item in response["data"]],
            order=[item["index"] for item in response["data"]],
            tokens=(response.get("usage") or {}).get("total_tokens"),
        )

    yield send


def _fault(error: Exception) -> Fault | None:
    errors = load_sdk("voyageai.error")
    if isinstance(error, errors.Timeout):
        return Fault("no answer in time")
    if isinstance(error, errors.APIConnectionError):
        return Fault(f"the connection failed ({error.user_message})")
    if isinstance(error, errors.VoyageError):
        body = error.json_body if isinstance(error.json_body, dict) else {}
        return http_fault(error.http_status, error.headers, body.get("detail") or error.user_message)
    return None


VOYAGE = Provider(
    name="voyage",
    variables=("VOYAGE_API_KEY",),
    limits=_limits,
    connect=_connect,
    fault=_fault,
    # Without a type Voyage embeds the text alone; with one it puts a prompt for retrieval before it.
    input_types=("query", "document"),
)
