"""Charts of the lab: dose and response of every measure, and the effect against the length of the context."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import D, Estimate, Reading, State, p_text
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.readings.studies import CLOSE, ContextLength, LengthCurve, LengthPoint
from tiltmeter.readings.verdict import judge
from tiltmeter.views.charts.marks import PUBLISHED, published_marks, verdict_marks, verdict_shape
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SHADES, SOFT, Figure, pixel, says, table, titled

_DOSE_FORMS = ("repaired", "published")
_CELL_WIDTH, _CELL_HEIGHT, _COLUMNS = 126, 100, 3
#: Two-sided, 95%: what chance seldom passes.
_CHANCE = 1.96


def calibration(readings: Sequence[Reading]) -> Figure | None:
    """A small chart for each measure, the one that follows the dose best first; None where nothing was calibrated.

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
        "mean; dark: repaired; grey diamond: as published"
    ]
    chart = titled(cells.resolve_scale(y="independent", fill="shared", shape="shared", stroke="shared"), title, words)
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
    look = _form_look(_DOSE_FORMS)
    shade = table([{"low": -_CHANCE, "high": _CHANCE}]).mark_rect(color=SHADES[2], aria=False)
    level = table([{"at": 0}]).mark_rule(color=FAINT, aria=False)
    means = table(points).mark_line(strokeWidth=1.6, aria=False)
    dots = table(points).mark_point(size=22, strokeWidth=0, opacity=0.9)
    return alt.layer(
        shade.encode(y=alt.Y("low:Q", title=None), y2="high:Q", x=alt.value(0), x2=alt.value(_CELL_WIDTH)),
        level.encode(y="at:Q"),
        means.encode(x=x, y=alt.Y("mean(value):Q", title=None), stroke=_stroke(_DOSE_FORMS)),
        dots.encode(x=x, y=y, **look, **says()),
        width=_CELL_WIDTH,
        height=_CELL_HEIGHT,
        title=alt.Title(name, fontSize=12, color=INK, subtitleColor=SOFT),
    )


def _form_look(forms: Sequence[str]) -> dict[str, Any]:
    """Repaired is dark, as published a grey diamond. The line below the title says so: small charts share no legend."""
    fill, shape = (alt.Scale(domain=list(forms), range=looks) for looks in ([INK, SOFT], ["circle", PUBLISHED]))
    return {
        "fill": alt.Fill("form:N", scale=fill, legend=None),
        "shape": alt.Shape("form:N", scale=shape, legend=None),
    }


def _stroke(forms: Sequence[str]) -> Any:
    return alt.Stroke("form:N", scale=alt.Scale(domain=list(forms), range=[INK, SOFT]), legend=None)


_FORMS = ("repaired", "as published")
_WIDTH, _HEIGHT = 420, 240
#: Pixels between the points of two models at one length.
_APART = 9


def chart_rows(curves: Sequence[LengthCurve]) -> list[dict[str, Any]]:
    """One row per model, length and form: what the chart draws, and all it draws."""
    rows = []
    for curve in curves:
        for point in curve.points:
            numbers = {"d": point.effect, "low": point.ci.low, "high": point.ci.high, "p": point.p_value}
            rows.append({"form": _FORMS[0], "state": _state(point), **_named(curve, point), **numbers})
            if point.published is not None:
                numbers = {"d": point.published, "low": None, "high": None, "p": point.published_p_value}
                rows.append({"form": _FORMS[1], "state": "untested", **_named(curve, point), **numbers})
    for row in rows:
        interval = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
        p = "" if row["p"] is None else f", {p_text(row['p'])}"
        row["says"] = f"{row['model']}, {row['length']}, {row['form']}: d {row['d']:.2f}{interval}{p}"
    return rows


def _named(curve: LengthCurve, point: LengthPoint) -> dict[str, Any]:
    return {"model": curve.model, "probe": curve.title, "length": point.length}


def _state(point: LengthPoint) -> State:
    """What may be said of one length alone: nothing is corrected for the others, so no more than suggestive."""
    estimate = Estimate("effect size d", point.effect, D, point.ci, point.p_value)
    state = judge(estimate, control=False, correction=None, power=None).state
    return "suggestive" if state == "clear" else state


def context_lengths(study: ContextLength) -> Figure | None:
    """Effect sizes by length with their intervals, a line per model, one panel per probe; None where there are none."""
    if not study.curves:
        return None
    models = list(dict.fromkeys(curve.model for curve in study.curves))
    by_probe: dict[str, list[LengthCurve]] = {}
    for curve in study.curves:
        by_probe.setdefault(curve.probe, []).append(curve)
    # One set of marks for all panels: each with its own would be drawn with those of the first.
    shape = verdict_shape(_state(point) for curve in study.curves for point in curve.points)
    panels = [_length_panel(curves, models, shape) for curves in by_probe.values()]
    title = "Effect by length of the context"
    words = (
        f"mark and 95% interval: repaired, p on its own; dashed, diamond: as published; stable: within {CLOSE} of the "
        "longest, and within its interval"
    )
    chart = titled(alt.vconcat(*panels, spacing=24), title, words, letters=66)
    said = "; ".join(
        f"{curve.title} on {curve.model} from {curve.points[0].effect:.2f} ({curve.points[0].length}) to "
        f"{curve.points[-1].effect:.2f} ({curve.points[-1].length}), "
        + (f"stable from {curve.stable_from}" if curve.stable_from else "not stable")
        for curve in study.curves
    )
    return Figure("context-length", title, f"{title}: {said}.", chart)


def _length_panel(curves: Sequence[LengthCurve], models: list[str], shape: Any) -> Any:
    rows = chart_rows(curves)
    lengths = max((tuple(point.length for point in curve.points) for curve in curves), key=len)
    # Models may have been measured at different lengths; each keeps its own order.
    order = list(dict.fromkeys((*lengths, *(row["length"] for row in rows))))
    axis = alt.Axis(labelAngle=0, grid=False, tickBand="center", labelLimit=0)
    palette = alt.Scale(domain=models, range=[COLOURS[n % len(COLOURS)] for n in range(len(models))])
    legend = alt.Legend(orient="bottom", direction="vertical", labelLimit=400, title=None, symbolType="stroke")
    stroke = alt.Stroke("model:N", scale=palette, legend=legend)
    fill = alt.Fill("model:N", scale=palette, legend=None)
    layers = [table([{"at": 0.0}]).mark_rule(color=SOFT, aria=False).encode(y="at:Q")]
    drawn = [model for model in models if any(row["model"] == model for row in rows)]
    for n, model in enumerate(drawn):
        # Beside each other, or intervals at one length would lie on each other.
        shift = _APART * (n - (len(drawn) - 1) / 2)
        repaired, published = ([row for row in rows if (row["model"], row["form"]) == (model, form)] for form in _FORMS)
        place = {
            "x": alt.X(
                "length:O", sort=order, title=curves[0].axis, axis=axis, scale=alt.Scale(type="point", padding=0.5)
            ),
            "y": alt.Y("d:Q", title="effect size d; 0 is level", axis=alt.Axis(grid=False)),
            "xOffset": pixel("XOffset", shift),
        }
        across = {"x": place["x"], "xOffset": place["xOffset"]}
        if published:
            lines = table(published).mark_line(strokeDash=[3, 3], strokeWidth=1, aria=False)
            layers += [lines.encode(stroke=stroke, **place), published_marks(published).encode(**place, **says())]
        lines = table(repaired).mark_line(strokeWidth=2, aria=False)
        spans = table(repaired).mark_rule(strokeWidth=2, opacity=0.6, aria=False)
        layers += [
            spans.encode(y=alt.Y("low:Q"), y2="high:Q", stroke=stroke, **across),
            lines.encode(stroke=stroke, **place),
        ]
        layers += verdict_marks(repaired, colour=fill, shape=shape, **place, **says())
    heading = alt.Title(curves[0].title, fontSize=12, color=INK)
    return alt.layer(*layers).properties(title=heading, width=_WIDTH, height=_HEIGHT)
