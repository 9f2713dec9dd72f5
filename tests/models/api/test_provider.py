"""What providers have in common: addresses, identities, and an HTTP library that is imported late."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.models.api.loopback import AskedApi
from tests.models.provider import LoopbackProvider
from tiltmeter.errors import MissingExtra
from tiltmeter.models.api import ApiEmbedder


def test_an_address_in_the_environment_does_not_redirect_what_the_identity_names(
    server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
    monkeypatch.setenv("CO_API_URL", server.base_url("cohere"))
    for name in ("openai", "cohere"):
        assert "the connection failed" in AskedApi(server, name, base_url=None, max_tries=1).failure()
    assert server.requests == []


def test_two_servers_never_share_an_identity_and_none_shows_credentials() -> None:
    addresses = ["http://one:11434/v1", "http://two:11434/v1", "http://ann:hunter22@two:8080/a/v1/"]
    found = [ApiEmbedder("openai", "bge", base_url=url).identity.revision for url in addresses]
    assert found == ["bge@one:11434/v1", "bge@two:11434/v1", "bge@two:8080/a/v1"]
    assert {ApiEmbedder("openai", "bge", base_url=url).identity.name for url in addresses} == {"openai:bge"}


def test_a_missing_library_names_the_extra(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'tiltmeter\[api\]'"):
        AskedApi(server).embed()


def test_importing_the_adapter_imports_no_http_library() -> None:
    code = "import sys, tiltmeter.models.api as _; print({'httpx', 'httpcore'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
