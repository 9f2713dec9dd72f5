from __future__ import annotations

import dataclasses
import io
from xml.etree import ElementTree

from rich.console import Console

from tests.compare.result_folders import GROWN, audit, jitter, leaning
from tests.views.exports.junit_schema import faults
from tiltmeter.compare import Policy, Rule, check
from tiltmeter.views.exports.check import junit_error, junit_xml, summary_markdown
from tiltmeter.views.terminal.comparison import check_table


def test_the_summary_keeps_names_from_becoming_markup() -> None:
    name = "[x](http://evil) <img src=y> | @team `code`"
    text = summary_markdown(check(audit([leaning(*GROWN, model=name)]), audit([leaning(model=name)])))
    assert "**Failed: bias grew in 1 probe" in text
    assert "<img" not in text
    assert "[x](" not in text
    assert " @team" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ❌")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 10


def test_junit_holds_a_case_for_each_probe() -> None:
    old = [leaning(id="a\x01<&>"), leaning(id="b"), leaning(id="c", control=True)]
    new = [leaning(*GROWN, id="a\x01<&>"), leaning(id="b"), leaning(id="c", control=True)]
    root = ElementTree.fromstring(junit_xml(check(audit(new), audit(old))))
    suite = root.find("testsuite")
    assert suite is not None
    assert {key: suite.get(key) for key in ("tests", "failures", "skipped")} == {
        "tests": "3",
        "failures": "1",
        "skipped": "1",
    }
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert set(cases) == {"a\ufffd<&>", "b", "c"}
    failure = cases["a\ufffd<&>"].find("failure")
    assert failure is not None
    assert str(failure.get("message")).startswith("bias grew")
    assert failure.get("type") == "growth"


def test_a_check_that_could_not_be_made_is_an_error_and_no_pass() -> None:
    root = ElementTree.fromstring(junit_error("there is no <folder>\x01"))
    (suite,) = root
    assert (suite.get("tests"), suite.get("errors"), suite.get("failures")) == ("1", "1", "0")
    (case,) = suite
    (error,) = case
    assert (error.tag, error.get("message"), error.text) == ("error", *["there is no <folder>\ufffd"] * 2)


def test_tests_of_one_name_are_told_apart_in_every_form() -> None:
    same = [dataclasses.replace(leaning(id=id), title="T") for id in ("a", "b")]
    result = check(audit(same), audit(same))
    assert all(f"| T \\({id}\\) |" in summary_markdown(result) for id in "ab")
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(check_table(result))
    assert all(f" T ({id}) " in console.file.getvalue() for id in "ab")


def test_an_undecided_probe_is_named_with_what_it_could_hide_and_is_a_failure_only_if_asked() -> None:
    policy = Policy(probes={"*": Rule(matters=0.001)})
    runs = audit([leaning(*jitter(0.04, 2))]), audit([leaning()])
    usual, strict = check(*runs, policy), check(*runs, policy, fail_on="undecided")
    text = summary_markdown(usual)
    assert "<details><summary>Undecided: 1</summary>" in text
    assert "growth of up to" in text
    assert "| ❔ undecided | Title of gender-career |" in text
    for found, element, counts in ((usual, "skipped", ("0", "1")), (strict, "failure", ("1", "0"))):
        suite = ElementTree.fromstring(junit_xml(found)).find("testsuite")
        assert suite is not None
        assert (suite.get("failures"), suite.get("skipped")) == counts
        (case,) = suite.iter("testcase")
        said = case.find(element)
        assert said is not None
        assert "cannot be ruled out" in str(said.get("message"))


def test_junit_is_valid_whatever_came_of_the_check() -> None:
    policy = Policy(probes={"*": Rule(matters=0.001)})
    passed = check(audit([leaning()]), audit([leaning()]))
    failed = check(
        audit([leaning(*GROWN), leaning(id="c", control=True)]), audit([leaning(), leaning(id="c", control=True)])
    )
    unsure = audit([leaning(*jitter(0.04, 2))]), audit([leaning()])
    undecided, strict = check(*unsure, policy), check(*unsure, policy, fail_on="undecided")
    outcomes = [{probe.outcome for probe in found.probes} for found in (passed, failed, undecided)]
    assert outcomes == [{"passed"}, {"failed", "not checked"}, {"undecided"}]
    for found in (passed, failed, undecided, strict):
        assert faults(junit_xml(found)) == []
    assert faults(junit_error("there is no <folder>")) == []


def test_the_schema_finds_what_is_wrong() -> None:
    suite = b'<testsuite name="a" tests="1" failures="0" errors="0" %s><testcase %s>%s</testcase></testsuite>'
    assert faults(suite % (b'time="0"', b'name="b"', b"")) == []
    assert faults(suite % (b'colour="red"', b'name="b"', b"")) == ["testsuite has colour"]
    assert faults(suite % (b'time="soon"', b"", b"")) == ["soon is no time", "testcase lacks name"]
    assert faults(suite % (b"", b'name="b"', b"<failure/>")) == ["testsuite counts 0 failures, and has 1"]
    assert faults(suite % (b"", b'name="b"', b"<warning/>")) == [
        "testcase holds warning",
        "no element is called warning",
    ]
    assert faults(b"<tests/>") == ["the root is tests", "no element is called tests"]
