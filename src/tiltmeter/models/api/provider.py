"""What the providers have in common: what is asked of one, what it answers, how it fails."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.models.api.keys import Key, scrub


@dataclass(frozen=True, slots=True)
class Limits:
    """The most a provider takes: inputs and tokens in one request, tokens in one input."""

    inputs: int
    tokens: int
    tokens_each: int


@dataclass(frozen=True, slots=True)
class Target:
    """Whom to ask and how; everything a provider needs to open its client."""

    model: str
    key: Key
    base_url: str | None
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
    tokens: int | None


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a request has no usable answer. ``status`` is None where no HTTP error was answered."""

    reason: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    no_credit: bool = False


Send: TypeAlias = Callable[[Sequence[str]], VectorAnswer]


@dataclass(frozen=True, slots=True)
class Service:
    """Who answers requests. ``fault`` translates an exception of its SDK; None for any other exception."""

    name: str
    variables: tuple[str, ...]
    fault: Callable[[Exception], Fault | None]


@dataclass(frozen=True, slots=True)
class Provider(Service):
    """One embedding API."""

    limits: Callable[[str], Limits]
    connect: Callable[[Target], AbstractContextManager[Send]]
    input_types: tuple[str, ...] = ()
    input_type: str | None = None


def load_sdk(module: str) -> Any:
    """Import a provider's SDK, or say which extra brings it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(f"the API behind '{module}'", "api") from None


def http_fault(status: int | None, headers: Mapping[str, str] | None, reason: object) -> Fault:
    """A fault from what SDKs keep of an HTTP answer; below 400 the status was fine and the body was not."""
    if status is None or status < 400:
        return Fault("an answer that cannot be read")
    lower = {name.lower(): value for name, value in (headers or {}).items()}
    return Fault(str(reason), status=status, headers=lower, no_credit=status == 402)


def checked_url(url: str) -> str:
    """The address of an API, without the slash at its end."""
    try:
        address = urlsplit(url)
        whole = address.scheme in ("http", "https") and address.hostname and address.port != 0
    except ValueError:
        whole = False
    if not whole or "?" in url or "#" in url:
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
