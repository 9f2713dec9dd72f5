"""Whatever goes wrong on a page that people label or review on, they read one clear line, and the right status."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi import APIRouter
from starlette.testclient import TestClient

from tests.web.annotation.client import client_of
from tiltmeter.errors import BadInput
from tiltmeter.web.annotation.annotation_app import annotation_app
from tiltmeter.web.security import MOST_BYTES, DashboardSettings
from tiltmeter.web.shelf import NotHere


def _client(folder: Path, **settings: object) -> TestClient:
    router = APIRouter()

    @router.get("/fine")
    def fine(n: int = 0) -> int:
        return n

    @router.post("/taken")
    def taken(body: dict[str, str]) -> dict[str, str]:
        return body

    @router.get("/wrong/{kind}")
    def wrong(kind: str) -> str:
        raise {"input": BadInput("that is no label"), "gone": NotHere("no such item"), "bug": KeyError("secret")}[kind]

    return client_of(annotation_app(router, DashboardSettings(folder, **settings)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("address", "status", "line"),
    [
        ("/wrong/input", 400, "that is no label"),
        ("/wrong/gone", 404, "no such item"),
        ("/wrong/bug", 500, "something went wrong: tell whoever sent you the link"),
        ("/nowhere", 404, "there is no such page: open the link as it was sent to you"),
        ("/taken", 405, "that is not possible here"),
        ("/fine?n=x", 422, "n: Input should be a valid integer"),
        ("/static/nothing.css", 404, ""),
    ],
)
def test_every_error_is_one_line_that_tells_nothing_of_the_program(
    tmp_path: Path, address: str, status: int, line: str
) -> None:
    answer = _client(tmp_path).get(address)
    assert answer.status_code == status
    assert line in answer.text
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


def test_a_page_and_what_it_needs_are_served(tmp_path: Path) -> None:
    client = _client(tmp_path)
    assert client.get("/fine?n=3").json() == 3
    assert client.get("/static/annotation.js").status_code == 200


def test_a_body_that_grows_over_the_limit_is_refused_with_the_limit(tmp_path: Path) -> None:
    def pieces():
        for _ in range(MOST_BYTES // 1000 + 2):
            yield b"x" * 1000

    answer = _client(tmp_path).post("/taken", content=pieces(), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert f"the limit is {MOST_BYTES // 1024} KB" in answer.text


def test_without_the_token_there_is_a_page_that_asks_for_it(tmp_path: Path) -> None:
    client = _client(tmp_path, token="0123456789abcdef")
    refused = client.get("/fine")
    assert refused.status_code == 401
    assert 'name="token"' in refused.text
    assert client.get("/fine", headers={"authorization": "Bearer 0123456789abcdef"}).json() == 0
