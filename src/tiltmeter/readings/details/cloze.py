"""What ClozeGender tells of one cell of its table."""

from __future__ import annotations
