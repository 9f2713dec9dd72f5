"""Dose and response: what each measure reads on models with a planted bias, in units of its own noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import FAINT, INK, SHADES, SOFT, look_of, says, table, titled

_FORMS = ("repaired", "published")
_WIDTH, _HEIGHT, _COLUMNS = 150, 110, 4
#: Two-sided, 95%: what chance seldom passes.
_CHANCE = 1.96


def calibration(readings: Sequence[Reading]) -> Figure | None:
    """A small chart for each measure, in the order of how well it follows; None where nothing was calibrated.

    Every number is divided by the SD of the null readings of its measure, so that all have one scale: within the
    shade it could be chance.
    """
    noisy = [(r, r.details) for r in readings if isinstance(r.details, CalibrationDetails) and r.details.noise > 0]
    if not noisy:
        return None
    best = sorted(noisy, key=lambda both: -abs(both[1].slope_in_noise or 0.0))
    points = [row for reading, summary in best for row in _points(reading, summary)]
    title = "Dose and response"
    chart = _facets(points, list(dict.fromkeys(summary.measure for _, summary in best)))
    words = [
        "in SDs of the readings on models without bias; shaded: could be chance; one point per model, a line for their "
        "mean"
    ]
    return Figure("calibration", title, _alt([summary for _, summary in best]), titled(chart, title, words))


def _points(reading: Reading, summary: CalibrationDetails) -> list[dict[str, Any]]:
    return [
        {
            "measure": summary.measure,
            "form": summary.form,
            "dose": item.get("dose"),
            "value": item.value / summary.noise,
            "says": f"{summary.measure}, {summary.form}: {item.value:.3g} {summary.unit} at a dose of "
            f"{item.get('dose')} (seed {item.get('seed')}), {item.value / summary.noise:.1f} SDs of noise",
        }
        for item in reading.items
        if item.value is not None
    ]


def _facets(points: list[dict[str, Any]], measures: list[str]) -> Any:
    # A line of its own for every small chart: their scales differ a hundredfold, and each is read against its shade.
    cells = [_cell([row for row in points if row["measure"] == name], name) for name in measures]
    return alt.concat(*cells, columns=_COLUMNS, spacing=18).resolve_scale(
        y="independent", color="shared", shape="shared"
    )


def _cell(points: list[dict[str, Any]], name: str) -> Any:
    x = alt.X(
        "dose:Q",
        title="dose",
        scale=alt.Scale(zero=False, nice=False, padding=8),
        axis=alt.Axis(grid=False, tickCount=4),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(grid=False, tickCount=4))
    look = look_of("form", _FORMS, orient="top")
    dots = table(points)
    shade = table([{"low": -_CHANCE, "high": _CHANCE}]).mark_rect(color=SHADES[2], aria=False)
    level = table([{"at": 0}]).mark_rule(color=FAINT, aria=False)
    return alt.layer(
        shade.encode(y=alt.Y("low:Q", title=None), y2="high:Q", x=alt.value(0), x2=alt.value(_WIDTH)),
        level.encode(y="at:Q"),
        dots.mark_line(strokeWidth=1.6, aria=False).encode(
            x=x, y=alt.Y("mean(value):Q", title=None), color=look["color"]
        ),
        dots.mark_point(size=30, strokeWidth=1.4, filled=False).encode(x=x, y=y, **look, **says()),
    ).properties(width=_WIDTH, height=_HEIGHT, title=alt.Title(name, fontSize=12, color=INK, subtitleColor=SOFT))


def _alt(best: Sequence[CalibrationDetails]) -> str:
    follow = sum(summary.spearman >= 0.95 for summary in best)
    first = best[0]
    return (
        f"Dose and response of {len(best)} forms of measures: {follow} follow the planted bias with a Spearman "
        f"correlation of .95 or more; steepest against its noise is {first.measure}, {first.form}, with "
        f"{first.slope_in_noise or 0.0:.1f} SDs for a dose of .1."
    )
