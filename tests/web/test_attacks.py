"""What someone with bad intentions would try: refused, or harmless."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import client_of
from tests.web.planted_audits import IMAGE, SCRIPT, reading, vectors_file, write_audit
from tiltmeter.web.security import DashboardSettings

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


@pytest.fixture
def hostile(tmp_path: Path) -> Iterator[TestClient]:
    """A folder in which every name is an attack."""
    readings = [
        reading(f"own:{SCRIPT}", SCRIPT, 1.2, word=IMAGE),
        reading("own:other", SCRIPT, 0.1, word=IMAGE),
    ]
    write_audit(tmp_path / "shelf" / "<b onmouseover=alert(1)>", readings, notes=[SCRIPT])
    with client_of(DashboardSettings(tmp_path / "shelf")) as made:
        yield made


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
    with client_of(DashboardSettings(folder)) as client:
        found = client.get("/api/audits").json()
    assert found["audits"][0]["readings"] == 4
    assert len(found["notes"]) == 3
    assert all("missing or damaged" in note for note in found["notes"])


def test_a_link_to_an_audit_outside_is_not_shown(folder: Path, tmp_path: Path) -> None:
    write_audit(tmp_path / "elsewhere")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    with client_of(DashboardSettings(folder)) as client:
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
    with client_of(DashboardSettings(folder, models=(spec,))) as client:
        assert client.post("/api/lexicons", content=lexicon).status_code == 200
        given = {"model": spec, "x": "", "x_group": "own_mine.bad", "y": "", "a": "he, him", "b": "she, her"}
        page = client.post("/explore/words", data=given).text
    assert html.escape(SCRIPT, quote=False) in page
    assert SCRIPT not in page
