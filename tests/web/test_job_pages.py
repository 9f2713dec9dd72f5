"""Audits that readers start, on pages."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from tests.web.planted_audits import (
    wait,
)


def test_an_audit_runs_to_its_end_and_is_there(asking: TestClient, spec: str) -> None:
    page = asking.post("/jobs", data={"name": "made-here", "model": spec, "suite": "tiny.yaml"})
    assert page.url.path == "/jobs/1"
    job = wait(asking, "1")
    assert job["state"] == "finished", job
    assert 'href="/audits/made-here"' in asking.get("/jobs/1").text
    rows = asking.get("/api/readings?audit=made-here").json()
    assert [row["id"] for row in rows] == ["tiny"]
    assert rows[0]["value"] == pytest.approx(1.7, abs=0.05)


@pytest.mark.parametrize("suite", ["none", "../tiny.yaml", "/etc/passwd", "words/tiny_words.yaml", ""])
def test_only_suites_on_offer_are_run(asking: TestClient, spec: str, suite: str) -> None:
    answer = asking.post("/api/jobs", json={"name": "x", "models": [spec], "suite": suite})
    assert "not on offer" in answer.json()["error"]
