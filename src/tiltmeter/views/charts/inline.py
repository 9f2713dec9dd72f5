"""A chart as part of a page: an SVG with a text alternative, whose marks speak under the mouse without a script."""

from __future__ import annotations

import re
import zlib
from html import escape

from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import to_svg

#: What the renderer says to screen readers mark by mark; the picture as a whole has its text alternative instead.
_ROLES = re.compile(r' (?:role|aria-roledescription|aria-hidden)="[^"]*"')
_SPEAKING = re.compile(r'<(path|rect)((?: [^<>]*?)?) aria-label="([^"]*)"([^<>]*?)/>')
_ID = re.compile(r'(?<=id="|rl\(#)((?:gradient_|clip)\d+)(?=["\)])')
_LABEL = re.compile(r' aria-label="[^"]*"')
_ROOT = re.compile(r"<svg ([^>]*)>(?:<rect width=\"\d+\" height=\"\d+\" fill=\"white\"/>)?", re.DOTALL)


def inline_svg(figure: Figure) -> str:
    """The SVG for a page; everything in it that came from a reading is escaped by the renderer."""
    svg = _ROLES.sub("", to_svg(figure.chart))
    # A mark of a chart may be described by its data; that becomes what the mouse shows.
    svg = _SPEAKING.sub(r"<\1\2\4><title>\3</title></\1>", svg)
    svg = _own_ids(_LABEL.sub("", svg))
    return _ROOT.sub(rf'<svg \1 role="img" aria-label="{_quoted(figure.alt)}">', svg, count=1)


def _own_ids(svg: str) -> str:
    """The renderer counts gradients through all charts it draws: the same chart must be the same text every time."""
    order = {name: n for n, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    bare = _ID.sub(lambda match: f"id{order[match[1]]}", svg)
    own = f"c{zlib.crc32(bare.encode()):08x}"
    return _ID.sub(lambda match: f"{own}-{order[match[1]]}", svg)


def _quoted(text: str) -> str:
    # The text goes through a pattern, where a backslash has a meaning of its own.
    return escape(text, quote=True).replace("\\", r"\\")
