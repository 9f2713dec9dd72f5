"""What MkDocs leaves to us: the page of commands, made from the commands, and links from notebooks to pages."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer.main

PAGE = "reference/commands.md"
#: Stands for everything that a room exports.
_ROOM = re.compile(r"^::: room (\S+)$", re.MULTILINE)
#: A link to a file beside a notebook; that of the page it becomes is one folder further.
_TO_A_FILE = re.compile(r'href="(?!https?:)([^"#]+)\.(?:md|ipynb)(#[^"]*)?"')


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for every page."""
    if page.file.src_uri != PAGE:
        return _ROOM.sub(lambda room: "\n\n".join(_public(room[1])), markdown)
    from tiltmeter.cli.app import app

    return "\n\n".join([markdown, *_sections(typer.main.get_command(app), "tiltmeter")])


def on_page_content(html: str, page: Any, **_: Any) -> str:
    """Called by MkDocs for every page that has become HTML."""
    if not page.file.src_uri.endswith(".ipynb"):
        return html
    return _TO_A_FILE.sub(lambda link: f'href="../{link[1]}/{link[2] or ""}"', html)


def _public(room: str) -> Iterator[str]:
    """The functions of a room, then its classes, each where it is written: a measure has the name of its module."""
    module = importlib.import_module(room)
    public = [getattr(module, name) for name in module.__all__]
    for is_wanted, title in ((inspect.isroutine, "Functions"), (inspect.isclass, "Classes")):
        # What a room passes on from another has its place on the page of that one.
        found = [thing for thing in public if is_wanted(thing) and thing.__module__.startswith(f"{room}.")]
        if found:
            yield f"## {title}"
        yield from (f"::: {thing.__module__}.{thing.__qualname__}" for thing in found)


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
    return " ".join(text.split()).replace("|", "\\|")
