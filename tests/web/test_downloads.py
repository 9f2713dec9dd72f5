from __future__ import annotations

import io
import zipfile

import pandas as pd
import pytest
from starlette.testclient import TestClient

from tests.web.planted_audits import file_of
from tiltmeter.web.downloads import audit_formats
from tiltmeter.web.listing import key_of

FORMATS = audit_formats()


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "html"])
def test_every_form_of_an_audit_is_a_download(client: TestClient, format: str) -> None:
    answer = client.get(f"/audits/first/download/{format}")
    assert answer.status_code == 200
    name = "model-card.zip" if format == "model-card" else FORMATS[format].file
    assert answer.headers["content-disposition"] == f'attachment; filename="first-{name}"'
    if format == "model-card":  # one per model
        with zipfile.ZipFile(io.BytesIO(answer.content)) as cards:
            assert sorted(cards.namelist()) == ["first-model-card-own-level.md", "first-model-card-own-tilted.md"]
            assert b"name: own:tilted" in cards.read("first-model-card-own-tilted.md")
    elif format == "parquet":
        assert pd.read_parquet(io.BytesIO(answer.content))["value"].tolist() == [0.05, 0.1, 1.2, -0.9]
    else:
        assert "own:tilted" in answer.text.replace("\\", "")


def test_the_report_is_a_download_that_needs_nothing_else(client: TestClient) -> None:
    answer = client.get("/audits/first/download/html")
    assert answer.headers["content-disposition"] == 'attachment; filename="first-audit.html"'
    assert answer.text.lower().lstrip().startswith("<!doctype html>")
    assert "own:tilted" in answer.text


@pytest.mark.parametrize("format", ["csv", "json", "parquet"])
def test_items_are_a_download_with_every_row(client: TestClient, format: str) -> None:
    content = client.get(f"/audits/first/readings/{file_of(client, 'own:level', 'career')}/items/{format}").content
    read = {"csv": pd.read_csv, "json": pd.read_json, "parquet": pd.read_parquet}[format]
    frame = read(io.BytesIO(content))
    assert len(frame) == 60
    assert list(frame.columns) == ["label", "unit", "group", "value"]


def test_the_charts_of_a_reading_are_pictures_with_words(client: TestClient) -> None:
    (figure,) = client.get(f"/charts/readings/first/{file_of(client, 'own:tilted', 'career')}.json").json()
    assert figure["svg"].startswith("<svg")
    assert "style=" not in figure["svg"]
    assert "60 items" in figure["alt"]
    effects = client.get(f"/charts/audits/first/effects.svg?probe={key_of('career')}")
    assert effects.headers["content-type"] == "image/svg+xml"
    assert "of 2 models" in effects.text
    assert client.get("/charts/audits/first/nothing.json").status_code == 404
