"""The report as Markdown, for a pull request or a wiki."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING

from tiltmeter.views.report.background import Meaning, Origin, meanings, origin, shared_caveats
from tiltmeter.views.report.verdict import not_measured, verdict
from tiltmeter.views.rows import ReadingRow, reading_rows

if TYPE_CHECKING:
    from tiltmeter.readings import Audit

#: What has a meaning in Markdown, or would begin a tag.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$])")


def to_markdown(audit: Audit) -> str:
    """Verdict, tables, plain words, caveats, method and how to reproduce it."""
    rows = reading_rows(audit.readings, audit.adjusted())
    judged, source, kinds = verdict(audit), origin(audit), meanings(audit.readings)
    lines = [
        "# How far does it lean?",
        "",
        f"Suite “{plain(audit.suite)}” on {', '.join(map(plain, audit.models))}"
        f"{f', finished on {source.date}' if source.date else ''}.",
        "",
        "## Verdict",
        "",
        f"**{plain(judged.headline)}** {' '.join(map(plain, judged.sentences))}",
        "",
        *table(
            ("model", "clear leans", "strongest clear lean", "control"),
            (
                (m.model, f"{m.clear} of {m.tests} tests", m.strongest or "none", m.control or "-")
                for m in judged.models
            ),
        ),
        *(line for note in audit.notes for line in ("", f"Note: {plain(note)}.")),
    ]
    for name in audit.models:
        lines += _model(name, [row for row in rows if row.reading.model == name])
    lines += [*_not_measured(audit), *_meanings(kinds), *_reproduce(source)]
    return "\n".join(lines).rstrip() + "\n"


def plain(text: str) -> str:
    """A text that stays as it is in Markdown: no tag, no link, no emphasis, one line.

    >>> print(plain("a <b> | *c*"))
    a \\<b\\> \\| \\*c\\*
    """
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table; every cell is plain text."""
    return [
        f"| {' | '.join(head)} |",
        f"|{' --- |' * len(head)}",
        *(f"| {' | '.join(map(plain, row))} |" for row in rows),
    ]


def readings_table(rows: Sequence[ReadingRow]) -> list[str]:
    """The readings of a model with their strength and p-value."""
    head = ("measured", "leans", "how strongly [95% interval]", "statistic", "p, corrected")
    return table(
        head,
        (
            (
                row.title,
                row.leans or "-",
                row.value,
                f"{row.reading.effect.name}, {row.reading.effect.better}",
                row.p or "-",
            )
            for row in rows
        ),
    )


def _model(name: str, rows: Sequence[ReadingRow]) -> list[str]:
    if not rows:
        return ["", f"## {plain(name)}", "", "Nothing was measured on this model."]
    said = [f"- **{plain(row.title)}.** {plain(row.sentence)}{_published(row)}" for row in rows]
    return ["", f"## {plain(name)}", "", *readings_table(rows), "", *said]


def _published(row: ReadingRow) -> str:
    published = row.reading.published
    if published is None:
        return ""
    p = f", p {row.published_p}" if row.published_p else ""
    return f" As published: {published.value:.4f}{plain(p)}. {plain(row.reading.repair)}"


def _not_measured(audit: Audit) -> list[str]:
    if not audit.skipped:
        return []
    lines = [
        f"- {plain(', '.join(probes))} on {plain(', '.join(models))}: {plain(reason)}"
        for probes, models, reason in not_measured(audit)
    ]
    return ["", "## Not measured", "", *lines]


def _meanings(kinds: Sequence[Meaning]) -> list[str]:
    shared = shared_caveats(kinds)
    lines = ["", "## What the probes mean", "", *(f"- {plain(caveat)}" for caveat in shared)]
    for kind in kinds:
        lines += ["", f"### {plain(kind.summary)} ({plain(kind.probe)})", ""]
        lines += [f"What counts as bias: {plain(kind.idea)} Better: {plain('; '.join(kind.better))}.", ""]
        lines += [f"- {plain(caveat)}" for caveat in kind.caveats if caveat not in shared]
        lines += [f"- Method: {plain('; '.join(kind.citations))}"]
    return lines


def _reproduce(source: Origin) -> list[str]:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source.command)), default=0))
    return [
        "",
        "## How to reproduce this",
        "",
        f"{fence}console",
        f"$ {source.command}",
        fence,
        *(["", plain(source.note)] if source.note else []),
        "",
        *table(("model", "revision", "settings"), ((m["name"], m["revision"], m["settings"]) for m in source.models)),
        "",
        f"Settings: {plain(', '.join(f'{k} {v}' for k, v in source.settings.items()))}. "
        f"Versions: {plain(', '.join(f'{k} {v}' for k, v in source.versions.items()))}.",
        "",
        f"Written by tiltmeter {version('tiltmeter')}.",
    ]
