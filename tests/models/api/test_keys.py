"""Keys and passwords are read from the environment and show nowhere."""

from __future__ import annotations

import base64
import logging
import traceback

import httpcore  # noqa: F401  # its loggers
import pytest

from tests.models import provider as wire
from tests.models.api.loopback import KEYS, MANY, PROVIDERS, TEXTS, AskedApi
from tests.models.provider import LoopbackProvider, refuse, slow
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.api import ApiEmbedder
from tiltmeter.models.api.keys import host_of, name_keys, scrubbed_logs
from tiltmeter.models.api.provider import OPENAI
from tiltmeter.models.protocol import Question


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
        AskedApi(server).embed()
    assert "abc" not in str(caught.value)


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
    asked = AskedApi(server, name, max_tries=2, timeout=0.3)
    with pytest.raises(ModelFailed) as caught:
        asked.embed()
    assert caught.value.__context__ is None
    logged = "\n".join(repr(vars(record)) + record.getMessage() for record in caplog.records)
    assert logged, "the HTTP library is expected to log at this level, or the test proves nothing"
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
        AskedApi(server, base_url=url).embed()
    assert "[key] is a poor password" in str(caught.value)
    logged = "\n".join(repr(vars(record)) for record in caplog.records)
    for text in (str(caught.value), logged, caplog.text):
        assert "hunter22" not in text


def test_a_traceback_in_the_log_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logger = logging.getLogger("httpcore.http11")
    with scrubbed_logs(["hunter22"]):
        try:
            raise ValueError("illegal header: hunter22")
        except ValueError as error:
            logger.debug("sending failed: %s", error, exc_info=True)
    assert "sending failed: illegal header: [key]" in caplog.text
    assert "hunter22" not in caplog.text


def test_the_loggers_of_the_http_library_are_left_as_they_were(server: LoopbackProvider) -> None:
    asked = AskedApi(server)
    asked.embed()
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    before = [len(logger.filters) for logger in known]
    stream = asked.model.stream(Question.TEXTS, MANY)
    next(stream)
    assert [len(logger.filters) for logger in known] != before
    stream.close()  # type: ignore[attr-defined]
    assert [len(logger.filters) for logger in known] == before


# Whose key goes where


@pytest.mark.parametrize("name", PROVIDERS)
def test_the_key_of_a_provider_goes_to_no_other_address(
    server: LoopbackProvider, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = AskedApi(server, name)
    monkeypatch.delenv("TILTMETER_KEYS")
    if name == "openai":
        asked.embed()
        assert [request.authorization for request in server.requests] == ["Bearer none-needed"]
        return
    host = host_of(server.base_url(name))
    with pytest.raises(BadInput, match=f"no key for {name} at {host}: .* --key {host}=VARIABLE or in TILTMETER_KEYS"):
        asked.embed()
    assert server.requests == []


@pytest.mark.parametrize(
    ("base_url", "variables"),
    [
        (None, ("OPENAI_API_KEY",)),
        ("https://api.openai.com/v1", ("OPENAI_API_KEY",)),
        ("https://API.openai.com:443", ("OPENAI_API_KEY",)),
        ("http://api.openai.com/v1", ()),
        ("https://api.openai.com:8443/v1", ()),
        ("https://api.openai.com.evil.org/v1", ()),
        ("https://api.openai.com@evil.org/v1", ()),
        ("https://evil.org/api.openai.com", ()),
        ("https://models.example.org/v1", ("MINE",)),
        ("http://models.example.org/v1", ()),
        ("http://[::1]:8080/v1", ("LOCAL",)),
    ],
)
def test_a_key_is_bound_to_a_host(
    base_url: str | None, variables: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TILTMETER_KEYS", " Models.example.org:443 = MINE,[::1]:8080=LOCAL")
    assert OPENAI.key_variables(base_url) == variables


def test_a_named_key_that_is_not_set_is_asked_for(server: LoopbackProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = AskedApi(server)
    monkeypatch.setenv("TILTMETER_KEYS", f"{host_of(server.base_url('openai'))}=NOT_SET")
    with pytest.raises(BadInput, match="set the environment variable NOT_SET"):
        asked.embed()


def test_a_server_that_wants_a_key_is_told_with_the_way_to_name_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackProvider(key="its-own-key") as server:
        asked = AskedApi(server)
        monkeypatch.setenv("TILTMETER_KEYS", "")
        host = host_of(server.base_url("openai"))
        assert f"holds its key with --key {host}=VARIABLE" in asked.failure()
        monkeypatch.setenv("ITS_KEY", "its-own-key")
        name_keys([f"{host}=ITS_KEY"])
        asked.embed()


@pytest.mark.parametrize("pair", ["host", "host=", "=NAME", "a=B,c=D"])
def test_a_key_named_in_another_form_is_refused(pair: str) -> None:
    with pytest.raises(BadInput, match="a key is named as HOST=VARIABLE"):
        name_keys([pair])


@pytest.mark.parametrize("url", ["http://evil.org\\@host/v1", "http://host /v1", "http://host\n/v1", "http://höst/v1"])
def test_an_address_that_may_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(BadInput, match="base_url must look like"):
        ApiEmbedder("openai", "small", base_url=url)


def test_an_echoed_basic_header_shows_nowhere(server: LoopbackProvider) -> None:
    url = server.base_url("openai").replace("127.0.0.1", "ann:hunter%32%32@127.0.0.1")
    asked = AskedApi(server, base_url=url)
    asked.embed()
    header = server.requests[0].authorization
    assert header == f"Basic {base64.b64encode(b'ann:hunter22').decode()}"
    server.script(refuse(400, f"you sent {header}"))
    assert header.split()[1].rstrip("=") not in asked.failure()


def test_the_words_of_a_server_cannot_move_the_cursor(server: LoopbackProvider) -> None:
    server.script(refuse(400, "bad\x1b[2J\x1b]0;title\x07\u202e\x9bthing"))
    failure = AskedApi(server).failure()
    assert failure.isprintable()
    assert "HTTP 400, bad [2J ]0;title thing" in failure
