"""What is on offer, and that nothing else is."""

from __future__ import annotations

import html
import re
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.test_files import laughs
from tests.web.conftest import client_of
from tests.web.planted_audits import TINY_WORDS, reading, vectors_file, wait, write_audit
from tiltmeter.errors import BadInput
from tiltmeter.web import explore
from tiltmeter.web.offer import Offer
from tiltmeter.web.security import DashboardSettings


@pytest.mark.parametrize("model", ["{other}", "static:/etc/passwd", "hf:someone/else", "nonsense", ""])
def test_other_machines_ask_and_audit_only_models_on_offer(folder: Path, tmp_path: Path, model: str) -> None:
    model = model.format(other=vectors_file(tmp_path / "other.vec"))
    token = "a-long-enough-token"
    with client_of(DashboardSettings(folder, host="0.0.0.0", token=token)) as client:
        client.headers["authorization"] = f"Bearer {token}"
        asked = client.post("/api/explore/words", json={"model": model, "x": ["he"], "a": ["job"], "b": ["home"]})
        job = client.post("/api/jobs", json={"name": "x", "models": [model], "suite": "weat"})
        assert 'name="specs"' not in client.get("/jobs").text
        typed = client.post("/jobs", data={"name": "x", "specs": model, "suite": "weat"})
    assert [answer.status_code for answer in (asked, job, typed)] == [400] * 3
    assert all("not available" in answer.json()["error"] for answer in (asked, job))


def test_on_this_machine_any_model_is_audited_by_its_spec(asking: TestClient, tmp_path: Path) -> None:
    other = vectors_file(tmp_path / "other.vec")
    page = asking.post("/jobs", data={"name": "typed", "specs": f"\n  {other}\n", "suite": "tiny.yaml"})
    assert page.url.path == "/jobs/1"
    assert wait(asking, "1")["state"] == "finished"
    assert [row["model"] for row in asking.get("/api/readings?audit=typed").json()] == ["static:other.vec"]
    # Readings name the file without its folder: what cannot be found by that is not offered.
    assert "static:other.vec" not in asking.get("/explore").text
    # Asking a model something is for those on the list.
    asked = asking.post("/api/explore/words", json={"model": "static:/etc/passwd", "x": ["a"], "a": ["b"], "b": ["c"]})
    assert "not available" in asked.json()["error"]


@pytest.mark.parametrize(
    ("typed", "complaint"),
    [
        ("nonsense", "is not a model spec: write kind:name"),
        ("hug:bert", "unknown kind of model 'hug'"),
        ("hf:bert?layre=3", "did you mean 'layer'"),
        ("hf:bert?layer=top", "must be a number"),
        ("hf:", "names no model"),
        ("--help", "is not a model spec"),
        ("python:os:abort", "runs code, which no page may: start the dashboard with --model python:os:abort"),
        ("debiased:mine?base=python:os:abort", "runs code, which no page may"),
        ("openai:text-embedding-3-small", "started without --allow-paid"),
        ("chat:gpt-4o-mini?base_url=http://ann:hunter22@10.0.0.1/v1", "started without --allow-paid"),
    ],
)
def test_a_spec_that_cannot_be_used_is_one_line_and_starts_nothing(
    asking: TestClient, typed: str, complaint: str
) -> None:
    page = asking.post("/jobs", data={"name": "x", "specs": typed, "suite": "tiny.yaml"})
    assert page.status_code == 400
    (line,) = re.findall(r'<p class="problem" role="alert">([^<]+)</p>', page.text)
    assert complaint in html.unescape(line)
    assert "hunter22" not in page.text
    assert asking.get("/api/jobs").json() == []


def test_an_audit_that_names_a_model_that_runs_code_does_not_offer_it(folder: Path) -> None:
    write_audit(folder / "hostile", [reading("python:os:abort", "career", 0.2)])
    question = {"model": "python:os:abort", "x": ["he"], "a": ["job"], "b": ["home"]}
    with client_of(DashboardSettings(folder)) as client:
        assert "python:os:abort" not in client.get("/api/models").text
        assert "not available" in client.post("/api/explore/words", json=question).json()["error"]
        job = client.post("/api/jobs", json={"name": "x", "models": ["python:os:abort"]})
    assert "runs code" in job.json()["error"]


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


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"a: [", "broken YAML"),
        (b"[" * 5000, "nested too deeply"),
        (b"x: " + b"{a: " * 50 + b"1" + b"}" * 50, "nested too deeply"),
        (b"a: &a [x]\nb: *a", "your file"),
        (laughs(b"a: %s"), "too large"),
        (b"name: !!int ''", "your file"),
        (b"!!python/object/apply:os.system ['true']", "your file"),
        (b"just text", "your file"),
        (b"", "your file"),
        (b"name: mine\nlanguage: en\ngroups: {A: {words: [x]}}", "a-z"),
    ],
)
def test_a_malformed_lexicon_is_one_line(client: TestClient, content: bytes, complaint: str) -> None:
    answer = client.post("/api/lexicons", content=content)
    assert answer.status_code == 400
    assert complaint in answer.json()["error"]
    assert "\n" not in answer.json()["error"]
    assert "/tmp" not in answer.json()["error"]


def test_keys_are_never_part_of_a_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    write_audit(folder / "paid", [reading("openai:text-embedding-3-small", "career", 0.2)])
    with client_of(DashboardSettings(folder)) as client:
        pages = [client.get(each).text for each in ("/", "/explore", "/jobs", "/api/models", "/audits/paid")]
        given = {"model": "openai:text-embedding-3-small", "x": "he, him", "a": "job, office", "b": "home, parents"}
        answer = client.post("/explore/words", data=given)
        assert answer.status_code == 400
        assert "paid for" in answer.text
        job = client.post("/api/jobs", json={"name": "x", "models": ["openai:text-embedding-3-small"]})
        assert "paid for" in job.json()["error"]
    assert all("sk-very" not in page for page in [*pages, answer.text])
    assert "text-embedding" not in pages[3]


def test_a_password_in_an_address_is_never_part_of_a_page(folder: Path) -> None:
    spec = "openai:m?base_url=http://ann:hunter22@127.0.0.1:9/v1&timeout=1"
    with client_of(DashboardSettings(folder, models=(spec,), allow_paid=True)) as client:
        (offered,) = [each["spec"] for each in client.get("/api/models").json() if "base_url" in each["spec"]]
        assert offered == spec.replace("ann:hunter22@", "")
        job = client.post("/api/jobs", json={"name": "x", "models": [offered]})
        assert job.status_code < 300, job.text
        pages = [client.get(each).text for each in ("/", "/explore", "/jobs", "/jobs/1", "/api/jobs")]
        client.post(f"/api/jobs/{job.json()['id']}/cancel")
    assert offered in html.unescape(pages[3])
    assert all("hunter22" not in page for page in [*pages, job.text])


def test_more_questions_than_can_wait_are_told_so_and_pages_are_served_meanwhile(
    asking: TestClient, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def answer_later(*_: object, **__: object) -> None:
        go_on.wait(60)
        raise BadInput("answered")

    monkeypatch.setattr(explore, "run_probes", answer_later)
    question = {"model": spec, "x": ["job"], "a": ["he"], "b": ["she"]}
    with ThreadPoolExecutor(60) as pool:
        asked = [pool.submit(asking.post, "/api/explore/words", json=question) for _ in range(60)]
        while sum(each.done() for each in asked) < 52:
            time.sleep(0.01)
        began = time.monotonic()
        assert asking.get("/").status_code == 200
        assert time.monotonic() - began < 10
        go_on.set()
    assert Counter(each.result().status_code for each in asked) == {409: 52, 400: 8}


def test_a_file_of_an_audit_is_offered_where_it_can_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors_file(tmp_path / "here.vec")
    monkeypatch.chdir(tmp_path)
    offered = Offer((), allow_paid=False).models(["static:here.vec", "static:elsewhere.vec", "gguf:gone.gguf?layer=1"])
    assert [model.spec for model in offered if not model.spec.startswith("bundled:")] == ["static:here.vec"]
