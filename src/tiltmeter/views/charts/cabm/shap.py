"""What moved the forest for each occupation: the SHAP summary of a CABM reading."""

from __future__ import annotations

from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.cabm.colours import FEATURES, WIDTH, finished
from tiltmeter.views.charts.style import table

#: The feature itself behind each part, as it stands in the items.
_VALUES = {"pmi": "pmi", "cosine": "cosine", "context": "signed_context"}
_BY = {"shap": "SHAP values", "local-linear": "LIME's explanation"}


def summary(reading: Reading) -> Any | None:
    """A dot an occupation and feature, at what it adds to P(first group) - P(second); its colour is the feature."""
    rows = [row for name in FEATURES for row in _dots(reading, name)]
    if not rows:
        return None
    import altair as alt

    one, two = reading.details["groups"]
    moved = alt.X("moved:Q", title=f"moves the forest: ← {two} | {one} →")
    chart = (
        table(rows)
        .mark_circle(size=42, opacity=0.85)
        .encode(
            x=moved,
            y=alt.Y("feature:N", sort=list(FEATURES.values()), title=None),
            yOffset=alt.YOffset("place:Q", scale=alt.Scale(domain=[-0.6, 0.6])),
            color=alt.Color("value:Q", scale=alt.Scale(scheme="blueorange"), title="feature, low to high"),
            tooltip=["word:N", "feature:N", alt.Tooltip("moved:Q", format="+.3f")],
        )
        .properties(width=WIDTH, height=alt.Step(64))
    )
    by = _BY[reading.details["explained_by"]]
    return finished(chart, "What moved the forest, occupation by occupation", f"{by}; labels: {_labels(reading)}")


def _labels(reading: Reading) -> str:
    return str(reading.details["labels_from"])


def _dots(reading: Reading, name: str) -> list[dict[str, Any]]:
    items = [row for row in reading.items if row.get(f"moved_{name}") is not None]
    if not items or not any(row[f"moved_{name}"] for row in items):
        return []
    ranked = sorted(range(len(items)), key=lambda i: items[i][_VALUES[name]])
    place = {i: rank / max(1, len(items) - 1) for rank, i in enumerate(ranked)}
    return [
        {
            "word": row["word"],
            "feature": FEATURES[name],
            "moved": row[f"moved_{name}"],
            "value": place[i],
            # Dots of one value would lie on each other; the golden ratio spreads them without chance.
            "place": (i * 0.618) % 1 - 0.5,
        }
        for i, row in enumerate(items)
    ]
