"""What someone with bad intentions would try: refused, or harmless."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import ADDRESS, client_of
from tests.web.planted_audits import IMAGE, SCRIPT, reading, vectors_file, write_audit
from tiltmeter.readings import ReadingStore
from tiltmeter.web.security import COOKIE, MOST_BYTES
from tiltmeter.web.settings import Settings

TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def guarded(folder: Path) -> TestClient:
    return client_of(Settings(folder, token=TOKEN))


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[TestClient]:
    """A folder in which every name is an attack."""
    readings = [
        reading(f"own:{SCRIPT}", SCRIPT, 1.2, word=IMAGE),
        reading("own:other", SCRIPT, 0.1, word=IMAGE),
    ]
    write_audit(tmp_path / "shelf" / "<b onmouseover=alert(1)>", readings, notes=[SCRIPT])
    with client_of(Settings(tmp_path / "shelf")) as made:
        yield made


PLACES = (
    "../secret",
    "..%2fsecret",
    "%2e%2e%2fsecret",
    "..%252fsecret",
    "%2e%2e/%2e%2e/secret",
    "..\\secret",
    "..%5csecret",
    "%2fetc%2fpasswd",
    "/etc/passwd",
    "....//secret",
    "first%00",
    "first/../../secret",
    "..%c0%afsecret",
    "file:///etc/passwd",
)
PREFIXES = ("/audits/", "/audits/first/readings/", "/audits/first/download/", "/charts/readings/first/", "/static/")


@pytest.mark.parametrize("place", PLACES)
def test_no_path_leads_out_of_the_folder(client: TestClient, folder: Path, place: str) -> None:
    (folder.parent / "secret").mkdir()
    (folder.parent / "secret" / "audit.json").write_text("top secret", encoding="utf-8")
    (folder.parent / "secret.json").write_text('"top secret"', encoding="utf-8")
    for prefix in PREFIXES:
        for ending in ("", ".json", ".svg"):
            answer = client.get(f"{prefix}{place}{ending}")
            assert answer.status_code in (404, 405), (prefix, answer.status_code)
            assert "secret" not in answer.text.replace(place, "")
            assert "root:" not in answer.text
    for parameter in ("audit", "model", "probe", "q", "sort", "view"):
        assert "top secret" not in client.get("/", params={parameter: place}).text


def test_a_manifest_that_names_files_elsewhere_is_not_followed(folder: Path) -> None:
    (files,) = [json.loads((folder / "first" / "audit.json").read_text(encoding="utf-8"))]
    outside = folder.parent / "outside.json"
    outside.write_text((folder / "first" / "readings" / f"{files['readings'][0]}.json").read_text(encoding="utf-8"))
    (folder / "first" / "readings" / "linked.json").symlink_to(outside)
    files["readings"] += ["../../../outside", str(outside.with_suffix("")), "linked"]
    (folder / "first" / "audit.json").write_text(json.dumps(files), encoding="utf-8")
    with client_of(Settings(folder)) as client:
        found = client.get("/api/audits").json()
    assert found["audits"][0]["readings"] == 4
    assert len(found["notes"]) == 3
    assert all("missing or damaged" in note for note in found["notes"])


def test_a_link_to_an_audit_outside_is_not_shown(folder: Path, tmp_path: Path) -> None:
    write_audit(tmp_path / "elsewhere")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    with client_of(Settings(folder)) as client:
        assert [each["name"] for each in client.get("/api/audits").json()["audits"]] == ["first"]
        assert client.get("/audits/linked").status_code == 404


def test_names_words_and_notes_are_text_on_every_page(hostile: TestClient) -> None:
    start = hostile.get("/").text
    addresses = {html.unescape(each) for each in re.findall(r'href="(/audits/[^"]+)"', start)}
    assert len(addresses) == 6  # the audit, two models, a probe, two readings
    sides = [each["key"] for each in hostile.get("/api/compare").json()["sides"]]
    pages = [start, *(hostile.get(each).text for each in sorted(addresses)), hostile.get("/?view=list").text]
    pages += [hostile.get(address).text for address in ("/compare", "/explore", "/jobs", "/api")]
    pages.append(hostile.get("/compare", params={"side": sides}).text)
    for page in pages:
        assert SCRIPT not in page
        assert IMAGE not in page
        assert "<b onmouseover" not in page
        assert not re.search(r"<[^>]+\son\w+=", page)
        assert " style=" not in page
        assert "<style" not in page
    assert any(html.escape(SCRIPT, quote=False) in page for page in pages)


def test_charts_of_hostile_names_hold_no_tag_of_theirs(hostile: TestClient) -> None:
    rows = hostile.get("/api/readings").json()
    audit = "%3Cb%20onmouseover=alert(1)%3E"
    for address in (f"/charts/readings/{audit}/{rows[0]['file']}.json", f"/charts/audits/{audit}/effects.json"):
        (figure,) = hostile.get(address).json()
        assert "<script" not in figure["svg"]
        assert "<img" not in figure["svg"]


def test_what_a_reader_types_comes_back_as_text(client: TestClient) -> None:
    for address in ("/", "/?view=list"):
        assert SCRIPT not in client.get(address, params={"q": SCRIPT, "model": SCRIPT, "sort": SCRIPT}).text
    for answer in (
        client.post("/explore/sentence", data={"model": SCRIPT, "sentence": IMAGE, "words": SCRIPT}),
        client.post("/explore/words", data={"model": SCRIPT, "x": SCRIPT, "y": IMAGE, "a": SCRIPT, "b": SCRIPT}),
        client.post("/jobs", data={"name": SCRIPT, "model": SCRIPT, "suite": "default"}),
        client.post("/explore/lexicon", data={"yaml": f"name: '{SCRIPT}'\nlanguage: en"}),
    ):
        assert answer.status_code == 400
        assert 'role="alert"' in answer.text
        assert SCRIPT not in answer.text
        assert IMAGE not in answer.text


def test_a_lexicon_with_script_in_it_is_text_too(folder: Path, tmp_path: Path) -> None:
    spec = vectors_file(tmp_path / "vectors.vec")
    lexicon = f"name: mine\nlanguage: en\ngroups:\n  bad: {{label: '{SCRIPT}', words: [he, '{SCRIPT}']}}\n"
    with client_of(Settings(folder, models=(spec,))) as client:
        assert client.post("/api/lexicons", content=lexicon).status_code == 200
        given = {"model": spec, "x": "", "x_group": "own_mine.bad", "y": "", "a": "he, him", "b": "she, her"}
        page = client.post("/explore/words", data=given).text
    assert html.escape(SCRIPT, quote=False) in page
    assert SCRIPT not in page


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"a: [", "broken YAML"),
        (b"[" * 5000, "nested too deeply"),
        (b"x: " + b"{a: " * 50 + b"1" + b"}" * 50, "nested too deeply"),
        (b"a: &a [x]\nb: *a", "aliases"),
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


def test_what_is_too_large_is_refused_however_it_is_sent(client: TestClient) -> None:
    large = b"x" * (MOST_BYTES + 1)

    def pieces() -> Iterator[bytes]:  # without a length that could be looked at
        for _ in range(20):
            yield b"x" * 65_536

    for address in ("/api/lexicons", "/explore/lexicon", "/jobs", "/api/jobs"):
        for body in (large, pieces()):
            answer = client.post(address, content=body, headers={"content-type": "application/json"})
            assert answer.status_code == 413, address
            assert "too large" in answer.text


def test_an_address_or_a_number_out_of_all_measure_is_refused(client: TestClient) -> None:
    assert client.get("/?q=" + "x" * 20_000).status_code == 414
    assert client.get("/?q=" + "x" * 600).status_code == 422
    assert client.get("/?part=-1").status_code == 422
    assert client.get("/?part=999999&view=list").status_code == 200
    assert client.post("/api/jobs", content=b"{").status_code == 422
    assert client.post("/api/jobs", json={"name": "x", "models": [], "extra": 1}).json()["error"].startswith("extra")


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:8765", "", "localhost.evil", "[::2]:80"])
def test_another_host_is_refused_so_that_no_name_can_be_rebound(client: TestClient, host: str) -> None:
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "own:tilted" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST", "[::1]:8765"])
def test_this_machine_by_any_of_its_names_is_answered(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": ""},
        {"origin": ADDRESS + ".evil.example"},
    ],
)
def test_a_form_on_another_site_changes_nothing(client: TestClient, folder: Path, headers: dict[str, str]) -> None:
    given = {"name": "new", "model": "bundled:glove", "suite": "weat"}
    answer = client.post("/jobs", data=given, headers=headers)
    assert answer.status_code == 403
    assert client.get("/api/jobs").json() == []
    assert not (folder / "new").exists()


def test_without_an_origin_only_what_no_form_can_send_is_taken(folder: Path) -> None:
    with client_of(Settings(folder)) as client:
        del client.headers["origin"]
        assert client.post("/jobs", data={"name": "x"}).status_code == 403
        assert client.post("/jobs", data={"name": "x"}, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert client.post("/jobs", data={"name": "x"}, headers={"sec-fetch-site": "same-site"}).status_code == 403
        assert client.post("/jobs", data={"name": "x"}, headers={"sec-fetch-site": "same-origin"}).status_code == 400
        assert client.post("/api/jobs", json={"name": "x", "models": []}).status_code == 400


@pytest.mark.parametrize("given", ["", "wrong", TOKEN[:-1], TOKEN + "x", "ä", TOKEN.upper()])
def test_a_wrong_token_opens_nothing(guarded: TestClient, given: str) -> None:
    for address in ("/", "/api/audits", "/static/page.css", "/api/openapi.json"):
        for answer in (
            guarded.get(address, params={"token": given}),
            guarded.get(address, headers={"authorization": f"Bearer {given}".encode()}),
            guarded.get(address, headers={"cookie": f"{COOKIE}={given}".encode()}),
        ):
            assert answer.status_code == 401
            assert "own:tilted" not in answer.text
            assert "set-cookie" not in answer.headers


def test_the_token_in_the_address_becomes_a_cookie_once(guarded: TestClient) -> None:
    answer = guarded.get("/compare", params={"token": TOKEN, "side": "a&b"}, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/compare?side=a%26b"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert guarded.get("/").status_code == 200
    assert TOKEN not in guarded.get("/").text


def test_a_program_gives_the_token_in_a_header(guarded: TestClient) -> None:
    assert guarded.get("/api/audits", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_the_redirect_after_the_token_never_leaves_the_host(guarded: TestClient) -> None:
    for path in ("//evil.example/x", "/\\evil.example", "///evil.example"):
        answer = guarded.get(f"{ADDRESS}{path}", params={"token": TOKEN}, follow_redirects=False)
        assert re.match(r"/[^/\\]", answer.headers.get("location", "/x"))


def test_every_answer_has_the_strict_headers(client: TestClient) -> None:
    for address in ("/", "/nothing", "/api/audits", "/static/dashboard.js", "/audits/first/download/csv"):
        headers = client.get(address).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"


def test_a_bug_is_one_line_and_no_traceback(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret of the bug")

    monkeypatch.setattr("tiltmeter.web.shelf.Shelf.look", broken)
    for address in ("/", "/api/audits"):
        answer = client.get(address)
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert "content-security-policy" in answer.headers


def test_keys_are_never_part_of_a_page(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    write_audit(folder / "paid", [reading("openai:text-embedding-3-small", "career", 0.2)])
    with client_of(Settings(folder)) as client:
        pages = [client.get(each).text for each in ("/", "/explore", "/jobs", "/api/models", "/audits/paid")]
        given = {"model": "openai:text-embedding-3-small", "x": "he, him", "a": "job, office", "b": "home, parents"}
        answer = client.post("/explore/words", data=given)
        assert answer.status_code == 400
        assert "paid for" in answer.text
        job = client.post("/api/jobs", json={"name": "x", "models": ["openai:text-embedding-3-small"]})
        assert "paid for" in job.json()["error"]
    assert all("sk-very" not in page for page in [*pages, answer.text])
    assert "text-embedding" not in pages[3]


def test_an_error_does_not_tell_where_the_folder_lies(folder: Path) -> None:
    (folder / "first" / ReadingStore.MANIFEST).write_text("{", encoding="utf-8")
    with client_of(Settings(folder)) as client:
        (note,) = client.get("/api/audits").json()["notes"]
    assert str(folder) not in note
    assert note.startswith("first: first/audit.json cannot be read")
