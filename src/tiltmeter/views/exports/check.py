"""A check for continuous integration: as Markdown for a pull request, and as JUnit XML, test by test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from tiltmeter.compare.gate import Check, Outcome, ProbeCheck
from tiltmeter.readings import p_number
from tiltmeter.views.rows import shown_titles

_MARKS: dict[Outcome, str] = {
    "failed": "❌ failed",
    "undecided": "❔ undecided",
    "passed": "✅ passed",
    "not checked": "➖ not checked",
}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~@])")


def summary_markdown(check: Check) -> str:
    """The headline, what failed or is undecided and why, and every probe in a table."""
    titles = {probe.id: _escape(title) for probe, title in zip(check.probes, shown_titles(check.probes), strict=True)}
    lines = ["## tiltmeter: has bias grown?", "", f"**{_escape(check.headline)}**", ""]
    lines += _reasons(check.failed, titles)
    if undecided := _reasons(check.with_outcome("undecided"), titles):
        lines += [f"<details><summary>Undecided: {len(undecided)}</summary>", "", *undecided, "", "</details>", ""]
    lines += [""] if check.failed else []
    lines += ["<details><summary>Every probe</summary>", ""]
    lines += ["| result | measured | model | baseline | now | growth | at most | could find | p, corrected |"]
    lines += [
        "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(_row(probe, titles[probe.id]) for probe in check.probes),
    ]
    lines += ["", "</details>", "", *(f"{_escape(note)}  " for note in check.notes)]
    fail = f"Of equal models at most {check.alpha:.0%} of checks fail; p is corrected for {check.tests} tests."
    means = "Growth is away from level; from 'could find' on it would be found 8 times in 10."
    return "\n".join([*lines, f"{means} {fail}", ""])


def _reasons(probes: Sequence[ProbeCheck], titles: Mapping[str, str]) -> list[str]:
    return [f"- **{titles[probe.id]}** on {_escape(probe.model)}: {_escape(probe.why)}" for probe in probes]


def _row(probe: ProbeCheck, title: str) -> str:
    moved = probe.difference
    numbers = ["", "", ""] if moved is None else [f"{moved.first:.3f}", f"{moved.second:.3f}", f"{moved.growth:+.3f}"]
    numbers += ["" if bound is None else f"{bound:+.3f}" for bound in (probe.at_most, probe.could_find)]
    p = "" if probe.p_grown is None else _escape(p_number(probe.p_grown))
    return f"| {' | '.join([_MARKS[probe.outcome], title, _escape(probe.model), *numbers, p])} |"


def _escape(text: str) -> str:
    """Text that means nothing to Markdown: a model's name must not become a link, a mention or HTML."""
    plain = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", plain).replace("\\@", "&#64;")


#: What XML 1.0 does not allow, even as a character reference.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(check: Check) -> bytes:
    """One test case per probe and model; undecided ones are failures only where the check fails on them."""
    failing: tuple[Outcome, ...] = ("failed", "undecided") if check.fail_on == "undecided" else ("failed",)
    failures = sum(probe.outcome in failing for probe in check.probes)
    skipped = len(check.probes) - failures - len(check.with_outcome("passed"))
    root, suite = _suite(tests=len(check.probes), failures=failures, skipped=skipped)
    for probe in check.probes:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(probe.model), name=_clean(probe.id), time="0")
        if probe.outcome in failing:
            kind = "undecided" if probe.outcome == "undecided" else "growth" if probe.grew else "limit"
            failure = ElementTree.SubElement(case, "failure", message=_clean(probe.why), type=kind)
            failure.text = _clean(f"{probe.title}: {probe.why}")
        elif probe.outcome != "passed":
            ElementTree.SubElement(case, "skipped", message=_clean(f"{probe.outcome}: {probe.why}"))
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(f"{probe.title}: {probe.why}")
    return _xml(root)


def junit_error(message: str) -> bytes:
    """A check that could not be made: an error, so that no pipeline takes the missing result for a pass."""
    root, suite = _suite(tests=1, errors=1)
    case = ElementTree.SubElement(suite, "testcase", classname="tiltmeter", name="check", time="0")
    ElementTree.SubElement(case, "error", message=_clean(message), type="bad input").text = _clean(message)
    return _xml(root)


def _suite(
    *, tests: int, failures: int = 0, errors: int = 0, skipped: int = 0
) -> tuple[ElementTree.Element, ElementTree.Element]:
    counts = {"tests": tests, "failures": failures, "errors": errors, "skipped": skipped}
    numbers = {name: str(count) for name, count in counts.items()}
    name = {"name": "tiltmeter check"}
    # Jenkins counts what was skipped by suite alone, and refuses a file that counts it above.
    root = ElementTree.Element("testsuites", {**name, **numbers})
    del root.attrib["skipped"]
    return root, ElementTree.SubElement(root, "testsuite", {**name, "time": "0", **numbers})


def _xml(root: ElementTree.Element) -> bytes:
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
