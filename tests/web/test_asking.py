"""Questions that readers type, and audits that they start."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.models.tiny_language_models import save_tiny
from tests.reference import reference_model
from tests.web.conftest import client_of
from tests.web.planted_audits import TINY_WORDS, tiny_suite, vectors_file
from tiltmeter.web.settings import Settings

LISTS = {"x": "he, him", "y": "she, her", "a": "job\noffice", "b": "home;parents"}


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return vectors_file(tmp_path / "vectors.vec")


@pytest.fixture
def asking(folder: Path, spec: str) -> Iterator[TestClient]:
    tiny_suite(folder)
    with client_of(Settings(folder, models=(spec,))) as made:
        yield made


def test_two_lists_of_words_lean_as_planted(asking: TestClient, spec: str) -> None:
    """Each word's cosine to the axis is planted, so s(he) = .9 x .6 - .9 x -.6 and so on: d is near its most, 1.73."""
    found = asking.post(
        "/api/explore/words",
        json={"model": spec, **{k: v.replace("\n", ",").replace(";", ",").split(",") for k, v in LISTS.items()}},
    )
    reading = found.json()
    assert reading["effect"]["name"] == "effect size d"
    assert reading["effect"]["value"] == pytest.approx(1.7, abs=0.05)
    assert {item["word"]: item["lean"] > 0 for item in reading["items"]} == {
        "he": True,
        "him": True,
        "she": False,
        "her": False,
    }
    page = asking.post("/explore/words", data={"model": spec, **LISTS}).text
    assert f"{reading['effect']['value']:.2f} [" in page


def test_one_list_alone_stands_on_the_axis_between_the_poles(asking: TestClient, spec: str) -> None:
    found = asking.post(
        "/api/explore/words", json={"model": spec, "x": ["job", "office"], "a": ["he", "him"], "b": ["she", "her"]}
    )
    assert found.json()["probe"] == "semaxis"
    assert all(item["position"] > 0.4 for item in found.json()["items"])


def test_a_lexicon_of_ones_own_gives_lists(asking: TestClient, spec: str) -> None:
    added = asking.post("/api/lexicons", content=TINY_WORDS).json()
    assert added["groups"]["own_tiny_words.men"] == 2
    assert asking.get("/api/lexicons/own_tiny_words.work").json()["words"] == ["job", "office"]
    given = {"model": spec, **dict.fromkeys("xyab", "")}
    given |= {
        f"{k}_group": f"own_tiny_words.{g}" for k, g in zip("xyab", ("men", "women", "work", "family"), strict=True)
    }
    page = asking.post("/explore/words", data=given)
    assert page.status_code == 200
    assert "own_tiny_words.men" in asking.get("/explore").text
    assert "d = 1.7" in page.text


def test_words_that_no_one_knows_are_one_line(asking: TestClient, spec: str) -> None:
    answer = asking.post("/explore/words", data={"model": spec, **LISTS, "x": "xqzt, qqqq"})
    assert answer.status_code == 400
    assert "vocabulary" in answer.text


def test_a_static_model_is_not_asked_for_a_sentence(asking: TestClient, spec: str) -> None:
    answer = asking.post("/api/explore/sentence", json={"model": spec, "sentence": "The [MASK] slept."})
    assert answer.status_code == 400
    assert "is no language model" in answer.json()["error"]


@pytest.mark.parametrize("sentence", ["no mask", "[MASK] and [MASK]", "", "[MASK] " + "long " * 500])
def test_a_sentence_needs_one_mask(asking: TestClient, spec: str, sentence: str) -> None:
    assert (
        asking.post("/explore/sentence", data={"model": spec, "sentence": sentence, "words": "he"}).status_code == 400
    )


def test_only_models_on_offer_are_asked(asking: TestClient, tmp_path: Path) -> None:
    other = vectors_file(tmp_path / "other.vec")
    for model in (other, "static:/etc/passwd", "hf:someone/else", "nonsense", ""):
        answer = asking.post("/api/explore/words", json={"model": model, "x": ["he"], "a": ["job"], "b": ["home"]})
        assert answer.status_code == 400
        assert "not on offer" in answer.json()["error"]
        job = asking.post("/api/jobs", json={"name": "x", "models": [model], "suite": "weat"})
        assert "not on offer" in job.json()["error"]


def test_a_masked_model_says_what_was_planted_in_it(folder: Path) -> None:
    """In the reference model's text the pathologist is a man one time in ten, the plumber nine times."""
    spec = f"hf:{reference_model(0.9)}"
    with client_of(Settings(folder, models=(spec,))) as client:
        shares = {}
        for occupation in ("pathologist", "plumber"):
            given = {"model": spec, "sentence": f"The {occupation} said that [MASK] was tired.", "words": ["he", "she"]}
            found = client.post("/api/explore/sentence", json=given).json()
            shares[occupation] = found["candidates"][0]["share"]
            assert len(found["top"]) == 10
            assert sum(each["share"] for each in found["candidates"]) == pytest.approx(1)
        page = client.post("/explore/sentence", data={**given, "words": "he, she"}).text
    assert shares["pathologist"] < 0.3
    assert shares["plumber"] > 0.7
    assert "P(he)" in page
    assert "The words it expects most" in page


def test_a_causal_model_weighs_what_follows(folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = save_tiny("gpt2", tmp_path / "gpt2")
    spec = f"hf:{place}"
    with client_of(Settings(folder, models=(spec,))) as client:
        given = {"model": spec, "sentence": "The nurse said that [MASK] was tired.", "words": ["he", "she"]}
        found = client.post("/api/explore/sentence", json=given).json()
    tokenizer, model = AutoTokenizer.from_pretrained(place), AutoModelForCausalLM.from_pretrained(place).eval()
    with torch.inference_mode():
        ids = tokenizer("The nurse said that", return_tensors="pt").input_ids
        first = tokenizer(" he").input_ids
        text = torch.cat([ids, torch.tensor([first])], dim=1)
        steps = model(text).logits.log_softmax(-1)[0, ids.shape[1] - 1 : -1]
        expected = float(steps[range(len(first)), first].sum().exp())
    assert found["kind"] == "causal"
    assert found["candidates"][0]["probability"] == pytest.approx(expected, rel=1e-4)
    assert sum(each["share"] for each in found["whole"]) == pytest.approx(1)


def wait(client: TestClient, id: str) -> dict[str, Any]:
    for _ in range(600):
        job: dict[str, Any] = client.get(f"/api/jobs/{id}").json()
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    raise AssertionError(f"still running: {job}")


def test_an_audit_runs_to_its_end_and_is_there(asking: TestClient, spec: str) -> None:
    page = asking.post("/jobs", data={"name": "made-here", "model": spec, "suite": "tiny.yaml"})
    assert page.url.path == "/jobs/1"
    job = wait(asking, "1")
    assert job["state"] == "finished", job
    assert 'href="/audits/made-here"' in asking.get("/jobs/1").text
    rows = asking.get("/api/readings?audit=made-here").json()
    assert [row["id"] for row in rows] == ["tiny"]
    assert rows[0]["value"] == pytest.approx(1.7, abs=0.05)


def test_a_second_audit_waits_and_the_first_can_be_cancelled(asking: TestClient, spec: str) -> None:
    started = asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    assert started.status_code == 201
    second = asking.post("/api/jobs", json={"name": "two", "models": [spec], "suite": "tiny.yaml"})
    assert second.status_code == 409
    assert asking.post("/api/jobs/1/cancel", json={}).json()["state"] == "cancelled"
    assert wait(asking, "1")["state"] == "cancelled"
    assert "goes on from there" in asking.get("/jobs/1").text
    again = asking.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
    # A tiny audit may be through with its work before it is cancelled; then its results stand, and keep the name.
    assert again.status_code == 201 or "there is an audit 'one' already" in again.text


def test_an_audit_that_fails_says_why(folder: Path, tmp_path: Path) -> None:
    tiny_suite(folder)
    spec = f"static:{tmp_path / 'absent.vec'}"
    with client_of(Settings(folder, models=(spec,))) as client:
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


@pytest.mark.parametrize("suite", ["none", "../tiny.yaml", "/etc/passwd", "words/tiny_words.yaml", ""])
def test_only_suites_on_offer_are_run(asking: TestClient, spec: str, suite: str) -> None:
    answer = asking.post("/api/jobs", json={"name": "x", "models": [spec], "suite": suite})
    assert "not on offer" in answer.json()["error"]


def test_closing_the_dashboard_ends_its_audits(folder: Path, spec: str) -> None:
    tiny_suite(folder)
    with client_of(Settings(folder, models=(spec,))) as client:
        client.post("/api/jobs", json={"name": "one", "models": [spec], "suite": "tiny.yaml"})
        process = client.app.app.state.dashboard.jobs.job("1").process  # type: ignore[attr-defined]
    assert process.wait(10) is not None
