"""Bars of a CABM reading: scores, what they are made of, weights, categories. None where the reading lacks the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.cabm.colours import (
    FEATURES,
    FORMS,
    WIDTH,
    category_colour,
    category_fill,
    category_names,
    feature_colour,
    finished,
    legend,
    levels,
    not_shown,
    panel_title,
    shown_items,
    weightings,
)
from tiltmeter.views.charts.style import INK, table

_ROW = 14
#: Darker is the form that counts.
_FORM_COLOURS = ("#1c2330", "#b6bcc6")


def scores(reading: Reading) -> Any | None:
    """The score of each occupation with its interval; a hollow bar is too close to call."""
    rows = [{key: row[key] for key in ("word", "group", "lean", "low", "high")} for row in shown_items(reading)]
    if not rows:
        return None
    import altair as alt

    groups, threshold = reading.details["groups"], reading.details["threshold"]
    base = table(rows).encode(y=_occupations(rows))
    bars = base.mark_bar(strokeWidth=1.2, height=_ROW - 5).encode(
        x=alt.X(
            "lean:Q", title=f"score; positive leans to {groups[0]}, negative to {groups[1]}", axis=alt.Axis(grid=False)
        ),
        stroke=category_colour(reading),
        fill=category_fill(reading),
        tooltip=["word:N", "lean:Q", "low:Q", "high:Q", "group:N"],
    )
    spans = base.mark_rule(color=INK).encode(x="low:Q", x2="high:Q")
    subtitle = f"line: 95% interval; 0 is level, dashed ±{threshold:g}; hollow: too close to call{not_shown(reading)}"
    chart = alt.layer(bars, *levels("x", threshold), spans).properties(width=WIDTH, height=alt.Step(_ROW))
    return finished(chart, "How each occupation leans", subtitle)


def parts(reading: Reading) -> Any | None:
    """What each feature adds to the score of each occupation."""
    items = [row for row in shown_items(reading) if _has_parts(row)]
    if not items:
        return None
    import altair as alt

    rows = [
        {"word": row["word"], "feature": label, "part": row[f"part_{name}"]}
        for row in items
        for name, label in FEATURES.items()
    ]
    totals = [{"word": row["word"], "score": row["lean"]} for row in items]
    x = alt.X("part:Q", title="part of the score", axis=alt.Axis(grid=False))
    bars = table(rows).mark_bar(height=_ROW - 5).encode(y=_occupations(items), x=x, color=feature_colour())
    marks = table(totals).mark_tick(color=INK, thickness=2, size=_ROW - 3).encode(y=_occupations(items), x="score:Q")
    level = levels("x", reading.details["threshold"])[0]
    chart = alt.layer(bars, level, marks).properties(width=WIDTH, height=alt.Step(_ROW))
    subtitle = f"the parts add up to the score, the black mark{not_shown(reading)}"
    return finished(chart, "What the scores are made of", subtitle)


def importance(reading: Reading) -> Any | None:
    """The mean size of each feature's part, whichever way it pushes."""
    items = [row for row in reading.items if _has_parts(row)]
    if not items:
        return None
    import altair as alt

    rows = [
        {"feature": label, "mean": sum(abs(row[f"part_{name}"]) for row in items) / len(items)}
        for name, label in FEATURES.items()
    ]
    base = table(rows).encode(
        y=alt.Y("feature:N", sort=list(FEATURES.values()), title=None),
        x=alt.X("mean:Q", title="mean size of its part of the score"),
    )
    colour = feature_colour()
    colour.legend = None
    texts = base.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(text=alt.Text("mean:Q", format=".3f"))
    bars = base.mark_bar(height=18).encode(color=colour)
    chart = alt.layer(bars, texts).properties(width=WIDTH, height=alt.Step(28))
    return finished(chart, "Which feature moves the scores", f"over {len(items)} occupations, whichever way it pushes")


def weights(reading: Reading) -> Any | None:
    """The weights by every weighting with their spread over re-seeding, a panel a form."""
    rows = _weight_rows(reading)
    if not rows:
        return None
    import altair as alt

    order = weightings(row["weighting"] for row in rows)
    panels = []
    for form in dict.fromkeys(row["form"] for row in rows):
        base = table([row for row in rows if row["form"] == form]).encode(
            y=alt.Y("weighting:N", title=None, scale=alt.Scale(domain=order)),
            yOffset=alt.YOffset("feature:N", scale=alt.Scale(domain=list(FEATURES.values()))),
        )
        x = alt.X("weight:Q", title="weight", scale=alt.Scale(domain=[0, 1]))
        bars = base.mark_bar().encode(x=x, color=feature_colour())
        spans = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
        panels.append(alt.layer(bars, spans).properties(title=panel_title(form), width=WIDTH // 2, height=alt.Step(11)))
    subtitle = "weights sum to 1; line: ± the SD over seeds; an empty row could not be fitted"
    return finished(alt.hconcat(*panels), "How much each feature counts", subtitle)


def _weight_rows(reading: Reading) -> list[dict[str, Any]]:
    return [
        {
            "form": form,
            "weighting": weighting,
            "feature": label,
            "weight": weight,
            "low": max(0.0, weight - spread),
            "high": min(1.0, weight + spread),
        }
        for form in FORMS
        if (found := reading.details.get(form, {}).get("weights"))
        for weighting in weightings(found)
        for label, weight, spread in zip(
            FEATURES.values(), found[weighting]["values"], found[weighting]["spread"], strict=True
        )
    ]


def categories(reading: Reading) -> Any | None:
    """How many occupations fall in each category, published beside corrected."""
    order = category_names(reading)
    rows = [
        {"form": form, "category": name, "occupations": counts.get(name, 0)}
        for form in FORMS
        if (counts := reading.details.get(form, {}).get("categories"))
        for name in order
    ]
    if not rows:
        return None
    import altair as alt

    colours = alt.Scale(domain=list(FORMS), range=list(_FORM_COLOURS))
    base = table(rows).encode(
        y=alt.Y("category:N", sort=order, title=None, axis=alt.Axis(labelLimit=240)),
        yOffset=alt.YOffset("form:N", scale=alt.Scale(domain=list(FORMS))),
        x=alt.X("occupations:Q", title="occupations", axis=alt.Axis(tickMinStep=1)),
    )
    bars = base.mark_bar().encode(color=alt.Color("form:N", scale=colours, **legend()))
    texts = base.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(text="occupations:Q")
    chart = alt.layer(bars, texts).properties(width=WIDTH, height=alt.Step(16))
    return finished(chart, "Occupations by category", f"cut at ±{reading.details['threshold']:g}")


def _has_parts(row: Mapping[str, Any]) -> bool:
    return all(row.get(f"part_{name}") is not None for name in FEATURES)


def _occupations(rows: Sequence[Mapping[str, Any]]) -> Any:
    import altair as alt

    return alt.Y("word:N", sort=[row["word"] for row in rows], title=None, axis=alt.Axis(labelLimit=200))
