"""What each kind of probe measures, what would be level, and what to mind: said once, however many readings it gave."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tiltmeter.readings import Reading

_IDEA = "What counts as bias here: "


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
    from tiltmeter.probes import KINDS

    found = []
    for probe in dict.fromkeys(reading.probe for reading in readings):
        mine = [reading for reading in readings if reading.probe == probe]
        caveats = tuple(dict.fromkeys(caveat for reading in mine for caveat in reading.caveats))
        idea = next((caveat.removeprefix(_IDEA) for caveat in caveats if caveat.startswith(_IDEA)), "")
        found.append(
            Meaning(
                probe,
                # A folder may hold readings of a probe that this version does not know.
                KINDS[probe].summary if probe in KINDS else probe,
                idea[:1].upper() + idea[1:],
                tuple(dict.fromkeys(f"{r.effect.name}: {r.effect.better}" for r in mine)),
                tuple(caveat for caveat in caveats if not caveat.startswith(_IDEA)),
                tuple(dict.fromkeys(str(r.provenance["citation"]) for r in mine)),
                tuple(dict.fromkeys(reading.title for reading in mine)),
            )
        )
    return found


def shared_caveats(found: Sequence[Meaning]) -> tuple[str, ...]:
    """What is to mind about every kind of probe here, so that it can be said once for all of them."""
    if len(found) < 2:
        return ()
    return tuple(caveat for caveat in found[0].caveats if all(caveat in each.caveats for each in found))
