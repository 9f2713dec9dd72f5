"""The command line: a thin layer over the Python surface. Exit codes: 0 fine, 1 a gate failed, 2 bad input."""

from __future__ import annotations

import errno
import io
import json
import os
import sys
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from tiltmeter import __version__
from tiltmeter.cli.calibrate import lab_app as calibration_commands
from tiltmeter.cli.calibrate import selftest_app as selftest_command
from tiltmeter.cli.cloze import app as language_commands
from tiltmeter.cli.compare import app as comparison_commands
from tiltmeter.cli.lab import app as lab_commands
from tiltmeter.cli.listings import app as listing_commands
from tiltmeter.cli.mine import app as corpus_commands
from tiltmeter.cli.output import Json, NoCache, parse_budget, print_json, say, show, split, width
from tiltmeter.cli.report import app as report_command
from tiltmeter.cli.serve import app as serve_command
from tiltmeter.errors import BadInput, TiltmeterError, unknown

app = typer.Typer(
    name="tiltmeter",
    help="Measure how far embeddings and language models lean towards a social group.",
    epilog="Start with: tiltmeter audit    Then open tiltmeter-results/audit.html",
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
)

for commands in (
    listing_commands,
    language_commands,
    corpus_commands,
    report_command,
    comparison_commands,
    serve_command,
    selftest_command,
):
    app.add_typer(commands)
lab_commands.add_typer(calibration_commands)
app.add_typer(lab_commands, name="lab")

#: The usual exit code of a program that was stopped with Ctrl-C.
_INTERRUPTED = 130
Seed = Annotated[int, typer.Option(help="Seed of every random draw.")]
Permutations = Annotated[int, typer.Option(help="Draws of a permutation test that is too large to count.")]
BudgetText = Annotated[str | None, typer.Option("--budget", help="Most to spend, e.g. '100k tokens' or '50 requests'.")]


def main() -> NoReturn:
    """Run the command; every error a user can mend is one line on standard error and exit code 2."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or file of another encoding gets an escape for what it cannot show, never a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(standalone_mode=False) or 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt  # the option parser has made a silent exit of it
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = _fail("stopped; run the same command again to go on from here", _INTERRUPTED)
    except TiltmeterError as error:
        code = _fail(str(error))
    except BrokenPipeError:
        # The reader of a pipe (head, less) had enough; that is no error.
        _silence()
        code = 0
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        _silence()
        code = _fail(f"the output cannot be written ({error.strerror}): free some space")
    except Exception as error:
        # Usage errors of the option parser; what has no message of that form is a bug and keeps its traceback.
        if not hasattr(error, "format_message"):
            raise
        code = _fail(_usage(error))
    sys.exit(code)


def _silence() -> None:
    """What is still to be printed goes nowhere, where printing has failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int = 2) -> int:
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return code


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "tiltmeter"
    message = error.format_message()
    if context and hasattr(error, "option_name") and "No such option" in message:
        known = [name for parameter in context.command.params for name in parameter.opts]
        message = str(unknown("option", error.option_name, known))
    return f"{message} (see {command} --help)"


def _version(value: bool) -> None:
    if value:
        typer.echo(f"tiltmeter {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    pass


@app.command()
def audit(
    models: Annotated[
        list[str] | None, typer.Argument(help="Model specs; default: all that come along, and one with a known bias.")
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
    found = run(
        specs,
        suite=suite,
        out=out,
        cache=not no_cache,
        seed=seed,
        permutations=permutations,
        budget=parse_budget(budget),
        announce=say,
    )
    report = found.report(out)
    failed = [each for each in found.skipped if each.failed]
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
    else:
        _show_audit(found, report)
    for model in dict.fromkeys(each.model for each in failed):
        reason = next(each.reason for each in failed if each.model == model)
        _fail(reason if model in reason else f"{model}: {reason}")
    return 2 if failed else 0


@app.command()
def probe(
    name: Annotated[str, typer.Argument(help="Kind of probe; tiltmeter probes lists them.")],
    model: Annotated[str, typer.Argument(help="Model spec, e.g. bundled:glove.")],
    targets: Annotated[str | None, typer.Option(help="Groups, comma-separated, e.g. gender.male_terms,...")] = None,
    attributes: Annotated[str | None, typer.Option(help="Groups, comma-separated.")] = None,
    pairs: Annotated[str | None, typer.Option(help="Word pairs, e.g. gender.definitional.")] = None,
    templates: Annotated[str | None, typer.Option(help="Sentence templates, e.g. seat.bleached.")] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", help="Sentences: a data set's name, a file or folder (GenderLex, SEAT, ...)."),
    ] = None,
    vectors: Annotated[str | None, typer.Option(help="Word vectors for similarities, e.g. bundled:glove.")] = None,
    method: Annotated[str | None, typer.Option(help="How to score, where a probe has several ways.")] = None,
    threshold: Annotated[float | None, typer.Option(help="cabm: from where on a score is a lean (0.1).")] = None,
    labels: Annotated[str | None, typer.Option(help="cabm: table of occupations with labels of your own.")] = None,
    corpus: Annotated[str | None, typer.Option(help="cabm: folder of tiltmeter mine, to count PMI in.")] = None,
    alternative: Annotated[str, typer.Option(help="two-sided, greater or less.")] = "two-sided",
    budget: BudgetText = None,
    seed: Seed = 0,
    permutations: Permutations = 10_000,
    no_cache: NoCache = False,
    as_json: Json = False,
) -> None:
    """Run one probe on one model and show everything behind the number.

    Examples:

    * tiltmeter probe weat bundled:glove
    * tiltmeter probe weat static:my.vec --targets weat.math,weat.arts_7 --attributes mine.yaml.he,mine.yaml.she
    * tiltmeter probe seat bundled:minilm --from sent-weat6.jsonl
    * tiltmeter probe association openai:text-embedding-3-small --from word_lists/gender
    * tiltmeter probe cloze bundled:smollm2 --from genderlex --vectors bundled:glove
    * tiltmeter probe pairs hf:./my-model --from crows_pairs --method nangia
    * tiltmeter probe cabm hf:./my-model --from winobias --labels my_labels.csv --threshold 0.2
    """
    from rich.console import Console

    from tiltmeter.probes import LanguageKind, Options, association_probes, find_kind, make_probes, seat_probe
    from tiltmeter.probes.kind import Kind as NewKind
    from tiltmeter.run.probe import put
    from tiltmeter.views.terminal.cabm import cabm_view
    from tiltmeter.views.terminal.cloze import cloze_view
    from tiltmeter.views.terminal.table import reading_view

    options = Options(alternative, permutations, seed)
    kind = find_kind(name).name
    if source is not None and kind == "seat":
        chosen: list[Any] = [seat_probe(source, options=options)]
    elif source is not None and kind == "association":
        chosen = list(association_probes(source, options=options))
    elif source is not None and not isinstance(find_kind(name), LanguageKind | NewKind):
        raise BadInput(f"--from goes with seat, association and the probes of language models, not {name}")
    else:
        chosen = make_probes(
            name,
            targets=split(targets),
            attributes=split(attributes),
            pairs=pairs,
            templates=templates,
            data=source,
            vectors=vectors,
            method=method,
            threshold=threshold,
            labels=labels,
            corpus=corpus,
            options=options,
        )
    readings = put(chosen, model, cache=not no_cache, budget=parse_budget(budget), announce=say)
    if as_json:
        print_json([reading.to_dict() for reading in readings])
        return
    console = Console(width=width())
    if kind == "cloze" and all("published" in reading.details for reading in readings):
        console.print(reading_view(readings[0]), "", cloze_view(readings))
        return
    for reading in readings:
        console.print(reading_view(reading), "")
        if kind == "cabm":
            console.print(cabm_view(reading))


def _dry_run(specs: list[str], suite: str, *, as_json: bool) -> int:
    from tiltmeter.run.audit import dry_run

    rows = dry_run(specs, suite=suite)
    show(rows, ("model", "asked for", "inputs", "new", "requests", "tokens", "dollars"), as_json)
    return 0


def _show_audit(found: Any, report: Path) -> None:
    from rich.console import Console

    from tiltmeter.views.report.not_measured import not_measured
    from tiltmeter.views.terminal.table import audit_table

    console = Console(width=width())
    rows = list(zip(found.readings, found.adjusted(), strict=True))
    for name in found.models:
        mine = [(r, p) for r, p in rows if r.model == name]
        if mine:
            console.print(audit_table(name, mine))
    for probes, models, reason in not_measured(found):
        line = f"Not measured on {', '.join(models)}: {', '.join(probes)} ({reason})"
        console.print(line, markup=False, highlight=False)
    for note in found.notes:
        console.print(f"Note: {note}", markup=False, highlight=False)
    console.print(
        "d: 0 is level, .2 small, .5 medium, .8 large; nearer to 0 is better. p is Holm-corrected for all tests here.",
        markup=False,
        highlight=False,
    )
    console.print(
        f"{found.asked:,} inputs asked of models, {found.recalled:,} known from before.\n"
        f"Results: {found.folder}\nReport:  {report}",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
