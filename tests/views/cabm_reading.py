"""A small CABM reading of a masked language model with a planted bias, measured once for all tests of its views."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.reference import reference_model
from tiltmeter.probes import make_probes
from tiltmeter.readings import Item, Reading
from tiltmeter.run.probe import run_probes


@contextmanager
def small_forests() -> Iterator[None]:
    """Their weights are tested with the measure; here they only have to be there, with a spread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiltmeter.probes.cabm.weighting._FORESTS", 2)
        patch.setattr(sys.modules["tiltmeter.measures.cabm.weighting"], "_TREES", 20)
        yield


@functools.cache
def measured(method: str | None = None) -> Reading:
    """Every third of the shipped occupations."""
    (probe,) = make_probes("cabm", method=method)
    made = probe.stimuli.sentences
    kept = set(sorted({row.unit for row in made.versions})[::3])
    few = dataclasses.replace(made, versions=tuple(row for row in made.versions if row.unit in kept))
    with small_forests():
        asked = dataclasses.replace(probe, stimuli=dataclasses.replace(probe.stimuli, sentences=few))
        (found,) = run_probes([asked], f"hf:{reference_model(0.9)}", cache=False, progress=False)
    return found


def changed(reading: Reading, form: str, **parts: Any) -> Reading:
    """The reading with parts of one form replaced."""
    return with_details(reading, **{form: dataclasses.replace(getattr(reading.details, form), **parts)})


def with_details(reading: Reading, **parts: Any) -> Reading:
    return dataclasses.replace(reading, details=dataclasses.replace(reading.details, **parts))


def with_items(reading: Reading, items: Iterable[Item]) -> Reading:
    return dataclasses.replace(reading, items=tuple(items))


def drawn(chart: Any, *keys: str) -> list[tuple[Any, ...]]:
    """The rows of data that have these columns."""
    rows = [row for rows in chart.to_dict(validate=False)["datasets"].values() for row in rows]
    return [tuple(row[key] for key in keys) for row in rows if all(key in row for key in keys)]


def draw(chart: Callable[..., Any], reading: Reading) -> Any:
    return chart(reading.items, reading.details)
