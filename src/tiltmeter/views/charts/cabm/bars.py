"""Bars of a CABM reading: scores, what they are made of, weights, categories. None where the reading lacks the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CabmDetails, in_order
from tiltmeter.views.charts.cabm import colours
from tiltmeter.views.charts.style import INK, table

_ROW = 14
#: Darker is the form that counts.
_FORM_COLOURS = (INK, "#b6bcc6")
#: The feature itself behind what moved the forest, as it stands in the items.
_RAW = {"pmi": "pmi", "cosine": "cosine", "context": "signed_context"}
_LOW_TO_HIGH = ("#4f9fd0", "#8a929e", "#d98b2b")
_EXPLAINERS = {"shap": "SHAP values", "local-linear": "LIME's explanation"}


def scores(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """The score of each occupation with its interval; a hollow bar is too close to call."""
    rows = [
        {"word": item.label, "group": item.group, "score": item.value, "low": item.get("low"), "high": item.get("high")}
        for item in colours.shown_items(items)
    ]
    if not rows:
        return None
    threshold = details.threshold
    base = table(rows).encode(y=_occupations(rows))
    x = alt.X("score:Q", title=colours.between("score", details.groups), axis=alt.Axis(grid=False))
    tooltip = ["word:N", "score:Q", "low:Q", "high:Q", "group:N"]
    bars = base.mark_bar(strokeWidth=1.2, height=_ROW - 5)
    bars = bars.encode(x=x, tooltip=tooltip, **colours.category_look(details))
    spans = base.mark_rule(color=INK).encode(x="low:Q", x2="high:Q")
    dashed = f"dashed ±{threshold:g}; hollow: too close to call{colours.not_shown(items)}"
    chart = alt.layer(bars, *colours.levels("x", threshold), spans)
    words = f"line: 95% interval; 0 is level, {dashed}"
    seen = colours.ends(items, details.groups)
    return colours.finished(chart, "How each occupation leans", words, seen, height=alt.Step(_ROW))


def parts(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """What each feature adds to the score of each occupation."""
    shown = _with(colours.shown_items(items), "part")
    if not shown:
        return None
    rows = [
        {"word": item.label, "feature": label, "part": item.get(f"part_{name}")}
        for item in shown
        for name, label in colours.FEATURES.items()
    ]
    totals = [{"word": item.label, "score": item.value} for item in shown]
    y = _occupations(totals)
    x = alt.X("part:Q", title=colours.between("part of the score", details.groups), axis=alt.Axis(grid=False))
    bars = table(rows).mark_bar(height=_ROW - 5).encode(y=y, x=x, color=colours.feature_colour())
    marks = table(totals).mark_tick(color=INK, thickness=2, size=_ROW - 3).encode(y=y, x="score:Q")
    level = colours.levels("x", details.threshold)[0]
    words = f"the parts add up to the score, the upright mark{colours.not_shown(items)}"
    chart, seen = alt.layer(bars, level, marks), colours.ends(items, details.groups)
    return colours.finished(chart, "What the scores are made of", words, seen, height=alt.Step(_ROW))


def importance(items: Sequence[Item], _details: CabmDetails) -> Any | None:
    """The mean size of each feature's part, whichever way it pushes."""
    items = _with(items, "part")
    if not items:
        return None
    rows: list[dict[str, Any]] = [
        {"feature": label, "mean": sum(abs(colours.number(item, f"part_{name}")) for item in items) / len(items)}
        for name, label in colours.FEATURES.items()
    ]
    base = table(rows).encode(y=_features(), x=alt.X("mean:Q", title="mean size of its part of the score"))
    colour = colours.feature_colour()
    colour.legend = None
    texts = base.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(text=alt.Text("mean:Q", format=".3f"))
    chart = alt.layer(base.mark_bar(height=18).encode(color=colour), texts)
    words = f"over {len(items)} occupations, whichever way it pushes"
    most = max(rows, key=lambda row: row["mean"])
    seen = f"{most['feature']} moves them most, by {most['mean']:.3f} on average"
    return colours.finished(chart, "Which feature moves the scores", words, seen, height=alt.Step(28))


def moved(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """Dots at what each feature adds to P(first group) - P(second); the colour is the feature itself."""
    rows = [row for name in colours.FEATURES for row in _dots(_with(items, "moved"), name)]
    if details.explained_by is None or not rows:
        return None
    chart = table(rows).mark_circle(size=42, opacity=0.85)
    legend = alt.Legend(title="feature, low to high", orient="bottom", gradientLength=200)
    chart = chart.encode(
        x=alt.X("moved:Q", title=colours.between("moves the forest", details.groups)),
        y=_features(),
        yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-0.6, 0.6])),
        color=alt.Color("value:Q", scale=alt.Scale(range=list(_LOW_TO_HIGH), interpolate="rgb"), legend=legend),
        tooltip=["word:N", "feature:N", alt.Tooltip("moved:Q", format="+.3f")],
    )
    words = f"{_EXPLAINERS[details.explained_by]}; labels: {details.labels_from}"
    far = max(rows, key=lambda row: abs(row["moved"]))
    towards = details.groups[0 if far["moved"] > 0 else 1]
    seen = f"farthest is {far['word']}, moved towards {towards} by its {far['feature']} ({far['moved']:+.3f})"
    return colours.finished(chart, "What moved the forest, occupation by occupation", words, seen, height=alt.Step(64))


def _dots(items: Sequence[Item], name: str) -> list[dict[str, Any]]:
    if not any(item.get(f"moved_{name}") for item in items):
        return []
    ranked = sorted(range(len(items)), key=lambda i: colours.number(items[i], _RAW[name]))
    place = {i: rank / max(1, len(items) - 1) for rank, i in enumerate(ranked)}
    return [
        {"word": item.label, "feature": colours.FEATURES[name], "moved": item.get(f"moved_{name}"), "value": place[i]}
        # Dots of one value would lie on each other; the golden ratio spreads them without chance.
        | {"place": (i * 0.618) % 1 - 0.5}
        for i, item in enumerate(items)
    ]


def weights(_items: Sequence[Item], details: CabmDetails) -> Any | None:
    """The weights by every weighting with their spread over re-seeding, one panel per form."""
    order = in_order(name for form in details.forms.values() for name in form.weights)
    features = list(colours.FEATURES.values())
    panels = []
    for title, form in details.forms.items():
        rows = [
            {"form": title, "weighting": weighting, "feature": label, "weight": weight}
            | {"low": max(0.0, weight - spread), "high": min(1.0, weight + spread)}
            for weighting in in_order(form.weights)
            for fitted in [form.weights[weighting]]
            for label, weight, spread in zip(features, fitted.values, fitted.spread, strict=True)
        ]
        base = table(rows).encode(
            y=alt.Y("weighting:N", title=None, scale=alt.Scale(domain=order)),
            yOffset=alt.YOffset("feature:N", scale=alt.Scale(domain=features)),
        )
        x = alt.X("weight:Q", title="weight", scale=alt.Scale(domain=[0, 1]))
        bars = base.mark_bar().encode(x=x, color=colours.feature_colour())
        spans = base.mark_rule(color=INK, strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
        heading = colours.panel_title(title)
        panels.append(alt.layer(bars, spans, title=heading, width=colours.WIDTH // 2 - 14, height=alt.Step(11)))
    subtitle = "weights sum to 1; line: ± the SD over seeds; an empty row could not be fitted"
    fitted = details.repaired.weights.get(details.repaired.method)
    counts = zip(features, fitted.values, strict=True) if fitted else ()
    seen = ", ".join(f"{feature} {weight:.2f}" for feature, weight in counts)
    seen = f"repaired, weighed by {details.repaired.method}: {seen or 'not fitted'}"
    return colours.finished(alt.hconcat(*panels), "How much each feature counts", subtitle, seen)


def categories(_items: Sequence[Item], details: CabmDetails) -> Any | None:
    """How many occupations fall in each category, published beside repaired."""
    forms = list(details.forms)
    rows = [
        {"form": title, "category": name, "occupations": form.categories.get(name, 0)}
        for title, form in details.forms.items()
        for name in details.categories
    ]
    base = table(rows).encode(
        y=alt.Y("category:N", sort=details.categories, title=None, axis=alt.Axis(labelLimit=240)),
        yOffset=alt.YOffset("form:N", scale=alt.Scale(domain=forms)),
        x=alt.X("occupations:Q", title="occupations", axis=alt.Axis(tickMinStep=1)),
    )
    scale = alt.Scale(domain=forms, range=list(_FORM_COLOURS))
    bars = base.mark_bar().encode(color=alt.Color("form:N", scale=scale, **colours.legend()))
    texts = base.mark_text(align="left", dx=4, fontSize=12, color=INK).encode(text="occupations:Q")
    words = f"cut at ±{details.threshold:g}"
    seen = "; ".join(
        f"{title}: {', '.join(f'{form.categories.get(name, 0)} {name}' for name in details.categories)}"
        for title, form in details.forms.items()
    )
    return colours.finished(alt.layer(bars, texts), "Occupations by category", words, seen, height=alt.Step(16))


def _with(items: Sequence[Item], what: str) -> list[Item]:
    """The items that have such a number for every feature."""
    return [item for item in items if all(item.get(f"{what}_{name}") is not None for name in colours.FEATURES)]


def _occupations(rows: Sequence[dict[str, Any]]) -> Any:
    return alt.Y("word:N", sort=[row["word"] for row in rows], title=None, axis=alt.Axis(labelLimit=200))


def _features() -> Any:
    return alt.Y("feature:N", sort=list(colours.FEATURES.values()), title=None)
