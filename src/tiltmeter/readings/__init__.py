"""Readings: what a probe found on a model, and its form on disk."""

from tiltmeter.readings.audit import Audit, Skipped
from tiltmeter.readings.details import Details, OtherDetails
from tiltmeter.readings.reading import (
    About,
    Cell,
    Estimate,
    Item,
    ItemMeaning,
    LeftOut,
    Poles,
    Provenance,
    Reading,
    Statistic,
)
from tiltmeter.readings.scale import (
    COHERENCE,
    CORRELATION,
    DIFFERENCE,
    DISTANCE,
    ETA,
    SHARE,
    SIZE,
    D,
    Scale,
)
from tiltmeter.readings.store import ReadingStore

__all__ = [
    "COHERENCE",
    "CORRELATION",
    "DIFFERENCE",
    "DISTANCE",
    "ETA",
    "SHARE",
    "SIZE",
    "About",
    "Audit",
    "Cell",
    "D",
    "Details",
    "Estimate",
    "Item",
    "ItemMeaning",
    "LeftOut",
    "OtherDetails",
    "Poles",
    "Provenance",
    "Reading",
    "ReadingStore",
    "Scale",
    "Skipped",
    "Statistic",
]
