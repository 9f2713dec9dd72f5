from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from tests.command import Outcome, environment, tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import Audit, __version__, probe
from tiltmeter.cli.app import app, main
from tiltmeter.cli.output import show
from tiltmeter.models.registry import KINDS as MODEL_KINDS
from tiltmeter.probes import KINDS
from tiltmeter.progress import progress_bar
from tiltmeter.run.suite import suite_names
from tiltmeter.stimuli import group, lexicon_names

COMMANDS = sorted(get_command(app).commands)
LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word vectors in a text file, as users have them."""
    path = tmp_path_factory.mktemp("vectors") / "planted.vec"
    rows = [f"{word} {' '.join(str(number) for number in vector)}" for word, vector in words(LEANS).items()]
    path.write_text("\n".join([f"{len(rows)} 32", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def audited(vectors: Path, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    folder = tmp_path_factory.mktemp("work")
    suite = folder / "mine.yaml"
    suite.write_text(
        "description: mine\nprobes:\n  - {id: career, probe: weat, title: 'Gender [and] career'}\n"
        "  - {id: near, probe: rnd}\n  - {id: sentences, probe: seat}\n",
        encoding="utf-8",
    )
    out = folder / "results"
    done = tiltmeter(
        "audit", f"static:{vectors}", "--suite", suite, "--out", out, env={**env, "COLUMNS": "100"}, fresh=True
    )
    assert done.code == 0, done.stderr
    return done, out


class Run:
    """The command in this process, which is quicker than in one of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["tiltmeter", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = self._capsys.readouterr()
        return Outcome(int(end.value.code or 0), said.out, said.err)


@pytest.fixture
def run(env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("TILTMETER_CACHE", env["TILTMETER_CACHE"])
    monkeypatch.delenv("COLUMNS", raising=False)
    return Run(monkeypatch, capsys)


def test_an_audit_shows_the_table_the_plain_words_and_where_the_report_is(audited):
    done, out = audited
    found = Audit.load(out)
    assert "Gender [and] career" in done.stdout
    shown = " ".join(done.stdout.split())
    for reading in found.readings:
        assert reading.plain_words in shown
        assert reading.effect.name in shown
    assert "Not measured on" in shown
    assert "sentences (needs vectors of texts" in shown
    assert f"Report: {out / 'audit.html'}" in shown
    assert (out / "audit.html").is_file()


def test_a_table_is_as_wide_as_the_terminal_and_no_wider(audited):
    done, _ = audited
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("Results:", "Report:"))]
    assert max(map(len, lines)) == 100


def test_json_holds_the_numbers_of_the_readings_and_nothing_else_is_printed(audited, vectors, run, tmp_path):
    _, out = audited
    suite = out.parent / "mine.yaml"
    done = run("audit", f"static:{vectors}", "--suite", suite, "--out", tmp_path / "r", "--json")
    assert done.code == 0
    values = json.loads(done.stdout)
    assert [row["value"] for row in values["readings"]] == [r.effect.value for r in Audit.load(out).readings]
    assert [row["p_holm"] for row in values["readings"]] == Audit.load(out).adjusted()
    assert values["asked"] == 0  # the first audit asked for all of it
    assert values["skipped"][0]["probe"] == "sentences"


def test_a_probe_prints_json_equal_to_the_reading_in_python(vectors, run):
    done = run("probe", "weat", f"static:{vectors}", "--seed", "3", "--json")
    (values,) = json.loads(done.stdout)
    reading = probe("weat", words(LEANS), seed=3, cache=False)
    assert values["effect"] == reading.to_dict()["effect"]
    assert values["items"] == reading.to_dict()["items"]
    assert values["plain_words"] == reading.plain_words


def test_a_probe_shows_what_stands_behind_its_number(vectors, run):
    done = run("probe", "weat", f"static:{vectors}")
    assert done.code == 0
    shown = " ".join(done.stdout.split())
    reading = probe("weat", words(LEANS), cache=False)
    assert reading.plain_words in shown
    assert reading.repair in shown
    assert all(caveat in shown for caveat in (reading.about.idea, *reading.about.caveats))
    assert f"as published {reading.published.value:.4f}, p < 0.0001 (greater)" in shown
    strongest = max(reading.items, key=lambda item: item.value)
    assert f"highest: {strongest.unit} ({strongest.value:+.2f})" in shown
    assert "positive: towards career, negative: towards family" in shown


def test_a_report_can_be_written_again(audited, run, tmp_path):
    _, out = audited
    done = run("report", out, "--out", tmp_path / "again.html", "--json")
    assert json.loads(done.stdout) == {"report": str(tmp_path / "again.html")}
    assert (tmp_path / "again.html").read_bytes() == (out / "audit.html").read_bytes()


@pytest.mark.parametrize(
    ("command", "key", "expected"),
    [
        (["probes"], "probe", set(KINDS)),
        (["suites"], "suite", set(suite_names())),
        (["lexicons"], "lexicon", set(lexicon_names())),
        (["lexicons", "gender.male_terms"], "word", set(group("gender.male_terms").texts)),
        (["models"], "spec", {kind.example for name, kind in MODEL_KINDS.complete().items() if name != "bundled"}),
    ],
    ids=["probes", "suites", "lexicons", "words", "models"],
)
def test_every_list_prints_json_and_a_table_of_the_same_things(command, key, expected, run, monkeypatch):
    rows = json.loads(run(*command, "--json").stdout)
    assert {row[key] for row in rows} >= expected
    monkeypatch.setenv("COLUMNS", "300")
    table = run(*command).stdout
    assert all(row[key] in table for row in rows)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_says_what_it_does(command):
    about = get_command(app).commands[command]
    assert len(about.help.split()) >= 5
    for parameter in about.params:
        assert getattr(parameter, "help", None), f"{command} {parameter.name}"
    if any(parameter.required for parameter in about.params if parameter.name != "folder"):
        assert f"tiltmeter {command} " in about.help


def test_help_without_a_command_lists_them_all_and_where_to_start(run):
    done = run()
    assert done.code == 0
    assert all(command in done.stdout for command in COMMANDS)
    assert "Start with: tiltmeter audit" in done.stdout


def test_the_version_is_that_of_the_package(run):
    assert run("--version").stdout == f"tiltmeter {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["audt"], "audt"),
        (["audit", "--sweet", "weat"], "unknown option '--sweet'"),
        (["probe", "weat"], "model"),
        (["probe", "waet", "bundled:glove"], "unknown probe 'waet': did you mean 'weat'?"),
        (
            ["probe", "mac", "bundled:glove", "--from", "x.jsonl"],
            "mac takes no data (--from): leave it out; it takes targets, attributes",
        ),
        (["lexicons", "gendre"], "unknown lexicon 'gendre': did you mean 'gender'?"),
        (["report", "nowhere"], "holds no finished audit"),
    ],
)
def test_bad_input_is_exit_code_2_and_one_line(arguments, says, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert says in done.complaint
    assert done.stdout == ""


def test_a_model_that_fails_makes_the_exit_code_2_and_the_others_are_shown(audited, vectors, run, tmp_path):
    broken = tmp_path / "broken.vec"
    broken.write_text(vectors.read_text(encoding="utf-8").replace("\nhe ", "\nhe nan "), encoding="utf-8")
    suite = audited[1].parent / "mine.yaml"
    models = [f"static:{broken}", f"static:{vectors}"]
    done = run("audit", *models, "--suite", suite, "--out", tmp_path / "r", "--json")
    assert "broken.vec" in done.complaint
    values = json.loads(done.stdout)
    assert values["models"] == ["static:broken.vec", "static:planted.vec"]
    assert {row["model"] for row in values["readings"]} == {"static:planted.vec"}
    assert [each["probe"] for each in values["skipped"] if each["failed"]] == ["career", "near"]


def test_a_fault_of_ones_own_has_an_exit_code_of_its_own_and_says_where_to_send_it(run, monkeypatch):
    for fault in (KeyError("x"), OSError(5, "bad disk")):

        def broken(fault=fault, **_):
            raise fault

        monkeypatch.setattr("tiltmeter.run.audit.audit", broken)
        done = run("audit", "bundled:minilm", "--out", "never-made")
        assert (done.code, done.stdout) == (70, "")
        *trace, line = done.stderr.splitlines()
        assert trace[0].startswith("Traceback")
        assert line.startswith(f"error: this is a fault of tiltmeter {__version__}, not of yours: please send")
    assert not Path("never-made").exists()


def test_brackets_and_homes_of_nobody_in_a_path_are_no_traceback(run, tmp_path, capsys, monkeypatch):
    for path in ("[/x].vec", "\\[/x].vec", "~nobody-of-this-name/a.vec"):
        assert path in run("probe", "weat", f"static:{path}").complaint
        assert path in run("check", path, "--baseline", tmp_path).complaint
    show([{"model": "static:\\[/x][bold]"}], ("model",), as_json=False)
    assert "static:\\[/x][bold]" in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    with progress_bar("static:\\[/x][bold]", 1, show=True) as advance:
        advance(1)
    assert "static:\\[/x][bold]" in capsys.readouterr().err


def test_clearing_the_cache_removes_models_that_were_unpacked_or_half_made(run, env):
    cache = Path(env["TILTMETER_CACHE"])
    for folder in ("gguf/.unpacking-k2j3", "gguf/0123456789abcdef", "reference/.draft-k2j3", "reference/whole"):
        (cache / folder).mkdir(parents=True, exist_ok=True)
        (cache / folder / "model.safetensors").write_bytes(b"x")
    assert run("cache", "--clear").code == 0
    assert [path.parent.name for path in cache.rglob("*.safetensors")] == ["whole"]
