"""The verdict of an audit in plain words: how many leans are clear, which is the strongest, did the control lean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from tiltmeter.readings import Reading
from tiltmeter.views.phrases import is_clear, shown_titles, value_text

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


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


class _Row(NamedTuple):
    reading: Reading
    title: str
    p: float | None

    @property
    def counted(self) -> bool:
        """Whether it is one of the tests: a control is no finding, and a reading without a p-value no test."""
        return not self.reading.control and self.p is not None


def verdict(audit: Audit) -> AuditVerdict:
    """What the audit says, in words."""
    rows = [_Row(*row) for row in zip(audit.readings, shown_titles(audit.readings), audit.adjusted(), strict=True)]
    models = tuple(_model(name, [row for row in rows if row.reading.model == name]) for name in audit.models)
    tests = [row for row in rows if row.counted]
    clear = sum(is_clear(row.p) for row in tests)
    # A reading without a test says itself whether it leans, and is no part of the count.
    untested = sum(row.p is None and not row.reading.control for row in rows)
    sentences = (_meaning(clear) if tests else "", _untested(untested), _controls(rows))
    return AuditVerdict(_headline(clear, len(tests), models), tuple(filter(None, sentences)), models)


def _headline(clear: int, tests: int, models: Sequence[ModelVerdict]) -> str:
    if not tests:
        return "Nothing was tested: the numbers below stand without a p-value."
    if not clear:
        return f"None of {tests} tests shows a clear lean."
    leaning = sum(each.clear > 0 for each in models)
    among = "" if len(models) == 1 else f", on {leaning} of {len(models)} models"
    return f"{clear} of {tests} tests {'shows' if clear == 1 else 'show'} a clear lean{among}."


def _meaning(clear: int) -> str:
    means = "A clear lean is statistically significant after Holm's correction for all tests of the audit"
    if clear:
        return f"{means}. What is not clear is no proof of balance."
    return f"{means}. That there is none is no proof of balance: short word lists find only strong tilts."


def _untested(untested: int) -> str:
    return f"{untested} {'reading comes' if untested == 1 else 'readings come'} without a test." if untested else ""


def _controls(rows: Sequence[_Row]) -> str:
    controls = [row for row in rows if row.reading.control]
    if not controls:
        return ""
    failed = sorted({row.reading.model for row in controls if not is_clear(row.p)})
    if not failed:
        return "The controls, which should lean and are not counted, do: the instrument works on these models."
    return (
        f"Mind: the control, which should lean, does not lean clearly on {', '.join(failed)}. That no lean is seen "
        "there says little."
    )


def _model(name: str, rows: Sequence[_Row]) -> ModelVerdict:
    tests = [row for row in rows if row.counted]
    clear = [row for row in tests if is_clear(row.p)]
    controls = [is_clear(row.p) for row in rows if row.reading.control]
    return ModelVerdict(
        name,
        len(rows),
        len(tests),
        len(clear),
        _strongest(clear),
        "" if not controls else "leans, as it should" if all(controls) else "does not lean clearly",
        sum(len(row.reading.left_out) for row in rows),
    )


def _strongest(clear: Sequence[_Row]) -> str:
    if not clear:
        return ""
    reading, title, _ = max(clear, key=lambda row: abs(_as_d(row.reading)))
    leans = f": {reading.leans}" if reading.leans else ""
    return f"{title}{leans} ({reading.effect.name} {value_text(reading.effect)})"


def _as_d(reading: Reading) -> float:
    return reading.effect.scale.as_d(reading.effect.value) or 0.0
