"""The address of a server: checked, and shown without what must stay secret."""

from __future__ import annotations

from urllib.parse import urlsplit

from tiltmeter.errors import BadInput
from tiltmeter.models.api.keys import scrub


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
