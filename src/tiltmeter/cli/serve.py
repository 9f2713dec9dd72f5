"""The command that opens the dashboard."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from tiltmeter.cli.output import say
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.files import at_home

app = typer.Typer()


@app.command()
def serve(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An audit's folder, or one that holds several.")],
    host: Annotated[str, typer.Option(help="Address to listen on; other than this machine's own needs --token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 8765,
    token: Annotated[
        str | None, typer.Option(envvar="TILTMETER_TOKEN", help="What readers must know, at least 16 characters.")
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(help="A further model that may be asked; may be given more than once.")
    ] = None,
    allow_paid: Annotated[
        bool, typer.Option("--allow-paid", help="Let the dashboard ask models that are paid for.")
    ] = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
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
