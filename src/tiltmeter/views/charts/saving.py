"""Charts as files, for papers and slides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from tiltmeter.errors import unknown
from tiltmeter.files import write_atomically
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import to_pdf, to_png, to_svg

FORMATS: Mapping[str, Callable[[Figure], bytes]] = {
    "png": lambda figure: to_png(figure.chart),
    "svg": lambda figure: to_svg(figure.chart).encode(),
    "pdf": lambda figure: to_pdf(figure.chart),
}


def write_figures(named: Iterable[tuple[str, Figure]], folder: Path, *, format: str = "png") -> list[Path]:
    """Write each figure under its name, with its text alternative beside it in ``alt.txt``."""
    if format not in FORMATS:
        raise unknown("format of charts", format, FORMATS)
    written: dict[Path, str] = {}
    for name, figure in named:
        path = _free(folder / f"{_slug(name)}.{format}", written)
        write_atomically(path, FORMATS[format](figure))
        written[path] = figure.alt
    words = "".join(f"{path.name}: {alt}\n" for path, alt in written.items())
    write_atomically(folder / "alt.txt", words.encode(errors="backslashreplace"))
    return list(written)


def _slug(name: str) -> str:
    """Nothing of a model's name can lead out of the folder."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100] or "chart"


def _free(path: Path, taken: Mapping[Path, str]) -> Path:
    n, free = 1, path
    while free in taken:
        n += 1
        free = path.with_name(f"{path.stem}-{n}{path.suffix}")
    return free
