"""What a dashboard is told when it starts, checked before it listens."""

from __future__ import annotations

import dataclasses
import ipaddress
from pathlib import Path

from tiltmeter.errors import BadInput

#: A token that can be guessed protects nothing.
LEAST_TOKEN = 16


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """``models`` are offered beside those of the audits; a model that is paid for only with ``allow_paid``."""

    folder: Path
    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = None
    allow_paid: bool = False
    models: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise BadInput(f"{self.folder} is no folder: name one that holds audits, or is to hold them")
        if not 0 < self.port < 65_536:
            raise BadInput(f"the port must be between 1 and 65535, not {self.port}")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable() and " " not in self.token):
            raise BadInput("the token must be made of letters, digits and signs without spaces")
        if self.token is not None and len(self.token) < LEAST_TOKEN:
            raise BadInput(f"the token has {len(self.token)} characters: take at least {LEAST_TOKEN}")
        if not is_loopback(self.host) and self.token is None:
            raise BadInput(
                f"{self.host} can be reached from other machines: give a --token (or TILTMETER_TOKEN) that readers "
                "must know, or leave --host out"
            )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a host.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    address = _address(host)
    return host == "localhost" if address is None else address.is_loopback


def is_address(host: str) -> bool:
    """Whether a host is a number, which no one can point elsewhere as they can a name."""
    return _address(host) is not None


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
