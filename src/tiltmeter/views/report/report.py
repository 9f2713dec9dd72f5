"""The report: one HTML file with verdict, charts, tables, methods and caveats. It needs nothing else, and no script."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from operator import itemgetter
from typing import Any

from markupsafe import Markup

from tiltmeter.readings import Audit
from tiltmeter.views.charts import Figure, has_own_charts, inline_svg, of_reading, overview
from tiltmeter.views.environment import environment
from tiltmeter.views.report.wording import meanings, not_measured, origin, shared_caveats
from tiltmeter.views.rows import ReadingRow, reading_rows
from tiltmeter.views.summary import summarise_rows

#: Charts of single readings are drawn for so many of them; all of them can be written as files.
MOST_DRAWN = 12
#: Readings that are named at the top.
MOST_FIRST = 6
#: With more models than these a few single readings out of hundreds would say nothing.
_MANY_MODELS = 5
#: Pixels that fit a column of the page.
_WIDE = 640


def render(audit: Audit) -> str:
    """The report as HTML."""
    rows = reading_rows(audit.readings)
    summary = summarise_rows(rows, audit.models)
    drawn = _drawn(rows, most=MOST_DRAWN if len(audit.models) <= _MANY_MODELS else 0)
    kinds = meanings(audit.readings)
    # The chart that is read first leads; of the others wide ones come last, so that the rest fill both columns.
    lead, *others = [*map(shown_figure, overview(audit.readings)), None]
    template = environment().get_template("report.html")
    return template.render(
        audit=audit,
        summary=summary,
        first=summary.first(MOST_FIRST),
        lead=lead,
        figures=sorted(filter(None, others), key=itemgetter("wide")),
        models=[(name, [row for row in rows if row.reading.model == name]) for name in audit.models],
        places={(r.model, r.id): f"reading-{n}" for n, r in enumerate(audit.readings, 1)},
        drawn={key: list(map(shown_figure, figures)) for key, figures in drawn.items()},
        differing=[row for row in rows if row.differs],
        left_out=sum(len(reading.left_out) for reading in audit.readings),
        skipped=not_measured(audit),
        meanings=kinds,
        shared_caveats=shared_caveats(kinds),
        origin=origin(audit),
        version=version("tiltmeter"),
    )


def shown_figure(figure: Figure) -> dict[str, Any]:
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
