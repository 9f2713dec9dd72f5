"""Embedding APIs through the providers' own SDKs, against a server on loopback."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models import provider as wire
from tests.models.provider import LoopbackProvider, refuse, slow, vector_of
from tiltmeter.errors import BadInput, BudgetSpent, MissingExtra, ModelFailed
from tiltmeter.models.api import ApiEmbedder, Budget, estimate_cost, estimate_tokens
from tiltmeter.models.api.keys import scrubbed_logs
from tiltmeter.models.api.provider import Limits
from tiltmeter.models.api.requests import batches
from tiltmeter.models.protocol import EmbedsTexts, EmbedsWords, Identified, Question, Streams

PROVIDERS = ["openai", "cohere", "voyage"]
KEYS = {
    "openai": ("OPENAI_API_KEY", "sk-proj-4f9a7c1e2b8d"),
    "cohere": ("COHERE_API_KEY", "Kx7TzQ2mW9pL4vN8"),
    "voyage": ("VOYAGE_API_KEY", "pa-Zq81LmXc0RtYv5"),
}
TEXTS = ["The nurse slept.", "The doctor slept.", "He is a nurse."]
MANY = [f"w{i:02}" for i in range(70)]  # 3 requests to a server of one's own: 32 + 32 + 6


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known keys, no proxy, and no way out of this machine."""
    for variable, key in KEYS.values():
        monkeypatch.setenv(variable, key)
    for variable in ("CO_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
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


class Asked:
    """A model at the loopback server, with a clock that does not wait."""

    def __init__(self, server: LoopbackProvider, name: str = "openai", **options: Any) -> None:
        self.slept: list[float] = []
        options = {"base_url": server.base_url(name), "sleep": self.slept.append, **options}
        self.model = ApiEmbedder(name, options.pop("model", "small"), **options)  # type: ignore[arg-type]

    def embed(self, texts: list[str] = TEXTS) -> np.ndarray:
        return self.model.embed_texts(texts)

    def failure(self, texts: list[str] = TEXTS) -> str:
        with pytest.raises(ModelFailed) as caught:
            self.embed(texts)
        assert "\n" not in str(caught.value)
        return str(caught.value)


def planted(texts: list[str], dimension: int = wire.DIMENSION) -> np.ndarray:
    return np.stack([vector_of(text, dimension) for text in texts])


# Answers


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_gives_each_text_its_own_vector(server: LoopbackProvider, name: str) -> None:
    rows = Asked(server, name).embed()
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, planted(TEXTS))
    assert server.requests[0].authorization == f"Bearer {KEYS[name][1]}"


@pytest.mark.parametrize("name", ["openai", "voyage"])
def test_a_server_that_answers_plain_numbers_gives_the_same_vectors_as_base64(name: str) -> None:
    with LoopbackProvider(base64=False) as server:
        np.testing.assert_array_equal(Asked(server, name).embed(), planted(TEXTS))


@pytest.mark.parametrize("name", ["openai", "voyage"])
def test_vectors_that_come_in_another_order_are_put_right_by_their_index(server: LoopbackProvider, name: str) -> None:
    server.script(wire.SHUFFLED)
    np.testing.assert_array_equal(Asked(server, name).embed(), planted(TEXTS))
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", PROVIDERS)
def test_dimensions_are_asked_for_and_checked(server: LoopbackProvider, name: str) -> None:
    asked = Asked(server, name, dimensions=5)
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS, 5))
    assert asked.model.identity.settings["dimensions"] == "5"
    server.script(wire.WRONG_DIMENSION)
    assert "vectors of 4 numbers where 5 were expected" in Asked(server, name, dimensions=5).failure()


def test_words_are_sent_bare(server: LoopbackProvider) -> None:
    np.testing.assert_array_equal(Asked(server).model.embed_words(["nurse", "doctor"]), planted(["nurse", "doctor"]))
    assert server.texts == ["nurse", "doctor"]


def test_a_text_that_stands_twice_is_bought_once(server: LoopbackProvider) -> None:
    texts = ["nurse", "doctor", "nurse"]
    np.testing.assert_array_equal(Asked(server).embed(texts), planted(texts))
    assert server.texts == ["nurse", "doctor"]


def test_no_texts_cost_no_request(server: LoopbackProvider) -> None:
    assert Asked(server).embed([]).shape == (0, 0)
    assert server.requests == []


def test_the_stream_hands_over_each_answer_before_it_buys_the_next(server: LoopbackProvider) -> None:
    stream = Asked(server).model.stream(Question.TEXTS, MANY)
    for n, (first, last) in enumerate([(0, 32), (32, 64), (64, 70)], start=1):
        positions, rows = next(stream)
        assert list(positions) == list(range(first, last))
        np.testing.assert_array_equal(np.asarray(rows), planted(MANY[first:last]))
        assert len(server.requests) == n


def test_words_in_context_are_not_a_question_for_an_api(server: LoopbackProvider) -> None:
    with pytest.raises(BadInput, match="openai:small embeds texts and bare words, not words in context"):
        Asked(server).model.stream(Question.SPANS, [])


def test_the_adapter_answers_the_protocols_of_a_model(server: LoopbackProvider) -> None:
    model = Asked(server).model
    for protocol in (EmbedsWords, EmbedsTexts, Streams, Identified):
        assert isinstance(model, protocol)


# What is sent


def test_texts_are_never_cut_short_and_the_input_type_is_the_documented_one(server: LoopbackProvider) -> None:
    for name in PROVIDERS:
        Asked(server, name).embed()
    openai, cohere, voyage = (request.body for request in server.requests)
    assert "input_type" not in openai
    assert (cohere["input_type"], cohere["truncate"]) == ("clustering", "NONE")
    assert "input_type" not in voyage
    assert voyage["truncation"] is False


@pytest.mark.parametrize(("name", "input_type"), [("cohere", "search_document"), ("voyage", "query")])
def test_an_input_type_is_sent_and_stands_in_the_identity(server: LoopbackProvider, name: str, input_type: str) -> None:
    asked = Asked(server, name, input_type=input_type)
    asked.embed()
    assert server.requests[0].body["input_type"] == input_type
    assert asked.model.identity.settings == {"input_type": input_type}


def test_a_server_of_ones_own_needs_no_key(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    np.testing.assert_array_equal(Asked(server).embed(), planted(TEXTS))
    assert server.requests[0].authorization == "Bearer none-needed"


def test_cohere_reads_its_second_variable(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COHERE_API_KEY")
    monkeypatch.setenv("CO_API_KEY", "the-other-one\n")
    Asked(server, "cohere").embed()
    assert server.requests[0].authorization == "Bearer the-other-one"


def test_an_address_in_the_environment_does_not_redirect_what_the_identity_names(
    server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.base_url("openai"))
    client = pytest.importorskip("cohere").ClientV2
    # What the SDK makes of CO_API_URL, which it reads once, when it is imported.
    monkeypatch.setitem(client.__init__.__kwdefaults__, "base_url", server.base_url("cohere"))
    for name in ("openai", "cohere"):
        assert "the connection failed" in Asked(server, name, base_url=None, max_tries=1).failure()
    assert server.requests == []


# Identity


def test_the_identity_names_model_and_settings_without_any_network() -> None:
    identity = ApiEmbedder("openai", "text-embedding-3-small", dimensions=256).identity
    assert identity.to_dict() == {
        "name": "openai:text-embedding-3-small",
        "revision": "text-embedding-3-small",
        "settings": {"dimensions": "256"},
    }


def test_two_servers_never_share_an_identity_and_none_shows_credentials() -> None:
    addresses = ["http://one:11434/v1", "http://two:11434/v1", "http://ann:hunter22@two:8080/a/v1/"]
    found = [ApiEmbedder("openai", "bge", base_url=url).identity.revision for url in addresses]
    assert found == ["bge@one:11434/v1", "bge@two:11434/v1", "bge@two:8080/a/v1"]
    assert {ApiEmbedder("openai", "bge", base_url=url).identity.name for url in addresses} == {"openai:bge"}


# Faults that pass


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
    asked = Asked(server)
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
    np.testing.assert_array_equal(Asked(server, name).embed(), planted(TEXTS))
    assert len(server.requests) == 3


@pytest.mark.parametrize("name", PROVIDERS)
def test_an_answer_that_comes_too_late_is_tried_again(server: LoopbackProvider, name: str) -> None:
    server.script(slow(5.0))
    asked = Asked(server, name, timeout=0.2)
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS))
    server.script(slow(5.0))
    last = Asked(server, name, timeout=0.2, max_tries=1).failure()
    assert last == f"{name}:small: gave up after 1 try: no answer in time"


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_server_that_is_not_there_is_given_up_after_all_tries(server: LoopbackProvider, name: str) -> None:
    asked = Asked(server, name, base_url=wire.refused_url(), max_tries=3)
    message = asked.failure()
    assert message.startswith(f"{name}:small: gave up after 3 tries: the connection failed")
    assert "Connection refused" in message
    assert len(asked.slept) == 2


def test_the_waits_double_with_full_jitter_and_the_last_reason_is_told(server: LoopbackProvider) -> None:
    server.script(*[refuse(500, "down")] * 5, refuse(503, "still down"))
    asked = Asked(server)
    assert asked.failure() == "openai:small: gave up after 6 tries: HTTP 503, still down"
    assert len(server.requests) == 6
    assert len(asked.slept) == len(set(asked.slept)) == 5
    assert all(0 <= wait <= ceiling for wait, ceiling in zip(asked.slept, [1, 2, 4, 8, 16], strict=True))


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_provider_is_given_the_seconds_it_asks_for(server: LoopbackProvider, name: str) -> None:
    server.script(refuse(429, retry_after="7"))
    asked = Asked(server, name)
    asked.embed()
    assert asked.slept == [7.0]


def test_retry_after_may_be_a_date_or_in_milliseconds(server: LoopbackProvider) -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=40), usegmt=True)
    server.script(refuse(429, retry_after=later), refuse(429, retry_after_ms="9500", retry_after="77"))
    asked = Asked(server)
    asked.embed()
    assert 35 <= asked.slept[0] <= 40
    assert asked.slept[1] == 9.5


def test_a_provider_that_asks_for_too_long_a_wait_is_not_waited_for(server: LoopbackProvider) -> None:
    server.script(refuse(429, retry_after="3600"))
    asked = Asked(server)
    assert "asks to wait 3,600 s" in (message := asked.failure())
    assert "longer than the 300 s" in message
    assert asked.slept == []


# Faults that do not pass


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
    asked = Asked(server, name)
    message = asked.failure()
    assert message.startswith(f"{name}:small: HTTP {status}, what the provider said: ")
    assert advice.format(variable=KEYS[name][0]) in message
    assert (len(server.requests), asked.slept) == (1, [])


def test_an_account_without_credit_is_not_asked_again_though_it_says_429(server: LoopbackProvider) -> None:
    server.script(refuse(429, "You exceeded your current quota", code="insufficient_quota"))
    assert "the account has no credit left" in Asked(server).failure()
    assert len(server.requests) == 1


def test_vectors_of_another_length_are_final(server: LoopbackProvider) -> None:
    server.script(wire.UNEVEN)
    assert "vectors of different lengths (6, 7, 8) in one answer" in Asked(server).failure()
    asked = Asked(server)
    asked.embed()
    server.script(wire.WRONG_DIMENSION)
    assert "vectors of 7 numbers where 8 were expected" in asked.failure(["another text"])
    assert asked.slept == []


@pytest.mark.parametrize("fault", [refuse(401), refuse(429, retry_after="9999"), wire.WRONG_DIMENSION])
def test_what_was_handed_over_before_a_failure_stays(server: LoopbackProvider, fault: wire.Fault) -> None:
    server.script(wire.WELL, fault)
    kept: list[int] = []
    with pytest.raises(ModelFailed):
        kept.extend(place for places, _ in Asked(server).model.stream(Question.TEXTS, MANY) for place in places)
    assert kept == list(range(32))


# Bad input


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_missing_key_is_named_before_anything_is_sent(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEYS[name][0])
    with pytest.raises(BadInput, match=f"no key for {name}: set the environment variable {KEYS[name][0]}"):
        ApiEmbedder(name, "small").embed_texts(TEXTS)  # type: ignore[arg-type]


def test_a_key_with_a_stray_character_is_refused_without_being_shown(
    server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-abc def")
    with pytest.raises(BadInput, match="OPENAI_API_KEY holds characters that no key has") as caught:
        Asked(server).embed()
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize("texts", [["fine", ""], ["fine", " \n"]])
def test_an_empty_text_is_named_and_nothing_is_bought(server: LoopbackProvider, texts: list[str]) -> None:
    with pytest.raises(BadInput, match="text 2 of 2 is empty or no text"):
        Asked(server).embed(texts)
    assert server.requests == []


def test_a_text_over_the_limit_is_named_and_nothing_is_bought(server: LoopbackProvider) -> None:
    long = "nurses and doctors " * 2000
    with pytest.raises(BadInput, match=r"text 2 of 2 \('nurses and .*38,000 char.* over the 8,192 tokens"):
        Asked(server).embed(["fine", long])
    assert server.requests == []
    with pytest.raises(BadInput, match="512 tokens"):
        ApiEmbedder("cohere", "embed-english-v3.0").estimate(["nurse " * 512])
    assert ApiEmbedder("cohere", "embed-v4.0").estimate(["nurse " * 512]).requests == 1


def test_one_text_instead_of_a_list_is_not_taken_for_a_list_of_letters(server: LoopbackProvider) -> None:
    with pytest.raises(BadInput, match="put it in a list"):
        Asked(server).model.embed_texts("nurse")


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("opneai", "small"), {}, "unknown embedding API 'opneai': did you mean 'openai'"),
        (("openai", " "), {}, "no model named"),
        (("openai", "small"), {"input_type": "query"}, "openai has no input_type"),
        (("cohere", "small"), {"input_type": "clusterin"}, "did you mean 'clustering'"),
        (("openai", "small"), {"dimensions": 0}, "must be positive"),
        (("openai", "small"), {"base_url": "localhost:11434"}, "base_url must look like"),
        (("openai", "small"), {"base_url": "http://ann:hunter22@host/v1?k=1"}, "base_url must look like"),
        (("openai", "small"), {"base_url": "http://host:port/v1"}, "base_url must look like"),
    ],
)
def test_an_option_that_cannot_be_used_is_one_clear_line(
    arguments: tuple[Any, str], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput, match=message) as caught:
        ApiEmbedder(*arguments, **options)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(("name", "module"), [("openai", "openai"), ("cohere", "cohere"), ("voyage", "voyageai")])
def test_a_missing_sdk_names_the_extra(
    server: LoopbackProvider, name: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=r"pip install 'tiltmeter\[api\]'"):
        Asked(server, name).embed()


@pytest.mark.parametrize("name", ["openai", "cohere"])
def test_a_proxy_that_cannot_be_used_is_one_clear_line(
    server: LoopbackProvider, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "nonsense://127.0.0.1:1")
    monkeypatch.setenv("http_proxy", "nonsense://127.0.0.1:1")
    assert Asked(server, name).failure().startswith(f"{name}:small: the client cannot be set up: ")
    assert server.requests == []


def test_importing_the_adapter_imports_no_sdk() -> None:
    code = "import sys, tiltmeter.models.api as _; print({'openai', 'cohere', 'voyageai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# Secrets


def everything_shown(error: BaseException) -> str:
    """Text, repr, attributes and traceback with the locals of each frame, of an error and all behind it."""
    shown = []
    chain: BaseException | None = error
    while chain is not None:
        while chain.__traceback__ and chain.__traceback__.tb_frame.f_code.co_filename == __file__:
            chain.__traceback__ = chain.__traceback__.tb_next  # the test itself knows the key
        assert chain.__traceback__ is not None
        lines = traceback.TracebackException.from_exception(chain, capture_locals=True).format()
        shown += [str(chain), repr(chain), repr(vars(chain)), *lines]
        shown += traceback.format_exception(chain)
        chain = chain.__cause__ or chain.__context__
    return "\n".join(shown)


@pytest.mark.parametrize("name", PROVIDERS)
@pytest.mark.parametrize(
    "fault",
    [
        refuse(401, "Incorrect key {key}, you sent Bearer {key}"),
        refuse(400, "x" * 287 + "{key}"),
        refuse(429, "slow down, {key}", retry_after="1", x_echo="{key}"),
        refuse(500, "{key}"),
        wire.HALF_JSON,
        wire.NOT_THE_SHAPE,
        wire.DROPPED,
        wire.FEWER,
        slow(5.0),
    ],
)
def test_the_key_shows_nowhere(
    server: LoopbackProvider,
    name: str,
    fault: wire.Fault,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    key = KEYS[name][1]
    headers = tuple((header, value.format(key=key)) for header, value in fault.headers)
    told = wire.Fault(**{**vars(fault), "message": fault.message.format(key=key), "headers": headers})
    server.script(told, told)
    caplog.set_level(logging.DEBUG)
    asked = Asked(server, name, max_tries=2, timeout=0.3)
    with pytest.raises(ModelFailed) as caught:
        asked.embed()
    assert caught.value.__context__ is None
    logged = "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert logged, "SDKs are expected to log at this level, or the test proves nothing"
    shown = [everything_shown(caught.value), logged, caplog.text, *capfd.readouterr()]
    shown += [repr(asked.model), str(asked.model), repr(vars(asked.model)), repr(asked.model.identity)]
    for text in shown:
        assert key not in text
        assert key[:12] not in text


def test_a_password_in_the_address_shows_nowhere(server: LoopbackProvider, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    url = server.base_url("openai").replace("127.0.0.1", "ann:hunter22@127.0.0.1")
    server.script(refuse(400, "hunter22 is a poor password"))
    with pytest.raises(ModelFailed) as caught:
        Asked(server, base_url=url).embed()
    assert "[key] is a poor password" in str(caught.value)
    logged = "\n".join(repr(vars(record)) for record in caplog.records)
    for text in (str(caught.value), logged, caplog.text):
        assert "hunter22" not in text


def test_a_traceback_that_an_sdk_logs_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logger = logging.getLogger("openai._base_client")
    with scrubbed_logs(["hunter22"]):
        try:
            raise ValueError("illegal header: hunter22")
        except ValueError as error:
            logger.debug("sending failed: %s", error, exc_info=True)
    assert "sending failed: illegal header: [key]" in caplog.text
    assert "hunter22" not in caplog.text


def test_the_loggers_of_the_sdk_are_left_as_they_were(server: LoopbackProvider) -> None:
    asked = Asked(server)
    asked.embed()
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    before = [len(logger.filters) for logger in known]
    stream = asked.model.stream(Question.TEXTS, MANY)
    next(stream)
    assert [len(logger.filters) for logger in known] != before
    stream.close()  # type: ignore[attr-defined]
    assert [len(logger.filters) for logger in known] == before


# Budget


@pytest.mark.parametrize(
    ("text", "tokens", "requests"),
    [
        ("100000tokens", 100_000, None),
        ("50requests", None, 50),
        ("100k tokens", 100_000, None),
        ("1 request", None, 1),
        ("1.5M tokens and 20 requests", 1_500_000, 20),
        ("100,000 tokens, 1_000 requests", 100_000, 1000),
        ("0 requests", None, 0),
    ],
)
def test_a_budget_is_read_as_people_write_it(text: str, tokens: int | None, requests: int | None) -> None:
    budget = Budget.parse(text)
    assert (budget.tokens, budget.requests) == (tokens, requests)


@pytest.mark.parametrize(
    "text", ["", "100", "tokens", "5 dollars", "1.5 requests", "-5 tokens", "5 tokens 6 tokens", "k tokens"]
)
def test_a_budget_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="cannot read the budget"):
        Budget.parse(text)


def test_a_budget_of_requests_stops_before_the_request_that_is_too_many(server: LoopbackProvider) -> None:
    kept: list[int] = []
    stream = Asked(server, budget=Budget(requests=2)).model.stream(Question.TEXTS, MANY)
    with pytest.raises(BudgetSpent) as caught:
        kept.extend(place for places, _ in stream for place in places)
    assert kept == list(range(64))
    assert server.texts == MANY[:64]
    assert str(caught.value) == (
        "the next request to openai:small (about 12 tokens) would go over the budget: "
        "2 of 2 requests spent, 0 remain; everything bought is kept: raise the budget and run again to resume"
    )


def test_a_budget_of_tokens_counts_what_was_billed_and_reserves_by_estimate(server: LoopbackProvider) -> None:
    # 'w00' is estimated at 2 tokens and billed at 1: 64 are reserved for a request of 32, 32 are billed.
    texts = [f"w{i:02}" for i in range(96)]
    budget = Budget(tokens=100)
    with pytest.raises(BudgetSpent, match="64 of 100 tokens spent, 36 remain"):
        Asked(server, budget=budget).embed(texts)
    assert server.texts == texts[:64]
    assert (budget.spent_tokens, budget.spent_requests) == (64, 2)


def test_a_budget_is_shared_by_the_models_of_a_run(server: LoopbackProvider) -> None:
    budget = Budget(requests=2)
    Asked(server, "openai", budget=budget).embed()
    Asked(server, "cohere", budget=budget).embed()
    with pytest.raises(BudgetSpent, match="voyage:small"):
        Asked(server, "voyage", budget=budget).embed()
    assert len(server.requests) == 2


def test_a_refused_request_costs_no_tokens_and_one_that_may_have_been_billed_does(
    server: LoopbackProvider,
) -> None:
    budget = Budget()
    server.script(refuse(429), wire.FEWER)
    Asked(server, budget=budget).embed(["nurse", "doctor"])
    # Estimated 3 + 3 tokens for the answer that was too short, billed 1 + 1 for the good one.
    assert (budget.spent_requests, budget.spent_tokens) == (3, 8)


def test_tries_stop_when_the_budget_is_spent(server: LoopbackProvider) -> None:
    server.script(refuse(500), refuse(500), refuse(500))
    with pytest.raises(BudgetSpent):
        Asked(server, budget=Budget(requests=2)).embed()
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", PROVIDERS)
def test_without_a_bill_the_estimate_counts(name: str) -> None:
    budget = Budget()
    with LoopbackProvider(reports_usage=False) as server:
        Asked(server, name, budget=budget).embed(["nurse", "doctor"])
    assert budget.spent_tokens == 6


# Estimates and batches


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


def test_the_estimate_is_the_price_of_the_estimated_tokens() -> None:
    # 1 + 16/3 -> 7 tokens and 1 + 17/3 -> 7; the second text twice, bought once.
    estimate = ApiEmbedder("openai", "text-embedding-3-large").estimate([TEXTS[0], TEXTS[1], TEXTS[1]])
    assert (estimate.requests, estimate.tokens) == (1, 14)
    assert estimate.dollars == pytest.approx(14 * 0.13 / 1e6)
    assert estimate.to_dict() == {"requests": 1, "tokens": 14, "dollars": estimate.dollars}


def test_no_price_is_made_up() -> None:
    assert ApiEmbedder("openai", "never-heard-of").estimate(TEXTS).dollars is None
    own = ApiEmbedder("openai", "text-embedding-3-small", base_url="http://localhost:1/v1")
    assert own.estimate(TEXTS).dollars is None
    assert estimate_cost("voyage:voyage-4", 2_000_000) == pytest.approx(0.12)


def test_the_estimate_foresees_the_requests_that_are_made(server: LoopbackProvider) -> None:
    asked = Asked(server)
    asked.embed(MANY)
    assert asked.model.estimate(MANY).requests == len(server.requests) == 3


@given(st.lists(st.text(min_size=1, max_size=30)), st.integers(1, 5), st.integers(70, 200))
def test_batches_keep_the_order_and_the_limits(texts: list[str], inputs: int, tokens: int) -> None:
    cut = list(batches(texts, Limits(inputs=inputs, tokens=tokens, tokens_each=100)))
    assert [text for batch in cut for text in batch] == texts
    assert all(1 <= len(batch) <= inputs for batch in cut)
    assert all(sum(map(estimate_tokens, batch)) <= tokens for batch in cut)
