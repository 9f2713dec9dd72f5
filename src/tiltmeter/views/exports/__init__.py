"""An audit in other forms: for a page, a pull request, a table, a paper, a model card. One function per form."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tiltmeter.errors import unknown
from tiltmeter.files import write_atomically
from tiltmeter.readings import Audit
from tiltmeter.views.exports.latex import to_latex
from tiltmeter.views.exports.markdown import to_markdown, to_model_card
from tiltmeter.views.report.report import render

if TYPE_CHECKING:
    import pandas as pd

#: A spreadsheet takes a cell that begins so for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(frame: pd.DataFrame) -> str:
    """A table as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""

    def harmless(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value

    texts = frame.select_dtypes(exclude="number").columns
    frame[texts] = frame[texts].map(harmless)
    csv: str = frame.to_csv(index=False, lineterminator="\n")
    return csv


def to_parquet(frame: pd.DataFrame) -> bytes:
    """A table as Parquet, with every number as it is."""
    buffer = io.BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


class Format(NamedTuple):
    """A form of an audit: what it is to a reader, what its file is called, and how it is made."""

    title: str
    file: str
    make: Callable[[Audit], str | bytes]


#: The forms by name; text is written as UTF-8.
FORMATS: Mapping[str, Format] = {
    "html": Format("report, one HTML file", "audit.html", render),
    "md": Format("report in Markdown", "audit.md", to_markdown),
    "csv": Format("readings as CSV", "readings.csv", lambda audit: to_csv(audit.to_frame())),
    "parquet": Format("readings as Parquet", "readings.parquet", lambda audit: to_parquet(audit.to_frame())),
    "latex": Format("tables in LaTeX", "audit.tex", to_latex),
    "model-card": Format("section of a model card", "model-card.md", to_model_card),
}


def export(audit: Audit, path: Path, *, format: str = "html") -> Path:
    """Write the audit in one of the forms; a folder gets the usual name of that form."""
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    target = path / FORMATS[format].file if path.is_dir() else path
    content = FORMATS[format].make(audit)
    # The name of a folder may be no UTF-8; it is shown with an escape.
    write_atomically(target, content if isinstance(content, bytes) else content.encode(errors="backslashreplace"))
    return target
