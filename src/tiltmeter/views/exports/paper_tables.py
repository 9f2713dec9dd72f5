"""Tables of a paper for a paper, a page and a spreadsheet."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import unknown
from tiltmeter.files import write_atomically
from tiltmeter.readings.paper_tables import PaperColumn, PaperLine, PaperTable, Replication
from tiltmeter.views.environment import environment
from tiltmeter.views.exports import to_csv
from tiltmeter.views.exports.latex import latex

if TYPE_CHECKING:
    from tiltmeter.views.charts import Figure

_HEAD = r"""% Needs \usepackage{booktabs}, \usepackage[table]{xcolor}, \usepackage{graphicx}, \usepackage[T1]{fontenc}.
% With words in other scripts than Latin: XeLaTeX or LuaLaTeX, and a font that has them."""
#: Grey behind numbers that reach one, two or three of Cohen's steps.
_SHADES = ("", r"\cellcolor{black!8}", r"\cellcolor{black!18}", r"\cellcolor{black!32}")
_MOST_ROWS = 50


def to_latex(replication: Replication) -> str:
    """Every table that could be measured, rules as booktabs draws them; wide ones are made to fit the page."""
    tables = (_latex_table(table) for table in replication.tables)
    return "\n\n".join([_HEAD, f"% {replication.citation}", *tables]) + "\n"


def _latex_table(table: PaperTable) -> str:
    # LaTeX numbers tables itself: "Table 1: Table 2. ..." would be read as a slip.
    lines, caption = list(table.lines()), f"{table.title} ({table.name} in the text)"
    if not lines:
        return f"% {table.name}. {table.title}: not measured: {' '.join(table.missing.split())}"
    columns = "l" + "r" * len(table.columns)
    notes = [*([f"Not measured here: {table.missing}"] if table.missing else []), *table.notes]
    # One word in a script that pdfLaTeX has no letters for would keep a table of numbers from being set.
    said = latex(". ".join([caption, *(note.rstrip(".") for note in notes if _is_latin(note))])) + "."
    other = [f"% {' '.join(note.split())}" for note in notes if not _is_latin(note)]
    parts = [lines[start : start + _MOST_ROWS] for start in range(0, len(lines), _MOST_ROWS)]
    return "\n\n".join(
        "\n".join(
            (
                *(() if number else other),
                r"\begin{table*}[tp]",
                rf"\caption{{{said if not number else latex(caption) + ', continued.'}}}",
                r"\centering\scriptsize\setlength{\tabcolsep}{3pt}",
                r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}{%",
                *(rf"\begin{{tabular}}{{@{{}}{columns}@{{}}}}", r"\toprule"),
                *_latex_heads(table.columns),
                r"\midrule",
                *_latex_rows(part, len(table.columns)),
                *(r"\bottomrule", r"\end{tabular}}", r"\end{table*}"),
            )
        )
        for number, part in enumerate(parts)
    )


def _is_latin(text: str) -> bool:
    return all(unicodedata.name(letter, "").startswith("LATIN") for letter in text if letter.isalpha())


def _latex_heads(columns: Sequence[PaperColumn]) -> Iterator[str]:
    if any(column.above for column in columns):
        spans = [(name, len(list(some))) for name, some in itertools.groupby(columns, key=lambda each: each.above)]
        yield " & ".join(["", *(rf"\multicolumn{{{n}}}{{c}}{{{latex(name)}}}" for name, n in spans)]) + r" \\"
        starts = itertools.accumulate([2, *(n for _, n in spans)])
        yield "".join(
            rf"\cmidrule(lr){{{start}-{start + n - 1}}}"
            for start, (name, n) in zip(starts, spans, strict=False)
            if name
        )
    yield " & ".join(["", *(latex(column.name) for column in columns)]) + r" \\"


def _latex_rows(lines: Sequence[PaperLine], width: int) -> Iterator[str]:
    part = ""
    for line in lines:
        if line.part and line.part != part:
            yield rf"\multicolumn{{{width + 1}}}{{@{{}}l}}{{\textbf{{{latex(line.part)}}}}} \\"
        part = line.part
        ours = line.source == "ours"
        shades = [_SHADES[cell.shade] if ours else "" for cell in line.cells]
        texts = [f"{shade}{_latex_text(text)}" for shade, text in zip(shades, line.texts, strict=True)]
        label = latex(line.label) if ours else rf"\quad\textit{{{latex(line.label)}}}"
        # A cell that begins with a bracket would be taken for an option of the row before it.
        yield " & ".join([f"{{}}{label}" if label.startswith("[") else label, *texts]) + r" \\"


def _latex_text(text: str) -> str:
    """A number with a minus sign as TeX sets it, and its mark raised."""
    shown = latex(text).replace("*", r"$^{*}$")
    return shown.replace("-", "$-$", 1) if text.startswith("-") else shown


def to_html(replication: Replication) -> str:
    """One page that needs nothing else: tables, notes, and a chart where the paper has a figure."""
    charts = dict(figures(replication))
    page = environment().get_template("replication.html")
    from tiltmeter.views.charts import inline_svg

    return page.render(
        replication=replication,
        charts={name: inline_svg(figure) for name, figure in charts.items()},
        spans={table.name: _spans(table.columns) for table in replication.tables},
    )


def _spans(columns: Sequence[PaperColumn]) -> list[tuple[str, int]]:
    spans = [(name, len(list(some))) for name, some in itertools.groupby(columns, key=lambda each: each.above)]
    return spans if any(name for name, _ in spans) else []


def figures(replication: Replication) -> Iterator[tuple[str, Figure]]:
    """The charts of the tables that a paper draws, by the name of the figure."""
    from tiltmeter.views.charts.paper_figures import paper_figure

    for table in replication.tables:
        if (figure := paper_figure(table)) is not None:
            yield table.name, figure


def tables_to_csv(replication: Replication) -> str:
    """All tables one below the other, each with a head of its own and an empty line before it."""
    return "\n".join(to_csv(table.records()) for table in replication.tables if list(table.lines()))


def to_json(replication: Replication) -> str:
    return json.dumps(replication.to_dict(), indent=1, ensure_ascii=False) + "\n"


#: The forms by name, and what a file of each is called.
FORMS: Mapping[str, tuple[str, Callable[[Replication], str]]] = {
    "html": ("html", to_html),
    "latex": ("tex", to_latex),
    "csv": ("csv", tables_to_csv),
    "json": ("json", to_json),
}


def export_tables(replication: Replication, path: Path, *, format: str = "html") -> list[Path]:
    """Write a replication in one of the forms; into a folder as ``NAME.html``, and its charts as SVG beside it."""
    if format not in FORMS:
        raise unknown("format", format, FORMS)
    ending, make = FORMS[format]
    target = path if path.suffix else path / f"{replication.name}.{ending}"
    write_atomically(target, make(replication).encode(errors="backslashreplace"))
    if format == "csv" or path.suffix:
        return [target]
    from tiltmeter.views.charts import write_figures

    drawn = [(f"{replication.name}-{name}", figure) for name, figure in figures(replication)]
    return [target, *(write_figures(drawn, target.parent, format="svg") if drawn else [])]
