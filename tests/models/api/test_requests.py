"""The loop behind all providers: tries, waits, refusals and batches."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import provider as wire
from tests.models.api.loopback import KEYS, MANY, PROVIDERS, TEXTS, AskedApi, planted
from tests.models.provider import LoopbackProvider, refuse, slow
from tiltmeter.errors import BudgetSpent, ModelFailed
from tiltmeter.models.api import ApiEmbedder, Budget, estimate_tokens
from tiltmeter.models.api.provider import Limits
from tiltmeter.models.api.requests import batches
from tiltmeter.models.protocol import Question


@pytest.mark.parametrize(
    "fault",
    [
        *(refuse(status) for status in (408, 409, 429, 500, 502, 503, 504)),
        wire.HALF_JSON,
        wire.NOT_THE_SHAPE,
        wire.CUT_SHORT,
        wire.DROPPED,
        wire.FEWER,
        wire.WRONG_INDEX,
        wire.NOT_FINITE,
        wire.ZERO,
    ],
)
def test_a_fault_that_may_pass_is_tried_again(server: LoopbackProvider, fault: wire.Fault) -> None:
    server.script(fault)
    asked = AskedApi(server)
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS))
    assert server.texts == TEXTS * 2
    assert len(asked.slept) == 1


@pytest.mark.parametrize("name", ["cohere", "voyage"])
@pytest.mark.parametrize(
    "fault", [refuse(429), refuse(500), wire.HALF_JSON, wire.NOT_THE_SHAPE, wire.DROPPED, wire.FEWER]
)
def test_cohere_and_voyage_are_tried_again_by_the_same_rule(
    server: LoopbackProvider, name: str, fault: wire.Fault
) -> None:
    server.script(fault, fault)
    np.testing.assert_array_equal(AskedApi(server, name).embed(), planted(TEXTS))
    assert len(server.requests) == 3


@pytest.mark.parametrize("name", PROVIDERS)
def test_an_answer_that_comes_too_late_is_tried_again(server: LoopbackProvider, name: str) -> None:
    server.script(slow(5.0))
    asked = AskedApi(server, name, timeout=0.2)
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS))
    server.script(slow(5.0))
    last = AskedApi(server, name, timeout=0.2, max_tries=1).failure()
    assert last == f"{name}:small: gave up after 1 try: no answer in time"


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_server_that_is_not_there_is_given_up_after_all_tries(server: LoopbackProvider, name: str) -> None:
    asked = AskedApi(server, name, base_url=wire.refused_url(), max_tries=3)
    message = asked.failure()
    assert message.startswith(f"{name}:small: gave up after 3 tries: the connection failed")
    assert "Connection refused" in message
    assert len(asked.slept) == 2


def test_the_waits_double_with_full_jitter_and_the_last_reason_is_told(server: LoopbackProvider) -> None:
    server.script(*[refuse(500, "down")] * 5, refuse(503, "still down"))
    asked = AskedApi(server)
    assert asked.failure() == "openai:small: gave up after 6 tries: HTTP 503, still down"
    assert len(server.requests) == 6
    assert len(asked.slept) == len(set(asked.slept)) == 5
    assert all(0 <= wait <= ceiling for wait, ceiling in zip(asked.slept, [1, 2, 4, 8, 16], strict=True))


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_provider_is_given_the_seconds_it_asks_for(server: LoopbackProvider, name: str) -> None:
    server.script(refuse(429, retry_after="7"))
    asked = AskedApi(server, name)
    asked.embed()
    assert asked.slept == [7.0]


def test_retry_after_may_be_a_date_or_in_milliseconds(server: LoopbackProvider) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    server.script(refuse(429, retry_after=later), refuse(429, retry_after_ms="9500", retry_after="77"))
    asked = AskedApi(server)
    asked.embed()
    assert 35 <= asked.slept[0] <= 40
    assert asked.slept[1] == 9.5


def test_a_provider_that_asks_for_too_long_a_wait_is_not_waited_for(server: LoopbackProvider) -> None:
    server.script(refuse(429, retry_after="3600"))
    asked = AskedApi(server)
    assert "asks to wait 3,600 s" in (message := asked.failure())
    assert "longer than the 300 s" in message
    assert asked.slept == []


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "check the model name and the options"),
        (401, "check the key in {variable}"),
        (402, "the account has no credit left"),
        (403, "check the key in {variable}"),
        (404, "check the model name 'small'"),
    ],
)
def test_a_refusal_that_cannot_pass_is_final_at_once_and_says_what_to_do(
    server: LoopbackProvider, name: str, status: int, advice: str
) -> None:
    server.script(refuse(status, "what the provider\n said"))
    asked = AskedApi(server, name)
    message = asked.failure()
    assert message.startswith(f"{name}:small: HTTP {status}, what the provider said: ")
    assert advice.format(variable=KEYS[name][0]) in message
    assert (len(server.requests), asked.slept) == (1, [])


@pytest.mark.parametrize("fault", [refuse(401), refuse(429, retry_after="9999"), wire.WRONG_DIMENSION])
def test_what_was_handed_over_before_a_failure_stays(server: LoopbackProvider, fault: wire.Fault) -> None:
    server.script(wire.WELL, fault)
    kept: list[int] = []
    with pytest.raises(ModelFailed):
        kept.extend(place for places, _ in AskedApi(server).model.stream(Question.TEXTS, MANY) for place in places)
    assert kept == list(range(32))


@pytest.mark.parametrize("name", ["openai", "cohere"])
def test_a_proxy_that_cannot_be_used_is_one_clear_line(
    server: LoopbackProvider, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "nonsense://127.0.0.1:1")
    assert AskedApi(server, name).failure().startswith(f"{name}:small: the client cannot be set up: ")
    assert server.requests == []


@pytest.mark.parametrize(("name", "most"), [("openai", 2048), ("cohere", 96), ("voyage", 1000)])
def test_a_request_holds_as_many_texts_as_the_provider_takes(name: str, most: int) -> None:
    model = ApiEmbedder(name, "small")  # type: ignore[arg-type]
    texts = [str(i) for i in range(most + 1)]
    assert model.estimate(texts[:most]).requests == 1
    assert model.estimate(texts).requests == 2


def test_a_request_holds_as_many_tokens_as_the_provider_takes() -> None:
    texts = [f"{i:02}" + "a" * 23_998 for i in range(38)]  # 8,001 tokens each by the rule
    model = ApiEmbedder("openai", "text-embedding-3-large")
    assert (model.estimate(texts[:37]).requests, model.estimate(texts).requests) == (1, 2)


@given(st.lists(st.text(min_size=1, max_size=30)), st.integers(1, 5), st.integers(70, 200))
def test_batches_keep_the_order_and_the_limits(texts: list[str], inputs: int, tokens: int) -> None:
    cut = list(batches(texts, Limits(inputs=inputs, tokens=tokens, tokens_each=100)))
    assert [text for batch in cut for text in batch] == texts
    assert all(1 <= len(batch) <= inputs for batch in cut)
    assert all(sum(map(estimate_tokens, batch)) <= tokens for batch in cut)


# What a server says that cannot be true


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize("said", ["many", None, True, -5, float("nan"), float("inf"), [], 0, 0.5])
def test_a_budget_ends_whatever_a_server_says_it_billed(server: LoopbackProvider, name: str, said: Any) -> None:
    server.faults = [wire.Fault(usage=lambda _: said)] * 99
    budget = Budget(tokens=300)
    asked = AskedApi(server, name, budget=budget)
    texts = [f"w{i:03}" for i in range(1000)]
    kept: list[int] = []
    with pytest.raises(BudgetSpent):
        kept.extend(place for places, _ in asked.model.stream(Question.TEXTS, texts) for place in places)
    believed = said in (0, 0.5) and said is not True
    # 32 texts of 3 tokens by estimate; a server that says it bills nothing is counted one for each.
    assert len(kept) == (32 * 7 if believed else 32 * 3)
    assert budget.spent_tokens == (32 * 7 if believed else 96 * 3)


@pytest.mark.parametrize("value", ["Fri, 31 Dec 9999 23:59:59 -2359", "Fri, 31 Dec 9999 23:59:59 GMT", "9" * 400])
def test_a_wait_until_a_far_year_is_not_waited_for(server: LoopbackProvider, value: str) -> None:
    server.script(refuse(429, "later", retry_after=value))
    asked = AskedApi(server)
    assert "longer than the 300 s waited at most" in asked.failure()


@pytest.mark.parametrize("value", ["31 Dec 99999 23:59:59", "Fri, 99 Foo 2026", "-7", "nan", "1 1 1 1:1:1 +999999999"])
def test_a_wait_that_cannot_be_read_is_no_wait(server: LoopbackProvider, value: str) -> None:
    server.script(refuse(429, "later", retry_after=value))
    asked = AskedApi(server)
    asked.embed()
    assert asked.slept[0] <= 1


@pytest.mark.parametrize("numbers", [["1.5"] * 8, [True] * 8, [1.0, True] * 4, [None] * 8, [[1.0]] * 8, {"a": 1}])
def test_vectors_that_are_not_numbers_are_refused_and_what_was_paid_before_is_kept(
    server: LoopbackProvider, numbers: Any
) -> None:
    server.script(wire.WELL, wire.Fault(numbers=lambda _: numbers))
    kept: list[int] = []
    asked = AskedApi(server, "cohere", max_tries=1)
    with pytest.raises(ModelFailed, match=r"an answer that cannot be used \(a vector that is not numbers\)$"):
        kept.extend(place for places, _ in asked.model.stream(Question.TEXTS, MANY) for place in places)
    assert kept == list(range(32))
