"""One reading as the dashboard lists it: a key for its address, a colour for its cell, the words to find it by."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re

from tiltmeter.readings import D, Reading
from tiltmeter.views.report.rows import ReportRow


@functools.lru_cache(maxsize=10_000)
def key_of(text: str) -> str:
    """A name as part of an address: readable, and never two names in one.

    >>> key_of("hf:org/model?layer=8")
    'hf-org-model-layer-8-4ff9f60a'
    """
    slug = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:48].strip("-")
    digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{slug}-{digest}" if slug else digest


@dataclasses.dataclass(frozen=True, slots=True)
class Entry:
    """A reading without its items, and where it is kept."""

    audit: str
    file: str
    row: ReportRow
    colour: str
    says: str
    found_by: str

    @classmethod
    def of(cls, audit: str, file: str, row: ReportRow) -> Entry:
        reading = row.reading
        leans = row.leans or reading.effect.better
        says = f"{reading.model}, {row.title}: {reading.effect.name} {row.value}; {leans}"
        found_by = " ".join((reading.model, row.title, reading.id, reading.probe, leans)).casefold()
        return cls(audit, file, row, colour_of(reading), says, found_by)

    @property
    def reading(self) -> Reading:
        return self.row.reading

    @property
    def model_key(self) -> str:
        return key_of(self.reading.model)

    @property
    def probe_key(self) -> str:
        return key_of(self.reading.id)

    @property
    def short(self) -> str:
        """The number alone, for a cell."""
        return f"{self.reading.effect.value:.2f}"


def colour_of(reading: Reading) -> str:
    """The class of a cell: which side of level, and how many of Cohen's bands away from it."""
    size = reading.effect.scale.as_d(reading.effect.value)
    if size is None:
        return "other"
    bands = sum(abs(size) >= band for band in D.bands or ())
    return "level" if not bands else f"{'plus' if size > 0 else 'minus'}{bands}"
