"""What the providers have in common: what is asked of one, what it answers, how it fails."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tiltmeter.errors import BadInput
from tiltmeter.models.api.keys import NAMED_KEYS, Key, host_of, key_in, named_variable, scrub


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a provider takes: inputs and tokens in one request, tokens in one input."""

    inputs: int
    tokens: int
    tokens_each: int


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to ask and how: everything that a request depends on but the texts."""

    model: str
    key: Key
    address: str
    timeout: float
    dimensions: int | None = None
    input_type: str | None = None


@dataclass(frozen=True, slots=True)
class VectorAnswer:
    """Vectors as they came (numbers, or base64 of little-endian float32), not yet checked.

    ``order[i]`` is the input that vector i belongs to; None where the provider keeps the order.
    """

    vectors: Sequence[Sequence[float] | str]
    order: Sequence[int] | None
    tokens: Any


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request has no usable answer. ``status`` is None where no HTTP error was answered."""

    reason: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    code: str = ""
    no_credit: bool = False


class FaultError(Exception):
    """No answer came, or a refusal."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.reason)
        self.fault = fault


class UnusableError(Exception):
    """An answer that came, and is not what was asked for."""


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
            raise BadInput(f"no key for {self.name}{_at(base_url)}: {self.key_advice(base_url)}")
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


def _at(base_url: str | None) -> str:
    return f" at {host_of(base_url)}" if base_url else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Service):
    """One embedding API: the path and body of a request, and how its answer is read."""

    limits: Callable[[str], Limits]
    path: str
    body: Callable[[Target, Sequence[str]], dict[str, Any]]
    read: Callable[[Any], VectorAnswer]
    input_types: tuple[str, ...] = ()
    input_type: str | None = None


def listed_vectors(answer: Any) -> VectorAnswer:
    """An answer of OpenAI's form: each vector with the number of its text."""
    items = answer["data"]
    tokens = (answer.get("usage") or {}).get("total_tokens")
    return VectorAnswer([item["embedding"] for item in items], [item["index"] for item in items], tokens)


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
    """The model, and the server of one's own that serves it: two servers may mean two things by one name.

    >>> revision_at("llama3", "http://ann:secret@localhost:11434/v1")
    'llama3@localhost:11434/v1'
    """
    if base_url is None:
        return model
    address = urlsplit(base_url)
    # Without user and password; with the path, because one host may serve several models.
    return f"{model}@{address.netloc.rpartition('@')[2]}{scrub(address.path, ())}"
