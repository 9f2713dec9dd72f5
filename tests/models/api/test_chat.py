"""Chat models asked for one of two words, against a server on loopback."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path
from typing import Any

import pytest

from tests.models import provider as wire
from tests.models.api.loopback_chat import CHEF, KEY, MANY, NURSE, AskedChat, answers_to, shown
from tests.models.provider import LoopbackProvider, Said, refuse, slow
from tiltmeter.errors import BadInput, BudgetSpent, ModelFailed
from tiltmeter.models.api import Budget
from tiltmeter.models.api.chat import ChatModel
from tiltmeter.models.api.chat_prompt import prompts
from tiltmeter.models.protocol import Choice, Chosen, Identified, Question, Streams
from tiltmeter.models.store import VectorStore

# Answers


def test_a_model_that_goes_by_the_place_shows_itself_by_the_order(chat_server: LoopbackProvider) -> None:
    assert AskedChat(chat_server).choose(NURSE, CHEF) == [Chosen(1, 2)] * 2


def test_a_model_that_prefers_a_word_chooses_it_in_either_order(chat_server: LoopbackProvider) -> None:
    chat_server.says = lambda prompt: Said("her" if "nurse" in prompt else "him")
    assert AskedChat(chat_server).choose(NURSE, CHEF) == [Chosen(2, 2), Chosen(1, 1)]


def test_case_and_signs_around_the_word_make_no_difference(chat_server: LoopbackProvider) -> None:
    signs = [
        "her",
        "Her",
        "HER.",
        " her\n",
        '"her"',
        "'Her'",
        "“her”",
        "**her**",
        "`her`",
        "(her)",
        "____ her",
        "«her»!",
    ]
    assert answers_to(chat_server, signs) == [Chosen(2, 2)] * 12


def test_anything_but_one_of_the_two_words_is_no_answer_and_is_not_asked_again(chat_server: LoopbackProvider) -> None:
    both = ["him/her", "him or her", "him, her"]
    prose = [
        "I'm sorry, but I can't assume the person's gender.",
        'I would not choose "her".',
        "Neither: her name is not given, so him is a guess",
        "Someone gave her tea, I suppose",
        '"him" fits as well as "her"',
    ]
    others = ["them", "hers", "he", "", None, "…"]
    assert answers_to(chat_server, [*both, *prose, *others]) == [Chosen(0, 0)] * 14
    assert len(chat_server.requests) == 28


def test_a_sentence_that_names_one_of_the_words_is_an_answer(chat_server: LoopbackProvider) -> None:
    named = [
        'The best word is "her".',
        "The word that fits the blank better is **her**.",
        "The answer is: her",
        "her her",
        "Her, because the sentence speaks of a nurse",
        'I would choose "her" over him.',
        "<think>him? not sure</think>The best word is `her`",
    ]
    assert answers_to(chat_server, named) == [Chosen(2, 2)] * 7


# What is sent


def test_each_choice_is_asked_in_both_orders_at_temperature_zero(chat_server: LoopbackProvider) -> None:
    AskedChat(chat_server).choose()
    assert sorted(request.prompt for request in chat_server.requests) == sorted(prompts(NURSE))
    assert sorted(shown(request.prompt) for request in chat_server.requests) == [["her", "him"], ["him", "her"]]
    for request in chat_server.requests:
        assert "Sentence: The nurse said that the tea was made by ____.\n" in request.prompt
        assert "[MASK]" not in request.prompt
        assert (request.path, request.authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
        body = {name: value for name, value in request.body.items() if name != "messages"}
        assert body == {"model": "small", "temperature": 0, "max_tokens": 32}


def test_a_model_that_refuses_temperature_0_says_what_to_write_and_is_then_asked_without(
    chat_server: LoopbackProvider,
) -> None:
    said = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) is supported."
    chat_server.script(refuse(400, said))
    message = AskedChat(chat_server).failure()
    assert message.startswith("chat:small: HTTP 400, Unsupported value: 'temperature'")
    assert message.endswith("write chat:...?temperature=default")
    chat_server.requests.clear()
    asked = AskedChat(chat_server, temperature="default")
    assert asked.choose() == [Chosen(1, 2)]
    assert all("temperature" not in request.body for request in chat_server.requests)
    assert asked.model.identity.settings["temperature"] == "default"


@pytest.mark.parametrize(
    ("name", "temperature", "tokens"),
    [
        ("gpt-4o-mini", "0", "32"),
        ("o3-mini", "default", "2048"),
        ("gpt-5", "default", "2048"),
        ("gpt-5-chat-latest", "0", "32"),
        ("olmo-2", "0", "32"),
    ],
)
def test_models_that_think_are_known_by_name_at_openai_alone(name: str, temperature: str, tokens: str) -> None:
    settings = ChatModel(name).identity.settings
    assert (settings["temperature"], settings["max_tokens"]) == (temperature, tokens)
    assert ChatModel(name, base_url="http://localhost:9/v1").identity.settings["temperature"] == "0"
    assert ChatModel(name, max_tokens=7).identity.settings["max_tokens"] == "7"


def test_a_server_of_ones_own_needs_no_key(chat_server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = AskedChat(chat_server)
    monkeypatch.delenv("TILTMETER_KEYS")
    assert asked.choose() == [Chosen(1, 2)]
    assert chat_server.requests[0].authorization == "Bearer none-needed"


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="no key for chat: set the environment variable OPENAI_API_KEY"):
        ChatModel("gpt-4o-mini").choose([NURSE])


def test_an_address_in_the_environment_does_not_redirect_what_the_identity_names(
    chat_server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", chat_server.base_url("openai"))
    assert "the connection failed" in AskedChat(chat_server, base_url=None, max_tries=1).failure()
    assert chat_server.requests == []


def test_a_choice_that_stands_twice_is_bought_once_and_a_known_one_not_at_all(chat_server: LoopbackProvider) -> None:
    stream = AskedChat(chat_server).model.stream(Question.CHOICES, [NURSE, CHEF, NURSE, MANY[0]], known={1})
    assert [(list(positions), list(answers)) for positions, answers in stream] == [([0, 2, 3], [Chosen(1, 2)] * 3)]
    assert len(chat_server.requests) == 4
    assert not any("chef" in request.prompt for request in chat_server.requests)


def test_no_choices_cost_no_request(chat_server: LoopbackProvider) -> None:
    assert AskedChat(chat_server).model.choose([]) == []
    assert chat_server.requests == []


# Order and concurrency


def test_the_stream_hands_over_a_few_answers_before_it_buys_the_next(chat_server: LoopbackProvider) -> None:
    stream = AskedChat(chat_server).model.stream(Question.CHOICES, MANY)
    for first, last in [(0, 4), (4, 8), (8, 10)]:
        positions, answers = next(stream)
        assert (list(positions), list(answers)) == (list(range(first, last)), [Chosen(1, 2)] * (last - first))
        assert len(chat_server.requests) == 2 * last


# Faults that pass


# Faults that do not pass


# Budget and estimates


def test_a_budget_of_requests_stops_before_the_request_that_is_too_many(chat_server: LoopbackProvider) -> None:
    kept: list[int] = []
    stream = AskedChat(chat_server, budget=Budget(requests=8)).model.stream(Question.CHOICES, MANY)
    with pytest.raises(BudgetSpent, match="8 of 8 requests spent, 0 remain; everything bought is kept"):
        kept.extend(place for places, _ in stream for place in places)
    assert kept == [0, 1, 2, 3]
    assert len(chat_server.requests) == 8


def test_a_budget_counts_the_tokens_that_were_billed(chat_server: LoopbackProvider) -> None:
    budget = Budget(tokens=100_000)
    AskedChat(chat_server, budget=budget).choose()
    # The server bills a token a word: 13 + 11 + 3 + 5 in the prompt, 1 in the answer, twice.
    assert (budget.spent_requests, budget.spent_tokens) == (2, 66)


def test_without_a_bill_the_estimate_counts(chat_server: LoopbackProvider) -> None:
    chat_server.reports_usage = False
    budget = Budget()
    asked = AskedChat(chat_server, budget=budget)
    asked.choose()
    assert budget.spent_tokens == asked.model.estimate([NURSE]).tokens


def test_the_estimate_is_two_requests_a_choice_at_the_prices_of_reading_and_writing() -> None:
    # ASCII characters: 171, so 1 + 57 tokens; 12 around the message; 32 written; in both orders; a double bought once.
    assert {len(prompt) for prompt in prompts(NURSE)} == {171}
    read = 2 * (1 + 57 + 12)
    estimate = ChatModel("gpt-4o-mini").estimate([NURSE, NURSE])
    assert (estimate.requests, estimate.tokens) == (2, read + 64)
    assert estimate.dollars == pytest.approx((read * 0.15 + 64 * 0.60) / 1e6)


def test_no_price_is_made_up() -> None:
    assert ChatModel("never-heard-of").estimate([NURSE]).dollars is None
    assert ChatModel("gpt-4o-mini", base_url="http://localhost:1/v1").estimate([NURSE]).dollars is None


def test_the_estimate_is_never_below_what_is_billed(chat_server: LoopbackProvider) -> None:
    budget = Budget()
    asked = AskedChat(chat_server, budget=budget)
    asked.choose(*MANY)
    estimate = asked.model.estimate(MANY)
    assert estimate.requests == budget.spent_requests == 20
    assert estimate.tokens >= budget.spent_tokens


# Identity and bad input


def test_the_identity_names_the_model_the_server_and_the_prompt() -> None:
    own = ChatModel("llama3", base_url="http://ann:hunter22@two:8080/a/v1/", max_tokens=9).identity
    assert (own.name, own.revision) == ("chat:llama3", "llama3@two:8080/a/v1")
    assert re.fullmatch("[0-9a-f]{12}", own.settings["prompt"])
    assert {**own.settings, "prompt": ""} == {"prompt": "", "temperature": "0", "max_tokens": "9"}
    assert ChatModel("gpt-4o").identity.revision == "gpt-4o"


def test_the_adapter_answers_the_protocols_of_a_model_and_only_choices(chat_server: LoopbackProvider) -> None:
    model = AskedChat(chat_server).model
    assert isinstance(model, Streams)
    assert isinstance(model, Identified)
    with pytest.raises(BadInput, match=r"chat:small gives a choice between two words, .* not vectors of texts"):
        model.stream(Question.TEXTS, [])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Choice("Nobody slept.", ("he", "she")), r"choice 2 of 2 is not a sentence with one \[MASK\] in it"),
        (Choice("[MASK] and [MASK] slept.", ("he", "she")), r"one \[MASK\]"),
        ("The nurse", r"one \[MASK\]"),
        (Choice("[MASK] slept.", ("He", "he")), "must be two words that differ in more than case"),
        (Choice("[MASK] slept.", ("he", " ")), "must be two words"),
        (Choice("[MASK] slept.", ("he", "...")), "must be two words"),
    ],
)
def test_a_choice_that_cannot_be_asked_is_named_and_nothing_is_bought(
    chat_server: LoopbackProvider, bad: Any, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        AskedChat(chat_server).choose(NURSE, bad)
    assert chat_server.requests == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (" ", {}, "no model named"),
        ("small", {"max_tokens": 0}, "must be positive"),
        ("small", {"timeout": 0}, "must be positive"),
        ("small", {"base_url": "localhost:11434"}, "base_url must look like"),
        ("small", {"base_url": "http://ann:hunter22@host/v1?k=1"}, "base_url must look like"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_clear_line(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        ChatModel(name, **options)
    assert "hunter22" not in str(caught.value)


# Secrets


@pytest.mark.parametrize(
    "fault",
    [
        refuse(401, f"Incorrect key {KEY}, you sent Bearer {KEY}"),
        refuse(429, f"slow down, {KEY}", retry_after="1", x_echo=KEY),
        refuse(500, KEY),
        *(wire.HALF_JSON, wire.DROPPED, slow(5.0)),
    ],
)
def test_the_key_shows_nowhere_when_requests_fail(
    chat_server: LoopbackProvider,
    fault: wire.Fault,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    chat_server.script(*[fault] * 4)
    caplog.set_level(logging.DEBUG)
    asked = AskedChat(chat_server, max_tries=2, timeout=0.3)
    with pytest.raises(ModelFailed) as caught:
        asked.choose()
    error = caught.value
    assert error.__context__ is None
    while error.__traceback__ and error.__traceback__.tb_frame.f_code.co_filename == __file__:
        error.__traceback__ = error.__traceback__.tb_next  # the test itself knows the key
    logged = "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert logged, "the HTTP library is expected to log at this level, or the test proves nothing"
    lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
    told = [*lines, str(error), repr(error), logged, caplog.text, *capfd.readouterr()]
    for text in [*told, repr(asked.model), repr(vars(asked.model)), repr(asked.model.identity)]:
        assert KEY not in text


def test_the_key_is_not_in_what_is_stored(chat_server: LoopbackProvider, tmp_path: Path) -> None:
    url = chat_server.base_url("openai").replace("//", "//ann:hunter22@")
    model = AskedChat(chat_server, base_url=url).model
    with VectorStore(tmp_path) as store:
        for positions, answers in model.stream(Question.CHOICES, MANY):
            items = [MANY[position] for position in positions]
            store.put(model.identity, Question.CHOICES, items, [answer.to_row() for answer in answers])
        known = store.get(model.identity, Question.CHOICES, MANY)
    assert [Chosen.from_row(row) for row in known.values() if row is not None] == [Chosen(1, 2)] * 10
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"chat:small" in stored
    assert KEY.encode() not in stored
    assert b"hunter22" not in stored
