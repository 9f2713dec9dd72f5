"""The wheel in an environment of its own that has nothing but what it declares: it does its main job there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.models.tiny_language_models import save_tiny
from tests.planted import CAREER_FAMILY, TERMS, words

ROOT = Path(__file__).parents[1]
#: What a base install may weigh, without what comes with an environment.
LARGEST_MB = 420
_OF_AN_ENVIRONMENT = ("pip", "setuptools", "pkg_resources", "_distutils_hack")


def run(*command: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TILTMETER", "COLUMNS"))
    }
    settings = {**kept, "TILTMETER_CACHE": str(folder / "cache"), "PIP_COMPILE": "1"}  # as pip does by itself
    return subprocess.run([*map(str, command)], cwd=folder, env=settings, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT, folder=folder)
    if built.returncode:
        pytest.skip(f"pip cannot build the wheel here: {built.stderr.strip().splitlines()[-1]}")
    return next(folder.glob("*.whl"))


def install(wheel: Path, folder: Path, extra: str = "") -> Path:
    """A clean environment with the wheel and an extra of it."""
    assert run(sys.executable, "-m", "venv", folder / "venv", folder=folder).returncode == 0
    pip = (folder / "venv/bin/python", "-m", "pip", "install", "-q", "--constraint", ROOT / "constraints.txt")
    installed = run(*pip, f"{wheel}[{extra}]" if extra else wheel, folder=folder)
    if installed.returncode:
        pytest.skip(f"pip reaches no registry here: {installed.stderr.strip().splitlines()[-1]}")
    return folder


def size(folder: Path) -> float:
    """What an environment weighs in MB, without the installer that comes with it."""
    packages = next((folder / "venv/lib").glob("python*/site-packages"))
    files = [path for path in packages.rglob("*") if path.is_file() and not path.is_symlink()]
    parts: dict[str, float] = {}
    compiled = 0.0
    for path in files:
        part = path.relative_to(packages).parts[0]
        if part.partition("-")[0] in _OF_AN_ENVIRONMENT:
            continue
        size = path.stat().st_size / 1e6
        parts[part] = parts.get(part, 0) + size
        compiled += size * (path.suffix == ".pyc")
    largest = sorted(parts, key=lambda part: parts[part], reverse=True)[:8]
    total = sum(parts.values())
    named = ", ".join(f"{part} {parts[part]:.0f}" for part in largest)
    print(f"\n{total:.0f} MB ({total - compiled:.0f} without what pip compiles): {named}")
    return total


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a clean environment with the wheel, without extras."""
    return install(wheel, tmp_path_factory.mktemp("install"))


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
    for format in ("md", "csv", "latex", "model-card"):
        written = run(command, "report", "results", "--format", format, "--out", f"audit.{format}", folder=base)
        assert written.returncode == 0, written.stderr
    drawn = run(command, "report", "results", "--charts", "charts", "--format", "png", folder=base)
    assert drawn.returncode == 0, drawn.stderr
    assert next((base / "charts").glob("*.png")).read_bytes().startswith(b"\x89PNG")
    listed = run(base / "venv/bin/python", "-m", "pip", "list", folder=base).stdout
    assert not {"torch", "numba", "statsmodels", "pyarrow", "pandas"} & set(listed.split())
    assert size(base) < LARGEST_MB


@pytest.mark.slow
@pytest.mark.parametrize("extra", ["hf", "all"])
def test_an_install_with_an_extra_audits_a_language_model_and_reports(wheel: Path, tmp_path: Path, extra: str) -> None:
    if extra not in os.environ.get("TILTMETER_INSTALL", "").split():
        pytest.skip("gigabytes: make test-install runs it")
    install(wheel, tmp_path, extra)
    model = Path(save_tiny("bert", tmp_path / "bert"))
    command = tmp_path / "venv/bin/tiltmeter"
    # The vectors of the cloze probe are not installed here: that costs this probe, and no other.
    done = run(command, "audit", f"hf:{model}", "--out", "results", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (tmp_path / "results/audit.html").read_text(encoding="utf-8")
    if extra == "all":
        for line in (
            "import fastapi, uvicorn, httpx, numba, zstandard, shap, ray, fugashi",
            "import tiltmeter.web.app",
        ):
            assert run(tmp_path / "venv/bin/python", "-c", line, folder=tmp_path).returncode == 0
    size(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (["selftest"], "hf,mining"),
        (["lab", "calibrate", "--quick"], "hf,mining"),
        (["audit", "reference:tilt-0.9"], "hf"),
        (["audit", "hf:model"], "hf"),
        (["mine", "corpus.txt", "--lexicon", "gender.male_terms", "--out", "mined"], "mining"),
        (["train", "glove", "corpus.txt", "--out", "glove"], "mining"),
        (["serve", "."], "web"),
        (["audit", "openai:text-embedding-3-small"], "api"),
        (["unmask", "hf:model", "The nurse said that [MASK] was tired."], "hf"),
        (["lab", "inject", "--model", "hf:model"], "hf"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value),
)
def test_what_needs_an_extra_says_so_in_one_line(base: Path, command: list[str], extra: str) -> None:
    (base / "corpus.txt").write_text("He is a nurse.\nShe is a plumber.\n", encoding="utf-8")
    done = run(base / "venv/bin/tiltmeter", *command, folder=base)
    assert done.returncode == 2, done.stdout
    line = done.stderr.splitlines()[-1]
    assert sum(line.startswith("error: ") for line in done.stderr.splitlines()) == 1
    assert "Traceback" not in done.stderr
    assert line.endswith(f"pip install 'tiltmeter[{extra}]'")
    assert not (base / "mined").exists()


@pytest.mark.slow
def test_an_audit_of_nothing_named_says_how_to_get_the_sample_models_and_audits_what_is_there(base: Path) -> None:
    done = run(base / "venv/bin/tiltmeter", "audit", "--suite", "weat", "--out", "default", folder=base)
    assert done.returncode == 0, done.stderr
    assert "tiltmeter samples install" in done.stderr
    assert "reference:vectors-0.9" in done.stdout


@pytest.mark.slow
def test_a_table_says_what_makes_data_frames_of_it(base: Path) -> None:
    lines = "import tiltmeter", "audit = tiltmeter.audit('reference:vectors-0.9', suite='weat')", "audit.to_frame()"
    done = run(base / "venv/bin/python", "-c", "\n".join(lines), folder=base)
    assert done.stderr.endswith("to_frame() needs the extra 'tables': pip install 'tiltmeter[tables]'\n")
