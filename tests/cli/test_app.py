from __future__ import annotations

import pytest
from typer.main import get_command

from tiltmeter import __version__
from tiltmeter.cli.app import app

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
