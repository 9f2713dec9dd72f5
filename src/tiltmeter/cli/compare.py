"""Commands that hold results against each other: how models differ, and whether bias has grown."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tiltmeter.cli.output import Json, print_json, say, width

app = typer.Typer()


@app.command()
def compare(
    results: Annotated[
        list[str], typer.Argument(help="Folders of results, or FOLDER:MODEL for one model of a folder.")
    ],
    as_json: Json = False,
) -> None:
    """How models differ: the difference of every effect, its interval, and whether it is real.

    Folders of one model each are compared as they are, folders of several by the models' names, and the models of
    a single folder with each other. The same words are measured on both, so they are paired.

    Examples:

    * tiltmeter compare results-v1 results-v2
    * tiltmeter compare results:bundled:glove results:bundled:minilm
    """
    from rich.console import Console

    from tiltmeter.compare import compare as compare_sides
    from tiltmeter.compare import load_side
    from tiltmeter.views.terminal.comparison import comparison_table

    comparisons = compare_sides([load_side(address) for address in results])
    if as_json:
        print_json({**comparisons.to_dict(), "rows": comparisons.rows()})
        return
    console = Console(width=width())
    for pair in comparisons.pairs:
        console.print(comparison_table(pair))
    say(
        f"p is Holm-corrected for all {comparisons.tests} tests here; level is where a probe shows no lean. "
        "Differences are about these words and sentences: how far single ones disagree between two models is the noise."
    )


@app.command()
def check(
    run: Annotated[Path, typer.Argument(help="Folder of the new results.", metavar="DIR")],
    baseline: Annotated[Path, typer.Option(help="Folder of the results to hold them against.")],
    policy: Annotated[Path | None, typer.Option(help="YAML file with tolerances and limits.")] = None,
    junit: Annotated[Path | None, typer.Option(help="Write the result of every probe as JUnit XML.")] = None,
    summary: Annotated[Path | None, typer.Option(help="Write a summary as Markdown, for a pull request.")] = None,
    as_json: Json = False,
) -> int:
    """Has bias really grown since a baseline, or passed a limit? Exit code 0: no; 1: yes; 2: it cannot be told.

    Noise does not fail a check: of equal models at most one check in twenty does, however many probes it has.

    Examples:

    * tiltmeter check results --baseline results-main
    * tiltmeter check results --baseline results-main --policy policy.yaml --junit bias.xml --summary bias.md
    """
    from rich.console import Console

    from tiltmeter.compare import Policy, load_audit, load_policy
    from tiltmeter.compare import check as hold_against
    from tiltmeter.files import write_atomically
    from tiltmeter.views.exports.gate_summary import summary_markdown
    from tiltmeter.views.exports.junit import junit_xml
    from tiltmeter.views.terminal.gate import check_table

    rules = load_policy(policy) if policy else Policy()
    outcome = hold_against(load_audit(run), load_audit(baseline), rules)
    if junit:
        write_atomically(junit, junit_xml(outcome))
    if summary:
        write_atomically(summary, summary_markdown(outcome).encode())
    if as_json:
        print_json({**outcome.to_dict(), "failed": bool(outcome.failed), "headline": outcome.headline})
    else:
        Console(width=width()).print(check_table(outcome))
    return 1 if outcome.failed else 0
