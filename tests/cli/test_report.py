from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tiltmeter import audit
from tiltmeter.cli.results import app
from tiltmeter.errors import BadInput

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("audit")
    suite = out / "one.yaml"
    suite.write_text("probes:\n  - {id: career, probe: weat}\n", encoding="utf-8")
    audit([Named(words(LEANS), name="own:one")], suite=suite, cache=False, out=out)
    return out


def run(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(app, ["report", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.mark.parametrize(
    ("format", "name", "start"),
    [
        ("md", "audit.md", b"# How far"),
        ("csv", "readings.csv", b"model,id,"),
        ("parquet", "readings.parquet", b"PAR1"),
        ("latex", "audit.tex", b"% Needs"),
        ("model-card", "model-card.md", b"---\nmodel-index:"),
    ],
)
def test_every_format_is_written_beside_the_audit_under_its_usual_name(folder, format, name, start):
    done = run(folder, "--format", format, "--json")
    assert json.loads(done.stdout) == {"report": str(folder / name)}
    assert (folder / name).read_bytes().startswith(start)


def test_a_report_goes_where_it_is_wanted(folder, tmp_path):
    done = run(folder, "-o", tmp_path / "audit.html")
    assert done.stdout == f"report: {tmp_path / 'audit.html'}\n"
    assert (tmp_path / "audit.html").read_bytes().startswith(b"<!doctype html>")


def test_charts_are_written_into_a_folder(folder, tmp_path):
    done = run(folder, "--charts", tmp_path / "figures", "--format", "svg", "--json")
    written = [Path(path).name for path in json.loads(done.stdout)["charts"]]
    assert {"effects.svg", "own-one-career-items.svg"} <= set(written)
    assert {path.name for path in (tmp_path / "figures").iterdir()} == {*written, "alt.txt"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--format", "pdf"], "pdf is a format of charts: name a folder for them with --charts"),
        (["--format", "htm"], "unknown format 'htm': did you mean 'html'?"),
        (["--charts", "x", "--format", "html"], "unknown format of charts 'html'"),
        (["--charts", "x", "-o", "y"], "--charts writes files into its own folder"),
    ],
)
def test_what_does_not_go_together_is_one_clear_line(folder, arguments, complaint):
    with pytest.raises(BadInput) as error:
        run(folder, *arguments)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_the_help_has_examples():
    assert "tiltmeter report tiltmeter-results -o audit.html" in run("--help").stdout
