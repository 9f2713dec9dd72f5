"""Notebooks run as a reader would run them, in a folder of their own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.reference import demo_cache

DOCS = Path(__file__).parents[2] / "docs"


def run_notebook(path: Path, folder: Path) -> list[list[Any]]:
    """What each cell with code shows; skips where Jupyter's packages are not installed."""
    for package in ("nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(package, reason=f"{package} is not installed: it comes with the extra dev")
    import nbclient
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    here = {"metadata": {"path": str(folder)}}
    client = nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3", resources=here)
    # Sample models are unpacked once for all tests; `!tiltmeter` in a cell is the one beside this Python.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    client.execute(env={**os.environ, "TILTMETER_CACHE": str(demo_cache()), "PATH": path})
    return [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]
