"""Keys and passwords are read from the environment and show nowhere."""

from __future__ import annotations

import logging
import traceback

import pytest

from tests.models import provider as wire
from tests.models.api.loopback import KEYS, MANY, PROVIDERS, TEXTS, AskedApi
from tests.models.provider import LoopbackProvider, refuse, slow
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.api import ApiEmbedder
from tiltmeter.models.api.keys import scrubbed_logs
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
        AskedApi(server, base_url=url).embed()
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
    asked = AskedApi(server)
    asked.embed()
    known = [logging.getLogger(name) for name in logging.root.manager.loggerDict]
    before = [len(logger.filters) for logger in known]
    stream = asked.model.stream(Question.TEXTS, MANY)
    next(stream)
    assert [len(logger.filters) for logger in known] != before
    stream.close()  # type: ignore[attr-defined]
    assert [len(logger.filters) for logger in known] == before
