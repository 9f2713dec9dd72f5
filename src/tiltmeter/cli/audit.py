"""The command that runs a suite of probes on models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tiltmeter.cli.output import (
    BudgetText,
    Json,
    NoCache,
    Permutations,
    Seed,
    complain,
    parse_budget,
    print_json,
    say,
    show,
    width,
)
from tiltmeter.files import at_home, locked

if TYPE_CHECKING:
    from tiltmeter.readings import Audit

app = typer.Typer()


@app.command()
def audit(
    context: typer.Context,
    models: Annotated[
        list[str] | None, typer.Argument(help="Model specs; default: the sample models, and one with a known bias.")
    ] = None,
    suite: Annotated[str, typer.Option(help="Suite by name, or a YAML file.")] = "default",
    out: Annotated[Path, typer.Option(help="Folder for readings and report.")] = Path("tiltmeter-results"),
    budget: BudgetText = None,
    seed: Seed = 0,
    permutations: Permutations = 10_000,
    no_cache: NoCache = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be asked and cost; ask nothing.")] = False,
    as_json: Json = False,
) -> int:
    """Run a suite of probes on models; write readings and a report.

    Examples:

    * tiltmeter audit
    * tiltmeter audit hf:./my-model static:vectors.vec --suite weat --out results
    * tiltmeter audit openai:text-embedding-3-small --budget '200k tokens' --dry-run
    """
    from tiltmeter.run.audit import DEFAULT_MODELS
    from tiltmeter.run.audit import audit as run

    specs = list(models or DEFAULT_MODELS)
    if dry_run:
        return _dry_run(specs, suite, as_json=as_json)
    out = at_home(out)
    context.with_resource(locked(out))
    result = run(
        specs,
        suite=suite,
        out=out,
        cache=not no_cache,
        seed=seed,
        permutations=permutations,
        budget=parse_budget(budget),
        announce=say,
    )
    report = result.report(out)
    failed = [skipped for skipped in result.skipped if skipped.failed]
    if as_json:
        print_json(result.to_dict())
    else:
        _show_audit(result, report)
    for model in dict.fromkeys(skipped.model for skipped in failed):
        reason = next(skipped.reason for skipped in failed if skipped.model == model)
        complain(reason if model in reason else f"{model}: {reason}")
    return 2 if failed else 0


def _dry_run(specs: list[str], suite: str, *, as_json: bool) -> int:
    from tiltmeter.run.audit import dry_run

    rows = dry_run(specs, suite=suite)
    show(rows, ("model", "asked for", "inputs", "new", "requests", "tokens", "dollars"), as_json)
    return 0


def _show_audit(result: Audit, report: Path) -> None:
    from rich.console import Console

    from tiltmeter.views.report.not_measured import not_measured
    from tiltmeter.views.terminal.table import audit_table

    console = Console(width=width())
    rows = list(zip(result.readings, result.adjusted(), strict=True))
    for name in result.models:
        of_model = [(reading, p) for reading, p in rows if reading.model == name]
        if of_model:
            console.print(audit_table(name, of_model))
    for probes, models, reason in not_measured(result):
        line = f"Not measured on {', '.join(models)}: {', '.join(probes)} ({reason})"
        console.print(line, markup=False, highlight=False)
    for note in result.notes:
        console.print(f"Note: {note}", markup=False, highlight=False)
    console.print(
        "d: 0 is level, .2 small, .5 medium, .8 large; nearer to 0 is better. p is Holm-corrected for all tests here.",
        markup=False,
        highlight=False,
    )
    console.print(
        f"{result.asked:,} inputs asked of models, {result.recalled:,} known from before.\n"
        f"Results: {result.folder}\nReport:  {report}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
