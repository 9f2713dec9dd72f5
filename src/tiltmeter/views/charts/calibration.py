"""Dose and response: what each measure reads on models with a planted bias, in units of its own noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.readings import Item, Reading
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SHADES, SHAPES, SOFT, says, table, titled

_FORMS = ("repaired", "published")
_WIDTH, _HEIGHT, _COLUMNS = 150, 110, 4
#: Two-sided, 95%: what chance seldom passes.
_CHANCE = 1.96


def calibration(readings: Sequence[Reading]) -> Figure | None:
    """A small chart for each measure, in the order of how well it follows; None where nothing was calibrated.

    Every number is divided by the SD of the null readings of its measure, so that all have one scale: within the
    shade it could be chance.
    """
    calibrated = [
        (reading.details, reading.items)
        for reading in readings
        if isinstance(reading.details, CalibrationDetails) and reading.details.noise > 0
    ]
    if not calibrated:
        return None
    best = sorted(calibrated, key=lambda each: -abs(each[0].slope_in_noise or 0.0))
    measures = list(dict.fromkeys(summary.measure for summary, _ in best))
    points = [_point(summary, item) for summary, items in best for item in items]
    title = "Dose and response"
    chart = _facets(points, measures)
    words = "in SDs of the readings on models without bias; shaded: could be chance; points are models, lines means"
    return Figure("calibration", title, _alt([summary for summary, _ in best]), titled(chart, title, [words]))


def _point(summary: CalibrationDetails, item: Item) -> dict[str, Any]:
    value, dose, seed = item.value or 0.0, item.columns["dose"], item.columns["seed"]
    return {
        "measure": summary.measure,
        "form": summary.form,
        "dose": dose,
        "value": value / summary.noise,
        "says": f"{summary.measure}, {summary.form}: {value:.3g} {summary.unit} at a dose of {dose:g} (seed {seed}), "
        f"{value / summary.noise:.1f} SDs of noise",
    }


def _facets(points: list[dict[str, Any]], measures: list[str]) -> Any:
    import altair as alt

    # A line of its own for every small chart: their scales differ a hundredfold, and each is read against its shade.
    cells = [_cell([row for row in points if row["measure"] == name], name) for name in measures]
    return alt.concat(*cells, columns=_COLUMNS, spacing=18).resolve_scale(
        y="independent", color="shared", shape="shared"
    )


def _cell(points: list[dict[str, Any]], name: str) -> Any:
    import altair as alt

    x = alt.X(
        "dose:Q",
        title="dose",
        scale=alt.Scale(zero=False, nice=False, padding=8),
        axis=alt.Axis(grid=False, tickCount=4),
    )
    y = alt.Y("value:Q", title=None, axis=alt.Axis(grid=False, tickCount=4))
    legend = alt.Legend(orient="top", title=None)
    colour = alt.Color("form:N", scale=alt.Scale(domain=list(_FORMS), range=list(COLOURS[:2])), legend=legend)
    shape = alt.Shape("form:N", scale=alt.Scale(domain=list(_FORMS), range=list(SHAPES[:2])), legend=legend)
    dots = table(points)
    shade = table([{"low": -_CHANCE, "high": _CHANCE}]).mark_rect(color=SHADES[2], aria=False)
    level = table([{"at": 0}]).mark_rule(color=FAINT, aria=False)
    return alt.layer(
        shade.encode(y=alt.Y("low:Q", title=None), y2="high:Q", x=alt.value(0), x2=alt.value(_WIDTH)),
        level.encode(y="at:Q"),
        dots.mark_line(strokeWidth=1.6, aria=False).encode(x=x, y=alt.Y("mean(value):Q", title=None), color=colour),
        dots.mark_point(size=30, strokeWidth=1.4, filled=False).encode(x=x, y=y, color=colour, shape=shape, **says()),
    ).properties(width=_WIDTH, height=_HEIGHT, title=alt.Title(name, fontSize=12, color=INK, subtitleColor=SOFT))


def _alt(summaries: Sequence[CalibrationDetails]) -> str:
    follow = [summary for summary in summaries if summary.spearman >= 0.95]
    first = summaries[0]
    return (
        f"Dose and response of {len(summaries)} forms of measures: {len(follow)} follow the planted bias with a "
        f"Spearman correlation of .95 or more; steepest against its noise is {first.measure}, {first.form}, with "
        f"{first.slope_in_noise:.1f} SDs for a dose of .1."
    )
