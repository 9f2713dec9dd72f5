"""Audits that readers start, as processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.models.provider import LoopbackProvider
from tests.models.tiny_language_models import save_tiny
from tests.web.conftest import client_of
from tests.web.planted_audits import (
    tiny_suite,
    wait,
)
from tiltmeter.web.security import DashboardSettings


def test_a_second_audit_waits_and_the_first_can_be_cancelled(asking: TestClient, spec: str) -> None:
    started = asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    assert started.status_code == 201
    second = asking.post("/api/jobs", json={"name": "two", "models": [spec], "suite": "tiny.yaml"})
    assert second.status_code == 409
    assert asking.post("/api/jobs/1/cancel", json={}).json()["state"] == "cancelled"
    assert wait(asking, "1")["state"] == "cancelled"
    assert "resumes from there" in asking.get("/jobs/1").text
    again = asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    # A tiny audit may be through with its work before it is cancelled; then its results stand, and keep the name.
    assert again.status_code == 201 or "there is an audit 'one' already" in again.text


def test_an_audit_that_fails_says_why(folder: Path, tmp_path: Path) -> None:
    tiny_suite(folder)
    spec = f"static:{tmp_path / 'absent.vec'}"
    with client_of(DashboardSettings(folder, models=(spec,))) as client:
        client.post("/api/jobs", json={"name": "bad", "models": [spec], "suite": "tiny.yaml"})
        job = wait(client, "1")
        assert job["state"] == "failed"
        assert any(line.startswith("error: ") for line in job["lines"])
        assert "absent.vec" in client.get("/jobs/1").text


@pytest.mark.parametrize(
    "name", ["", "../out", "/tmp/out", ".hidden", "a/b", "first", "words", "-rf", "x" * 65, "readings"]
)
def test_the_name_of_an_audit_leads_nowhere_else(asking: TestClient, folder: Path, spec: str, name: str) -> None:
    before = sorted(folder.rglob("*"))
    answer = asking.post("/api/jobs", json={"name": name, "models": [spec], "suite": "tiny.yaml"})
    assert answer.status_code == 400
    assert sorted(folder.rglob("*")) == before


def test_closing_the_dashboard_ends_its_audits(folder: Path, spec: str) -> None:
    tiny_suite(folder)
    with client_of(DashboardSettings(folder, models=(spec,))) as client:
        client.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
        process = client.app.app.state.dashboard.jobs.job("1").process  # type: ignore[attr-defined]
    assert process.wait(10) is not None


@pytest.mark.parametrize("allowed", [False, True])
def test_a_suite_in_the_folder_asks_no_paid_model_unless_that_is_allowed(
    folder: Path, tmp_path: Path, allowed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = f"hf:{save_tiny('gpt2', tmp_path / 'gpt2')}"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-SECRET-of-the-provider")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackProvider() as server:
        vectors = f"openai:m?base_url={server.base_url('openai')}"
        (folder / "hostile.yaml").write_text(json.dumps({"probes": [{"probe": "cloze", "vectors": vectors}]}))
        with client_of(DashboardSettings(folder, models=(model,), allow_paid=allowed)) as client:
            client.post("/api/jobs", json={"name": "one", "models": [model], "suite": "hostile.yaml"})
            wait(client, "1")
        assert bool(server.requests) == allowed
        assert {request.authorization for request in server.requests} <= {"Bearer none-needed"}
