"""The verdict of an audit in plain words: how many leans are clear, which is the strongest, did the control lean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tiltmeter.readings import Reading
from tiltmeter.views.one_scale import on_one_scale
from tiltmeter.views.terminal.table import is_clear, shown_titles, value_text

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


@dataclasses.dataclass(frozen=True, slots=True)
class ModelVerdict:
    """What was found on one model. ``strongest`` is the clear lean farthest from level, in words."""

    model: str
    measured: int
    tests: int
    clear: int
    strongest: str
    control: str
    left_out: int


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What was found in all, in one line and a few sentences, and model by model."""

    headline: str
    sentences: tuple[str, ...]
    models: tuple[ModelVerdict, ...]


def is_control(reading: Reading) -> bool:
    """A control should lean: it shows that the instrument works on this model, and is no finding."""
    return reading.id.startswith("control")


def verdict(audit: Audit) -> Verdict:
    """What the audit found."""
    rows = list(zip(audit.readings, shown_titles(audit.readings), audit.adjusted(), strict=True))
    models = tuple(_model(name, [row for row in rows if row[0].model == name]) for name in audit.models)
    tested = [p for reading, _, p in rows if p is not None and not is_control(reading)]
    clear = sum(map(is_clear, tested))
    leaning = [each.model for each in models if each.clear]
    # A reading without a test says itself whether it leans, and is no part of the count.
    untested = len([None for reading, _, p in rows if p is None and not is_control(reading)])
    return Verdict(
        _headline(clear, len(tested), leaning, len(models)),
        tuple(sentence for sentence in (_size(clear, tested), _untested(untested), _controls(rows)) if sentence),
        models,
    )


def _headline(clear: int, tests: int, leaning: Sequence[str], models: int) -> str:
    if not tests:
        return "Nothing was tested: the numbers below stand without a p-value."
    if not clear:
        return f"None of {tests} tests shows a clear lean."
    among = "" if models == 1 else f", on {len(leaning)} of {models} models"
    return f"{clear} of {tests} tests {'shows' if clear == 1 else 'show'} a clear lean{among}."


def _size(clear: int, tested: Sequence[float]) -> str:
    if not tested:
        return ""
    corrected = "Clear means that chance is an unlikely explanation after Holm's correction for all tests of the audit"
    if clear:
        return f"{corrected}. What is not clear is no proof of balance."
    return f"{corrected}. This is no proof of balance: short word lists find only strong tilts."


def _untested(untested: int) -> str:
    return f"{untested} {'reading comes' if untested == 1 else 'readings come'} without a test." if untested else ""


def _controls(rows: Sequence[tuple[Reading, str, float | None]]) -> str:
    controls = [(reading, p) for reading, _, p in rows if is_control(reading)]
    if not controls:
        return ""
    failed = sorted({reading.model for reading, p in controls if not is_clear(p)})
    if not failed:
        return "The controls, which should lean and are not counted, do: the instrument works on these models."
    return (
        f"Mind: the control, which should lean, does not lean clearly on {', '.join(failed)}. What is not found there "
        "says little."
    )


def _model(name: str, rows: Sequence[tuple[Reading, str, float | None]]) -> ModelVerdict:
    found = [row for row in rows if not is_control(row[0])]
    tested = [row for row in found if row[2] is not None]
    clear = [row for row in tested if is_clear(row[2])]
    controls = [p for reading, _, p in rows if is_control(reading)]
    control = "" if not controls else "leans, as it should" if all(map(is_clear, controls)) else "does not lean clearly"
    return ModelVerdict(
        name,
        len(rows),
        len(tested),
        len(clear),
        _strongest(clear),
        control,
        sum(len(row[0].left_out) for row in rows),
    )


def _strongest(clear: Sequence[tuple[Reading, str, float | None]]) -> str:
    if not clear:
        return ""
    reading, title, _ = max(clear, key=lambda row: abs(on_one_scale(row[0].effect) or 0.0))
    leans = f": {reading.leans}" if reading.leans else ""
    return f"{title}{leans} ({reading.effect.name} {value_text(reading.effect)})"
