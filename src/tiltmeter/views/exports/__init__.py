"""An audit in other forms: for a page, a pull request, a table, a paper, a model card. One function per form."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tiltmeter.errors import require, unknown
from tiltmeter.files import write_atomically
from tiltmeter.readings import Audit, Reading
from tiltmeter.readings.audit import without_collection
from tiltmeter.views.exports.latex import to_latex
from tiltmeter.views.exports.markdown import to_markdown
from tiltmeter.views.exports.model_card import to_model_cards
from tiltmeter.views.report.report import render

#: A spreadsheet takes a cell that begins so for a formula and runs it.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def to_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """Rows as CSV. A text that a spreadsheet would run as a formula gets an apostrophe before it."""

    def harmless(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value

    names = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(map(harmless, names))
    writer.writerows([harmless(row.get(name)) for name in names] for row in rows)
    return text.getvalue()


def to_parquet(table: Audit | Reading) -> bytes:
    """The rows of an audit, or the items of a reading, as Parquet: with every number as it is."""
    require("Parquet", "tables", "pandas", "pyarrow")
    buffer = io.BytesIO()
    table.to_frame().to_parquet(buffer, index=False)
    return buffer.getvalue()


class Format(NamedTuple):
    """A form of an audit: what it is to a reader, what its file is called, and how it is made.

    A form of which every model has a file of its own gives one text per model.
    """

    title: str
    file: str
    make: Callable[[Audit], str | bytes | Mapping[str, str]]


#: The forms by name; text is written as UTF-8.
FORMATS: Mapping[str, Format] = {
    "html": Format("report, one HTML file", "audit.html", render),
    "md": Format("report in Markdown", "audit.md", to_markdown),
    "csv": Format("readings as CSV", "readings.csv", lambda audit: to_csv(audit.rows())),
    "parquet": Format("readings as Parquet", "readings.parquet", to_parquet),
    "latex": Format("tables in LaTeX", "audit.tex", to_latex),
    "model-card": Format("model cards, one per model", "model-card.md", to_model_cards),
}


def export(audit: Audit, path: Path, *, format: str = "html") -> list[Path]:
    """Write the audit in one of the forms; a folder gets the usual names of that form.

    Cards of several models are files beside each other: of ``card.md`` they are ``card-<model>.md``.
    """
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    with without_collection():
        content = FORMATS[format].make(audit)
    several = isinstance(content, Mapping) and len(content) > 1
    folder = path.is_dir() or (several and not path.suffix)
    files = content_files(path / FORMATS[format].file if folder else path, content)
    for target, data in files.items():
        write_atomically(target, data)
    return list(files)


def content_files(path: Path, content: str | bytes | Mapping[str, str]) -> dict[Path, bytes]:
    """The files that a form consists of: one at this path, or one per model with the model in its name.

    >>> [str(file) for file in content_files(Path("card.md"), {"hf:a/b": "", "hf:a-b": "", "hf:c": ""})]
    ['card-hf-a-b.md', 'card-hf-a-b-2.md', 'card-hf-c.md']
    """
    if not isinstance(content, Mapping):
        # The name of a folder may be no UTF-8; it is shown with an escape.
        return {path: content if isinstance(content, bytes) else content.encode(errors="backslashreplace")}
    files: dict[Path, bytes] = {}
    for model, text in content.items():
        name = f"{path.stem}-{re.sub(r'[^a-z0-9.]+', '-', model.lower()).strip('-.')[:80]}"
        target, n = path if len(content) == 1 else path.with_name(f"{name}{path.suffix}"), 1
        while target in files:
            n += 1
            target = path.with_name(f"{name}-{n}{path.suffix}")
        files[target] = text.encode(errors="backslashreplace")
    return files
