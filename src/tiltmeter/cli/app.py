"""The command line: a thin layer over the Python surface. Exit codes: 0 fine, 1 a gate failed, 2 bad input."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from typing import Annotated, Any, NoReturn

import typer

from tiltmeter import __version__
from tiltmeter.cli import annotate, lab, listings, measure, mine, mitigate, replicate, results, train
from tiltmeter.cli.output import complain
from tiltmeter.errors import TiltmeterError, unknown

#: The exit code of the command that has run.
_ended: list[int] = []


def _record(code: int | None, **_: Any) -> int:
    """Called when a command has run to its end, with what it returned."""
    _ended.append(code or 0)
    return _ended[-1]


app = typer.Typer(
    name="tiltmeter",
    result_callback=_record,
    help="Measure how far embeddings and language models lean towards a social group.",
    epilog="Start with: tiltmeter audit    Then open tiltmeter-results/audit.html",
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
)

for module in (measure, mitigate, listings, mine, results, annotate, lab, replicate):
    app.add_typer(module.app)
app.add_typer(lab.lab_app, name="lab", rich_help_panel="Test the instrument")
app.add_typer(listings.samples_app, name="samples", rich_help_panel="Models, probes and suites")
app.add_typer(train.train_app, name="train", rich_help_panel="Mitigate")
app.add_typer(listings.data_app, name="data", rich_help_panel="Words, sentences and data")

#: The usual exit code of a program that was stopped with Ctrl-C.
_INTERRUPTED = 130
#: That of an internal error (EX_SOFTWARE): 1 means that a gate has failed.
_FAULT = 70
_REPORT = "please send the lines above and the command to https://github.com/tiltmeter/tiltmeter/issues, without keys"


def main() -> NoReturn:
    """Run the command; every error that a user can put right is one line on standard error and exit code 2."""
    if len(sys.argv) == 1:
        sys.argv.append("--help")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal or file of another encoding gets an escape for what it cannot show, never a traceback.
            stream.reconfigure(errors="backslashreplace")
    try:
        _ended.clear()
        code = app(standalone_mode=False) or 0
        if code == _INTERRUPTED:
            raise KeyboardInterrupt  # the option parser has made a silent exit of it
        # Versions of the option parser that do not fit together lose what a command returns, or never run it: a gate
        # would pass unchecked.
        if not _ended and not {"--help", "--version"} & set(sys.argv):
            code = _fail("the option parser did not run the command: reinstall typer and click", _FAULT)
        code = max([code, *_ended])
        sys.stdout.flush()
    except (typer.Abort, KeyboardInterrupt):
        code = _fail("stopped; run the same command again and it resumes from here", _INTERRUPTED)
    except TiltmeterError as error:
        code = _fail(str(error))
    except BrokenPipeError:
        # The reader of a pipe (head, less) had enough; that is no error.
        _silence()
        code = 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            _silence()
            code = _fail(f"the output cannot be written ({error.strerror}): free some space")
        elif isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            code = _fail("a given name is too long for a file name: check the spec and the paths")
        elif hasattr(error, "format_message"):  # usage errors of the option parser
            code = _fail(_usage(error))
        else:
            traceback.print_exc()
            code = _fail(f"this is a bug in tiltmeter {__version__}, not your mistake: {_REPORT}", _FAULT)
    sys.exit(code)


def _silence() -> None:
    """What is still to be printed goes nowhere, where printing has failed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int = 2) -> int:
    complain(message)
    return code


def _usage(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "tiltmeter"
    message = error.format_message() or "Missing command."  # its help has just been printed
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
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass
