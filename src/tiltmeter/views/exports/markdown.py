"""The report as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version

from tiltmeter.readings import STATES, Audit
from tiltmeter.views.report.wording import Meaning, Origin, meanings, not_measured, origin, shared_caveats
from tiltmeter.views.rows import ReadingRow, rows_by_model
from tiltmeter.views.summary import MARKS, Square, Summary, dimension_of, in_words, summarise

#: Readings that are named at the top.
_MOST_FIRST = 6
#: What has a meaning in Markdown, or would begin a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def to_markdown(audit: Audit) -> str:
    """Verdict, tables, plain words, caveats, method and how to reproduce it."""
    summary, source = summarise(audit), origin(audit)
    when = f", finished on {source.date}" if source.date else ""
    lines = [
        *("# How far does it lean?", ""),
        *(f"Suite “{escaped(audit.suite)}” on {', '.join(map(escaped, audit.models))}{when}.", ""),
        *("## Verdict", "", *glance(summary)),
        *(line for note in audit.notes for line in ("", f"Note: {escaped(note)}.")),
        *_first(summary),
        *(line for name, rows in rows_by_model(audit).items() for line in _model(name, rows)),
        *_not_measured(audit),
        *_meanings(meanings(audit.readings)),
        *_reproduce(source),
    ]
    return "\n".join(lines).rstrip() + "\n"


def glance(summary: Summary) -> list[str]:
    """The headline, and the grid with dimensions down and models across."""
    rows = [
        (dimension, *(_square(summary.square(dimension, model)) for model in summary.models))
        for dimension in summary.dimensions
    ]
    if summary.controls:
        rows.append(("controls", *(_control(summary, model) for model in summary.models)))
    grid = table(("dimension", *map(escaped, summary.models)), rows) if rows else []
    return [f"**{escaped(summary.headline)}** {' '.join(map(escaped, summary.sentences))}".rstrip(), "", *grid]


def _square(square: Square | None) -> str:
    if square is None:
        return "-"
    towards = f": {square.short_direction}" if square.direction else ""
    return f"{MARKS[square.state]} {square.state} {square.count}{towards}"


def _control(summary: Summary, model: str) -> str:
    state = summary.control(model)
    return f"{MARKS[state]} {state}" if state else "none"


def _first(summary: Summary) -> list[str]:
    rows = summary.first(_MOST_FIRST)
    said = (f"- {escaped(in_words(row))} on {escaped(row.reading.model)}" for row in rows)
    meanings = (f"- {MARKS[state]} {state}: {escaped(meaning)}" for state, meaning in STATES.items())
    return [*(("", "## Look at first", "", *said) if rows else ()), "", "What the verdicts mean:", "", *meanings]


def escaped(text: str) -> str:
    """A text that stays as it is in Markdown: no tag, no link, no emphasis, one line.

    >>> print(escaped("a <b> | *c*"))
    a \\<b\\> \\| \\*c\\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; every cell is plain text."""
    cells = (f"| {' | '.join(map(escaped, row))} |" for row in rows)
    return [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *cells]


def readings_table(rows: Sequence[ReadingRow]) -> list[str]:
    """The readings of a model with their verdict, strength and both p-values."""
    head = (
        "measured",
        "dimension",
        "verdict",
        "direction",
        "how strongly [95% interval]",
        "statistic",
        "p",
        "p, corrected",
    )
    return table(head, map(_cells, rows))


def _cells(row: ReadingRow) -> Sequence[str]:
    reading, state = row.reading, row.verdict.state
    dimension = "control" if reading.control else dimension_of(reading)
    words = (row.title, dimension, f"{MARKS[state]} {state}", reading.direction or "-", row.value, reading.effect.name)
    return (*words, row.raw_p or "-", row.p or "-")


def _model(name: str, rows: Sequence[ReadingRow]) -> list[str]:
    if not rows:
        return ["", f"## {escaped(name)}", "", "Nothing was measured on this model."]
    said = [f"- **{escaped(row.title)}.** {escaped(row.reading.plain_words)}{_published(row)}" for row in rows]
    return ["", f"## {escaped(name)}", "", *readings_table(rows), "", *said]


def _published(row: ReadingRow) -> str:
    published = row.reading.published
    if published is None:
        return ""
    p = f", p {row.published_p}" if row.published_p else ""
    return f" As published: {published.value:.4f}{escaped(p)}. {escaped(row.reading.repair)}"


def _not_measured(audit: Audit) -> list[str]:
    lines = [
        f"- {escaped(', '.join(probes))} on {escaped(', '.join(models))}: {escaped(reason)}"
        for probes, models, reason in not_measured(audit)
    ]
    return ["", "## Not measured", "", *lines] if lines else []


def _meanings(kinds: Sequence[Meaning]) -> list[str]:
    shared = shared_caveats(kinds)
    lines = ["", "## What the probes mean", "", *(f"- {escaped(caveat)}" for caveat in shared)]
    for kind in kinds:
        lines += ["", f"### {escaped(kind.summary)} ({escaped(kind.probe)})", ""]
        lines += [f"What counts as bias: {escaped(kind.idea)} Better: {escaped('; '.join(kind.better))}.", ""]
        lines += [f"- {escaped(caveat)}" for caveat in kind.caveats if caveat not in shared]
        lines += [f"- Method: {escaped('; '.join(kind.citations))}"]
    return lines


def reproduce(command: str, *, heading: str) -> list[str]:
    """The command, in a fence that nothing in it can end."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", command)), default=0))
    return ["", f"{heading} How to reproduce this", "", f"{fence}console", f"$ {command}", fence]


def _reproduce(source: Origin) -> list[str]:
    names = ("model", "revision", "settings")
    listed = (", ".join(f"{k} {v}" for k, v in pairs.items()) for pairs in (source.settings, source.versions))
    settings, versions = map(escaped, listed)
    return [
        *reproduce(source.command, heading="##"),
        *(["", escaped(source.note)] if source.note else []),
        *("", *table(names, ((m["name"], m["revision"], m["settings"]) for m in source.models))),
        *("", f"Settings: {settings}. Versions: {versions}.", "", f"Written by tiltmeter {version('tiltmeter')}."),
    ]
