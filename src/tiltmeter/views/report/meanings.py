"""What each kind of probe measures, what would be level, and what to mind: said once, however many readings it gave."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tiltmeter.readings import Reading


@dataclasses.dataclass(frozen=True, slots=True)
class Meaning:
    """A kind of probe in words. ``better`` says for each of its statistics which way is better."""

    probe: str
    summary: str
    idea: str
    better: tuple[str, ...]
    caveats: tuple[str, ...]
    citations: tuple[str, ...]
    titles: tuple[str, ...]


def meanings(readings: Sequence[Reading]) -> list[Meaning]:
    """The kinds of probes behind these readings, in the order in which they come."""
    by_probe: dict[str, list[Reading]] = {}
    for reading in readings:
        by_probe.setdefault(reading.probe, []).append(reading)
    return [_meaning(probe, mine) for probe, mine in by_probe.items()]


def _meaning(probe: str, readings: Sequence[Reading]) -> Meaning:
    about = readings[0].about
    return Meaning(
        probe,
        # Readings that an earlier version wrote have no summary.
        about.summary or probe,
        about.idea[:1].upper() + about.idea[1:],
        tuple(dict.fromkeys(f"{r.effect.name}: {r.effect.better}" for r in readings)),
        tuple(dict.fromkeys(caveat for r in readings for caveat in r.about.caveats)),
        tuple(dict.fromkeys(r.about.citation for r in readings)),
        tuple(dict.fromkeys(r.title for r in readings)),
    )


def shared_caveats(kinds: Sequence[Meaning]) -> tuple[str, ...]:
    """What is to mind about every kind of probe here, so that it can be said once for all of them."""
    if len(kinds) < 2:
        return ()
    return tuple(caveat for caveat in kinds[0].caveats if all(caveat in kind.caveats for kind in kinds))
