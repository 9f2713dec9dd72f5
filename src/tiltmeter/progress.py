"""How far long work has come: a bar on the terminal, or steps for a program; silent where nobody watches."""

from __future__ import annotations

import contextlib
import dataclasses
import html
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeAlias

#: The phases that whoever listens does something about: the next model, the end of the readings, and what went wrong.
MODEL, REPORT, ERROR = "model", "writing the report", "error"


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """What is done now: its phase, on which model and probe, how much of it is done, and what is to be said of it."""

    phase: str
    model: str = ""
    probe: str = ""
    done: int = 0
    total: int = 0
    message: str = ""


Listener: TypeAlias = Callable[[Step], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)

#: Between two looks of a bar in a notebook, and before the first: what is done sooner needs none.
_SECONDS = 0.5


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Whatever is done within goes to a listener, step by step, and no bar is shown.

    >>> with listening(print), progress_bar("vectors of texts", 3, model="bundled:minilm") as advance:
    ...     advance(3)
    Step(phase='vectors of texts', model='bundled:minilm', probe='', done=0, total=3, message='')
    Step(phase='vectors of texts', model='bundled:minilm', probe='', done=3, total=3, message='')
    """
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)


def tell(step: Step) -> None:
    """Tell whoever listens."""
    if listener := _listener.get():
        listener(step)


@contextlib.contextmanager
def progress_bar(
    label: str, total: int, *, model: str = "", show: bool | None = None
) -> Iterator[Callable[[int], None]]:
    """A bar on standard error; yields the function that moves it. By default shown on a terminal or in a notebook.

    >>> with progress_bar("embedding", 3, show=False) as advance:
    ...     advance(3)
    """
    if listener := _listener.get():
        yield _steps(listener, Step(label, model, total=total))
        return
    text = f"{model}: {label}" if model else label
    if show is not False and in_notebook():
        with _notebook_bar(text, total) as advance:
            yield advance
        return
    if not (sys.stderr.isatty() if show is None else show) or total == 0:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(text, total=total)
        yield lambda done: bars.advance(task, done)


def _steps(listener: Listener, step: Step) -> Callable[[int], None]:
    done = 0

    def advance(more: int) -> None:
        nonlocal done
        done += more
        listener(dataclasses.replace(step, done=done))

    advance(0)
    return advance


def in_notebook() -> bool:
    """Whether the code runs in the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


@contextlib.contextmanager
def _notebook_bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar among the outputs of a cell, which comes only if the work takes a while, and goes when it is done.

    Not rich's: without ipywidgets it warns and shows nothing, and with them it leaves a widget behind that a stored
    notebook cannot show.
    """
    from IPython.display import display

    done, latest = 0, time.monotonic()
    shown: Any = None

    def advance(step: int) -> None:
        nonlocal done, shown, latest
        done += step
        if time.monotonic() - latest < _SECONDS:
            return
        latest, bundle = time.monotonic(), _bundle(label, done, total)
        if shown is None:
            shown = display(bundle, raw=True, display_id=True)
        else:
            shown.update(bundle, raw=True)

    try:
        yield advance
    finally:
        if shown is not None:
            shown.update({"text/plain": "", "text/html": ""}, raw=True)


def _bundle(label: str, done: int, total: int) -> dict[str, str]:
    count = f"{done:,}/{total:,}"
    bar = f'<progress value="{done}" max="{total}"></progress>'
    return {"text/plain": f"{label} {count}", "text/html": f"{html.escape(label)} {bar} {count}"}
