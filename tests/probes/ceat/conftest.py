"""A folder of mined words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mined_folder import write_mined


@pytest.fixture
def mined(tmp_path: Path) -> Path:
    return write_mined(tmp_path / "mined")
