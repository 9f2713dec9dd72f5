"""What an audit did not measure, said once for all the models that have the reason in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


class NotMeasured(NamedTuple):
    """Probes that were not put to some models, and why."""

    probes: list[str]
    models: list[str]
    reason: str


def not_measured(audit: Audit) -> list[NotMeasured]:
    """What was left out, in the order of the suite."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for skipped in audit.skipped:
        by_reason.setdefault((skipped.model, skipped.reason), []).append(skipped.probe)
    by_probes: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (model, reason), probes in by_reason.items():
        by_probes.setdefault((tuple(probes), reason), []).append(model)
    return [NotMeasured(list(probes), models, reason) for (probes, reason), models in by_probes.items()]
