"""The report: one HTML file with verdict, charts, tables, methods and caveats. It needs nothing else, and no script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from operator import itemgetter
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from tiltmeter.readings import Audit
from tiltmeter.views.charts import Figure, has_own_charts, inline_svg, of_reading, overview
from tiltmeter.views.report.words import meanings, not_measured, origin, shared_caveats, verdict
from tiltmeter.views.rows import ReadingRow, reading_rows

#: Charts of single readings are drawn for so many of them; all of them can be written as files.
MOST_DRAWN = 12
#: With more models than these a few single readings out of hundreds would say nothing.
_MANY_MODELS = 5
#: Pixels that fit a column of the page.
_WIDE = 640


def render(audit: Audit) -> str:
    """The report as HTML."""
    rows = reading_rows(audit.readings)
    drawn = _drawn(rows, most=MOST_DRAWN if len(audit.models) <= _MANY_MODELS else 0)
    kinds = meanings(audit.readings)
    # Wide ones come last, so that the others fill both columns without a gap.
    figures = sorted(map(_shown, overview(audit.readings)), key=itemgetter("wide"))
    template = environment().get_template("report.html")
    return template.render(
        audit=audit,
        verdict=verdict(audit),
        figures=figures,
        models=[(name, [row for row in rows if row.reading.model == name]) for name in audit.models],
        drawn={key: list(map(_shown, figures)) for key, figures in drawn.items()},
        differing=[row for row in rows if row.differs],
        skipped=not_measured(audit),
        meanings=kinds,
        shared_caveats=shared_caveats(kinds),
        origin=origin(audit),
        version=version("tiltmeter"),
    )


def _shown(figure: Figure) -> dict[str, Any]:
    """A figure as templates take it, with its picture; a wide one takes both columns."""
    svg = inline_svg(figure)
    width = int(float(svg.split('width="', 1)[1].split('"', 1)[0]))
    # The SVG is made by the renderer, which has escaped what came from readings.
    return {"figure": figure, "svg": Markup(svg), "width": width, "wide": width > _WIDE}


def _drawn(rows: Sequence[ReadingRow], *, most: int) -> dict[tuple[str, str], list[Figure]]:
    """The charts of the readings that say most: those with charts of their own, then the clear leans by their size."""
    telling = [
        (not has_own_charts(row.reading), -abs(row.size or 0.0), row.reading)
        for row in rows
        if has_own_charts(row.reading) or (row.clear and row.tested and not row.reading.control)
    ]
    telling.sort(key=lambda ranked: ranked[:2])
    figures = {(reading.model, reading.id): of_reading(reading) for _, _, reading in telling[:most]}
    return {key: drawn for key, drawn in figures.items() if drawn}


def environment(*packages: str) -> Environment:
    """The templates of these packages and of the views; what a template names must be there."""
    return Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "tiltmeter.views")]),
        autoescape=True,
        # A template is read once: one that is being replaced while a page is made must not break the page.
        auto_reload=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
