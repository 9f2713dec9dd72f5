"""Known keys, no proxy, and no way out of this machine; a server of embeddings on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.models.api.loopback import KEYS
from tests.models.api.loopback_chat import shown
from tests.models.provider import LoopbackProvider, Said


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known keys, no proxy, and no way out of this machine."""
    for variable, key in KEYS.values():
        monkeypatch.setenv(variable, key)
    for variable in ("CO_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TILTMETER_KEYS", "")
    find = socket.getaddrinfo

    def only_loopback(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in ("127.0.0.1", b"127.0.0.1"):
            raise socket.gaierror(f"tests stay on this machine: {host}")
        return find(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", only_loopback)


@pytest.fixture
def server() -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as running:
        yield running


@pytest.fixture
def chat_server() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(says=lambda prompt: Said(shown(prompt)[0])) as running:
        yield running
