"""The HTTP client: answers that never end, that are too large, or that send the client elsewhere."""

from __future__ import annotations

import gzip
import time

import pytest

from tests.models import provider as wire
from tests.models.api.loopback import PROVIDERS, AskedApi
from tests.models.provider import Fault, LoopbackProvider, refuse
from tiltmeter.models.api.connection import LARGEST_ANSWER

BOMB = gzip.compress(bytes(4 * LARGEST_ANSWER))


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("drip", [0.02, 0.2])
def test_the_timeout_is_for_the_whole_answer_however_it_trickles(
    server: LoopbackProvider, name: str, drip: float
) -> None:
    server.script(Fault(drip=drip))
    began = time.monotonic()
    failure = AskedApi(server, name, timeout=1.0, max_tries=1).failure()
    assert failure == f"{name}:small: gave up after 1 try: no answer in time"
    assert time.monotonic() - began < 3


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "gzip, gzip", "deflate", "br", None])
@pytest.mark.parametrize("status", [200, 500])
def test_an_answer_too_large_is_given_up_whatever_it_is_packed_in(
    server: LoopbackProvider, encoding: str | None, status: int
) -> None:
    headers = (("Content-Encoding", encoding),) if encoding else ()
    body = BOMB if encoding else bytes(LARGEST_ANSWER + 1)
    server.script(Fault(status=status, headers=headers, body=lambda _: body))
    failure = AskedApi(server, max_tries=1).failure()
    assert failure.startswith("openai:small: gave up after 1 try: an answer that cannot be used (")
    assert failure.endswith(
        "(more than 64 MB)" if encoding in ("gzip", "GZIP", None) else "(packed in a way that was not asked for)"
    )


def test_a_packed_answer_is_unpacked(server: LoopbackProvider) -> None:
    server.script(Fault(headers=(("Content-Encoding", "gzip"),), body=gzip.compress))
    assert AskedApi(server, max_tries=1).embed().shape == (3, wire.DIMENSION)


def test_a_redirect_is_not_followed(server: LoopbackProvider) -> None:
    server.script(refuse(307, location="/v1/embeddings"))
    assert "an answer that cannot be read" in AskedApi(server, max_tries=1).failure()
    assert len(server.requests) == 1


def test_an_answer_nested_without_end_is_one_clear_line(server: LoopbackProvider) -> None:
    for status in (200, 500):
        server.script(Fault(status=status, body=lambda _: b"[" * 100_000))
        assert len(AskedApi(server, max_tries=1).failure()) < 500
