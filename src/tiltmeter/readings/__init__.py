"""Readings: what a probe found on a model, and its form on disk."""

from tiltmeter.readings.reading import Estimate, LeftOut, Reading, ReadingStore

__all__ = ["Estimate", "LeftOut", "Reading", "ReadingStore"]
