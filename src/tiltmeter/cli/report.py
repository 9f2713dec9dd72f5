"""The command that writes an audit as a page, a table, a paper's tables or a model card, and its charts as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiltmeter.cli.output import Json, print_json
from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import locked

if TYPE_CHECKING:
    from tiltmeter.readings import Audit
    from tiltmeter.views.charts import Figure

app = typer.Typer()


@app.command()
def report(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="The folder of a finished audit.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write it; default: FOLDER/audit.html.")
    ] = None,
    format: Annotated[
        str | None,
        typer.Option(
            help="html, md, csv, parquet, latex or model-card (default: html); with --charts: png, svg or pdf."
        ),
    ] = None,
    charts: Annotated[Path | None, typer.Option(help="Write the charts as files into this folder instead.")] = None,
    as_json: Json = False,
) -> None:
    """Write a finished audit as a report that needs nothing else, or in another form.

    Examples:

    * tiltmeter report tiltmeter-results -o audit.html
    * tiltmeter report tiltmeter-results --format latex -o tables.tex
    * tiltmeter report tiltmeter-results --format model-card
    * tiltmeter report tiltmeter-results --charts figures --format pdf
    """
    from tiltmeter.readings import Audit
    from tiltmeter.views.charts import FORMATS as PICTURES
    from tiltmeter.views.exports import FORMATS, NAMES, export

    if charts is not None:
        if out is not None:
            raise BadInput("--charts writes files into its own folder: leave --out away, or run the command twice")
        if format is not None and format not in PICTURES:
            raise unknown("format of charts", format, PICTURES)
        written = _write_charts(Audit.load(folder), charts, format or "png")
        _tell({"charts": [str(path) for path in written]}, f"charts: {len(written)} in {charts}", as_json)
        return
    chosen = format or "html"
    if chosen in PICTURES:
        raise BadInput(f"{chosen} is a format of charts: name a folder for them with --charts")
    if chosen not in FORMATS:
        raise unknown("format", chosen, FORMATS)
    if folder.is_dir() and (out is None or folder in (out, out.parent)):
        context.with_resource(locked(folder))
    path = export(Audit.load(folder), out or folder / NAMES[chosen], format=chosen)
    _tell({"report": str(path)}, f"report: {path}", as_json)


def _write_charts(audit: Audit, folder: Path, format: str) -> list[Path]:
    from tiltmeter.progress import progress_bar
    from tiltmeter.views.charts import of_reading, overview, write_figures

    def figures() -> Iterator[tuple[str, Figure]]:
        for figure in overview(audit.readings, adjusted=audit.adjusted()):
            yield figure.name, figure
        for reading in audit.readings:
            for figure in of_reading(reading):
                yield f"{reading.model} {reading.id} {figure.name}", figure
            advance(1)

    with progress_bar("charts", len(audit.readings)) as advance:
        return write_figures(figures(), folder, format=format)


def _tell(values: dict[str, Any], line: str, as_json: bool) -> None:
    if as_json:
        print_json(values)
    else:
        typer.echo(line)
