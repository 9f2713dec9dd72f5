"""Readings: what a probe found on a model, and its form on disk."""

from tiltmeter.readings import details
from tiltmeter.readings.audit import Audit, ReadingStore, Skipped
from tiltmeter.readings.reading import (
    About,
    Cell,
    Details,
    Estimate,
    Evidence,
    Item,
    ItemMeaning,
    LeftOut,
    OtherDetails,
    Poles,
    Provenance,
    Reading,
    Statistic,
)
from tiltmeter.readings.scale import (
    ALPHA,
    COHERENCE,
    CORRELATION,
    DIFFERENCE,
    DISTANCE,
    ETA,
    SHARE,
    SIZE,
    D,
    Scale,
    interval_text,
    p_number,
    p_text,
    percent_text,
    tilt_in_words,
)

__all__ = [
    "ALPHA", "COHERENCE", "CORRELATION", "DIFFERENCE", "DISTANCE", "ETA", "SHARE", "SIZE", "About", "Audit", "Cell",
    "D", "Details", "Estimate", "Evidence", "Item", "ItemMeaning", "LeftOut", "OtherDetails", "Poles",
    "Provenance", "Reading", "ReadingStore", "Scale", "Skipped", "Statistic", "details", "interval_text", "p_number",
    "p_text", "percent_text", "tilt_in_words",
]  # fmt: skip
