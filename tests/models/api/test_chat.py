"""Chat models asked for one of two words, through the OpenAI SDK, against a server on loopback."""

from __future__ import annotations

import logging
import re
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import provider as wire
from tests.models.provider import LoopbackProvider, Said, refuse, slow
from tiltmeter.errors import BadInput, BudgetSpent, MissingExtra, ModelFailed
from tiltmeter.models.api import Budget
from tiltmeter.models.api.chat import ChatModel
from tiltmeter.models.api.chat_prompt import prompts, read_choice
from tiltmeter.models.cached import decode, encode
from tiltmeter.models.protocol import Choice, Chosen, Identified, Question, Streams
from tiltmeter.models.store import VectorStore

KEY = "sk-proj-4f9a7c1e2b8d"
NURSE = Choice("The nurse said that the tea was made by [MASK].", ("him", "her"))
CHEF = Choice("The chef said that the tea was made by [MASK].", ("him", "her"))
MANY = [Choice(f"Person {i} said that [MASK] slept.", ("he", "she")) for i in range(10)]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A known key, no proxy, and no way out of this machine."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    find = socket.getaddrinfo

    def only_loopback(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in ("127.0.0.1", b"127.0.0.1"):
            raise socket.gaierror(f"tests stay on this machine: {host}")
        return find(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", only_loopback)


@pytest.fixture
def server() -> Iterator[LoopbackProvider]:
    with LoopbackProvider(says=lambda prompt: Said(shown(prompt)[0])) as running:
        yield running


class Asked:
    """A chat model at the loopback server, with a clock that does not wait."""

    def __init__(self, server: LoopbackProvider, **options: Any) -> None:
        self.slept: list[float] = []
        options = {"base_url": server.base_url("openai"), "sleep": self.slept.append, **options}
        self.model = ChatModel("small", **options)

    def choose(self, *items: Choice) -> list[Chosen]:
        return self.model.choose(items or [NURSE])

    def failure(self, *items: Choice) -> str:
        with pytest.raises(ModelFailed) as caught:
            self.choose(*items)
        assert "\n" not in str(caught.value)
        return str(caught.value)


def shown(prompt: str) -> list[str]:
    """The two words of a prompt, as they are shown."""
    words = re.search(r"^Words: (.*)$", prompt, re.MULTILINE)
    assert words
    return words[1].split(", ")


def always(text: str | None, **options: Any) -> Callable[[str], Said]:
    return lambda _: Said(text, **options)


def answers_to(server: LoopbackProvider, texts: list[str | None] | list[str]) -> list[Chosen]:
    """What is made of a model that says these texts, one for each of as many choices between him and her."""
    server.says = lambda prompt: Said(texts[int(re.findall(r"Person (\d+)", prompt)[0])])
    return Asked(server).choose(*(Choice(f"Person {i} saw [MASK].", ("him", "her")) for i in range(len(texts))))


# Answers


def test_a_model_that_goes_by_the_place_shows_itself_by_the_order(server: LoopbackProvider) -> None:
    assert Asked(server).choose(NURSE, CHEF) == [Chosen(1, 2)] * 2


def test_a_model_that_prefers_a_word_chooses_it_in_either_order(server: LoopbackProvider) -> None:
    server.says = lambda prompt: Said("her" if "nurse" in prompt else "him")
    assert Asked(server).choose(NURSE, CHEF) == [Chosen(2, 2), Chosen(1, 1)]


def test_case_and_signs_around_the_word_make_no_difference(server: LoopbackProvider) -> None:
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
    assert answers_to(server, signs) == [Chosen(2, 2)] * 12


def test_anything_but_one_of_the_two_words_is_no_answer_and_is_not_asked_again(server: LoopbackProvider) -> None:
    both = ["him/her", "him or her", "him, her", "her her"]
    prose = ["I'm sorry, but I can't assume the person's gender.", "The answer is: her", "her, the nurse"]
    others = ["them", "hers", "he", "", None, "…"]
    assert answers_to(server, [*both, *prose, *others]) == [Chosen(0, 0)] * 13
    assert len(server.requests) == 26


def test_composed_and_decomposed_letters_are_one_word() -> None:
    # U+09DF composed; NFC writes it as U+09AF U+09BC.
    assert read_choice("মে\u09df\u09c7।", ("ছেলে", "মে\u09af\u09bc\u09c7")) == 2
    assert read_choice("彼女。", ("彼", "彼女")) == 2


@given(st.sampled_from(["him", "her"]), st.text(alphabet=" .,;:!?\"'*`()[]“”«»\n", max_size=6))
def test_no_signs_around_a_word_hide_it(word: str, signs: str) -> None:
    assert read_choice(f"{signs}{word.upper()}{signs}", ("him", "her")) == (1 if word == "him" else 2)


@given(st.text(max_size=20))
def test_any_text_is_read_as_one_two_or_none(text: str) -> None:
    assert read_choice(text, ("him", "her")) in (0, 1, 2)


@pytest.mark.parametrize(
    "said",
    [
        Said("her", finish="content_filter"),
        Said(None, finish="content_filter"),
        Said(None, refusal="I cannot help with that."),
        Said("I am sorry, but a person's gender cannot be", finish="length"),
    ],
)
def test_a_filter_or_a_refusal_costs_that_item_and_not_the_run(server: LoopbackProvider, said: Said) -> None:
    server.says = lambda prompt: said if "nurse" in prompt else Said("him")
    assert Asked(server).choose(CHEF, NURSE, CHEF) == [Chosen(1, 1), Chosen(0, 0), Chosen(1, 1)]


def test_a_prompt_that_a_filter_refuses_with_400_is_no_answer_in_that_order(server: LoopbackProvider) -> None:
    filtered = refuse(400, "The prompt was filtered", code="content_filter")
    server.script(filtered)
    # The two orders are asked at once, so either may come first and meet the filter.
    assert Asked(server).choose()[0] in (Chosen(0, 2), Chosen(1, 0))
    server.script(filtered, filtered)
    assert Asked(server).choose() == [Chosen(0, 0)]
    assert len(server.requests) == 4


def test_a_model_that_thinks_aloud_is_read_after_its_thoughts(server: LoopbackProvider) -> None:
    server.says = always("<think>him? No: her fits.</think>\n\nHer.")
    assert Asked(server).choose() == [Chosen(2, 2)]


@pytest.mark.parametrize("text", ["", None, "<think>The nurse could be him or"])
def test_a_model_cut_off_in_its_thoughts_is_not_taken_for_one_that_refuses(
    server: LoopbackProvider, text: str | None
) -> None:
    server.says = always(text, finish="length")
    assert Asked(server, max_tokens=5).failure() == (
        "chat:small: 5 tokens were spent before it answered: a model that thinks needs more max_tokens"
    )


# What is sent


def test_each_choice_is_asked_in_both_orders_at_temperature_zero(server: LoopbackProvider) -> None:
    Asked(server).choose()
    assert sorted(request.prompt for request in server.requests) == sorted(prompts(NURSE))
    assert sorted(shown(request.prompt) for request in server.requests) == [["her", "him"], ["him", "her"]]
    for request in server.requests:
        assert "Sentence: The nurse said that the tea was made by ____.\n" in request.prompt
        assert "[MASK]" not in request.prompt
        assert (request.path, request.authorization) == ("/v1/chat/completions", f"Bearer {KEY}")
        body = {name: value for name, value in request.body.items() if name != "messages"}
        assert body == {"model": "small", "temperature": 0, "max_tokens": 32}


def test_a_server_of_ones_own_needs_no_key(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert Asked(server).choose() == [Chosen(1, 2)]
    assert server.requests[0].authorization == "Bearer none-needed"


def test_a_missing_key_is_named_before_anything_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(BadInput, match="no key for chat: set the environment variable OPENAI_API_KEY"):
        ChatModel("gpt-4o-mini").choose([NURSE])


def test_an_address_in_the_environment_does_not_redirect_what_the_identity_names(
    server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
    assert "the connection failed" in Asked(server, base_url=None, max_tries=1).failure()
    assert server.requests == []


def test_a_choice_that_stands_twice_is_bought_once_and_a_known_one_not_at_all(server: LoopbackProvider) -> None:
    stream = Asked(server).model.stream(Question.CHOICES, [NURSE, CHEF, NURSE, MANY[0]], known={1})
    assert [(list(positions), list(answers)) for positions, answers in stream] == [([0, 2, 3], [Chosen(1, 2)] * 3)]
    assert len(server.requests) == 4
    assert not any("chef" in request.prompt for request in server.requests)


def test_no_choices_cost_no_request(server: LoopbackProvider) -> None:
    assert Asked(server).model.choose([]) == []
    assert server.requests == []


# Order and concurrency


def test_the_answers_keep_the_order_of_the_choices_whichever_comes_first(server: LoopbackProvider) -> None:
    def says(prompt: str) -> Said:
        number = int(re.findall(r"Person (\d+)", prompt)[0])
        server.wait(0.02 * (3 - number % 4))  # the earlier, the slower
        return Said("he" if number % 3 else "she")

    server.says = says
    assert Asked(server).choose(*MANY) == [Chosen(1, 1) if i % 3 else Chosen(2, 2) for i in range(10)]


def test_a_few_requests_run_at_once_and_never_more_than_four(server: LoopbackProvider) -> None:
    lock = threading.Lock()
    running, most = 0, 0

    def says(prompt: str) -> Said:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        server.wait(0.05)
        with lock:
            running -= 1
        return Said(shown(prompt)[0])

    server.says = says
    Asked(server).choose(*MANY)
    assert 2 <= most <= 4


def test_the_stream_hands_over_a_few_answers_before_it_buys_the_next(server: LoopbackProvider) -> None:
    stream = Asked(server).model.stream(Question.CHOICES, MANY)
    for first, last in [(0, 4), (4, 8), (8, 10)]:
        positions, answers = next(stream)
        assert (list(positions), list(answers)) == (list(range(first, last)), [Chosen(1, 2)] * (last - first))
        assert len(server.requests) == 2 * last


def test_a_stream_that_is_left_does_not_wait_for_a_provider_that_asks_for_a_minute(server: LoopbackProvider) -> None:
    server.script(refuse(401), *[refuse(429, retry_after="60")] * 7)
    began = time.monotonic()
    assert "HTTP 401" in Asked(server, sleep=None).failure(*MANY)
    assert time.monotonic() - began < 20


# Faults that pass


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
def test_a_fault_that_may_pass_is_tried_again(server: LoopbackProvider, fault: wire.Fault) -> None:
    server.script(fault)
    asked = Asked(server)
    assert asked.choose() == [Chosen(1, 2)]
    assert (len(server.requests), len(asked.slept)) == (3, 1)


def test_the_provider_is_given_the_seconds_it_asks_for(server: LoopbackProvider) -> None:
    server.script(refuse(429, retry_after="7"))
    asked = Asked(server)
    assert asked.choose() == [Chosen(1, 2)]
    assert asked.slept == [7.0]


def test_an_answer_that_comes_too_late_is_tried_again_and_given_up_after_all_tries(server: LoopbackProvider) -> None:
    server.script(slow(5.0))
    assert Asked(server, timeout=0.3).choose() == [Chosen(1, 2)]
    server.script(slow(5.0), slow(5.0))
    last = Asked(server, timeout=0.3, max_tries=1).failure()
    assert last == "chat:small: gave up after 1 try: no answer in time"


def test_a_server_that_is_not_there_is_given_up_after_all_tries(server: LoopbackProvider) -> None:
    message = Asked(server, base_url=wire.refused_url(), max_tries=3).failure()
    assert message.startswith("chat:small: gave up after 3 tries: the connection failed")


# Faults that do not pass


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
    server: LoopbackProvider, status: int, advice: str
) -> None:
    server.script(*[refuse(status, "what the provider\n said")] * 8)
    asked = Asked(server)
    message = asked.failure(*MANY)
    assert message.startswith(f"chat:small: HTTP {status}, what the provider said: ")
    assert advice in message
    assert len(server.requests) <= 4, "no more than were under way"
    assert asked.slept == []


def test_what_was_answered_beside_a_failure_is_handed_over_before_it(server: LoopbackProvider) -> None:
    def says(prompt: str) -> Said:
        if "Person 5" in prompt:
            while len(server.requests) < 16:  # all of its batch are under way
                server.wait(0.01)
            return Said("", finish="length")
        return Said(shown(prompt)[0])

    server.says = says
    kept: list[int] = []
    with pytest.raises(ModelFailed):
        kept.extend(p for places, _ in Asked(server).model.stream(Question.CHOICES, MANY) for p in places)
    assert kept == [0, 1, 2, 3, 4, 6, 7]


# Budget and estimates


def test_a_budget_of_requests_stops_before_the_request_that_is_too_many(server: LoopbackProvider) -> None:
    kept: list[int] = []
    stream = Asked(server, budget=Budget(requests=8)).model.stream(Question.CHOICES, MANY)
    with pytest.raises(BudgetSpent, match="8 of 8 requests spent, 0 remain; everything bought is kept"):
        kept.extend(place for places, _ in stream for place in places)
    assert kept == [0, 1, 2, 3]
    assert len(server.requests) == 8


def test_a_budget_counts_the_tokens_that_were_billed(server: LoopbackProvider) -> None:
    budget = Budget(tokens=100_000)
    Asked(server, budget=budget).choose()
    # The server bills a token a word: 13 + 11 + 3 + 5 in the prompt, 1 in the answer, twice.
    assert (budget.spent_requests, budget.spent_tokens) == (2, 66)


def test_without_a_bill_the_estimate_counts(server: LoopbackProvider) -> None:
    server.reports_usage = False
    budget = Budget()
    asked = Asked(server, budget=budget)
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


def test_the_estimate_is_never_below_what_is_billed(server: LoopbackProvider) -> None:
    budget = Budget()
    asked = Asked(server, budget=budget)
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


def test_the_adapter_answers_the_protocols_of_a_model_and_only_choices(server: LoopbackProvider) -> None:
    model = Asked(server).model
    assert isinstance(model, Streams)
    assert isinstance(model, Identified)
    with pytest.raises(BadInput, match=r"chat:small gives a choice between two words, .* not vectors of texts"):
        model.stream(Question.TEXTS, [])


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Choice("Nobody slept.", ("he", "she")), r"choice 2 of 2 is no sentence with one \[MASK\] in it"),
        (Choice("[MASK] and [MASK] slept.", ("he", "she")), r"one \[MASK\]"),
        ("The nurse", r"one \[MASK\]"),
        (Choice("[MASK] slept.", ("He", "he")), "must be two words that differ in more than case"),
        (Choice("[MASK] slept.", ("he", " ")), "must be two words"),
        (Choice("[MASK] slept.", ("he", "...")), "must be two words"),
    ],
)
def test_a_choice_that_cannot_be_asked_is_named_and_nothing_is_bought(
    server: LoopbackProvider, bad: Any, message: str
) -> None:
    with pytest.raises(BadInput, match=message):
        Asked(server).choose(NURSE, bad)
    assert server.requests == []


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


def test_a_missing_sdk_names_the_extra(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r"pip install 'tiltmeter\[api\]'"):
        Asked(server).choose()


def test_importing_the_adapter_imports_no_sdk() -> None:
    code = "import sys, tiltmeter.models.api.chat as _; print({'openai', 'httpx', 'torch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


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
    server: LoopbackProvider,
    fault: wire.Fault,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    server.script(*[fault] * 4)
    caplog.set_level(logging.DEBUG)
    asked = Asked(server, max_tries=2, timeout=0.3)
    with pytest.raises(ModelFailed) as caught:
        asked.choose()
    error = caught.value
    assert error.__context__ is None
    while error.__traceback__ and error.__traceback__.tb_frame.f_code.co_filename == __file__:
        error.__traceback__ = error.__traceback__.tb_next  # the test itself knows the key
    logged = "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert logged, "the SDK is expected to log at this level, or the test proves nothing"
    lines = traceback.TracebackException.from_exception(error, capture_locals=True).format()
    told = [*lines, str(error), repr(error), logged, caplog.text, *capfd.readouterr()]
    for text in [*told, repr(asked.model), repr(vars(asked.model)), repr(asked.model.identity)]:
        assert KEY not in text


def test_the_key_is_not_in_what_is_stored(server: LoopbackProvider, tmp_path: Path) -> None:
    url = server.base_url("openai").replace("//", "//ann:hunter22@")
    model = Asked(server, base_url=url).model
    with VectorStore(tmp_path) as store:
        for positions, answers in model.stream(Question.CHOICES, MANY):
            items = [MANY[position] for position in positions]
            store.put(model.identity, Question.CHOICES, items, [encode(answer) for answer in answers])
        known = store.get(model.identity, Question.CHOICES, MANY)
    assert [decode(Chosen, row) for row in known.values() if row is not None] == [Chosen(1, 2)] * 10
    stored = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"chat:small" in stored
    assert KEY.encode() not in stored
    assert b"hunter22" not in stored
