"""Charts by address."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.web.planted_audits import file_of
from tiltmeter.web.listing import key_of


def test_the_charts_of_a_reading_are_pictures_with_words(client: TestClient) -> None:
    (figure,) = client.get(f"/charts/readings/first/{file_of(client, 'own:tilted', 'career')}.json").json()
    assert figure["svg"].startswith("<svg")
    assert "style=" not in figure["svg"]
    assert "60 items" in figure["alt"]
    effects = client.get(f"/charts/audits/first/effects.svg?probe={key_of('career')}")
    assert effects.headers["content-type"] == "image/svg+xml"
    assert "of 2 models" in effects.text
    assert client.get("/charts/audits/first/nothing.json").status_code == 404
