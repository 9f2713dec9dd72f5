"""A dashboard over a folder with one planted audit."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.planted_audits import tiny_suite, vectors_file, write_audit
from tiltmeter.web.app import create_app
from tiltmeter.web.security import DashboardSettings

ADDRESS = "http://127.0.0.1:8765"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that holds one audit."""
    write_audit(tmp_path / "shelf" / "first")
    return tmp_path / "shelf"


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    with client_of(DashboardSettings(folder)) as made:
        yield made


def client_of(settings: DashboardSettings) -> TestClient:
    """A browser that shows what a reader would see, with server errors as pages."""
    headers = {"origin": ADDRESS}
    return TestClient(create_app(settings), base_url=ADDRESS, headers=headers, raise_server_exceptions=False)


@pytest.fixture
def spec(tmp_path: Path) -> str:
    return vectors_file(tmp_path / "vectors.vec")


@pytest.fixture
def asking(folder: Path, spec: str) -> Iterator[TestClient]:
    tiny_suite(folder)
    with client_of(DashboardSettings(folder, models=(spec,))) as made:
        yield made
