from __future__ import annotations

from pathlib import Path

import pytest
from typer.main import get_command

from tiltmeter import __version__
from tiltmeter.cli import app as app_module
from tiltmeter.cli.app import app
from tiltmeter.cli.output import show
from tiltmeter.progress import progress_bar

COMMANDS = sorted(get_command(app).commands)


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


def test_every_command_stands_under_one_of_a_few_headings():
    headings = [command.rich_help_panel for command in get_command(app).commands.values()]
    assert all(isinstance(heading, str) for heading in headings)
    assert len(set(headings)) <= 6
    assert min(map(headings.count, headings)) >= 2


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


def test_a_fault_of_ones_own_has_an_exit_code_of_its_own_and_says_where_to_send_it(run, monkeypatch):
    for fault in (KeyError("x"), OSError(5, "bad disk")):

        def broken(fault=fault, **_):
            raise fault

        monkeypatch.setattr("tiltmeter.run.audit.audit", broken)
        done = run("audit", "bundled:minilm", "--out", "never-made")
        assert (done.code, done.stdout) == (70, "")
        *trace, line = done.stderr.splitlines()
        assert trace[0].startswith("Traceback")
        assert line.startswith(f"error: this is a bug in tiltmeter {__version__}, not your mistake: please send")
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


def test_a_parser_that_loses_the_exit_code_of_a_command_does_not_lose_it(run, monkeypatch):
    whole = app_module.app
    monkeypatch.setattr(app_module, "app", lambda **options: (whole(**options), None)[1])
    assert run("check", "/no/such/folder", "--baseline", "/none").code == 2
    monkeypatch.setattr(app_module, "app", lambda **_: app_module._record(1) and None)
    assert run("check", "results", "--baseline", "before").code == 1


def test_a_parser_that_never_runs_the_command_is_no_success(run, monkeypatch):
    monkeypatch.setattr(app_module, "app", lambda **_: None)
    done = run("check", "results", "--baseline", "before")
    assert done.code == 70
    assert "the option parser did not run the command: reinstall typer and click" in done.stderr
    assert run("check", "--help").code == 0
