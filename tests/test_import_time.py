from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = {
    "torch", "transformers", "scipy", "pandas", "sklearn", "statsmodels", "pyarrow", "altair", "vl_convert", "jinja2",
    "openai", "httpx", "voyageai", "gensim", "pydantic", "rich",
}  # fmt: skip


def imported_by(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_tiltmeter_imports_nothing_but_the_standard_library():
    found = imported_by("import tiltmeter")
    assert "tiltmeter" in found
    assert not found & (HEAVY | {"numpy", "yaml", "typer"})


@pytest.mark.parametrize(
    "room",
    [
        "run",
        "run.audit",
        "run.probe",
        "run.suite",
        "measures",
        "statistics",
        "stimuli",
        "models",
        "probes",
        "readings",
    ],
)
def test_importing_a_room_imports_nothing_heavy(room):
    assert not imported_by(f"import tiltmeter.{room}") & HEAVY


def test_naming_the_functions_imports_nothing_heavy():
    assert not imported_by("import tiltmeter; tiltmeter.audit, tiltmeter.load, tiltmeter.Reading") & HEAVY
