"""What tests of the lab share: a model that was trained on text with a strong, known bias."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reference import reference_model


@pytest.fixture(scope="session")
def tilted() -> Path:
    """Trained at a tilt of .9."""
    return reference_model(0.9)
