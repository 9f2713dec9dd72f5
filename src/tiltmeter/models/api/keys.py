"""API keys: read from the environment, bound to one host, and kept out of every message, log record and repr."""

from __future__ import annotations

import base64
import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from tiltmeter.errors import BadInput

#: The environment variable in which users name the key of a server that is not the provider's own.
NAMED_KEYS = "TILTMETER_KEYS"
#: What bearer tokens and keys look like; providers quote (parts of) them in their refusals.
_LOOKS_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b(?:sk|pa|al)-[\w*.…-]{8,}")
#: Top-level names of the loggers of the HTTP library.
_LOGGERS = {"httpx", "httpcore"}


class Key(str):
    """A secret that does not show itself in a repr, e.g. among the locals of a traceback.

    >>> Key("sk-secret")
    [key]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "[key]"


def key_in(variables: Sequence[str]) -> Key | None:
    """The key in the first of these environment variables that is set."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if value and not (value.isascii() and value.isprintable() and " " not in value):
            raise BadInput(f"{variable} holds characters that no key has: set it to the key alone")
        if value:
            return Key(value)
    return None


def host_of(url: str) -> str:
    """A server as a key is named for it; without a port it is https at the usual one.

    >>> host_of("https://Models.example.org/v1"), host_of("http://localhost:11434/v1"), host_of("http://localhost")
    ('models.example.org', 'localhost:11434', 'localhost:80')
    """
    address = urlsplit(url)
    host = f"[{address.hostname}]" if ":" in (address.hostname or "") else address.hostname or ""
    if address.scheme == "https" and address.port in (None, 443):
        return host
    return f"{host}:{address.port or 80}"


def name_keys(pairs: Sequence[str]) -> None:
    """Name keys for this process, each as ``host[:port]=VARIABLE``, before those that the environment names."""
    for pair in pairs:
        host, equals, variable = pair.partition("=")
        if not (host.strip() and equals and variable.strip()) or "," in pair:
            raise BadInput("a key is named as HOST=VARIABLE, with the environment variable that holds it")
    os.environ[NAMED_KEYS] = ",".join([*pairs, *filter(None, [os.environ.get(NAMED_KEYS)])])


def named_variable(host: str) -> str | None:
    """The environment variable that the user named for a host, never a file or the spec of a model."""
    for pair in os.environ.get(NAMED_KEYS, "").split(","):
        named, _, variable = pair.partition("=")
        if named.strip().lower().removesuffix(":443") == host:
            return variable.strip()
    return None


def secrets_of(key: str, base_url: str | None) -> tuple[str, ...]:
    """Everything that must not be shown: the key, a password in the address, and the header that is made of it.

    One or two characters are no secret (a stand-in for a server that wants none), only part of most words.
    """
    address = urlsplit(base_url or "")
    password = address.password or ""
    basic = base64.b64encode(unquote(f"{address.username}:{password}").encode()).decode().rstrip("=")
    return tuple(Key(secret) for secret in (basic, key, password, unquote(password)) if len(secret) > 2)


def scrub(text: str, secrets: Sequence[str]) -> str:
    """Take secrets out of a text, and whatever looks like a key or a bearer token.

    >>> scrub("bad key hunter2 (sent: Bearer abc.def)", ["hunter2"])
    'bad key [key] (sent: [key]'
    >>> scrub("Incorrect API key provided: sk-proj-abc*****xyz.", [])
    'Incorrect API key provided: [key]'
    """
    for secret in secrets:
        text = text.replace(str(secret), "[key]")
    return _LOOKS_SECRET.sub("[key]", text)


@contextmanager
def scrubbed_logs(secrets: Sequence[str]) -> Iterator[None]:
    """While open, what is logged of requests at any level goes through ``scrub``: it quotes a provider's own words."""

    def scrub_record(record: logging.LogRecord) -> bool:
        record.msg, record.args = scrub(record.getMessage(), secrets), ()
        record.exc_info = record.exc_text = None  # a traceback repeats the words of the exception
        return True

    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _LOGGERS]
    # A filter acts only on the logger it hangs on, never on that logger's children: hang it on each.
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(scrub_record)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(scrub_record)
