"""Readings to draw, and what a chart holds of them."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.views.made import d, reading
from tiltmeter.readings import Reading
from tiltmeter.views.charts import Figure

READINGS = [
    reading("own:one", "career", d(0.9)),
    reading("own:one", "science", d(-0.3, p=0.4)),
    reading("own:two", "career", d(1.2)),
    reading("own:two", "science", d(0.1, p=0.8)),
]


def rows(figure: Figure, *with_fields: str) -> list[dict[str, Any]]:
    """The rows of data that have all these fields."""
    found = figure.chart.to_dict()["datasets"].values()
    return [row for each in found for row in each if set(with_fields) <= set(row)]


def marks(figure: Figure) -> set[str]:
    """The kinds of marks anywhere in the chart."""
    found = set(re.findall(r'"mark": \{"type": "(\w+)"', json.dumps(figure.chart.to_dict())))
    return found | set(re.findall(r'"mark": \{[^{}]*"type": "(\w+)"', json.dumps(figure.chart.to_dict())))


def many(models: int) -> list[Reading]:
    return [reading(f"own:{n}", id, d(n / 10)) for n in range(models) for id in ("career", "science")]
