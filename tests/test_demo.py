"""The demo, ``tiltmeter audit`` without arguments: the same verdict in every output, at a glance and on few pages."""

from __future__ import annotations

import html
import io
import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
import pytest
import yaml
from starlette.testclient import TestClient

from tests.command import environment, needs_sample, tiltmeter
from tests.reference import demo_cache
from tiltmeter import Audit
from tiltmeter.cli.measure import show_audit
from tiltmeter.models.registry import SAMPLES
from tiltmeter.views.exports import FORMATS, export, to_csv, to_parquet
from tiltmeter.views.exports.latex import STARS, latex
from tiltmeter.views.exports.model_card import to_model_cards
from tiltmeter.views.rows import reading_rows
from tiltmeter.web.app import create_app
from tiltmeter.web.security import DashboardSettings

#: By model and id of the test.
Verdicts: TypeAlias = dict[tuple[str, str], str]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Audit, Mapping[str, Any]]:
    """The demo's audit, and what its command printed as JSON."""
    for name in SAMPLES:
        needs_sample(name)
    out = tmp_path_factory.mktemp("demo") / "results"
    done = tiltmeter("audit", "--out", out, "--json", env=environment(demo_cache()), timeout=1800)
    assert done.code == 0, done.stderr
    return Audit.load(out), json.loads(done.stdout)


def in_rows(rows: list[dict[str, Any]]) -> Verdicts:
    return {(row["model"], row["id"]): row["verdict"] for row in rows}


def in_html(page: str) -> Verdicts:
    rows = re.findall(r'data-reading="(.*?)" data-model="(.*?)" data-verdict="(.*?)"', page)
    return {(html.unescape(model), html.unescape(id)): verdict for id, model, verdict in rows}


def in_cards(cards: Mapping[str, str]) -> Verdicts:
    found: Verdicts = {}
    for card in cards.values():
        (entry,) = yaml.safe_load(card.split("---\n", 2)[1])["model-index"]
        for result in entry["results"]:
            (verdict,) = (metric["value"] for metric in result["metrics"] if metric["type"] == "verdict")
            found[entry["name"], result["dataset"]["config"]] = verdict
    return found


def in_latex(text: str, audit: Audit) -> tuple[Verdicts, Verdicts]:
    """By the stars of the table of all models, and by the words of those of single models."""
    titles = {latex(row.title): row.reading.id for row in reading_rows(audit.readings)}
    overview, *details = text.split(r"\end{table*}")[:-1]
    stars: Verdicts = {}
    for title, _, *numbers in cells(overview):
        for model, number in zip(audit.models, numbers, strict=True):
            if number != "--":
                mark = number[number.index("$^") :] if "$^" in number else ""
                stars[model, titles[title]] = next(state for state, star in STARS.items() if star == mark)
    words = {
        (re.search(r"Readings of (.*?)\. \$p\$", table)[1], titles[title]): verdict
        for table in details
        for title, _, verdict, *_ in cells(table)
    }
    return stars, words


def cells(table: str) -> list[list[str]]:
    lines = table.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    return [line.removesuffix(r" \\").removeprefix(r"\raggedright ").split(" & ") for line in lines]


def test_every_output_has_the_same_verdict_for_every_reading(demo):
    audit, printed = demo
    verdicts = {(reading.model, reading.id): reading.verdict.state for reading in audit.readings}
    assert len(verdicts) == len(audit.readings) > 40
    assert {"clear", "suggestive", "undecided", "works"} <= set(verdicts.values())
    frame = audit.to_frame()
    assert in_rows(frame.to_dict("records")) == verdicts
    assert in_rows(printed["readings"]) == verdicts
    assert in_rows(pd.read_csv(io.StringIO(to_csv(audit.rows()))).to_dict("records")) == verdicts
    assert in_rows(pd.read_parquet(io.BytesIO(to_parquet(audit))).to_dict("records")) == verdicts
    assert in_html(FORMATS["html"].make(audit)) == verdicts
    assert in_cards(to_model_cards(audit)) == verdicts
    stars, words = in_latex(FORMATS["latex"].make(audit), audit)
    assert stars == verdicts
    assert words == verdicts
    with TestClient(create_app(DashboardSettings(audit.folder)), base_url="http://127.0.0.1:8765") as dashboard:
        assert in_rows(dashboard.get("/api/readings").json()) == verdicts
        (name,) = (each["name"] for each in dashboard.get("/api/audits").json()["audits"])
        assert in_rows(dashboard.get(f"/api/audits/{name}").json()["readings"]) == verdicts


def test_the_hubs_own_library_reads_a_card_of_every_model(demo):
    hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
    audit, _ = demo
    cards = to_model_cards(audit)
    assert list(cards) == list(audit.models)
    for model, text in cards.items():
        data = hub.ModelCard(text).data
        ids = [reading.id for reading in audit.readings if reading.model == model]
        assert data.model_name == model
        assert list(dict.fromkeys(result.dataset_config for result in data.eval_results)) == ids


def test_the_terminal_needs_25_lines_of_100_columns(demo, monkeypatch, capsys):
    audit, _ = demo
    monkeypatch.setenv("COLUMNS", "100")
    show_audit(audit, Path("tiltmeter-results/audit.html"), verbose=False)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 100
    assert all(f"{name} " in lines[1] for name in ("bundled:minilm", "bundled:glove", "bundled:word2vec"))
    assert {line.split()[0] for line in lines[3:19]} >= {"gender", "race", "age", "religion", "disability", "controls"}


def test_the_report_prints_on_15_pages(demo, tmp_path):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed")
    audit, _ = demo
    (page,) = export(audit, tmp_path / "audit.html")
    pdf = tmp_path / "audit.pdf"
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [CHROMIUM, *options, "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri()]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    pages = len(re.findall(rb"/Type\s*/Page\b", pdf.read_bytes()))
    assert 5 <= pages <= 15


def test_its_tables_compile_in_a_paper_of_two_columns(demo, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    audit, _ = demo
    export(audit, tmp_path / "tables.tex", format="latex")
    head = r"\documentclass[twocolumn]{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
    (tmp_path / "paper.tex").write_text(f"{head}\n\\input{{tables}}\n\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
