"""Tests that take long run where TILTMETER_SLOW=1 is set; the others are what every change must pass."""

from __future__ import annotations

import os

import pytest

SLOW = bool(os.environ.get("TILTMETER_SLOW"))
slow = pytest.mark.skipif(not SLOW, reason="takes long: set TILTMETER_SLOW=1")
