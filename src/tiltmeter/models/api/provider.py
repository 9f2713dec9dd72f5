"""The providers: where each is asked and with whose key, what goes into a request, and how its answer is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tiltmeter.errors import BadInput
from tiltmeter.models.api.keys import NAMED_KEYS, Key, host_of, key_in, named_variable, scrub

#: Vectors as they came (numbers, or base64 of little-endian float32), not yet checked, each with the number of its
#: text; and the tokens billed.
VectorAnswer: TypeAlias = tuple[list[tuple[int, Sequence[float] | str]], Any]


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a provider takes: inputs and tokens in one request, tokens in one input."""

    inputs: int
    tokens: int
    tokens_each: int


@dataclass(frozen=True, slots=True)
class Service:
    """Who answers requests: where, and which environment variables hold the key for that address.

    ``needs_key``: whether servers of other people that speak the same protocol want a key too.
    """

    name: str
    variables: tuple[str, ...]
    address: str
    needs_key: bool = True
    #: Other addresses, by how the keys for them begin.
    addresses: Mapping[str, str] = field(default_factory=dict)

    def address_for(self, key: str) -> str:
        return next((url for start, url in self.addresses.items() if key.startswith(start)), self.address)

    def key_at(self, base_url: str | None) -> Key:
        """The key to send: the provider's to its own address alone, to another the one that the user named for it."""
        variables = self.key_variables(base_url)
        key = key_in(variables)
        if key is None and (variables or self.needs_key):
            place = f" at {host_of(base_url)}" if base_url else ""
            raise BadInput(f"no key for {self.name}{place}: {self.key_advice(base_url)}")
        return key or Key("none-needed")

    def key_variables(self, base_url: str | None) -> tuple[str, ...]:
        if base_url is None or host_of(base_url) == host_of(self.address):
            return self.variables
        variable = named_variable(host_of(base_url))
        return (variable,) if variable else ()

    def key_advice(self, base_url: str | None) -> str:
        variables = self.key_variables(base_url)
        if variables:
            return f"set the environment variable {' or '.join(variables)}"
        host = host_of(base_url or self.address)
        return f"name the environment variable that holds its key with --key {host}=VARIABLE or in {NAMED_KEYS}"


def _numbered(answer: Any) -> VectorAnswer:
    tokens = (answer.get("usage") or {}).get("total_tokens")
    return [(item["index"], item["embedding"]) for item in answer["data"]], tokens


def _in_order(answer: Any) -> VectorAnswer:
    billed = (answer.get("meta") or {}).get("billed_units") or {}
    return list(enumerate(answer["embeddings"]["float"])), billed.get("input_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Service):
    """One embedding API: what a request calls things, what it always says, and how its answer is read."""

    limits: Callable[[str], Limits]
    path: str = "/embeddings"
    texts: str = "input"
    dimensions: str = "output_dimension"
    fixed: Mapping[str, Any]
    read: Callable[[Any], VectorAnswer] = _numbered
    input_types: tuple[str, ...] = ()
    input_type: str | None = None

    def body(self, model: str, texts: Sequence[str], dimensions: int | None, input_type: str | None) -> dict[str, Any]:
        options = {self.dimensions: dimensions, "input_type": input_type}
        chosen = {name: value for name, value in options.items() if value is not None}
        return {self.texts: list(texts), "model": model, **self.fixed, **chosen}


#: OpenAI, and any server that speaks its protocol (Ollama, vLLM, Text Embeddings Inference).
OPENAI = Provider(
    name="openai",
    variables=("OPENAI_API_KEY",),
    address="https://api.openai.com/v1",
    needs_key=False,
    limits=lambda _: Limits(inputs=2048, tokens=300_000, tokens_each=8192),
    dimensions="dimensions",
    fixed={"encoding_format": "base64"},
)
CHAT = Service("chat", OPENAI.variables, OPENAI.address, needs_key=False)
COMPLETIONS = Service("completions", OPENAI.variables, OPENAI.address, needs_key=False)
COHERE = Provider(
    name="cohere",
    variables=("COHERE_API_KEY", "CO_API_KEY"),
    address="https://api.cohere.com",
    limits=lambda model: Limits(96, 128_000, tokens_each=512 if "-v3" in model or "-v2" in model else 128_000),
    path="/v2/embed",
    texts="texts",
    fixed={"embedding_types": ["float"], "truncate": "NONE"},
    read=_in_order,
    input_types=("clustering", "classification", "search_document", "search_query"),
    # Measures compare texts of one kind with each other; the search types are made for unlike sides.
    input_type="clustering",
)
VOYAGE = Provider(
    name="voyage",
    variables=("VOYAGE_API_KEY",),
    address="https://api.voyageai.com/v1",
    addresses={"al-": "https://ai.mongodb.com/v1"},
    # Some models take up to a million tokens in one request; all take 120,000.
    limits=lambda _: Limits(inputs=1000, tokens=120_000, tokens_each=32_000),
    fixed={"truncation": False, "encoding_format": "base64"},
    # Without a type Voyage embeds the text alone; with one it puts a prompt for retrieval before it.
    input_types=("query", "document"),
)


def checked_url(url: str) -> str:
    """The address of an API, without the slash at its end."""
    try:
        address = urlsplit(url)
        whole = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        whole = False
    if not whole or not url.isascii() or not url.isprintable() or any(mark in url for mark in "?#\\ "):
        # The address is not quoted: it may hold a password.
        raise BadInput("base_url must look like http://localhost:11434/v1, with nothing after the path")
    return url.rstrip("/")


def revision_at(model: str, base_url: str | None) -> str:
    """The model, and the self-hosted server that serves it: two servers may mean two things by one name.

    >>> revision_at("llama3", "http://ann:secret@localhost:11434/v1")
    'llama3@localhost:11434/v1'
    """
    if base_url is None:
        return model
    address = urlsplit(base_url)
    # Without user and password; with the path, because one host may serve several models.
    return f"{model}@{address.netloc.rpartition('@')[2]}{scrub(address.path, ())}"
