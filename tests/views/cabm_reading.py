"""A small CABM reading of a masked language model with a planted bias, measured once for all tests of its views."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from tests.reference import reference_model
from tiltmeter.probes import Options
from tiltmeter.probes.cabm import cabm
from tiltmeter.readings import Reading
from tiltmeter.run.probe import put


@contextmanager
def small_forests() -> Iterator[None]:
    """Their weights are tested with the measure; here they only have to be there, with a spread."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tiltmeter.probes.cabm.scores._FORESTS", 2)
        patch.setattr(sys.modules["tiltmeter.measures.cabm.weights"], "_TREES", 20)
        yield


@functools.cache
def measured() -> Reading:
    """Every third of the shipped occupations."""
    (probe,) = cabm.make(options=Options())
    made = probe.stimuli.sentences
    kept = set(sorted({row.occupation for row in made.rows})[::3])
    few = dataclasses.replace(made, rows=tuple(row for row in made.rows if row.occupation in kept))
    with small_forests():
        asked = dataclasses.replace(probe, stimuli=dataclasses.replace(probe.stimuli, sentences=few))
        (found,) = put([asked], f"hf:{reference_model(0.9)}", cache=False, progress=False)
    return found


def changed(reading: Reading, form: str, **parts: Any) -> Reading:
    """The reading with parts of one form replaced."""
    return with_details(reading, **{form: {**reading.details[form], **parts}})


def with_details(reading: Reading, **parts: Any) -> Reading:
    return dataclasses.replace(reading, details={**reading.details, **parts})


def with_items(reading: Reading, items: list[Mapping[str, Any]]) -> Reading:
    return dataclasses.replace(reading, items=tuple(items))
