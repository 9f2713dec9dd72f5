"""What came of mitigation, as tables in the terminal."""

from __future__ import annotations

from rich.console import RenderableType
from rich.table import Column
from rich.text import Text

from tiltmeter.readings import p_number
from tiltmeter.readings.mitigation import MethodOutcome, Mitigation
from tiltmeter.views.terminal.table import wide_table


def mitigation_view(result: Mitigation) -> list[RenderableType]:
    """A row per method, what moved and what it cost for each, and which one to take."""
    views: list[RenderableType] = [_methods(result), Text("")]
    if result.others:
        views += [_splits(result), Text("")]
    for outcome in result.outcomes:
        if not outcome.problem:
            views += [_moved(outcome), _tests(outcome), Text("")]
        views.append(Text(outcome.in_words()))
        views += [Text(f"Left out: {reason}") for reason in outcome.left_out]
        views.append(Text(""))
    halves = ", ".join("/".join(members) for members in result.fit)
    unseen = "without these words, or in sentences that a language model was not taught"
    views.append(Text(f"Fitted on {halves}; what counts is measured {unseen}."))
    views.append(Text(result.recommendation, style="bold"))
    return views


def _methods(result: Mitigation) -> RenderableType:
    rows = result.rows()
    table = wide_table(f"{result.model}, suite {result.suite}", *(Column(name) for name in rows[0]))
    for row in rows:
        table.add_row(
            *map(Text, row.values()), style="bold" if result.take and row["method"] == result.take.method else ""
        )
    return table


def _splits(result: Mitigation) -> RenderableType:
    """A row per method, from the lowest value to the highest."""
    rows = result.split_rows()
    table = wide_table("over all splits of the words, lowest to highest", *map(Column, rows[0]))
    for row in rows:
        table.add_row(*map(Text, row.values()))
    return table


def _moved(outcome: MethodOutcome) -> RenderableType:
    """The readings that decide, and others that lean more."""
    widths = {"before": 7, "after": 7, "difference [95% interval]": 24, "p": 9, "verdict": 18}
    table = wide_table(outcome.method, Column("measured", ratio=1), *(Column(n, width=w) for n, w in widths.items()))
    shown = [
        moved_reading
        for moved_reading in outcome.moved
        if moved_reading.decides or (moved_reading.real and moved_reading.growth > 0)
    ]
    for moved in shown:
        cells = (
            moved.title,
            f"{moved.before:.2f}",
            f"{moved.after:.2f}",
            f"{moved.difference:+.2f} [{moved.ci.low:.2f}, {moved.ci.high:.2f}]",
            p_number(moved.p_holm),
            moved.verdict,
        )
        table.add_row(*map(Text, cells), style="" if moved.decides else "dim")
    return table


def _tests(outcome: MethodOutcome) -> RenderableType:
    table = wide_table(
        "", Column("hidden or gone, and utility", ratio=1), *(Column(n, width=24) for n in ("before", "after", ""))
    )
    for test in outcome.traces:
        cells = (
            f"{test.name}: {test.about}",
            f"{test.before:.1%}",
            f"{test.after:.1%} [{test.ci.low:.1%}, {test.ci.high:.1%}]",
        )
        table.add_row(*map(Text, (*cells, f"{test.trace} (guessing {test.chance:.0%})")))
    for measured in outcome.utility:
        kept = f"kept {measured.kept:.1%} [{measured.ci.low:.1%}, {measured.ci.high:.1%}]"
        table.add_row(
            *map(Text, (f"{measured.name}: {measured.about}", f"{measured.before:.3f}", f"{measured.after:.3f}", kept))
        )
    return table
