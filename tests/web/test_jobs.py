"""Audits that readers start, as processes."""

from __future__ import annotations

import json
import re
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
        # The cause, and what to do about it.
        assert job["problem"].endswith("absent.vec: no such file: check the path")
        assert job["log"][-1]["phase"] == "error"
        page = client.get("/jobs/1").text
        assert re.search(r'<p class="problem" role="alert">[^<]*absent\.vec', page)
        assert "Change it and start again" in page
        assert str(folder) not in json.dumps({**job, "models": []})


def test_the_log_has_one_row_for_each_phase_of_a_model(asking: TestClient, spec: str) -> None:
    asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    job = wait(asking, "1")
    assert [row["phase"] for row in job["log"]] == ["vectors of words", "measuring", "writing the report", "finished"]
    asked, measured, *_ = job["log"]
    assert (asked["model"], asked["done"]) == ("static:vectors.vec", asked["total"])
    assert (measured["model"], measured["done"], measured["total"]) == ("static:vectors.vec", 1, 1)
    assert job["log"][-1]["message"] == "readings: 1, models: 1"
    assert (job["models_done"], job["problem"]) == (1, "")
    # Nothing of a terminal: neither bars nor colours.
    assert not re.search(r"[\x1b━╸]", asking.get("/jobs/1").text)


def test_a_model_that_fails_is_named_in_the_log_and_the_others_are_measured(
    asking: TestClient, spec: str, tmp_path: Path
) -> None:
    other = f"static:{tmp_path / 'damaged.vec'}"
    (tmp_path / "damaged.vec").write_text("8 32\nhe 1 2 3\n")
    asking.post("/api/jobs", json={"name": "two", "models": [other, spec], "suite": "tiny.yaml"})
    job = wait(asking, "1")
    assert job["state"] == "finished", job
    (failed,) = [row for row in job["log"] if row["phase"] == "failed"]
    assert "damaged.vec" in failed["message"]
    assert len(asking.get("/api/readings?audit=two").json()) == 1


def test_an_audit_goes_beside_the_one_that_is_served_and_is_shown(folder: Path, spec: str) -> None:
    served = folder / "first"
    tiny_suite(served)
    before = sorted(served.rglob("*"))
    with client_of(DashboardSettings(served, models=(spec,))) as client:
        client.post("/api/jobs", json={"name": "beside", "models": [spec], "suite": "tiny.yaml"})
        wait(client, "1")
        names = [each["name"] for each in client.get("/api/audits").json()["audits"]]
        taken = client.post("/api/jobs", json={"name": "beside", "models": [spec], "suite": "tiny.yaml"})
        itself = client.post("/api/jobs", json={"name": "first", "models": [spec], "suite": "tiny.yaml"})
    assert sorted(served.rglob("*")) == before
    assert [answer.status_code for answer in (taken, itself)] == [400, 400]
    assert names == ["first", "beside"]
    assert (folder / "beside" / "audit.json").is_file()


def test_a_process_that_was_killed_says_so(asking: TestClient, spec: str) -> None:
    asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    asking.app.app.state.dashboard.jobs.job("1").process.kill()  # type: ignore[attr-defined]
    job = wait(asking, "1")
    assert (job["state"], "memory" in job["problem"]) == ("failed", True)


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
