"""The verdict of an audit in plain words: how many leans are clear, the strongest of them, what was not measured."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

from tiltmeter.readings import Audit
from tiltmeter.views.rows import ReadingRow, rows_by_model


@dataclasses.dataclass(frozen=True, slots=True)
class ModelVerdict:
    """What the audit says of one model. ``strongest`` is the clear lean farthest from level, in words."""

    model: str
    measured: int
    tests: int
    clear: int
    strongest: str
    control: str
    left_out: int


@dataclasses.dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What the audit says in all, in one line and a few sentences, and model by model."""

    headline: str
    sentences: tuple[str, ...]
    models: tuple[ModelVerdict, ...]


def verdict(audit: Audit) -> AuditVerdict:
    """What the audit says, in words."""
    by_model = rows_by_model(audit)
    rows = [row for mine in by_model.values() for row in mine]
    models = tuple(_model(name, mine) for name, mine in by_model.items())
    tests, clear = (sum(getattr(model, name) for model in models) for name in ("tests", "clear"))
    # A reading without a test says itself whether it leans, and is no part of the count.
    untested = sum(not row.tested and not row.reading.control for row in rows)
    without = f"{untested} {'reading comes' if untested == 1 else 'readings come'} without a test."
    sentences = (_meaning(clear) if tests else "", without if untested else "", _controls(rows))
    return AuditVerdict(_headline(clear, tests, models), tuple(filter(None, sentences)), models)


def _headline(clear: int, tests: int, models: Sequence[ModelVerdict]) -> str:
    if not tests:
        return "Nothing was tested: the numbers below stand without a p-value."
    if not clear:
        return f"None of {tests} tests shows a clear lean."
    leaning = sum(model.clear > 0 for model in models)
    among = "" if len(models) == 1 else f", on {leaning} of {len(models)} models"
    return f"{clear} of {tests} tests {'shows' if clear == 1 else 'show'} a clear lean{among}."


def _meaning(clear: int) -> str:
    means = "A clear lean is statistically significant after Holm's correction for all tests of the audit."
    none = "That there is none is no proof of balance: short word lists find only strong tilts."
    return f"{means} {'What is not clear is no proof of balance.' if clear else none}"


def _controls(rows: Sequence[ReadingRow]) -> str:
    controls = [row for row in rows if row.reading.control]
    failed = sorted({row.reading.model for row in controls if not row.clear})
    if failed:
        return (
            f"Mind: the control, which should lean, does not lean clearly on {', '.join(failed)}. That no lean is seen "
            "there says little."
        )
    works = "The controls, which should lean and are not counted, do: the instrument works on these models."
    return works if controls else ""


def _model(name: str, rows: Sequence[ReadingRow]) -> ModelVerdict:
    tests = [row for row in rows if row.tested and not row.reading.control]
    clear = [row for row in tests if row.clear]
    controls = [row.clear for row in rows if row.reading.control]
    control = "" if not controls else "leans, as it should" if all(controls) else "does not lean clearly"
    left_out = sum(len(row.reading.left_out) for row in rows)
    strongest = ""
    if clear:
        row = max(clear, key=lambda row: abs(row.size or 0.0))
        leans = f": {row.leans}" if row.leans else ""
        strongest = f"{row.title}{leans} ({row.reading.effect.name} {row.value})"
    return ModelVerdict(name, len(rows), len(tests), len(clear), strongest, control, left_out)


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
