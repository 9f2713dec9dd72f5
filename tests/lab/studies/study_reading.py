"""A reading of which only what a study looks at is filled in."""

from __future__ import annotations

from typing import Any

from tiltmeter.models import Identity
from tiltmeter.readings import SIZE, About, Estimate, Provenance, Reading


def study_reading(**fields: Any) -> Reading:
    usual = {
        "id": "cabm",
        "probe": "cabm",
        "title": "title",
        "model": "own:one",
        "dimension": "gender",
        "control": False,
        "family": "bias",
        "effect": Estimate("SD", 0.1, SIZE),
        "published": None,
        "repair": "",
        "poles": None,
        "finding": "",
        "n_items": 3,
        "n_units": 3,
        "items": (),
        "item_meaning": None,
        "statistic": None,
        "left_out": (),
        "notes": (),
        "about": About("", "", "", ()),
        "provenance": Provenance(Identity("own:one", "1"), "", {}, {}),
    }
    return Reading(**{**usual, **fields})
