"""What CABM tells of occupations beyond the score: weights, validation, data."""

from __future__ import annotations
