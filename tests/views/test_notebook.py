"""What objects show of themselves in a notebook."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser

import pytest

import tiltmeter
from tests.compare import result_folders
from tests.views import made
from tiltmeter.views import notebook


class Page(HTMLParser):
    """The text of a page and its elements; an element that is never closed is an error."""

    VOID = ("br", "path", "rect", "line", "circle")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text, self.elements, self.open = "", list[str](), list[str]()
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.elements.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_a_reading_is_one_line_and_as_html_finding_verdict_and_chart() -> None:
    reading = made.reading(model="own:one", effect=made.d(0.8))
    assert (
        repr(reading)
        == "<Reading career [own:one] effect size d 0.80 [0.50, 1.10], clear: men → career, women → family>"
    )
    page = Page(reading._repr_html_())
    assert reading.finding in page.text
    assert reading.verdict.sentence in page.text
    assert page.elements.count("svg") == 1


def test_an_audit_is_one_line_and_as_html_the_grid_the_chart_and_every_reading() -> None:
    readings = [
        made.reading(model, id, made.d(value)) for model in ("a", "b") for id, value in (("x", 0.9), ("y", 0.1))
    ]
    audit = made.audit(*readings)
    assert repr(audit) == "<Audit default: 4 readings, clear leans of 4 bias tests: a 2, b 2>"
    page = Page(audit._repr_html_())
    assert page.text.index("gender") < page.text.index("All 4 readings")
    assert "clear (2 of 2): men → career, women → family" in page.text
    assert page.elements.count("svg") == 1
    assert audit.chart().to_dict()["title"]


def test_a_comparison_and_a_check_show_what_changed_first() -> None:
    old = result_folders.audit([result_folders.leaning(id=id, model="a") for id in ("same", "grown")])
    grown = [
        result_folders.leaning(id="same", model="b"),
        result_folders.leaning(*result_folders.GROWN, id="grown", model="b"),
    ]
    new = result_folders.audit(grown)
    comparison = tiltmeter.compare(old, new)
    page = Page(comparison._repr_html_())
    assert comparison.pairs[0].headline in page.text
    assert page.text.index("Title of grown") < page.text.index("Title of same")
    assert "clear: further from level" in page.text
    assert page.elements.count("svg") == 1
    assert comparison.chart().to_dict()
    assert comparison.pairs[0].chart().to_dict()
    check = tiltmeter.check(new, old)
    assert repr(check) == f"<Check {check.headline}>"
    page = Page(check._repr_html_())
    assert page.text.index(check.headline) < page.text.index("Title of grown") < page.text.index("The other 1 probe")


def test_nothing_of_a_name_becomes_markup() -> None:
    audit = made.audit(made.reading(made.EVIL, made.EVIL, made.d(0.8)))
    for html in (audit._repr_html_(), audit.readings[0]._repr_html_()):
        assert "<script" not in html


def test_readings_and_comparisons_import_no_view() -> None:
    script = (
        "import tiltmeter.readings, tiltmeter.compare, sys; print([n for n in sys.modules if 'tiltmeter.views' in n])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(("control", "tables"), [(False, 2), (True, 1)])
def test_a_table_without_rows_is_not_shown(control: bool, tables: int) -> None:
    page = Page(notebook.audit_html(made.audit(made.reading(control=control))))
    assert page.elements.count("table") == tables
