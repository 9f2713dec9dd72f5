"""OpenAI, and servers that speak its protocol."""

from __future__ import annotations

import numpy as np
import pytest

from tests.models.api.loopback import TEXTS, AskedApi, planted
from tests.models.provider import LoopbackProvider, refuse


def test_a_server_of_ones_own_needs_no_key(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = AskedApi(server)
    monkeypatch.delenv("TILTMETER_KEYS")
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS))
    assert server.requests[0].authorization == "Bearer none-needed"


def test_an_account_without_credit_is_not_asked_again_though_it_says_429(server: LoopbackProvider) -> None:
    server.script(refuse(429, "You exceeded your current quota", code="insufficient_quota"))
    assert "the account has no credit left" in AskedApi(server).failure()
    assert len(server.requests) == 1
