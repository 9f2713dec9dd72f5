"""The chart of the context-length study."""

from __future__ import annotations

from tiltmeter.readings.studies import ContextLength, LengthCurve, LengthPoint
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import to_svg
from tiltmeter.views.charts.context_length import chart_rows, context_chart


def curve(probe: str, effects: dict[str, float], *, published: float | None) -> LengthCurve:
    points = (
        LengthPoint(length, effect, Interval(effect - 0.5, effect + 0.5, 0.95, "given"), 0.3, published, 0.001, 10, 100)
        for length, effect in effects.items()
    )
    return LengthCurve("own:one", probe, tuple(points), None, "")


def test_the_chart_draws_every_point_with_its_interval_and_as_published() -> None:
    study = ContextLength(
        (
            curve("ceat", {"9": 0.35, "25": 0.3}, published=0.36),
            curve("lpbs", {"S1": 0.6}, published=None),
        )
    )
    rows = chart_rows(study.curves)
    assert [(row["length"], row["form"], row["d"]) for row in rows] == [
        ("9", "repaired", 0.35),
        ("9", "as published", 0.36),
        ("25", "repaired", 0.3),
        ("25", "as published", 0.36),
        ("S1", "repaired", 0.6),
    ]
    assert [(row["low"], row["high"]) for row in rows[:2]] == [(0.35 - 0.5, 0.35 + 0.5), (None, None)]
    svg = to_svg(context_chart(study))
    for word in ("CEAT", "log-probability bias", "own:one", "words in the window", "sentence structure"):
        assert word in svg


def test_nothing_measured_is_no_chart() -> None:
    assert context_chart(ContextLength(())) is None
