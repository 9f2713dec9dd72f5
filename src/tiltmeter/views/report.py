"""The report: one HTML file with the chart, the tables, the method and the caveats. It needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.probes.plain_words import p_number
from tiltmeter.readings import Reading, write_atomically
from tiltmeter.views.cabm_charts import cabm_charts
from tiltmeter.views.charts import forest, shares, to_svg
from tiltmeter.views.table import is_clear, sentence, shown_leans, shown_titles, value_text

if TYPE_CHECKING:
    from markupsafe import Markup

    from tiltmeter.audits import Audit

#: Charts that readings of a probe have of their own.
_OWN_CHARTS: Mapping[str, Callable[[Reading], dict[str, Any]]] = {"cabm": cabm_charts}


def write_report(audit: Audit, path: Path) -> Path:
    """Write the report of an audit; a folder gets ``report.html``."""
    target = path / "report.html" if path.is_dir() else path
    write_atomically(target, render(audit).encode())
    return target


def render(audit: Audit) -> str:
    """The report as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("tiltmeter.views"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    adjusted = [holm for holm, _ in audit.adjusted()]
    charts = {"effects": forest(audit.readings, adjusted=adjusted), "shares": shares(audit.readings, adjusted=adjusted)}
    rows = list(zip(audit.readings, shown_titles(audit.readings), adjusted, strict=True))
    tested = [p for p in adjusted if p is not None]
    skipped: dict[tuple[str, str], list[str]] = {}
    for each in audit.skipped:
        skipped.setdefault((each.model, each.reason), []).append(each.probe)
    return environment.get_template("report.html").render(
        audit=audit,
        charts={name: _svg(chart) for name, chart in charts.items() if chart is not None},
        models=[(name, [_shown(r, t, p) for r, t, p in rows if r.model == name]) for name in audit.models],
        tests=len(tested),
        clear=sum(map(is_clear, tested)),
        skipped=skipped,
        version=version("tiltmeter"),
    )


def _shown(reading: Reading, title: str, p: float | None) -> dict[str, Any]:
    published = reading.published.p_value if reading.published else None
    own = _OWN_CHARTS.get(reading.probe)
    return {
        "reading": reading,
        "title": title,
        "value": value_text(reading.effect),
        "sentence": sentence(reading, p),
        "p": None if p is None else p_number(p),
        "raw_p": None if reading.effect.p_value is None else p_number(reading.effect.p_value),
        "published_p": None if published is None else p_number(published),
        "leans": shown_leans(reading, p),
        "sure": is_clear(p),
        "charts": [_svg(chart) for chart in own(reading).values()] if own else [],
    }


def _svg(chart: Any) -> Markup:
    from markupsafe import Markup

    # The SVG is made by the chart library from data it has escaped itself.
    return Markup(to_svg(chart))
