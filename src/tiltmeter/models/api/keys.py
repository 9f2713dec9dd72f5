"""API keys: read from the environment, and kept out of every message, log record and repr."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from urllib.parse import unquote, urlsplit

from tiltmeter.errors import BadInput

#: What bearer tokens and keys look like; providers quote (parts of) them in their refusals.
_LOOKS_SECRET = re.compile(r"(?i)\bbearer\s+\S+|\b(?:sk|pa|al)-[\w*.…-]{8,}")
#: Top-level names of the loggers through which the SDKs and their HTTP libraries speak.
_SDK_LOGGERS = {
    *("openai", "cohere", "fern", "voyage"),
    *("httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"),
}


class Key(str):
    """A secret that does not show itself in a repr, e.g. among the locals of a traceback.

    >>> Key("sk-secret")
    [key]
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "[key]"


def key_for(name: str, variables: Sequence[str], *, needed: bool) -> Key:
    """The key in the first of these environment variables that is set; a stand-in where none is, and none is needed."""
    for variable in variables:
        value = os.environ.get(variable, "").strip()
        if value and not (value.isascii() and value.isprintable() and " " not in value):
            raise BadInput(f"{variable} holds characters that no key has: set it to the key alone")
        if value:
            return Key(value)
    if needed:
        raise BadInput(f"no key for {name}: set the environment variable {' or '.join(variables)}")
    return Key("none-needed")


def secrets_of(key: str, base_url: str | None) -> tuple[str, ...]:
    """Everything that must not be shown: the key, and a password in the address.

    One or two characters are no secret (a stand-in for a server that wants none), only part of most words.
    """
    password = urlsplit(base_url or "").password or ""
    return tuple(Key(secret) for secret in {key, password, unquote(password)} if len(secret) > 2)


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


class _Scrubber(logging.Filter):
    def __init__(self, secrets: Sequence[str]) -> None:
        super().__init__()
        self.secrets = secrets

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = scrub(record.getMessage(), self.secrets)
        record.args = ()
        record.exc_info = record.exc_text = None  # a traceback repeats the words of the exception
        return True


@contextmanager
def scrubbed_logs(secrets: Sequence[str]) -> Iterator[None]:
    """While open, what SDKs log at any level goes through ``scrub``: they log a provider's own words."""
    scrubber = _Scrubber(secrets)
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in _SDK_LOGGERS]
    # A filter acts only on the logger it hangs on, never on that logger's children: hang it on each.
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(scrubber)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(scrubber)
