"""Reference models for tests: trained once on a machine, by a quicker recipe, whoever asks first."""

from __future__ import annotations

import dataclasses
import getpass
import hashlib
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock

import tiltmeter.lab.reference
from tiltmeter.lab.calibrate.selftest import models_of
from tiltmeter.lab.reference.reference import train_all, train_reference
from tiltmeter.lab.reference.training import RECIPE
from tiltmeter.models.protocol import installed

QUICK = dataclasses.replace(RECIPE, epochs=2)


def reference_model(tilt: float) -> Path:
    """The folder of a masked language model trained on text with this tilt (see ``planted_text.planted``).

    It is kept for the next run of the tests, as long as nothing that it is made of changes.
    """
    folder = _root() / f"tilt-{tilt:.2f}-{_lab()}"
    with FileLock(f"{folder}.lock"):
        if not folder.exists():
            train_reference(tilt, folder=folder, recipe=QUICK)
    return folder


def _root() -> Path:
    # What Transformers 5 has saved, Transformers 4 cannot read.
    older = "-4" if installed("transformers").get("transformers", "").startswith("4.") else ""
    root = Path(tempfile.gettempdir()) / f"tiltmeter-tests-{getpass.getuser()}{older}"
    root.mkdir(exist_ok=True)
    return root


def selftest_cache() -> Path:
    """A cache in which the models of the self-test are trained once and stay."""
    folder = _root() / f"selftest-{_lab()}"
    with FileLock(f"{folder}.lock"), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILTMETER_CACHE", str(folder))
        train_all(models_of())
    return folder


def demo_cache() -> Path:
    """A cache that keeps what the sample models answered in the demo, which takes two minutes to ask."""
    return _root() / "demo"


def _lab() -> str:
    total = hashlib.sha256(repr(QUICK).encode())
    for name in (
        "planted_text.py",
        "patterns_en.yaml",
        "reference.py",
        "training.py",
    ):
        total.update(Path(tiltmeter.lab.reference.__path__[0], name).read_bytes())
    return total.hexdigest()[:8]
