"""A check as JUnit XML, which continuous integration shows test by test."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tiltmeter.compare.gate import FAILED, IGNORED, Check

#: What XML 1.0 does not allow, even as a character reference.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(check: Check) -> bytes:
    """One test case per probe and model."""
    counts = {
        "tests": len(check.probes),
        "failures": len(check.failed),
        "skipped": sum(probe.outcome == IGNORED for probe in check.probes),
        "errors": 0,
    }
    numbers = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": "tiltmeter check", **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "tiltmeter check", "time": "0", **numbers})
    for probe in check.probes:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(probe.model), name=_clean(probe.id), time="0")
        if probe.outcome == FAILED:
            kind = "limit" if probe.over_limit and not probe.grew else "growth"
            failure = ElementTree.SubElement(case, "failure", message=_clean(probe.why), type=kind)
            failure.text = _clean(f"{probe.title}: {probe.why}")
        elif probe.outcome == IGNORED:
            ElementTree.SubElement(case, "skipped", message=_clean(probe.why))
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(f"{probe.title}: {probe.why}")
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
