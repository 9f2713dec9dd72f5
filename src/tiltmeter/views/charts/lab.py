"""Charts of the lab: dose and response of every measure, and the effect against the length of the context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.readings.studies import CLOSE, ContextLength, LengthCurve
from tiltmeter.views.charts.style import FAINT, INK, SHADES, SOFT, Figure, look_of, says, styled, table, titled

_DOSE_FORMS = ("repaired", "published")
_CELL_WIDTH, _CELL_HEIGHT, _COLUMNS = 150, 110, 4
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
    by_measure: dict[str, list[dict[str, Any]]] = {}
    for reading, summary in best:
        by_measure.setdefault(summary.measure, []).extend(_points(reading, summary))
    title = "Dose and response"
    # A scale of its own for every small chart: they differ a hundredfold, and each is read against its shade.
    cells = alt.concat(*(_cell(points, name) for name, points in by_measure.items()), columns=_COLUMNS, spacing=18)
    words = [
        "in SDs of the readings on models without bias; shaded: could be chance; one point per model, a line for their "
        "mean"
    ]
    chart = titled(cells.resolve_scale(y="independent", color="shared", shape="shared"), title, words)
    follow, first = sum(summary.spearman >= 0.95 for _, summary in best), best[0][1]
    alt_text = (
        f"Dose and response of {len(best)} forms of measures: {follow} follow the planted bias with a Spearman "
        f"correlation of .95 or more; steepest against its noise is {first.measure}, {first.form}, with "
        f"{first.slope_in_noise or 0.0:.1f} SDs for a dose of .1."
    )
    return Figure("calibration", title, alt_text, chart)


def _points(reading: Reading, summary: CalibrationDetails) -> Iterator[dict[str, Any]]:
    for item in reading.items:
        if item.value is not None:
            dose, value = item.get("dose"), item.value / summary.noise
            words = (
                f"{summary.measure}, {summary.form}: {item.value:.3g} {summary.unit} at a dose of "
                f"{dose} (seed {item.get('seed')}), {value:.1f} SDs of noise"
            )
            yield {"measure": summary.measure, "form": summary.form, "dose": dose, "value": value, "says": words}


def _cell(points: list[dict[str, Any]], name: str) -> Any:
    scale = alt.Scale(zero=False, nice=False, padding=8)
    x = alt.X("dose:Q", title="dose", scale=scale, axis=alt.Axis(grid=False, tickCount=4))
    y = alt.Y("value:Q", title=None, axis=alt.Axis(grid=False, tickCount=4))
    look = look_of("form", _DOSE_FORMS, orient="top")
    shade = table([{"low": -_CHANCE, "high": _CHANCE}]).mark_rect(color=SHADES[2], aria=False)
    level = table([{"at": 0}]).mark_rule(color=FAINT, aria=False)
    means = table(points).mark_line(strokeWidth=1.6, aria=False)
    dots = table(points).mark_point(size=30, strokeWidth=1.4, filled=False)
    return alt.layer(
        shade.encode(y=alt.Y("low:Q", title=None), y2="high:Q", x=alt.value(0), x2=alt.value(_CELL_WIDTH)),
        level.encode(y="at:Q"),
        means.encode(x=x, y=alt.Y("mean(value):Q", title=None), color=look["color"]),
        dots.encode(x=x, y=y, **look, **says()),
        width=_CELL_WIDTH,
        height=_CELL_HEIGHT,
        title=alt.Title(name, fontSize=12, color=INK, subtitleColor=SOFT),
    )


#: Colour-blind safe (Okabe & Ito).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_FORMS = ("repaired", "as published")
_WIDTH, _HEIGHT = 420, 260


def chart_rows(curves: Sequence[LengthCurve]) -> list[dict[str, Any]]:
    """One row per model, length and form: what the chart draws, and all it draws."""
    rows = []
    for curve in curves:
        for place, point in enumerate(curve.points):
            row = {"model": curve.model, "probe": curve.title, "length": point.length, "place": place}
            interval = {"low": point.ci.low, "high": point.ci.high}
            rows.append({**row, "form": _FORMS[0], "d": point.effect, **interval, "p": point.p_value})
            if point.published is not None:
                value, p = point.published, point.published_p_value
                rows.append({**row, "form": _FORMS[1], "d": value, "low": None, "high": None, "p": p})
    return rows


def context_chart(study: ContextLength) -> Any | None:
    """Effect sizes by length with their intervals, one panel per probe; None where there are none."""
    if not study.curves:
        return None
    models = list(dict.fromkeys(curve.model for curve in study.curves))
    by_probe: dict[str, list[LengthCurve]] = {}
    for curve in study.curves:
        by_probe.setdefault(curve.probe, []).append(curve)
    return styled(alt.vconcat(*(_panel(curves, models) for curves in by_probe.values()), spacing=24))


def _panel(curves: Sequence[LengthCurve], models: list[str]) -> Any:
    rows = chart_rows(curves)
    lengths = list(dict.fromkeys(row["length"] for row in sorted(rows, key=lambda row: row["place"])))
    y = alt.Y("d:Q", title="effect size d with 95% interval", axis=alt.Axis(grid=False))
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(models))]
    legend = alt.Legend(orient="bottom", direction="vertical", labelLimit=400, title=None)
    scale = alt.Scale(padding=0.5)
    shared = {
        "x": alt.X("length:N", sort=lengths, title=curves[0].axis, axis=alt.Axis(labelAngle=0), scale=scale),
        "xOffset": alt.XOffset("model:N", sort=models),
        "color": alt.Color("model:N", sort=models, scale=alt.Scale(domain=models, range=colours), legend=legend),
    }
    repaired, published = (table([row for row in rows if row["form"] == form]) for form in _FORMS)
    told = ["model:N", "length:N", "d:Q", "low:Q", "high:Q", "p:Q"]
    layers = [
        table([{"at": 0.0}]).mark_rule(color="#555").encode(y="at:Q"),
        repaired.mark_rule(strokeWidth=2).encode(y="low:Q", y2="high:Q", **shared),
        repaired.mark_point(size=70, filled=True, opacity=1).encode(y=y, tooltip=told, **shared),
    ]
    if any(row["form"] == _FORMS[1] for row in rows):
        hollow = published.mark_point(size=70, shape="diamond", filled=False, opacity=1)
        layers.append(hollow.encode(y=y, tooltip=["model:N", "length:N", "d:Q", "p:Q"], **shared))
    words = f"repaired (filled) and as published (hollow); stable: within {CLOSE} of the longest, and in its interval"
    title = alt.Title(curves[0].title, subtitle=words, subtitleFontSize=12, subtitleColor="#5b6472")
    return alt.layer(*layers).properties(title=title, width=_WIDTH, height=_HEIGHT)
