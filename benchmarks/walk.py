"""The walk of a command: which of our modules it uses, in which order, and how often it re-enters a room it has left.

A module counts when a function defined in it is called; what runs while a module is merely imported does not count, nor
do packages that only gather names. Modules stand in the order of their first call. A room is a top-level folder of
``tiltmeter`` or a module beside the folders, but for the small tools that every room uses (``SHARED``). The rooms in
that order, equal neighbours taken together, less the different ones among them, are the re-entries.

    python benchmarks/walk.py                        # probe weat bundled:glove, and an audit with LPBS
    python benchmarks/walk.py probe mac bundled:glove

The audit is walked from the call of ``tiltmeter.audit`` to its readings, with a model that is trained beforehand and
nothing in the cache. How often each different ``Fill`` is constructed is counted too: it should be once. By this
definition the code before the rooms were built had 37 modules with 5 re-entries for WEAT, 59 modules with 13 for the
audit, and built every fill three times.
"""

from __future__ import annotations

import collections
import contextlib
import io
import itertools
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

#: Modules beside the rooms that belong to none.
SHARED = {"errors", "files", "atomic", "progress", "cluster", "plugins"}
MODEL = "reference:tilt-0.9"


class Walk:
    """Collects the modules of tiltmeter in the order in which a function of theirs is first called."""

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.fills: collections.Counter[tuple[tuple[str, str], ...]] = collections.Counter()

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        name, function = str(frame.f_globals.get("__name__", "")), frame.f_code.co_name
        if event != "call" or not name.startswith("tiltmeter.") or _is_importing(frame):
            return
        self.modules.setdefault(name, function)
        if function == "__init__" and type(frame.f_locals.get("self")).__name__ == "Fill":
            fields = frame.f_locals.items()
            self.fills[tuple((field, str(value)) for field, value in fields if field != "self")] += 1

    @contextlib.contextmanager
    def recorded(self) -> Iterator[None]:
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def show(self, title: str) -> None:
        modules = list(self.modules)
        visits = rooms(modules)
        print(f"\n{title}")
        for number, name in enumerate(modules, 1):
            print(f"{number:3}  {name.removeprefix('tiltmeter.'):45} {self.modules[name]}")
        print(f"{len(modules)} modules; re-entered: {len(visits) - len(set(visits))}; rooms: {' > '.join(visits)}")
        if self.fills:
            print(f"{len(self.fills):,} different fills, each built at most {max(self.fills.values())} time(s)")


def _is_importing(frame: FrameType | None) -> bool:
    """Whether the call comes from a module of ours that is being imported."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and str(frame.f_globals.get("__name__", "")).startswith("tiltmeter"):
            return True
        frame = frame.f_back
    return False


def rooms(modules: list[str]) -> list[str]:
    """The rooms in the order in which they are entered.

    >>> rooms(["tiltmeter.cli.app", "tiltmeter.errors", "tiltmeter.cli.mine", "tiltmeter.run.ask", "tiltmeter.cli.x"])
    ['cli', 'run', 'cli']
    """
    places = [name.split(".")[1] for name in modules]
    return [room for room, _ in itertools.groupby(place for place in places if place not in SHARED)]


def walk(title: str, act: Callable[[], Any]) -> None:
    steps = Walk()
    with steps.recorded(), contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        act()
    steps.show(title)


def walk_command(arguments: list[str]) -> None:
    """Run a command and print its walk."""
    from tiltmeter.cli import main

    sys.argv = ["tiltmeter", *arguments]
    walk(f"tiltmeter {' '.join(arguments)}", main)


def walk_audit(folder: Path) -> None:
    """Run an audit with LPBS alone and print its walk up to the readings."""
    from tiltmeter import audit

    suite = folder / "lpbs.yaml"
    suite.write_text("name: lpbs\nprobes:\n  - {id: lpbs, probe: lpbs}\n", encoding="utf-8")
    walk(f"tiltmeter.audit({MODEL!r}, suite=an LPBS suite)", lambda: audit(MODEL, suite=suite, out=folder / "out"))


def main() -> None:
    if len(sys.argv) > 1:
        walk_command(sys.argv[1:])
        return
    with tempfile.TemporaryDirectory() as name:
        os.environ["TILTMETER_CACHE"] = name
        train = "import tiltmeter; tiltmeter.load('" + MODEL + "').fill([])"
        subprocess.run([sys.executable, "-c", train], check=True)
        walk_command(["probe", "weat", "bundled:glove"])
        walk_audit(Path(name))


if __name__ == "__main__":
    main()
