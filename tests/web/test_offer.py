"""What is on offer, and that nothing else is."""

from __future__ import annotations

import html
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.test_files import laughs
from tests.web.conftest import client_of
from tests.web.planted_audits import TINY_WORDS, reading, vectors_file, write_audit
from tiltmeter.errors import BadInput
from tiltmeter.web import explore
from tiltmeter.web.security import DashboardSettings


def test_only_models_on_offer_are_asked(asking: TestClient, tmp_path: Path) -> None:
    other = vectors_file(tmp_path / "other.vec")
    for model in (other, "static:/etc/passwd", "hf:someone/else", "nonsense", ""):
        answer = asking.post("/api/explore/words", json={"model": model, "x": ["he"], "a": ["job"], "b": ["home"]})
        assert answer.status_code == 400
        assert "not on offer" in answer.json()["error"]
        job = asking.post("/api/jobs", json={"name": "x", "models": [model], "suite": "weat"})
        assert "not on offer" in job.json()["error"]


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

    def wait(*_: object, **__: object) -> None:
        go_on.wait(60)
        raise BadInput("answered")

    monkeypatch.setattr(explore, "run_probes", wait)
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
