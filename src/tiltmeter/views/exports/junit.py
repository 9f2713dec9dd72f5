"""A check as JUnit XML, which continuous integration shows test by test."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from tiltmeter.compare.gate import FAILED, IGNORED, Check

#: What XML 1.0 does not allow, even as a character reference.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(check: Check) -> bytes:
    """One test case a probe and model."""
    counts = {
        "tests": len(check.verdicts),
        "failures": len(check.failed),
        "skipped": sum(each.outcome == IGNORED for each in check.verdicts),
        "errors": 0,
    }
    numbers = {name: str(count) for name, count in counts.items()}
    root = ElementTree.Element("testsuites", {"name": "tiltmeter check", **numbers})
    suite = ElementTree.SubElement(root, "testsuite", {"name": "tiltmeter check", "time": "0", **numbers})
    for each in check.verdicts:
        case = ElementTree.SubElement(suite, "testcase", classname=_clean(each.model), name=_clean(each.id), time="0")
        if each.outcome == FAILED:
            kind = "limit" if each.over_limit and not each.grew else "growth"
            failure = ElementTree.SubElement(case, "failure", message=_clean(each.why), type=kind)
            failure.text = _clean(f"{each.title}: {each.why}")
        elif each.outcome == IGNORED:
            ElementTree.SubElement(case, "skipped", message=_clean(each.why))
        else:
            ElementTree.SubElement(case, "system-out").text = _clean(f"{each.title}: {each.why}")
    ElementTree.indent(root, " ")
    content: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return content + b"\n"


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\ufffd", text)
