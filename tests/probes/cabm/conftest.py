"""Forests that are small, so that tests are quick."""

from __future__ import annotations

import sys

import pytest


@pytest.fixture(autouse=True)
def _small_forests(monkeypatch):
    """Their weights are tested with the measure; here they only have to be there."""
    monkeypatch.setattr("tiltmeter.probes.cabm.weighting._FORESTS", 2)
    monkeypatch.setattr(sys.modules["tiltmeter.measures.cabm.weighting"], "_TREES", 20)
