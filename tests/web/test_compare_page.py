"""Models side by side on a page."""

from __future__ import annotations

from starlette.testclient import TestClient


def test_compared_models_differ_really_where_it_was_planted(client: TestClient) -> None:
    sides = [each["key"] for each in client.get("/api/compare").json()["sides"]]
    rows = client.get("/api/compare", params={"side": sides}).json()["rows"]
    assert {row["id"]: row["really_different"] for row in rows} == {"career": True, "science": True}
    html = client.get("/compare", params={"side": sides}).text
    assert "<b>2 of 2</b> probes differ really" in html
    assert "further from level" in html


def test_one_model_alone_is_not_compared_but_said_so(client: TestClient) -> None:
    side = client.get("/api/compare").json()["sides"][0]["key"]
    assert "choose at least two" in client.get(f"/compare?side={side}").text
    assert client.get("/compare?side=a&side=b").status_code == 404
