"""Prompts over the chat protocol: several at once, filters, thoughts, and failures."""

from __future__ import annotations

import re
import threading
import time

import pytest

from tests.models import provider as wire
from tests.models.api.loopback_chat import CHEF, MANY, NURSE, AskedChat, always, shown
from tests.models.provider import LoopbackProvider, Said, refuse, slow
from tiltmeter.errors import ModelFailed
from tiltmeter.models.protocol import Chosen, Question


@pytest.mark.parametrize(
    "said",
    [
        Said("her", finish="content_filter"),
        Said(None, finish="content_filter"),
        Said(None, refusal="I cannot help with that."),
        Said("I am sorry, but a person's gender cannot be", finish="length"),
    ],
)
def test_a_filter_or_a_refusal_costs_that_item_and_not_the_run(chat_server: LoopbackProvider, said: Said) -> None:
    chat_server.says = lambda prompt: said if "nurse" in prompt else Said("him")
    assert AskedChat(chat_server).choose(CHEF, NURSE, CHEF) == [Chosen(1, 1), Chosen(0, 0), Chosen(1, 1)]


def test_a_prompt_that_a_filter_refuses_with_400_is_no_answer_in_that_order(chat_server: LoopbackProvider) -> None:
    filtered = refuse(400, "The prompt was filtered", code="content_filter")
    chat_server.script(filtered)
    # The two orders are asked at once, so either may come first and meet the filter.
    assert AskedChat(chat_server).choose()[0] in (Chosen(0, 2), Chosen(1, 0))
    chat_server.script(filtered, filtered)
    assert AskedChat(chat_server).choose() == [Chosen(0, 0)]
    assert len(chat_server.requests) == 4


def test_a_model_that_thinks_aloud_is_read_after_its_thoughts(chat_server: LoopbackProvider) -> None:
    chat_server.says = always("<think>him? No: her fits.</think>\n\nHer.")
    assert AskedChat(chat_server).choose() == [Chosen(2, 2)]


@pytest.mark.parametrize("text", ["", None, "<think>The nurse could be him or"])
def test_a_model_cut_off_in_its_thoughts_is_not_taken_for_one_that_refuses(
    chat_server: LoopbackProvider, text: str | None
) -> None:
    chat_server.says = always(text, finish="length")
    assert AskedChat(chat_server, max_tokens=5).failure() == (
        "chat:small: 5 tokens were spent before it answered: a model that thinks needs more max_tokens"
    )


def test_the_answers_keep_the_order_of_the_choices_whichever_comes_first(chat_server: LoopbackProvider) -> None:
    def says(prompt: str) -> Said:
        number = int(re.findall(r"Person (\d+)", prompt)[0])
        chat_server.wait(0.02 * (3 - number % 4))  # the earlier, the slower
        return Said("he" if number % 3 else "she")

    chat_server.says = says
    assert AskedChat(chat_server).choose(*MANY) == [Chosen(1, 1) if i % 3 else Chosen(2, 2) for i in range(10)]


def test_a_few_requests_run_at_once_and_never_more_than_four(chat_server: LoopbackProvider) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def says(prompt: str) -> Said:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        chat_server.wait(0.05)
        with lock:
            running -= 1
        return Said(shown(prompt)[0])

    chat_server.says = says
    AskedChat(chat_server).choose(*MANY)
    assert 2 <= most <= 4


def test_a_stream_that_is_left_does_not_wait_for_a_provider_that_asks_for_it(
    chat_server: LoopbackProvider,
) -> None:
    chat_server.script(refuse(401), *[refuse(429, retry_after="60")] * 7)
    began = time.monotonic()
    assert "HTTP 401" in AskedChat(chat_server, sleep=None).failure(*MANY)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    "fault",
    [
        *(refuse(status) for status in (408, 409, 429, 500, 502, 503, 504)),
        *(wire.HALF_JSON, wire.NOT_THE_SHAPE, wire.CUT_SHORT, wire.DROPPED),
        wire.Fault(body=lambda _: b'{"choices": []}'),
        wire.Fault(body=lambda _: b'{"choices": [{}]}'),
        wire.Fault(body=lambda _: b'{"choices": [{"message": {"content": 7}}]}'),
        wire.Fault(body=lambda _: b"<html>gateway</html>"),
    ],
)
def test_a_fault_that_may_pass_is_tried_again(chat_server: LoopbackProvider, fault: wire.Fault) -> None:
    chat_server.script(fault)
    asked = AskedChat(chat_server)
    assert asked.choose() == [Chosen(1, 2)]
    assert (len(chat_server.requests), len(asked.slept)) == (3, 1)


def test_the_provider_is_given_the_seconds_it_asks_for(chat_server: LoopbackProvider) -> None:
    chat_server.script(refuse(429, retry_after="7"))
    asked = AskedChat(chat_server)
    assert asked.choose() == [Chosen(1, 2)]
    assert asked.slept == [7.0]


def test_an_answer_that_comes_too_late_is_tried_again_and_given_up_after_all_tries(
    chat_server: LoopbackProvider,
) -> None:
    chat_server.script(slow(5.0))
    assert AskedChat(chat_server, timeout=0.3).choose() == [Chosen(1, 2)]
    chat_server.script(slow(5.0), slow(5.0))
    last = AskedChat(chat_server, timeout=0.3, max_tries=1).failure()
    assert last == "chat:small: gave up after 1 try: no answer in time"


def test_a_server_that_is_not_there_is_given_up_after_all_tries(chat_server: LoopbackProvider) -> None:
    message = AskedChat(chat_server, base_url=wire.refused_url(), max_tries=3).failure()
    assert message.startswith("chat:small: gave up after 3 tries: the connection failed")


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, "check the model name and the options"),
        (401, "check the key in OPENAI_API_KEY"),
        (402, "the account has no credit left"),
        (404, "check the model name 'small'"),
    ],
)
def test_a_refusal_of_the_request_is_final_at_once_and_says_what_to_do(
    chat_server: LoopbackProvider, status: int, advice: str
) -> None:
    chat_server.script(*[refuse(status, "what the provider\n said")] * 8)
    asked = AskedChat(chat_server)
    message = asked.failure(*MANY)
    assert message.startswith(f"chat:small: HTTP {status}, what the provider said: ")
    assert advice in message
    assert len(chat_server.requests) <= 4, "no more than were under way"
    assert asked.slept == []


def test_what_was_answered_along_with_a_failure_is_handed_over_before_it(chat_server: LoopbackProvider) -> None:
    def says(prompt: str) -> Said:
        if "Person 5" in prompt:
            while len(chat_server.requests) < 16:  # all of its batch are under way
                chat_server.wait(0.01)
            return Said("", finish="length")
        return Said(shown(prompt)[0])

    chat_server.says = says
    kept: list[int] = []
    with pytest.raises(ModelFailed):
        kept.extend(p for places, _ in AskedChat(chat_server).model.stream(Question.CHOICES, MANY) for p in places)
    assert kept == [0, 1, 2, 3, 4, 6, 7]
