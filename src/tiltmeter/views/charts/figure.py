"""A chart with the words that everyone needs who cannot see it, as part of a page and as a file."""

from __future__ import annotations

import dataclasses
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

from tiltmeter.errors import unknown
from tiltmeter.files import write_atomically
from tiltmeter.views.charts.style import to_pdf, to_png, to_svg

#: What the renderer says to screen readers mark by mark; the picture as a whole has its text alternative instead.
_ROLES = re.compile(r' (?:role|aria-roledescription|aria-hidden)="[^"]*"')
_SPEAKING = re.compile(r'<(path|rect)((?: [^<>]*?)?) aria-label="([^"]*)"([^<>]*?)/>')
_ID = re.compile(r'(?<=id="|rl\(#)((?:gradient_|clip)\d+)(?=["\)])')
_LABEL = re.compile(r' aria-label="[^"]*"')
_ROOT = re.compile(r"<svg ([^>]*)>(?:<rect width=\"\d+\" height=\"\d+\" fill=\"white\"/>)?", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A chart ready for a page or a file.

    ``alt`` says in words what the chart shows, with the numbers that matter. Where ``keeps_colours``, the colours are
    the numbers (a heat map), so they stay as they are on a dark page.
    """

    name: str
    title: str
    alt: str
    chart: Any
    keeps_colours: bool = False


#: The formats of files.
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
        # Nothing of a model's name can lead out of the folder.
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:100] or "chart"
        path, n = folder / f"{slug}.{format}", 1
        while path in written:
            n += 1
            path = folder / f"{slug}-{n}.{format}"
        write_atomically(path, FORMATS[format](figure))
        written[path] = figure.alt
    words = "".join(f"{path.name}: {alt}\n" for path, alt in written.items())
    write_atomically(folder / "alt.txt", words.encode(errors="backslashreplace"))
    return list(written)


def inline_svg(figure: Figure) -> str:
    """The SVG for a page: its marks speak under the mouse without a script, and it has a text alternative.

    Everything in it that came from a reading is escaped by the renderer.
    """
    svg = _ROLES.sub("", to_svg(figure.chart))
    # A mark of a chart may be described by its data; that becomes what the mouse shows.
    svg = _SPEAKING.sub(r"<\1\2\4><title>\3</title></\1>", svg)
    svg = _with_ids(_LABEL.sub("", svg))
    # The text goes through a pattern, where a backslash has a meaning of its own.
    alt = escape(figure.alt, quote=True).replace("\\", r"\\")
    return _ROOT.sub(rf'<svg \1 role="img" aria-label="{alt}">', svg, count=1)


def _with_ids(svg: str) -> str:
    """The renderer counts gradients through all charts it draws: the same chart must be the same text every time."""
    order = {name: n for n, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    bare = _ID.sub(lambda match: f"id{order[match[1]]}", svg)
    prefix = f"c{zlib.crc32(bare.encode()):08x}"
    return _ID.sub(lambda match: f"{prefix}-{order[match[1]]}", svg)
