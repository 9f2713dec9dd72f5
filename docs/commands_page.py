"""Writes the page of commands from the commands themselves, so that it cannot say anything else than --help."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer.main

PAGE = "reference/commands.md"


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for every page."""
    if page.file.src_uri != PAGE:
        return markdown
    from tiltmeter.cli.app import app

    return "\n\n".join([markdown, *_sections(typer.main.get_command(app), "tiltmeter")])


def _sections(command: Any, name: str) -> Iterator[str]:
    """The help of a command, or of each command of a group."""
    if hasattr(command, "commands"):
        for child, below in command.commands.items():
            yield from _sections(below, f"{name} {child}")
        return
    context = command.make_context(name, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f"## {name}\n\n```text\n{name} {usage}\n```\n\n{_text(command.help)}"
    rows = [option.get_help_record(context) for option in command.get_params(context)]
    shown = [f"| `{_cell(names)}` | {_cell(what)} |" for names, what in filter(None, rows)]
    if shown:
        yield "| option | meaning |\n| --- | --- |\n" + "\n".join(shown)
    if command.epilog:
        yield _text(command.epilog)


def _text(text: str | None) -> str:
    return (text or "").replace("\b", "").strip()


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
