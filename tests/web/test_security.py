"""Who may ask for what."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import ADDRESS, client_of
from tiltmeter.errors import BadInput
from tiltmeter.web.security import COOKIE, MOST_BYTES, DashboardSettings

TOKEN = "correct-horse-battery-staple"


@pytest.fixture
def guarded(folder: Path) -> TestClient:
    return client_of(DashboardSettings(folder, token=TOKEN))


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"host": "0.0.0.0"}, "other machines"),
        ({"host": "192.168.1.7"}, "other machines"),
        ({"host": "example.org"}, "other machines"),
        ({"token": "short"}, "at least 16"),
        ({"token": "with spaces in it all"}, "without spaces"),
        ({"port": 0}, "port"),
        ({"port": 99_999}, "port"),
    ],
)
def test_a_dashboard_that_would_be_open_to_others_does_not_start(
    tmp_path: Path, given: dict[str, object], complaint: str
) -> None:
    with pytest.raises(BadInput, match=complaint):
        DashboardSettings(tmp_path, **given)  # type: ignore[arg-type]


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="is not a folder"):
        DashboardSettings(tmp_path / "none")


def test_other_addresses_are_served_with_a_token(folder: Path) -> None:
    with client_of(DashboardSettings(folder, host="0.0.0.0", token="a" * 16)) as client:
        headers = {"authorization": f"Bearer {'a' * 16}"}
        assert client.get("/", headers={**headers, "host": "192.168.1.7:8765"}).status_code == 200
        assert client.get("/", headers={**headers, "host": "evil.example"}).status_code == 400


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
    with client_of(DashboardSettings(folder)) as client:
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


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "//", "[", "http://127.0.0.1:8765:1"])
def test_an_origin_that_is_no_address_is_another_site(client: TestClient, origin: str) -> None:
    answer = client.post("/jobs", data={"name": "new"}, headers={"origin": origin})
    assert answer.status_code == 403


def test_bytes_that_no_address_can_hold_are_refused(client: TestClient) -> None:
    # A client writes them as %XX; whoever speaks to the socket need not.
    answers: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        answers.append(message)

    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET", "scheme": "http"},
        **{"path": "/", "raw_path": b"/", "query_string": b"q=\xed\xa0\x80", "root_path": ""},
        **{"headers": [(b"host", client.base_url.netloc)], "client": None, "server": None},
    }
    asyncio.run(client.app(scope, receive, send))
    assert answers[0]["status"] == 400


def test_a_length_of_thousands_of_digits_is_too_large(client: TestClient) -> None:
    answer = client.post("/jobs", content=b"", headers={"content-length": "9" * 5000})
    assert answer.status_code == 413


@pytest.mark.parametrize("sign", ';,"\\ é')
def test_a_token_that_no_cookie_can_hold_is_refused_before_it_locks_everyone_out(tmp_path: Path, sign: str) -> None:
    with pytest.raises(BadInput, match="the token must be made of letters, digits and signs"):
        DashboardSettings(tmp_path, token=f"correct-horse{sign}battery")


def test_a_token_of_every_other_sign_opens_the_dashboard(folder: Path) -> None:
    token = "".join(sorted(set(map(chr, range(33, 127))) - set(';,"\\')))
    with client_of(DashboardSettings(folder, token=token)) as client:
        assert client.get("/", params={"token": token}).status_code == 200
        assert client.get("/").status_code == 200
