"""What Jenkins takes for JUnit XML: the elements and attributes of the schema of its xUnit plugin, version 10.

Most readers of such files (GitLab, GitHub actions, Azure) take more than this, and none takes less.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

#: Of every element: what it may hold, the attributes it must have, those it may have, and whether text may stand in it.
_SAID = ((), (), ("type", "message"), True)
_OUTPUT = ((), (), (), True)
ELEMENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], bool]] = {
    "testsuites": (("testsuite",), (), ("name", "time", "tests", "failures", "errors"), False),
    "testsuite": (
        ("testsuite", "properties", "testcase", "system-out", "system-err"),
        ("name", "tests", "failures", "errors"),
        ("group", "time", "skipped", "timestamp", "hostname", "id", "package", "file", "log", "url", "version"),
        False,
    ),
    "testcase": (
        ("skipped", "error", "failure", "system-out", "system-err"),
        ("name",),
        ("time", "classname", "group"),
        False,
    ),
    "failure": _SAID,
    "error": _SAID,
    "skipped": _SAID,
    "system-out": _OUTPUT,
    "system-err": _OUTPUT,
}
_TIME = re.compile(r"\d{1,3}(,?\d{3})*(\.\d{0,3})?")
_OUTCOMES = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def faults(content: bytes) -> list[str]:
    """What the schema does not allow in a file, and counts that are not those of its cases; empty where it is valid."""
    root = ElementTree.fromstring(content)
    wrong = [] if root.tag in ("testsuites", "testsuite") else [f"the root is {root.tag}"]
    for element in root.iter():
        if element.tag not in ELEMENTS:
            wrong.append(f"no element is called {element.tag}")
            continue
        children, required, optional, text = ELEMENTS[element.tag]
        wrong += [f"{element.tag} holds {child.tag}" for child in element if child.tag not in children]
        wrong += [f"{element.tag} lacks {name}" for name in required if name not in element.attrib]
        wrong += [f"{element.tag} has {name}" for name in element.attrib if name not in required + optional]
        if not text and (element.text or "").strip():
            wrong.append(f"{element.tag} holds text")
        if "time" in element.attrib and not _TIME.fullmatch(element.attrib["time"]):
            wrong.append(f"{element.attrib['time']} is no time")
        if element.tag.startswith("testsuite"):
            wrong += _miscounted(element)
    return wrong


def _miscounted(suite: ElementTree.Element) -> list[str]:
    cases = list(suite.iter("testcase"))
    counts = {"tests": len(cases)} | {
        name: sum(case.find(outcome) is not None for case in cases) for name, outcome in _OUTCOMES.items()
    }
    return [
        f"{suite.tag} counts {suite.get(name)} {name}, and has {count}"
        for name, count in counts.items()
        if suite.get(name, str(count)) != str(count)
    ]
