"""What all charts share: colours, letters, words for those who cannot see them, and the ways out of a chart."""

from __future__ import annotations

import dataclasses
import functools
import re
import textwrap
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import altair as alt
import vl_convert
from altair.utils.schemapi import debug_mode

from tiltmeter.errors import TiltmeterError, unknown
from tiltmeter.files import write_atomically
from tiltmeter.readings import Poles

T = TypeVar("T")

# The report gives these a second meaning in the dark, so no chart has a grey of its own.
INK, SOFT, FAINT, PAPER = "#1c2330", "#5b6472", "#c4cad3", "white"
#: From small to large, behind the points.
SHADES = ("#f3f5f7", "#e9ecf0", "#dee3e9")
#: Of models: colour-blind safe (Okabe & Ito). Their names stand beside them, so that no one has to tell colours apart.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
#: Of groups of words, other than those of models; each goes with a shape that no verdict has.
GROUP_COLOURS = ("#6f5fc9", "#b8862b", "#3d9a9a", "#c4607a", "#7d8f3a")
GROUP_SHAPES = ("square", "triangle-up", "triangle-down", "cross", "triangle-right")
WIDTH = 464
#: The width of a letter of a label in the widest of the usual fonts.
_LETTER = 7
_MARGIN = 5
#: How the words at the ends of an axis are written.
_END: dict[str, Any] = {"fontSize": 11, "color": SOFT, "aria": False}


#: Charts made here are not checked against the whole grammar, which takes as long as to draw them: a test does.
unchecked = functools.partial(debug_mode, False)


def table(rows: Sequence[Mapping[str, Any]]) -> Any:
    """A chart of these rows."""
    # A tuple, because a list is copied with every layer.
    return alt.Chart(alt.InlineData(values=tuple(rows)))


def says(field: str = "says") -> dict[str, Any]:
    """What a mark says under the mouse, and to who cannot see it."""
    return {"tooltip": alt.Tooltip(f"{field}:N", title=" "), "description": alt.Description(f"{field}:N")}


def pixel(channel: str, at: float) -> Any:
    """A place in the picture, whatever the data; as a channel, which Altair takes long to make of a plain value."""
    return getattr(alt, f"{channel}Value")(at)


def where(test: str, then: Any, otherwise: Any, *, channel: str) -> Any:
    """One look or another by what a row says; as a channel, for the same reason. Looks are values or channels."""
    shown = then.to_dict() if hasattr(then, "to_dict") else {"value": then}
    return getattr(alt, f"{channel}Value")(otherwise, condition={"test": test, **shown})


def titled(
    chart: Any, title: str, subtitle: Sequence[str] = (), *, letters: int = 76, left: int = _MARGIN, right: int = 24
) -> Any:
    """The chart with its title, lines of so many letters below it, and a margin on its left.

    A browser may have wider letters than the renderer reckons with, and what goes beyond the picture is cut off.
    """
    parts = [subtitle] if isinstance(subtitle, str) else subtitle
    lines = [line for part in parts for line in wrapped(part, letters)]
    # Set, because properties() and configure() copy all of a chart, and this one is ours.
    small: dict[str, Any] = {"subtitleColor": SOFT, "subtitleFontSize": 12, "subtitlePadding": 4}
    heading = cut_lines(title, int(0.82 * letters))
    chart.title = alt.Title(heading, subtitle=lines, frame="bounds", color=INK, **small)
    return styled(chart, left=left, right=right)


def styled(chart: Any, *, left: int = _MARGIN, right: int = 24) -> Any:
    """The same chart in letters that can be read at 600 pixels."""
    letters = {"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal"}
    chart.config = alt.Config(
        font="sans-serif",
        axis={**letters, "labelColor": INK, "titleColor": INK, "domainColor": SOFT, "tickColor": SOFT},
        legend={**letters, "labelColor": INK, "titleColor": INK, "symbolOpacity": 1, "columnPadding": 24},
        title={"fontSize": 14, "anchor": "start", "frame": "group", "color": INK},
        view={"stroke": None},
        # Names that lean over the end of a chart reach further in a wide font.
        padding={"left": max(left, _MARGIN), "top": _MARGIN, "bottom": _MARGIN, "right": right},
    )
    return chart


def stacked(charts: Sequence[Any]) -> Any:
    """Charts with their titles one below the other, as one."""
    # A part of a chart has no settings of its own, and all charts have the same.
    for chart in charts:
        chart.config = alt.Undefined
    return styled(alt.vconcat(*charts, spacing=32).resolve_scale(fill="independent", shape="independent"))


def short(text: str, most: int) -> str:
    """A text of at most so many letters. To cut it to pixels takes the renderer a second for a long one.

    >>> short("The programmer admitted that the bug was his", 20)
    'The programmer admi…'
    """
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def tail(text: str, most: int) -> str:
    """The end of a name of more than so many letters: it is what tells models of one kind apart.

    >>> tail("hf:/home/models/checkpoint-500", 16)
    '…/checkpoint-500'
    """
    return text if len(text) <= most else f"…{text[len(text) - most + 1 :].lstrip()}"


def end_labels(poles: Poles | None, *, width: float, height: float, below: float = 40) -> list[Any]:
    """What lies at the two ends of an axis, in the words of the groups, below its title."""
    if poles is None:
        return []
    most = int(width / 2 / _LETTER)
    sides = ((f"◄ {poles.negative}", "left", 0.0), (f"{poles.positive} ►", "right", width))
    ends = []
    for text, align, at in sides:
        if text.strip("◄► "):
            mark = table([{"end": wrapped(text, most)}]).mark_text(align=align, baseline="top", **_END)
            ends.append(mark.encode(x=pixel("X", at), y=pixel("Y", height + below), text=alt.Text("end:N")))
    return ends


def names_axis(names: Sequence[str], most: int) -> Any:
    """The axis of rows: their names, cut to so many letters, with room for the widest letters a browser may have."""
    least = room(min(most, max(map(len, names), default=0)))
    return alt.Axis(labelLimit=0, labelExpr=cut_label(most), minExtent=least, ticks=False, domain=False)


def room(letters: int) -> float:
    """Pixels that so many letters take in the widest of the usual fonts."""
    return float(_LETTER * letters)


def cut_label(most: int) -> str:
    """A text of at most so many letters for the labels of an axis, as an expression."""
    return f"length(datum.label) > {most} ? slice(datum.label, 0, {most - 1}) + '…' : datum.label"


def cut_start(most: int) -> str:
    """The end of a text of more than so many letters, as an expression for the labels of an axis."""
    return f"length(datum.label) > {most} ? '…' + slice(datum.label, {1 - most}) : datum.label"


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines that fit a chart."""
    return textwrap.wrap(text, width, break_long_words=True) or [""]


def cut_lines(text: str, width: int, most: int = 2) -> list[str]:
    """The same in no more than so many lines.

    >>> cut_lines("Names of white and Black Americans, pleasant and unpleasant", 36)
    ['Names of white and Black Americans,', 'pleasant and unpleasant']
    >>> cut_lines("The programmer admitted that the bug was his", 12)
    ['The', 'programmer…']
    """
    lines = wrapped(text, width)
    return [*lines[: most - 1], short(" ".join(lines[most - 1 :]), width)] if len(lines) > most else lines


def look_of(field: str, names: Sequence[str], **legend: Any) -> dict[str, Any]:
    """A colour and a shape for each group, with one legend; groups beyond the colours begin again with the first."""
    shown = alt.Legend(title=None, **legend) if legend else None
    ranges = ([looks[n % len(looks)] for n in range(len(names))] for looks in (GROUP_COLOURS, GROUP_SHAPES))
    colours, shapes = (alt.Scale(domain=list(names), range=looks) for looks in ranges)
    return {
        "color": alt.Color(f"{field}:N", scale=colours, legend=shown),
        "shape": alt.Shape(f"{field}:N", scale=shapes, legend=shown),
    }


#: Addresses (not memory) that the renderer's engine reserves while it starts, and room for all else: below such a limit
#: it would end the whole process.
_ADDRESSES = 96 << 30
_NO_ROOM = "the renderer reserves 66 GB of addresses, and ulimit -v allows {:.0f} GB"


def _why_not() -> str:
    """Why nothing can be drawn here, if so."""
    try:
        import resource
    except ImportError:  # there is no such limit
        return ""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return "" if most == resource.RLIM_INFINITY or most >= _ADDRESSES else _NO_ROOM.format(most / 10**9)


def _rendered(draw: Callable[..., T], chart: Any, **options: Any) -> T:
    if reason := _why_not():
        raise TiltmeterError(f"no chart can be drawn: {reason}: raise it, and run the same command again")
    return draw(_spec(chart), **options)


def to_svg(chart: Any) -> str:
    """The chart as an SVG that needs no script and no network."""
    return str(_rendered(vl_convert.vegalite_to_svg, chart))


def _spec(chart: Any) -> str:
    with unchecked():
        return str(chart.to_json(validate=False, indent=None))


#: What the renderer says to screen readers mark by mark; the picture as a whole has its text alternative instead.
_ROLES = re.compile(r' (?:role|aria-roledescription|aria-hidden)="[^"]*"')
_SPEAKING = re.compile(r'<(path|rect) aria-label="([^"]*)"([^<>]*)/>')
_ID = re.compile(r'(?<=id="|rl\(#)((?:gradient_|clip)\d+)(?=["\)])')
_LABEL = re.compile(r' aria-label="[^"]*"')
_ROOT = re.compile(r"<svg ([^>]*)>(?:<rect width=\"\d+\" height=\"\d+\" fill=\"white\"/>)?", re.DOTALL)


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A chart ready for a page or a file.

    ``alt`` says in words what the chart shows, with the numbers that matter.
    """

    name: str
    title: str
    alt: str
    chart: Any


#: The formats of files, and a chart in each.
FORMATS: Mapping[str, Callable[[Any], bytes]] = {
    "png": lambda chart: bytes(_rendered(vl_convert.vegalite_to_png, chart, scale=2.0)),
    "svg": lambda chart: to_svg(chart).encode(),
    "pdf": lambda chart: bytes(_rendered(vl_convert.vegalite_to_pdf, chart)),
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
        write_atomically(path, FORMATS[format](figure.chart))
        written[path] = figure.alt
    words = "".join(f"{path.name}: {alt}\n" for path, alt in written.items())
    write_atomically(folder / "alt.txt", words.encode(errors="backslashreplace"))
    return list(written)


def inline_svg(figure: Figure) -> str:
    """The SVG for a page: its marks speak under the mouse without a script, and it has a text alternative.

    Everything in it that came from a reading is escaped by the renderer. Its words stand alone where nothing can be
    drawn.
    """
    if reason := _why_not():
        return _in_words(f"{figure.alt} (Not drawn: {reason}.)")
    svg = _ROLES.sub("", to_svg(figure.chart))
    # A mark of a chart may be described by its data; that becomes what the mouse shows.
    svg = _SPEAKING.sub(r"<\1\3><title>\2</title></\1>", svg)
    svg = _with_ids(_LABEL.sub("", svg))
    # The text goes through a pattern, where a backslash has a meaning of its own.
    alt = escape(figure.alt, quote=True).replace("\\", r"\\")
    return _ROOT.sub(rf'<svg \1 role="img" aria-label="{alt}">', svg, count=1)


def _in_words(text: str) -> str:
    lines = [escape(line) for line in wrapped(text, 90)]
    spans = "".join(f'<tspan x="4" dy="16">{line}</tspan>' for line in lines)
    size = f'width="600" height="{16 * len(lines) + 12}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(text, quote=True)}">'
        f'<text font-size="12" fill="currentColor">{spans}</text></svg>'
    )


def _with_ids(svg: str) -> str:
    """The renderer counts gradients through all charts it draws: the same chart must be the same text every time."""
    order = {name: n for n, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    if not order:
        return svg
    bare = _ID.sub(lambda match: f"id{order[match[1]]}", svg)
    prefix = f"c{zlib.crc32(bare.encode()):08x}"
    return _ID.sub(lambda match: f"{prefix}-{order[match[1]]}", svg)
