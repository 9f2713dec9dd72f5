"""An audit in other forms: for a page, a pull request, a table, a paper, a model card. One function per form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import unknown
from tiltmeter.files import write_atomically
from tiltmeter.views.exports.frames import to_csv, to_parquet
from tiltmeter.views.exports.latex import to_latex
from tiltmeter.views.exports.markdown import to_markdown
from tiltmeter.views.exports.model_card import model_index, to_model_card

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


def to_html(audit: Audit) -> str:
    """The report."""
    from tiltmeter.views.report.report import render

    return render(audit)


#: The forms by name; text is written as UTF-8.
FORMATS: Mapping[str, Callable[[Audit], str | bytes]] = {
    "html": to_html,
    "md": to_markdown,
    "csv": to_csv,
    "parquet": to_parquet,
    "latex": to_latex,
    "model-card": to_model_card,
}
#: What a file of that form is called where the user gives no name.
NAMES = {
    "html": "audit.html",
    "md": "audit.md",
    "csv": "readings.csv",
    "parquet": "readings.parquet",
    "latex": "audit.tex",
    "model-card": "model-card.md",
}


def export(audit: Audit, path: Path, *, format: str = "html") -> Path:
    """Write the audit in one of the forms; a folder gets the usual name of that form."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    target = path / NAMES[format] if path.is_dir() else path
    content = FORMATS[format](audit)
    # The name of a folder may be no UTF-8; it is shown with an escape.
    write_atomically(target, content if isinstance(content, bytes) else content.encode(errors="backslashreplace"))
    return target


__all__ = [
    "FORMATS",
    "NAMES",
    "export",
    "model_index",
    "to_csv",
    "to_html",
    "to_latex",
    "to_markdown",
    "to_model_card",
    "to_parquet",
]
