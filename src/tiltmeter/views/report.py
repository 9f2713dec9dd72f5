"""The report: one HTML file with the chart, the tables, the method and the caveats. It needs nothing else."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.readings import Reading, write_atomically
from tiltmeter.views.charts import forest, to_svg
from tiltmeter.views.table import ALPHA, p_value_text, sentence, value_text

if TYPE_CHECKING:
    from tiltmeter.audits import Audit


def write_report(audit: Audit, path: Path) -> Path:
    """Write the report of an audit; a folder gets ``report.html``."""
    target = path / "report.html" if path.is_dir() else path
    write_atomically(target, render(audit).encode())
    return target


def render(audit: Audit) -> str:
    """The report as HTML."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("tiltmeter.views"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    chart = forest(audit.readings)
    rows = list(zip(audit.readings, audit.adjusted(), strict=True))
    clear = [r for r, (p, _) in rows if p is not None and p <= ALPHA and r.effect.name == "effect size d"]
    return environment.get_template("report.html").render(
        audit=audit,
        # The SVG is made by the chart library from data it has escaped itself.
        chart=Markup(to_svg(chart)) if chart is not None else None,
        models=[
            (name, [_shown(r, p) for r, (p, _) in rows if r.provenance["model"]["name"] == name])
            for name in audit.models
        ],
        tests=sum(r.effect.p_value is not None for r in audit.readings),
        clear=len(clear),
        version=version("tiltmeter"),
    )


def _shown(reading: Reading, p: float | None) -> dict[str, Any]:
    sure = p is None or p <= ALPHA
    return {
        "reading": reading,
        "value": value_text(reading.effect),
        "sentence": sentence(reading, p),
        "p": "-" if p is None else p_value_text(p),
        "raw_p": None if reading.effect.p_value is None else p_value_text(reading.effect.p_value),
        "published_p": (
            None
            if reading.published is None or reading.published.p_value is None
            else p_value_text(reading.published.p_value)
        ),
        "leans": reading.leans if sure else "no clear lean",
        "sure": sure,
    }
