"""Voyage."""

from __future__ import annotations

from tests.models.api.loopback import TEXTS, AskedApi
from tests.models.provider import LoopbackProvider, refuse, refused_url
from tiltmeter.models.api.provider import VOYAGE


def test_voyage_embeds_the_text_alone_unless_a_type_is_asked_for(server: LoopbackProvider) -> None:
    AskedApi(server, "voyage").embed()
    AskedApi(server, "voyage", input_type="query", dimensions=4).embed()
    plain, query = (request.body for request in server.requests)
    assert plain["input"] == query["input"] == TEXTS
    assert "input_type" not in plain
    assert (query["input_type"], query["output_dimension"]) == ("query", 4)


def test_voyage_is_quoted_where_it_refuses(server: LoopbackProvider) -> None:
    server.script(refuse(400, "no such model"))
    assert "HTTP 400" in AskedApi(server, "voyage").failure()


def test_keys_of_mongodb_go_to_its_address() -> None:
    assert VOYAGE.address_for("al-key") == "https://ai.mongodb.com/v1"
    assert VOYAGE.address_for("pa-key") == "https://api.voyageai.com/v1"


def test_a_connection_to_voyage_that_fails_is_told(server: LoopbackProvider) -> None:
    failure = AskedApi(server, "voyage", base_url=refused_url(), max_tries=1).failure()
    assert failure.startswith("voyage:small: gave up after 1 try: the connection failed")
