"""Commands on finished results: how models differ, whether bias has grown, reports and charts, the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Context, Option, Typer, echo

from tiltmeter.cli.annotate import serve_annotation
from tiltmeter.cli.output import Json, Seed, print_json, print_view, say, show
from tiltmeter.errors import BadInput, MissingExtra, TiltmeterError, unknown
from tiltmeter.files import at_home, locked

if TYPE_CHECKING:
    from tiltmeter.readings import Audit
    from tiltmeter.views.charts import Figure

app = Typer()


@app.command(rich_help_panel="Read, compare and gate")
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
    """Write a finished audit as a self-contained HTML report, or in another format.

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
    paths = export(Audit.load(folder), out or folder / FORMATS[chosen].file, format=chosen)
    values = {"report": str(paths[0])} if len(paths) == 1 else {"reports": [str(path) for path in paths]}
    _tell(values, "\n".join(f"report: {path}" for path in paths), as_json)


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


@app.command(rich_help_panel="Read, compare and gate")
def compare(
    results: Annotated[list[str], Argument(help="Folders of results, or FOLDER:MODEL for one model of a folder.")],
    charts: Annotated[Path | None, Option(help="Write a chart of every pair into this folder.")] = None,
    format: Annotated[str, Option(help="With --charts: png, svg or pdf.")] = "png",
    as_json: Json = False,
) -> None:
    """Compare models: the difference in every effect, with its interval and its verdict.

    Folders with one model each are compared directly, folders with several are matched by model name, and the models
    of a single folder are compared with each other. Both are measured on the same words, so the differences are paired.

    Examples:

    * tiltmeter compare results-v1 results-v2
    * tiltmeter compare results:bundled:glove results:bundled:minilm
    * tiltmeter compare results-v1 results-v2 --charts figures --format pdf
    """
    from tiltmeter.compare import compare as compare_sides
    from tiltmeter.compare import load_side
    from tiltmeter.views.terminal.comparison import comparison_table

    sides = [load_side(address) for address in results]
    comparisons, written = compare_sides(sides), list[Path]()
    if charts is not None:
        from tiltmeter.views.charts import dumbbells, write_figures

        named = ((f"{figure.name} {figure.title}", figure) for figure in dumbbells(comparisons.pairs))
        written = write_figures(named, charts, format=format)
    if as_json:
        drawn = {} if charts is None else {"charts": [str(path) for path in written]}
        print_json({**comparisons.to_dict(), "rows": comparisons.rows(), **drawn})
        return
    print_view(*map(comparison_table, comparisons.pairs))
    say(
        "p is Holm-corrected for the bias tests of a pair; level is where a probe shows no lean. The noise that a "
        "difference must exceed is how far single words and sentences disagree between the two models."
    )
    if charts is not None:
        echo(f"charts: {len(written)} in {charts}")


@app.command(rich_help_panel="Read, compare and gate")
def rank(
    folder: Annotated[Path, Argument(metavar="DIR", help="The folder of an audit of two or more models.")],
    as_json: Json = False,
) -> None:
    """Rank the models of an audit over its bias tests, and say how far the tests agree.

    Examples:

    * tiltmeter rank tiltmeter-results
    * tiltmeter rank tiltmeter-results --json
    """
    from tiltmeter.compare import rank as rank_models

    ranking = rank_models(folder)
    if as_json:
        print_json(ranking.to_dict())
        return
    rows = [
        {"model": one.model, "mean rank": f"{one.mean_rank:.2f}", "95%": f"{one.low:.2f} to {one.high:.2f}"}
        | {test: f"{place:g}" for test, place in one.ranks.items()}
        for one in ranking.models
    ]
    show(rows, ("model", "mean rank", "95%", *ranking.tests), as_json)
    echo(ranking.how)
    if ranking.concordance is not None:
        echo(f"Kendall's W of the tests' orders: {ranking.concordance:.2f} (1: all the same order, 0: no agreement)")
    for test, reason in ranking.left_out.items():
        say(f"left out: {test}, {reason}")


@app.command("import", rich_help_panel="Read, compare and gate")
def import_results(
    files: Annotated[list[Path], Argument(help="Result files of lm-evaluation-harness or MTEB, or folders of them.")],
    out: Annotated[Path, Option("--out", "-o", help="The folder that the dashboard shows.")] = Path(
        "tiltmeter-results"
    ),
    as_json: Json = False,
) -> None:
    """Import results of lm-evaluation-harness or MTEB, so that the dashboard shows them beside ours.

    Examples:

    * tiltmeter import lm_eval_out/gpt2/results.json --out tiltmeter-results
    * tiltmeter import mteb-results/ --out tiltmeter-results
    """
    from dataclasses import asdict

    from tiltmeter.readings.peers import read_peer_results, save_peer_results

    results = read_peer_results(list(map(at_home, files)))
    path = save_peer_results(results, at_home(out))
    if as_json:
        print_json([asdict(result) for result in results])
        return
    rows = [
        {"model": one.model, "tool": one.tool, "task": one.task, "metric": one.metric, "value": f"{one.value:.4g}"}
        for one in results
    ]
    show(rows, ("model", "tool", "task", "metric", "value"), as_json)
    echo(f"{len(results)} results in {path}; tiltmeter serve {out} shows them")


@app.command(rich_help_panel="Read, compare and gate")
def check(
    run: Annotated[Path, Argument(help="Folder of the new results.", metavar="DIR")],
    baseline: Annotated[
        Path | None, Option(help="Folder of the results to compare with; without one, only limits are checked.")
    ] = None,
    policy: Annotated[Path | None, Option(help="YAML file with tolerances and limits.")] = None,
    fail_on: Annotated[
        str | None, Option(help="failed (default), or undecided: fail where growth that matters cannot be ruled out.")
    ] = None,
    junit: Annotated[Path | None, Option(help="Write the result of every probe as JUnit XML.")] = None,
    summary: Annotated[Path | None, Option(help="Write a summary as Markdown, for a pull request.")] = None,
    as_json: Json = False,
) -> int:
    """Check whether bias has grown since a baseline or exceeds a limit (exit code 1; 2: it cannot be checked).

    Noise alone does not fail a check: of checks of equal models, at most one in twenty fails, however many probes there
    are. Noise includes the movement that harmless changes of a model cause, as measured by tiltmeter baseline or,
    without one, on the sample models. A probe that may hide growth that matters is undecided; it fails the check only
    with --fail-on undecided.

    Examples:

    * tiltmeter check results --baseline results-main
    * tiltmeter check results --baseline results-main --fail-on undecided
    * tiltmeter check results --policy limits.yaml
    * tiltmeter check results --baseline results-main --policy policy.yaml --junit bias.xml --summary bias.md
    """
    from tiltmeter.compare import check as hold_against
    from tiltmeter.files import write_atomically
    from tiltmeter.views.exports.check import junit_error, junit_xml, summary_markdown
    from tiltmeter.views.terminal.comparison import check_table

    try:
        result = hold_against(run, baseline, policy, fail_on=fail_on)
    except TiltmeterError as error:
        if junit:
            write_atomically(junit, junit_error(str(error)))
        raise
    if junit:
        write_atomically(junit, junit_xml(result))
    if summary:
        write_atomically(summary, summary_markdown(result).encode())
    if as_json:
        print_json({**result.to_dict(), "failed": result.fails, "headline": result.headline})
    else:
        print_view(check_table(result))
    return 1 if result.fails else 0


@app.command(rich_help_panel="Read, compare and gate")
def serve(
    folder: Annotated[
        Path | None, Argument(metavar="[DIR]", help="An audit's folder, or one that holds several.")
    ] = None,
    annotate: Annotated[str | None, Option(help="A draft to review; with --people, sentences to label.")] = None,
    people: Annotated[str | None, Option(help="People who label, comma-separated; each gets their own link.")] = None,
    labels: Annotated[Path | None, Option(help="Folder for the labels, one file per person; default: labels.")] = None,
    stage: Annotated[int, Option(help="1: labels by intuition; 2: after looking things up.")] = 1,
    either: Annotated[bool, Option("--either", help="Let people answer that either word fits.")] = False,
    seed: Seed = 0,
    host: Annotated[str, Option(help="Address to listen on; any but this machine needs --token.")] = ("127.0.0.1"),
    port: Annotated[int, Option(help="Port to listen on.")] = 8765,
    token: Annotated[
        str | None, Option(envvar="TILTMETER_TOKEN", help="Token that visitors must give, at least 16 characters.")
    ] = None,
    model: Annotated[list[str] | None, Option(help="Another model to offer; may be given more than once.")] = None,
    allow_paid: Annotated[bool, Option("--allow-paid", help="Let the dashboard query paid models.")] = False,
    open_browser: Annotated[bool, Option("--open", help="Open it in the browser.")] = False,
) -> None:
    """View audits in the browser, compare models, ask them questions, run more audits; or have people label sentences.

    With --annotate, one person decides which rows of a draft to keep. With --people as well, several people label
    sentences: their links are in LABELS/links.csv, each sees the sentences in a different order, and all can stop and
    come back.

    Examples:

    * tiltmeter serve tiltmeter-results --open
    * tiltmeter serve audits/ --model hf:./my-model --port 9000
    * TILTMETER_TOKEN=... tiltmeter serve audits/ --host 0.0.0.0
    * tiltmeter serve --annotate draft.csv --open
    * tiltmeter serve --annotate cloze_en --people ann,ben,cem --labels labels
    """
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtra("the dashboard", "web")
    from tiltmeter.web.app import run
    from tiltmeter.web.security import DashboardSettings

    if folder is None and (annotate or people or labels):
        served = serve_annotation(
            annotate, people, labels, stage=stage, either=either, seed=seed, host=host, port=port, token=token,
            open_browser=open_browser,
        )  # fmt: skip
    elif folder is None or annotate or people or labels:
        raise BadInput("name one thing to serve: a folder of audits, or what people should judge, with --annotate")
    else:
        settings = DashboardSettings(at_home(folder), host, port, token, allow_paid, tuple(model or ()))
        served = run(settings, announce=say, open_browser=open_browser)
    if not served:
        raise BadInput(f"port {port} of {host} is taken or not allowed: choose another with --port")
