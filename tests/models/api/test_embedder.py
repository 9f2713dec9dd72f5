"""Embedding APIs against a server on loopback."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.models import provider as wire
from tests.models.api.loopback import KEYS, MANY, PROVIDERS, TEXTS, AskedApi, planted
from tests.models.provider import LoopbackProvider
from tiltmeter.errors import BadInput
from tiltmeter.models.api import ApiEmbedder
from tiltmeter.models.protocol import Identified, Question, Streams


@pytest.mark.parametrize("name", PROVIDERS)
def test_every_provider_gives_each_text_its_own_vector(server: LoopbackProvider, name: str) -> None:
    rows = AskedApi(server, name).embed()
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, planted(TEXTS))
    assert server.requests[0].authorization == f"Bearer {KEYS[name][1]}"


@pytest.mark.parametrize("name", ["openai", "voyage"])
def test_a_server_that_answers_plain_numbers_gives_the_same_vectors_as_base64(name: str) -> None:
    with LoopbackProvider(base64=False) as server:
        np.testing.assert_array_equal(AskedApi(server, name).embed(), planted(TEXTS))


@pytest.mark.parametrize("name", ["openai", "voyage"])
def test_vectors_that_come_in_another_order_are_put_right_by_their_index(server: LoopbackProvider, name: str) -> None:
    server.script(wire.SHUFFLED)
    np.testing.assert_array_equal(AskedApi(server, name).embed(), planted(TEXTS))
    assert len(server.requests) == 1


@pytest.mark.parametrize("name", PROVIDERS)
def test_dimensions_are_asked_for_and_checked(server: LoopbackProvider, name: str) -> None:
    asked = AskedApi(server, name, dimensions=5)
    np.testing.assert_array_equal(asked.embed(), planted(TEXTS, 5))
    assert asked.model.identity.settings["dimensions"] == "5"
    server.script(wire.WRONG_DIMENSION)
    assert "vectors of 4 numbers where 5 were expected" in AskedApi(server, name, dimensions=5).failure()


def test_words_are_sent_bare(server: LoopbackProvider) -> None:
    np.testing.assert_array_equal(AskedApi(server).model.embed_words(["nurse", "doctor"]), planted(["nurse", "doctor"]))
    assert server.texts == ["nurse", "doctor"]


def test_a_text_that_stands_twice_is_bought_once(server: LoopbackProvider) -> None:
    texts = ["nurse", "doctor", "nurse"]
    np.testing.assert_array_equal(AskedApi(server).embed(texts), planted(texts))
    assert server.texts == ["nurse", "doctor"]


def test_no_texts_cost_no_request(server: LoopbackProvider) -> None:
    assert AskedApi(server).embed([]).shape == (0, 0)
    assert server.requests == []


def test_the_stream_hands_over_each_answer_before_it_buys_the_next(server: LoopbackProvider) -> None:
    stream = AskedApi(server).model.stream(Question.TEXTS, MANY)
    for n, (first, last) in enumerate([(0, 32), (32, 64), (64, 70)], start=1):
        positions, rows = next(stream)
        assert list(positions) == list(range(first, last))
        np.testing.assert_array_equal(np.asarray(rows), planted(MANY[first:last]))
        assert len(server.requests) == n


def test_words_in_context_are_not_a_question_for_an_api(server: LoopbackProvider) -> None:
    with pytest.raises(BadInput, match="openai:small embeds texts and bare words, not words in context"):
        AskedApi(server).model.stream(Question.SPANS, [])


def test_the_adapter_answers_the_protocols_of_a_model(server: LoopbackProvider) -> None:
    model = AskedApi(server).model
    for protocol in (Streams, Identified):
        assert isinstance(model, protocol)


@pytest.mark.parametrize(("name", "input_type"), [("cohere", "search_document"), ("voyage", "query")])
def test_an_input_type_is_sent_and_stands_in_the_identity(server: LoopbackProvider, name: str, input_type: str) -> None:
    asked = AskedApi(server, name, input_type=input_type)
    asked.embed()
    assert server.requests[0].body["input_type"] == input_type
    assert asked.model.identity.settings == {"input_type": input_type}


def test_the_identity_names_model_and_settings_without_any_network() -> None:
    identity = ApiEmbedder("openai", "text-embedding-3-small", dimensions=256).identity
    assert identity.to_dict() == {
        "name": "openai:text-embedding-3-small",
        "revision": "text-embedding-3-small",
        "settings": {"dimensions": "256"},
    }


def test_vectors_of_another_length_are_final(server: LoopbackProvider) -> None:
    server.script(wire.UNEVEN)
    assert "vectors of different lengths (6, 7, 8) in one answer" in AskedApi(server).failure()
    asked = AskedApi(server)
    asked.embed()
    server.script(wire.WRONG_DIMENSION)
    assert "vectors of 7 numbers where 8 were expected" in asked.failure(["another text"])
    assert asked.slept == []


@pytest.mark.parametrize("texts", [["fine", ""], ["fine", " \n"]])
def test_an_empty_text_is_named_and_nothing_is_bought(server: LoopbackProvider, texts: list[str]) -> None:
    with pytest.raises(BadInput, match="text 2 of 2 is empty or no text"):
        AskedApi(server).embed(texts)
    assert server.requests == []


def test_a_text_over_the_limit_is_named_and_nothing_is_bought(server: LoopbackProvider) -> None:
    long = "nurses and doctors " * 2000
    with pytest.raises(BadInput, match=r"text 2 of 2 \('nurses and .*38,000 char.* over the 8,192 tokens"):
        AskedApi(server).embed(["fine", long])
    assert server.requests == []
    with pytest.raises(BadInput, match="512 tokens"):
        ApiEmbedder("cohere", "embed-english-v3.0").estimate(["nurse " * 512])
    assert ApiEmbedder("cohere", "embed-v4.0").estimate(["nurse " * 512]).requests == 1


def test_one_text_instead_of_a_list_is_not_taken_for_a_list_of_letters(server: LoopbackProvider) -> None:
    with pytest.raises(BadInput, match="put it in a list"):
        AskedApi(server).model.embed_texts("nurse")


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


def test_texts_are_never_cut_short_and_the_input_type_is_the_documented_one(server: LoopbackProvider) -> None:
    for name in PROVIDERS:
        AskedApi(server, name).embed()
    openai, cohere, voyage = (request.body for request in server.requests)
    assert "input_type" not in openai
    assert (cohere["input_type"], cohere["truncate"]) == ("clustering", "NONE")
    assert "input_type" not in voyage
    assert voyage["truncation"] is False
