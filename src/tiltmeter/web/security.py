"""Who may ask for what: settings are checked before the dashboard listens, requests before any page is made."""

from __future__ import annotations

import dataclasses
import hmac
import ipaddress
import socket
import string
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import parse_qs, urlencode

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiltmeter.errors import BadInput

COOKIE = "tiltmeter_token"
#: The largest body that is taken; a lexicon of ten thousand words is smaller.
MOST_BYTES = 512 * 1024
#: Longer addresses than this are no link of ours.
_MOST_QUERY = 16_384
_SAFE = ("GET", "HEAD")
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not "no-referrer": under that a browser calls the origin of our own forms "null".
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}

#: Makes the page of a refusal: status and the one line that says why.
Refuse = Callable[[Scope, int, str], ASGIApp]
#: What a cookie can hold as it is.
_TOKEN_SIGNS = set(string.ascii_letters + string.digits + string.punctuation) - set(';,"\\')
#: A token that can be guessed protects nothing.
LEAST_TOKEN = 16


@dataclasses.dataclass(frozen=True, slots=True)
class DashboardSettings:
    """What a dashboard is told when it starts, checked before it listens.

    ``models`` are offered besides those of the audits; a model that is paid for only with ``allow_paid``. With
    ``by_link`` every page has an address that cannot be guessed, which does for a token.
    """

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    allow_paid: bool = False
    models: tuple[str, ...] = ()
    by_link: bool = False

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise BadInput(f"{self.folder} is not a folder: name one that holds audits, or is to hold them")
        if not 0 < self.port < 65_536:
            raise BadInput(f"the port must be between 1 and 65535, not {self.port}")
        if self.token is not None and not set(self.token) <= _TOKEN_SIGNS:
            raise BadInput(
                'the token must be made of letters, digits and signs, without spaces and without any of ;,"\\'
            )
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise BadInput(f"the token has {len(self.token)} characters: take at least {LEAST_TOKEN}")
        if not is_loopback(self.host) and self.token is None and not self.by_link:
            raise BadInput(
                f"{self.host} can be reached from other machines: give a --token (or TILTMETER_TOKEN) that readers "
                "must know, or leave --host out"
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = _ip(host)
    return host == "localhost" if address is None else address.is_loopback


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


class TooLarge(Exception):
    """A body grew over the limit while it was read."""


class Guard:
    """Wraps the application; what it refuses never gets there."""

    def __init__(self, app: ASGIApp, *, settings: DashboardSettings, refuse: Refuse) -> None:
        self.app, self._refuse = app, refuse
        self._token = settings.token
        self._hosts = {settings.host.lower(), "localhost", "127.0.0.1", "::1"}
        # Bound to all addresses it is reached by any of them; a name of someone else's making is still refused.
        self._any_address = not is_loopback(settings.host)
        if self._any_address:
            self._hosts.add(socket.gethostname().lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets are spoken here
        await self._answer(scope)(scope, _limited(receive), _with_headers(send))

    def _answer(self, scope: Scope) -> ASGIApp:
        request = HTTPConnection(scope)
        headers = request.headers
        if not self._known_host(headers.get("host", "")):
            return self._refuse(scope, 400, "this is not the address of the dashboard: open the one it printed")
        if len(scope["query_string"]) > _MOST_QUERY:
            return self._refuse(scope, 414, "the address is too long")
        if not scope["query_string"].isascii():
            return self._refuse(scope, 400, "the address holds bytes that no address can: write them as %XX")
        if self._token is not None and not self._has_token(request):
            return self._without_token(scope)
        if scope["method"] not in _SAFE and not _same_origin(headers):
            return self._refuse(scope, 403, "this request came from another site, so nothing was done")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
            return self._refuse(scope, 413, f"that is too large: the limit is {MOST_BYTES // 1024} KB")
        return self.app

    def _known_host(self, header: str) -> bool:
        host = header.rsplit("]", 1)[0].lstrip("[") if header.startswith("[") else header.rsplit(":", 1)[0]
        # A number is taken: no one can point it elsewhere, as they can a name.
        return host.lower() in self._hosts or (self._any_address and _ip(host) is not None)

    def _has_token(self, request: HTTPConnection) -> bool:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self._is_token(token.strip()):
            return True
        return self._is_token(request.cookies.get(COOKIE, ""))

    def _is_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(errors="replace"), (self._token or "").encode())

    def _without_token(self, scope: Scope) -> ASGIApp:
        """A token in the address becomes a cookie, once; the address continues without it."""
        query = parse_qs(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        token = query.pop("token", [""])[-1]
        if scope["method"] not in _SAFE or not self._is_token(token):
            return self._refuse(scope, 401, "that is not the token" if token else "this dashboard needs its token")
        rest = urlencode(query, doseq=True)
        # Two slashes at the start would lead to another host.
        path = "/" + scope["path"].lstrip("/\\")
        place = path.encode("ascii", "ignore").decode() + (f"?{rest}" if rest else "")
        cookie = f"{COOKIE}={self._token}; HttpOnly; SameSite=Strict; Path=/"
        return Response(status_code=303, headers={"location": place, "set-cookie": cookie})


def _same_origin(headers: Mapping[str, str]) -> bool:
    """Whether a request that changes something comes from a page of ours, or from no page at all.

    A browser says where a request comes from. A program need not, but then it must say what it sends in a way that a
    form on another site cannot.
    """
    origin = headers.get("origin")
    if origin is not None:
        return origin.partition("://")[2].lower() == headers.get("host", "").lower() != ""
    site = headers.get("sec-fetch-site")
    if site is not None:
        return site in ("same-origin", "none")
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind in ("application/json", "application/yaml") or "authorization" in headers


def _limited(receive: Receive) -> Receive:
    """What a request says of its length may be wrong, or missing: what arrives is counted."""
    total = 0

    async def counted() -> Message:
        nonlocal total
        message = await receive()
        total += len(message.get("body", b""))
        if total > MOST_BYTES:
            raise TooLarge
        return message

    return counted


def _with_headers(send: Send) -> Send:
    async def extended(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return extended
