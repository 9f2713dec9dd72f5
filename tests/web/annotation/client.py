"""A browser of the pages on which people label and review."""

from __future__ import annotations

from starlette.testclient import TestClient

from tests.web.conftest import ADDRESS


def client_of(app: object) -> TestClient:
    return TestClient(app, base_url=ADDRESS, headers={"origin": ADDRESS}, raise_server_exceptions=False)  # type: ignore[arg-type]
