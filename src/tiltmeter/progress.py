"""A progress bar for work that takes a while; silent where nobody watches."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def progress_bar(label: str, total: int, *, show: bool | None = None) -> Iterator[Callable[[int], None]]:
    """A bar on standard error; yields the function that moves it. By default shown on a terminal only.

    >>> with progress_bar("embedding", 3, show=False) as advance:
    ...     advance(3)
    """
    if not (sys.stderr.isatty() if show is None else show) or total == 0:
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(label, total=total)
        yield lambda done: bars.advance(task, done)
