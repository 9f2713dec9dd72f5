"""The wheel in an environment of its own that has nothing but what it declares: it does its main job there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.planted import CAREER_FAMILY, TERMS, words

ROOT = Path(__file__).parents[1]
#: What a base install may weigh, without pip and what comes with an environment.
LARGEST_MB = 700


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TILTMETER", "COLUMNS"))
    }
    settings = {**kept, "TILTMETER_CACHE": str(folder / "cache")}
    return subprocess.run([*map(str, command)], cwd=folder, env=settings, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a clean environment with the wheel, without extras."""
    folder = tmp_path_factory.mktemp("install")
    built = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, folder=folder)
    if built.returncode:
        pytest.skip(f"pip cannot build the wheel here: {built.stderr.strip().splitlines()[-1]}")
    assert run(sys.executable, "-m", "venv", folder / "venv", folder=folder).returncode == 0
    wheel = next(folder.glob("*.whl"))
    installed = run(folder / "venv/bin/python", "-m", "pip", "install", "-q", wheel, folder=folder)
    if installed.returncode:
        pytest.skip(f"pip reaches no registry here: {installed.stderr.strip().splitlines()[-1]}")
    return folder


@pytest.mark.slow
def test_a_base_install_audits_word_vectors_and_reports(base: Path) -> None:
    planted = words(dict(zip([*TERMS, *CAREER_FAMILY], [0.02, -0.02, 0.8, -0.8], strict=True)))
    vectors = base / "words.vec"
    vectors.write_text(
        "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in planted.items() if " " not in word)
    )
    command = base / "venv/bin/tiltmeter"
    done = run(command, "audit", f"static:{vectors}", "--out", "results", folder=base)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (base / "results/audit.html").read_text(encoding="utf-8")
    written = run(command, "report", "results", "--format", "md", "--out", "audit.md", folder=base)
    assert written.returncode == 0, written.stderr
    listed = run(base / "venv/bin/python", "-m", "pip", "list", folder=base).stdout
    assert not {"torch", "numba", "statsmodels"} & set(listed.split())
    packages = next((base / "venv/lib").glob("python*/site-packages"))
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file() and not path.is_symlink())
    assert size / 1e6 < LARGEST_MB


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["selftest"], "hf,mining"),
        (["lab", "calibrate", "--quick"], "hf,mining"),
        (["audit", "reference:tilt-0.9"], "hf"),
        (["audit", "hf:model"], "hf"),
        (["mine", "corpus.txt", "--lexicon", "gender.male_terms", "--out", "mined"], "mining"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_needs_an_extra_says_so_in_one_line(base: Path, command: list[str], extra: str) -> None:
    (base / "corpus.txt").write_text("He is a nurse.\nShe is a plumber.\n", encoding="utf-8")
    done = run(base / "venv/bin/tiltmeter", *command, folder=base)
    assert done.returncode == 2, done.stdout
    (line,) = done.stderr.splitlines()
    assert line.endswith(f"pip install 'tiltmeter[{extra}]'")


@pytest.mark.slow
def test_an_audit_of_nothing_named_says_how_to_get_the_sample_models_and_audits_what_is_there(base: Path) -> None:
    done = run(base / "venv/bin/tiltmeter", "audit", "--suite", "weat", "--out", "default", folder=base)
    assert done.returncode == 0, done.stderr
    assert "tiltmeter samples install" in done.stderr
    assert "reference:vectors-0.9" in done.stdout
