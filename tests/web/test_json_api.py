"""The same in JSON."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import client_of
from tests.web.planted_audits import file_of, reading, write_audit
from tiltmeter.web.security import DashboardSettings


def test_the_api_describes_itself_without_any_other_host(client: TestClient) -> None:
    schema = client.get("/api/openapi.json").json()
    assert "/api/readings" in schema["paths"]
    page = client.get("/api").text
    assert "POST /api/explore/words" in page
    assert not re.findall(r"(?:src|href)=\"https?://", page)


def test_a_reading_in_json_has_as_many_items_as_asked_for(client: TestClient) -> None:
    address = f"/api/audits/first/readings/{file_of(client, 'own:tilted', 'career')}"
    found = client.get(f"{address}?start=10&most=5").json()
    assert [item["label"] for item in found["items"]] == [f"word{n}" for n in range(10, 15)]
    assert found["n_matching"] == 60
    assert found["effect"]["value"] == 1.2
    assert (found["schema_version"], found["effect"]["scale"]) == (2, "d")
    assert found["poles"][0] == "these → first, those → second"
    assert found["statistic"]["between"] == ["these", "those"]


def test_the_list_of_readings_has_one_row_per_reading_with_typed_fields(client: TestClient) -> None:
    rows = client.get("/api/readings").json()
    assert [(row["scale"], row["level"], row["dimension"], row["is_control"]) for row in rows] == [
        ("d", 0.0, "gender", False)
    ] * 4
    assert [row["verdict"] for row in rows] == ["undecided", "undecided", "clear", "clear"]
    assert {row["value"]: row["direction"] for row in rows}[0.05] == "these → first, those → second"
    assert {row["value"]: row["leans"] for row in rows}[-0.9] == "these → second, those → first"


@pytest.mark.parametrize("name", ["q", "audit", "model", "probe", "dimension", "verdict"])
def test_what_readings_are_filtered_by_has_a_longest_length(client: TestClient, name: str) -> None:
    assert client.get("/api/readings", params={name: "x" * 500}).status_code == 200
    answer = client.get("/api/readings", params={name: "x" * 501})
    assert answer.status_code == 422
    assert name in answer.json()["error"]


def test_a_name_that_is_no_utf_8_is_shown_with_an_escape(folder: Path) -> None:
    write_audit(folder / "second", [reading("hf:/home/caf\udce9", "career", 0.3)])
    with client_of(DashboardSettings(folder)) as client:
        answers = [client.get(f"/api/{path}") for path in ("audits", "audits/second", "readings", "models")]
    assert [answer.status_code for answer in answers] == [200] * 4
    assert r"caf\udce9" in answers[0].text


def test_an_audit_in_json_begins_with_its_grid(folder: Path) -> None:
    works = dataclasses.replace(reading("own:tilted", "flowers", 1.5), control=True, family="control")
    write_audit(folder / "second", [reading("own:tilted", "career", 1.2), reading("own:tilted", "science", 0.1), works])
    with client_of(DashboardSettings(folder)) as client:
        found = client.get("/api/audits/second").json()["summary"]
        controls = client.get("/api/readings?verdict=works").json()
    direction = "these → first, those → second"
    assert found["grid"] == [
        {"dimension": "gender", "model": "own:tilted", "verdict": "clear", "n": 1, "of": 2, "direction": direction}
    ]
    assert found["controls"] == {"own:tilted": "works"}
    assert [(row["id"], row["is_control"]) for row in controls] == [("flowers", True)]
