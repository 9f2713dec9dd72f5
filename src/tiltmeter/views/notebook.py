"""What a reading, an audit, a comparison and a check show of themselves in a notebook: words, a table, a chart.

They find these views by name when a notebook asks them, so none of them imports a view.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Sequence

from jinja2 import Template
from markupsafe import Markup

from tiltmeter.compare.comparison import Comparisons
from tiltmeter.compare.gate import Check
from tiltmeter.readings import Audit, Reading, p_number
from tiltmeter.views.charts import Figure, dumbbells, figure_of, inline_svg, overview
from tiltmeter.views.environment import environment
from tiltmeter.views.rows import reading_rows
from tiltmeter.views.summary import Summary, summarise_rows
from tiltmeter.views.terminal.comparison import interval, number


@dataclasses.dataclass(frozen=True, slots=True)
class _Table:
    """A table; ``folded`` away under its title, where there is more of it than is read at once."""

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    folded: bool = False


def reading_html(reading: Reading) -> str:
    """What was found, the verdict on it, and the chart."""
    words = (reading.finding, reading.verdict.sentence)
    return _page(f"{reading.title} [{reading.model}]", words, (), [figure_of(reading)])


def audit_html(audit: Audit) -> str:
    """The grid of dimensions and models, the heat map, and all readings folded away."""
    rows = reading_rows(audit.readings)
    summary = summarise_rows(rows, audit.models)
    columns = ("model", "measured", "effect", "p, corrected", "verdict", "leans towards")
    readings = [
        (
            row.reading.model,
            row.title,
            f"{row.reading.effect.name} {row.reading.effect}",
            p,
            str(row.verdict),
            row.leans,
        )
        for row in rows
        for p in ["" if row.verdict.p_corrected is None else p_number(row.verdict.p_corrected)]
    ]
    every = _Table(columns, readings, f"All {len(readings)} readings", folded=True)
    grid = _Table(("", *summary.models), [_line(summary, dimension) for dimension in summary.dimensions])
    title = f"{audit.suite}: {summary.count('clear')} of {summary.tests()} bias tests clear"
    return _page(
        title, [summary.control_sentence] if summary.broken else [], (grid, every), overview(audit.readings)[:1]
    )


def _line(summary: Summary, dimension: str) -> list[str]:
    """One dimension of the grid: for each model the strongest verdict, how often, and which way."""
    line = [dimension]
    for model in summary.models:
        square = summary.square(dimension, model)
        way = f": {square.direction}" if square and square.direction else ""
        line.append(f"{square.state} ({square.count}){way}" if square else "not measured")
    return line


def comparison_html(comparisons: Comparisons) -> str:
    """For each pair how many probes differ, what changed first, and the two models on every probe."""
    parts = []
    columns = ("measured", "first", "second", "difference [95% interval]", "p, corrected", "verdict")
    for pair in comparisons.pairs:
        rows = [
            (
                f"{moved.title}{' (control)' if moved.control else ''}",
                *(number(value, moved) for value in (moved.first, moved.second)),
                f"{number(moved.difference, moved, sign=True)} {interval(moved)}",
                "" if moved.p_holm is None else p_number(moved.p_holm),
                f"{moved.state}: {moved.where}" if moved.state in ("clear", "suggestive") else moved.state,
            )
            for moved in pair.differences
        ]
        left = [(left_out.id, left_out.reason) for left_out in pair.not_compared]
        not_compared = _Table(("probe", "why"), left, f"{len(left)} not compared", folded=True)
        parts.append(_page(pair.headline, (), (_Table(columns, rows), not_compared), dumbbells([pair])))
    return "\n".join(parts)


def check_html(check: Check) -> str:
    """The headline, then every probe with its reason, what failed first."""
    columns = ("result", "measured", "model", "why")
    rows = [(probe.outcome, probe.title, probe.model, probe.why) for probe in check.probes]
    changed = [row for row in rows if row[0] in ("failed", "undecided")]
    others = [row for row in rows if row not in changed]
    tables = _Table(columns, changed), _Table(columns, others, f"The other {len(others)} probes", folded=True)
    return _page(check.headline, check.notes, tables, ())


def _page(title: str, sentences: Sequence[str], tables: Sequence[_Table], figures: Iterable[Figure]) -> str:
    # The SVG is made by the renderer, which has escaped what came from readings.
    charts = [Markup(inline_svg(figure)) for figure in figures]
    said = [sentence for sentence in sentences if sentence]
    return _template().render(title=title, sentences=said, tables=tables, charts=charts)


@functools.cache
def _template() -> Template:
    return environment().get_template("notebook.html")
