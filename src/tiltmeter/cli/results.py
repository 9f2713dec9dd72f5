"""Commands on finished results: how models differ, whether bias has grown, reports and charts, the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option, Typer, echo

from tiltmeter.cli.output import Json, print_json, print_view, say
from tiltmeter.errors import BadInput, MissingExtra, unknown
from tiltmeter.files import at_home, locked

if TYPE_CHECKING:
    from tiltmeter.readings import Audit
    from tiltmeter.views.charts import Figure

app = Typer()


@app.command()
def report(
    context: Context,
    folder: Annotated[Path, Argument(help="The folder of a finished audit.")],
    out: Annotated[Path | None, Option("--out", "-o", help="Where to write it; default: FOLDER/audit.html.")] = None,
    format: Annotated[
        str | None,
        Option(help="html, md, csv, parquet, latex or model-card (default: html); with --charts: png, svg or pdf."),
    ] = None,
    charts: Annotated[Path | None, Option(help="Write the charts as files into this folder instead.")] = None,
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
    from tiltmeter.views.exports import FORMATS, export

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
    path = export(Audit.load(folder), out or folder / FORMATS[chosen].file, format=chosen)
    _tell({"report": str(path)}, f"report: {path}", as_json)


def _write_charts(audit: Audit, folder: Path, format: str) -> list[Path]:
    from tiltmeter.progress import progress_bar
    from tiltmeter.views.charts import of_reading, overview, write_figures

    def figures() -> Iterator[tuple[str, Figure]]:
        for figure in overview(audit.readings):
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
        echo(line)


@app.command()
def compare(
    results: Annotated[list[str], Argument(help="Folders of results, or FOLDER:MODEL for one model of a folder.")],
    as_json: Json = False,
) -> None:
    """How models differ: the difference of every effect, its interval, and whether it is real.

    Folders of one model each are compared as they are, folders of several by the models' names, and the models of
    a single folder with each other. The same words are measured on both, so they are paired.

    Examples:

    * tiltmeter compare results-v1 results-v2
    * tiltmeter compare results:bundled:glove results:bundled:minilm
    """
    from tiltmeter.compare import compare as compare_sides
    from tiltmeter.compare import load_side
    from tiltmeter.views.terminal.comparison import comparison_table

    comparisons = compare_sides([load_side(address) for address in results])
    if as_json:
        print_json({**comparisons.to_dict(), "rows": comparisons.rows()})
        return
    print_view(*map(comparison_table, comparisons.pairs))
    say(
        f"p is Holm-corrected for all {comparisons.tests} tests here; level is where a probe shows no lean. "
        "Differences are about these words and sentences: how far single ones disagree between two models is the noise."
    )


@app.command()
def check(
    run: Annotated[Path, Argument(help="Folder of the new results.", metavar="DIR")],
    baseline: Annotated[Path, Option(help="Folder of the results to hold them against.")],
    policy: Annotated[Path | None, Option(help="YAML file with tolerances and limits.")] = None,
    junit: Annotated[Path | None, Option(help="Write the result of every probe as JUnit XML.")] = None,
    summary: Annotated[Path | None, Option(help="Write a summary as Markdown, for a pull request.")] = None,
    as_json: Json = False,
) -> int:
    """Has bias really grown since a baseline, or passed a limit? Exit code 0: no; 1: yes; 2: it cannot be told.

    Noise does not fail a check: of equal models at most one check in twenty does, however many probes it has. What
    harmless changes of the model move is noise too, as tiltmeter baseline measured it, or else on the sample models.

    Examples:

    * tiltmeter check results --baseline results-main
    * tiltmeter check results --baseline results-main --policy policy.yaml --junit bias.xml --summary bias.md
    """
    from tiltmeter.compare import Policy, load_audit, load_policy
    from tiltmeter.compare import check as hold_against
    from tiltmeter.files import write_atomically
    from tiltmeter.views.exports.check import junit_xml, summary_markdown
    from tiltmeter.views.terminal.comparison import check_table

    rules = load_policy(policy) if policy else Policy()
    outcome = hold_against(load_audit(run), load_audit(baseline), rules)
    if junit:
        write_atomically(junit, junit_xml(outcome))
    if summary:
        write_atomically(summary, summary_markdown(outcome).encode())
    if as_json:
        print_json({**outcome.to_dict(), "failed": bool(outcome.failed), "headline": outcome.headline})
    else:
        print_view(check_table(outcome))
    return 1 if outcome.failed else 0


@app.command()
def serve(
    folder: Annotated[Path, Argument(metavar="DIR", help="An audit's folder, or one that holds several.")],
    host: Annotated[str, Option(help="Address to listen on; other than this machine's own needs --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Option(help="Port to listen on.")] = 8765,
    token: Annotated[
        str | None, Option(envvar="TILTMETER_TOKEN", help="What readers must know, at least 16 characters.")
    ] = None,
    model: Annotated[
        list[str] | None, Option(help="A further model that may be asked; may be given more than once.")
    ] = None,
    allow_paid: Annotated[bool, Option("--allow-paid", help="Let the dashboard ask models that are paid for.")] = False,
    open_browser: Annotated[bool, Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """Look at audits in the browser, compare models, ask them something, and run further audits.

    Examples:

    * tiltmeter serve tiltmeter-results --open
    * tiltmeter serve audits/ --model hf:./my-model --port 9000
    * TILTMETER_TOKEN=... tiltmeter serve audits/ --host 0.0.0.0
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtra("the dashboard", "web")
    from tiltmeter.web.app import run
    from tiltmeter.web.security import DashboardSettings

    settings = DashboardSettings(at_home(folder), host, port, token, allow_paid, tuple(model or ()))
    if not run(settings, announce=say, open_browser=open_browser):
        raise BadInput(f"port {port} of {host} is taken or not allowed: choose another with --port")
