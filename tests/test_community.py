"""The Action, the Dockerfile and the project's forms are what their readers take them for."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from tests.command import COMMAND, environment, tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def vectors(path: Path, tilt: float) -> Path:
    planted = words(dict(zip([*TERMS, *CAREER_FAMILY], [tilt / 2, -tilt / 2, tilt, -tilt], strict=True)))
    path.write_text("".join(f"{word} {' '.join(map(str, row))}\n" for word, row in planted.items() if " " not in word))
    return path


class Runner:
    """Runs the steps of the Action as GitHub's runner does: inputs into the environment, each step by bash."""

    def __init__(self, folder: Path, **inputs: str) -> None:
        self.folder = folder
        defaults = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
        self.inputs = defaults | {name.replace("_", "-"): value for name, value in inputs.items()}
        (folder / "bin").mkdir(exist_ok=True)
        command = folder / "bin" / "tiltmeter"
        command.write_text(f'#!/bin/sh\nexec {shlex.join(COMMAND)} "$@"\n')
        command.chmod(0o755)

    def step(self, id: str) -> subprocess.CompletedProcess[str]:
        (step,) = [each for each in ACTION["runs"]["steps"] if each["id"] == id]
        values = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: self.inputs[found[1]], value)
            for name, value in step["env"].items()
        }
        env = environment(self.folder / "cache", **values)
        env |= {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "GITHUB_OUTPUT": str(self.folder / "output")}
        env["GITHUB_STEP_SUMMARY"] = str(self.folder / "summary.md")
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        return subprocess.run(shell, cwd=self.folder, env=env, capture_output=True, text=True, check=False)


def test_the_action_audits_and_fails_where_bias_has_grown(tmp_path: Path) -> None:
    suite = tmp_path / "suite.yaml"
    probe = {"probe": "weat", "targets": list(TERMS), "attributes": list(CAREER_FAMILY)}
    suite.write_text(json.dumps({"name": "small", "probes": [probe]}), encoding="utf-8")
    before = tiltmeter(
        *("audit", f"static:{vectors(tmp_path / 'words.vec', 0.05)}", "--suite", suite, "--out", tmp_path / "main"),
        env=environment(tmp_path / "cache"),
    )
    assert before.code == 0, before.stderr
    vectors(tmp_path / "words.vec", 0.9)
    runner = Runner(tmp_path, model=f"static:{tmp_path / 'words.vec'}", suite=str(suite), baseline="main")
    audited = runner.step("audit")
    assert audited.returncode == 0, audited.stderr
    assert (tmp_path / "output").read_text().strip() == "report=tiltmeter-results/audit.html"
    assert (tmp_path / "tiltmeter-results/audit.html").is_file()
    checked = runner.step("check")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert "bias grew in 1 probe" in (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (tmp_path / "tiltmeter-results/tiltmeter.xml").is_file()
    alone = Runner(tmp_path, model="unused")
    assert alone.step("check").returncode == 0


@pytest.mark.parametrize("model", ["", " \n", "--help"])
def test_the_action_audits_nothing_else_where_it_is_given_no_model(tmp_path: Path, model: str) -> None:
    done = Runner(tmp_path, model=model, suite="weat").step("audit")
    assert done.returncode == 2, done.stdout + done.stderr
    assert not (tmp_path / "tiltmeter-results").exists()


def test_what_users_give_to_the_action_never_becomes_part_of_its_scripts() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step["run"], "an input in a script is an injection"
        assert step["shell"] == "bash"
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(ACTION["inputs"])


def test_the_dockerfile_runs_a_command_that_exists_as_a_user_without_rights() -> None:
    text = re.sub(r"(?m)^#.*\n", "", (ROOT / "Dockerfile").read_text(encoding="utf-8"))
    steps = [line.split(" ", 1) for line in text.splitlines() if line.strip()]
    kinds = [kind for kind, _ in steps]
    assert set(kinds) <= {"FROM", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "CMD"}
    assert kinds.index("USER") < kinds.index("CMD")
    command = json.loads(dict(steps)["CMD"])
    assert command[:2] == ["tiltmeter", "serve"]
    from typer.main import get_command

    from tiltmeter.cli.app import app

    options = {name for parameter in get_command(app).commands["serve"].params for name in parameter.opts}
    assert {part for part in command if part.startswith("--")} <= options


def test_the_dashboard_of_the_image_does_not_start_without_a_token(tmp_path: Path) -> None:
    pytest.importorskip("fastapi")
    done = tiltmeter("serve", tmp_path, "--host", "0.0.0.0", env=environment(tmp_path / "cache"))
    assert "token" in done.complaint.lower()


@pytest.mark.parametrize(
    "path",
    ["CITATION.cff", ".pre-commit-config.yaml", *(f".github/ISSUE_TEMPLATE/{name}.yml" for name in ("bug", "measure"))],
)
def test_forms_are_yaml_that_says_what_it_must(path: str) -> None:
    content = yaml.safe_load((ROOT / path).read_text(encoding="utf-8"))
    if path == "CITATION.cff":
        assert {"cff-version", "message", "title", "authors"} <= set(content)
        assert content["version"] == __version__
    elif path == ".pre-commit-config.yaml":
        hooks = [hook["entry"].split()[0] for repo in content["repos"] for hook in repo["hooks"]]
        there = Path(sys.executable).parent
        assert all((there / hook).exists() for hook in hooks), "each comes with the extra dev"
    else:
        assert content["name"]
        assert all(part["type"] in ("textarea", "input", "markdown", "dropdown") for part in content["body"])


def test_every_link_of_the_readme_works_wherever_it_is_shown() -> None:
    home = "tiltmeter/tiltmeter"
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    named = dict(re.findall(r"^\[([\w-]+)\]: (\S+)$", text, re.MULTILINE))
    direct = re.findall(r"\]\(([^)\s]+)\)", text)
    used = set(re.findall(r"\]\[([\w-]+)\]", text))
    assert used == set(named)
    assert len(named) > 15
    for address in (*direct, *named.values()):
        start, _, place = address.partition("/main/")
        assert start in (f"https://github.com/{home}/blob", f"https://raw.githubusercontent.com/{home}")
        assert (ROOT / place).is_file(), address


def test_the_table_of_versions_says_what_is_declared() -> None:
    extras = PROJECT["optional-dependencies"]
    users = [line for extra in set(extras) - {"all", "docs", "dev"} for line in extras[extra]]
    declared = {
        requirement.name: str(requirement.specifier).removeprefix(">=")
        for requirement in map(Requirement, [*PROJECT["dependencies"], *users])
    }
    text = (ROOT / "docs/install.md").read_text(encoding="utf-8").partition("\n## Versions\n")[2]
    table = dict(re.findall(r"^\| ([\w-]+) \| ([\d.]+) \|", text, re.MULTILINE))
    assert table == declared


def test_every_extra_that_an_error_names_is_one() -> None:
    extras = PROJECT["optional-dependencies"]
    source = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    named = re.findall(r'(?:MissingExtra|require)\((?:f?"[^"]*"|\w+), "([\w,]+)"', source)
    assert len(named) > 15
    assert {extra for each in named for extra in each.split(",")} - {"none"} <= set(extras)
