"""A check as Markdown, for the page of a pull request."""

from __future__ import annotations

import re

from tiltmeter.compare.gate import FAILED, IGNORED, PASSED, Check, ProbeCheck
from tiltmeter.readings import p_number

_MARKS = {PASSED: "✅ passed", FAILED: "❌ failed", IGNORED: "➖ not checked"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~@])")


def summary_markdown(check: Check) -> str:
    """The headline, what failed and why, and every probe in a table."""
    lines = ["## tiltmeter: has bias grown?", "", f"**{_escape(check.headline)}**", ""]
    lines += [f"- **{_escape(probe.title)}** on {_escape(probe.model)}: {_escape(probe.why)}" for probe in check.failed]
    lines += [""] if check.failed else []
    lines += [
        "<details><summary>Every probe</summary>",
        "",
        "| result | measured | model | baseline | now | growth | p, corrected |",
        "| --- | --- | --- | ---: | ---: | ---: | ---: |",
        *map(_row, check.probes),
        "",
        "</details>",
        "",
    ]
    lines += [f"{_escape(note)}  " for note in check.notes]
    lines += [
        f"Growth is away from level. Of equal models at most {check.alpha:.0%} of checks fail; p is corrected for "
        f"{check.tests} tests.",
        "",
    ]
    return "\n".join(lines)


def _row(probe: ProbeCheck) -> str:
    moved = probe.difference
    numbers = ["", "", ""] if moved is None else [f"{moved.first:.3f}", f"{moved.second:.3f}", f"{moved.growth:+.3f}"]
    p = "" if probe.p_grown is None else _escape(p_number(probe.p_grown))
    return f"| {' | '.join([_MARKS[probe.outcome], _escape(probe.title), _escape(probe.model), *numbers, p])} |"


def _escape(text: str) -> str:
    """Text that means nothing to Markdown: a model's name must not become a link, a mention or HTML."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain).replace("\\@", "&#64;")
