"""Cohere."""

from __future__ import annotations

import pytest

from tests.models.api.loopback import AskedApi
from tests.models.provider import LoopbackProvider, refuse
from tiltmeter.models.api.provider import COHERE, Limits


def test_cohere_reads_its_second_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    monkeypatch.setenv("CO_API_KEY", "the-other-one\n")
    assert COHERE.key_at(None) == "the-other-one"


@pytest.mark.parametrize(("model", "longest"), [("embed-v4.0", 128_000), ("embed-english-v3.0", 512)])
def test_cohere_takes_96_texts_at_once_whose_length_depends_on_the_model(model: str, longest: int) -> None:
    assert COHERE.limits(model) == Limits(inputs=96, tokens=128_000, tokens_each=longest)


def test_cohere_is_quoted_where_it_refuses(server: LoopbackProvider) -> None:
    server.script(refuse(400, "invalid model"))
    assert "HTTP 400, invalid model" in AskedApi(server, "cohere").failure()
