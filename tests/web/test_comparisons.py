"""Models side by side: the page, its numbers, and its charts."""

from __future__ import annotations

import re

from starlette.testclient import TestClient


def test_compared_models_differ_clearly_where_it_was_planted(client: TestClient) -> None:
    sides = [each["key"] for each in client.get("/api/compare").json()["sides"]]
    rows = client.get("/api/compare", params={"side": sides}).json()["rows"]
    assert {row["id"]: row["verdict"] for row in rows} == {"career": "clear", "science": "clear"}
    html = client.get("/compare", params={"side": sides}).text
    assert "<b>2 clear</b>" in html
    assert "further from level" in html


def test_one_model_alone_is_not_compared_but_said_so(client: TestClient) -> None:
    side = client.get("/api/compare").json()["sides"][0]["key"]
    assert "choose at least two" in client.get(f"/compare?side={side}").text
    assert client.get("/compare?side=a&side=b").status_code == 404


def test_each_pair_of_models_has_its_chart(client: TestClient) -> None:
    sides = [each["key"] for each in client.get("/api/compare").json()["sides"]]
    page = client.get("/compare", params={"side": sides}).text
    (address,) = re.findall(r'data-chart="([^"]+)"', page)
    (figure,) = client.get(address.replace("&amp;", "&")).json()
    assert "2 probes on own:level and own:tilted" in figure["alt"]
    assert client.get("/charts/compare.svg", params={"side": sides}).headers["content-type"] == "image/svg+xml"
    assert client.get("/charts/compare.json?side=a&side=b").status_code == 404
    assert client.get("/charts/compare.json").status_code == 400
