"""What tests of several rooms share: the folder of public data sets, and a plain reader of vectors."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Shared machines are too uneven for deadlines; the same examples every time make a failure easy to repeat.
settings.register_profile("tiltmeter", deadline=None, derandomize=True)
settings.load_profile("tiltmeter")


@pytest.fixture(scope="session")
def data_folder() -> Callable[[str], Path]:
    """The folder of a public data set below TILTMETER_DATA; skips where it is absent."""

    def find(name: str) -> Path:
        root = os.environ.get("TILTMETER_DATA")
        if not root:
            pytest.skip("TILTMETER_DATA names no folder of data sets")
        folder = Path(root) / name
        if not folder.exists():
            pytest.skip(f"the data folder holds no {name}")
        return folder

    return find


@pytest.fixture(scope="session")
def read_word2vec() -> Callable[[Path], Mapping[str, np.ndarray]]:
    """Reads a file in word2vec's text format, the simplest way there is."""

    def read(path: Path) -> Mapping[str, np.ndarray]:
        lines = path.read_text(encoding="utf-8").splitlines()[1:]
        rows = (line.split(" ") for line in lines)
        return {word: np.array(values, dtype=np.float64) for word, *values in rows}

    return read
