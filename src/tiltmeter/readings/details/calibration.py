"""What a calibration tells of one form of one measure."""

from __future__ import annotations
