"""Where the public data sets are, for the tests that read them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def data() -> Callable[[str], Path]:
    """The path of something below the data folder; skips where it is absent."""

    def find(name: str) -> Path:
        folder = os.environ.get("TILTMETER_DATA")
        if not folder:
            pytest.skip("TILTMETER_DATA names no data folder")
        path = Path(folder) / name
        if not path.exists():
            pytest.skip(f"the data folder holds no {name}")
        return path

    return find
