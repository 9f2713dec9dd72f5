from __future__ import annotations

import re
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import client_of
from tests.web.planted_audits import (
    file_of,
    reading,
    wait,
    write_audit,
)
from tiltmeter.web.downloads import audit_formats
from tiltmeter.web.listing import key_of
from tiltmeter.web.security import DashboardSettings

MODEL = f"/audits/first/models/{key_of('own:tilted')}"
PROBE = f"/audits/first/probes/{key_of('career')}"


def test_the_overview_shows_every_reading_and_frames_the_clear_ones(client: TestClient) -> None:
    html = client.get("/").text
    assert "<b>4</b> of 4 readings: 2 clear, 2 undecided." in html
    cells = re.findall(r'<td class="(plus3|minus3|level)( clear)?"><a href="[^"]+" title="[^"]+">(-?[\d.]+)</a>', html)
    assert sorted(cells) == [
        ("level", "", "0.05"),
        ("level", "", "0.10"),
        ("minus3", " clear", "-0.90"),
        ("plus3", " clear", "1.20"),
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=tilted", 2),
        ("q=TILTED science", 1),
        ("model=own:level", 2),
        ("probe=weat", 4),
        ("probe=seat", 0),
        ("verdict=clear", 2),
        ("verdict=undecided", 2),
        ("verdict=suggestive", 0),
        ("verdict=untested", 0),
        ("verdict=nonsense", 0),
        ("dimension=gender", 4),
        ("dimension=race", 0),
        ("audit=first", 4),
        ("audit=other", 0),
        ("verdict=clear&q=second, those", 1),
    ],
)
def test_filters_leave_what_answers_to_all_of_them(client: TestClient, query: str, found: int) -> None:
    assert f"<b>{found}</b> of 4 readings" in client.get(f"/?{query}").text
    assert len(client.get(f"/api/readings?{query}").json()) == found


def test_the_list_is_sorted_by_the_strength_of_the_lean(client: TestClient) -> None:
    html = client.get("/?view=list&sort=-strength").text
    assert re.findall(r'<span class="value">(-?[\d.]+)', html) == ["1.20", "-0.90", "0.10", "0.050"]
    assert 'aria-sort="descending"' in html


def test_a_long_list_comes_in_parts(folder: Path) -> None:
    write_audit(folder / "long", [reading("own:many", f"p{n:03}", 0.1) for n in range(130)])
    with client_of(DashboardSettings(folder)) as client:
        second = client.get("/?view=list&audit=long&sort=measured&part=2").text
    assert "About p100" in second
    assert "About p099" not in second
    assert "part 2 of 2" in second


def test_the_page_of_an_audit_has_verdict_downloads_and_command(client: TestClient) -> None:
    html = client.get("/audits/first").text
    assert "2 of 4 bias tests show a clear lean, on 1 of 2 models." in html
    assert all(f"/audits/first/download/{name}" in html for name in audit_formats())
    assert "needs vectors of texts" in html
    assert "tiltmeter audit" in html


def test_the_page_of_a_model_has_its_readings_only(client: TestClient) -> None:
    html = client.get(MODEL).text
    assert "2 of 2 bias tests show a clear lean" in html
    assert re.findall(r'<b class="number">(\d+)</b> <b class="state ([a-z-]+)">', html) == [("2", "clear")]
    assert re.findall(r'<span class="value">([^ <]+)', html) == ["1.20", "-0.90"]


def test_the_page_of_a_probe_goes_down_to_items_side_by_side(client: TestClient) -> None:
    html = client.get(f"{PROBE}?sort=-{key_of('own:tilted')}").text
    assert "60 items" in html
    assert "part 1 of 2" in html
    values = [float(x) for x in re.findall(r'<td class="number">([+-]\d\.\d+)</td></tr>', html)]
    assert values == sorted(values, reverse=True)
    assert "1 items" in client.get(f"{PROBE}?q=word59").text


def test_the_page_of_a_reading_has_both_forms_items_caveats_and_provenance(client: TestClient) -> None:
    html = client.get(f"/audits/first/readings/{file_of(client, 'own:tilted', 'career')}?sort=-value&q=these").text
    for text in (
        "own:tilted leans by 1.2.",
        "1.2000",
        "The published test is one-sided.",
        "Mind the lists.",
        "Nobody 2020",
    ):
        assert text in html
    assert "out of vocabulary" in html
    assert ">lean</a></th>" in html
    assert "<caption>30 items</caption>" in html


def test_a_folder_that_is_an_audit_and_holds_another_shows_both(tmp_path: Path) -> None:
    write_audit(tmp_path / "outer")
    write_audit(tmp_path / "outer" / "inner", [reading("own:inner", "career", 0.7)])
    with client_of(DashboardSettings(tmp_path / "outer")) as client:
        names = [each["name"] for each in client.get("/api/audits").json()["audits"]]
    assert names == ["outer", "inner"]


def test_an_empty_folder_invites_to_run_an_audit(tmp_path: Path) -> None:
    with client_of(DashboardSettings(tmp_path)) as client:
        assert 'href="/jobs"' in client.get("/").text
        for address in ("/compare", "/explore", "/jobs", "/api"):
            assert client.get(address).status_code == 200


def test_unknown_addresses_are_one_line_with_404(client: TestClient) -> None:
    for address in ("/nothing", "/audits/none", "/audits/first/models/none", "/audits/first/probes/none", "/jobs/9"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert len(re.findall('class="problem"', answer.text)) == 1
    assert client.get("/api/audits/none").json() == {"error": "there is no such audit in this folder"}


def test_every_form_has_a_label_for_every_field(client: TestClient) -> None:
    for address in ("/", "/compare", "/explore", "/jobs", PROBE):
        html = client.get(address).text
        ids = re.findall(r'<(?:input|select|textarea)[^>]* id="([^"]+)"', html)
        assert all(f'<label for="{each}"' in html for each in ids), address
        assert len(ids) == len(set(ids))
        assert html.count("<h1") == 1


def test_an_audit_runs_to_its_end_and_is_there(asking: TestClient, spec: str) -> None:
    page = asking.post("/jobs", data={"name": "made-here", "model": spec, "suite": "tiny.yaml"})
    assert page.url.path == "/jobs/1"
    job = wait(asking, "1")
    assert job["state"] == "finished", job
    assert 'href="/audits/made-here"' in asking.get("/jobs/1").text
    rows = asking.get("/api/readings?audit=made-here").json()
    assert [row["id"] for row in rows] == ["tiny"]
    assert rows[0]["value"] == pytest.approx(1.7, abs=0.05)


@pytest.mark.parametrize("suite", ["none", "../tiny.yaml", "/etc/passwd", "words/tiny_words.yaml", ""])
def test_only_suites_on_offer_are_run(asking: TestClient, spec: str, suite: str) -> None:
    answer = asking.post("/api/jobs", json={"name": "x", "models": [spec], "suite": suite})
    assert "not available" in answer.json()["error"]
