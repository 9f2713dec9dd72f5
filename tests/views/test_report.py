from __future__ import annotations

import dataclasses
import re
from html.parser import HTMLParser

import pytest

from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tiltmeter import Audit, audit
from tiltmeter.audits import Skipped
from tiltmeter.readings import LeftOut
from tiltmeter.suites import load_suite
from tiltmeter.views.report import render

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


class Page(HTMLParser):
    """The text a reader sees, the tags, and every address the page refers to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self._parts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attributes if name in ("src", "href", "xlink:href", "data")]

    def handle_data(self, data: str) -> None:
        self._parts.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self._parts).split())


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Audit:
    path = tmp_path_factory.mktemp("suite") / "small.yaml"
    path.write_text(
        "probes:\n  - {id: career, probe: weat}\n  - {id: near, probe: rnd}\n"
        f"  - {{id: far, probe: mac, targets: [attributes.career], attributes: {TERMS}}}\n"
        "  - {id: seat, probe: seat}\n",
        encoding="utf-8",
    )
    level = words({**LEANS, TERMS[0]: 0.005, TERMS[1]: 0.0})
    del level["he"]
    models = [Named(words(LEANS), name="own:one"), Named(level, name="own:two")]
    return audit(models, suite=load_suite(path), cache=False)


@pytest.fixture(scope="module")
def html(audited: Audit) -> str:
    return render(audited)


def test_the_report_says_every_reading_in_plain_words(audited, html):
    page = Page(html)
    for reading in audited.readings:
        assert reading.plain_words in page.text
        assert reading.provenance["citation"] in page.text
        assert all(caveat in page.text for caveat in reading.caveats)
    assert page.tags.count("details") == len(audited.readings) == 6
    assert page.tags.count("svg") == 1


def test_the_report_counts_what_stays_clear_after_correction(audited, html):
    tested = [p for p, _ in audited.adjusted() if p is not None]
    clear = sum(p <= 0.05 for p in tested)
    assert (len(tested), clear) == (4, 2)
    assert "6 readings, 4 of them with a test" in Page(html).text
    assert "2 of 4 show a clear lean" in Page(html).text


def test_the_report_names_what_was_left_out_and_what_was_not_measured(html):
    text = Page(html).text
    assert "'he' (male terms): out of vocabulary of own:two" in text
    assert "own:one: seat (needs vectors of texts: this model does not give that)" in text


def test_the_report_shows_the_published_statistic_beside_the_corrected(audited, html):
    text = Page(html).text
    for reading in audited.readings:
        if reading.published:
            assert f"{reading.published.value:.4f}, p " in text
            assert reading.correction in text


def test_a_p_value_is_never_shown_as_zero(audited):
    tiny = [
        dataclasses.replace(r, effect=dataclasses.replace(r.effect, p_value=1e-12)) if r.effect.p_value else r
        for r in audited.readings
    ]
    text = Page(render(dataclasses.replace(audited, readings=tuple(tiny)))).text
    assert "< 0.0001 alone" in text
    assert not re.search(r"(p = |p |< )0(\.0+)?[ ,;)]", text)


def test_the_report_refers_to_nothing_outside_itself(html):
    page = Page(html)
    assert page.addresses == []
    assert not {"script", "link", "iframe", "img", "object", "embed"} & set(page.tags)
    assert "@import" not in html
    assert "url(" not in html
    # What is left are the names of XML vocabularies in the chart, which are never fetched.
    assert set(re.findall(r"https?://[^\"'\s<]+", html)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_markup_in_what_users_write_is_text_in_the_report(audited):
    evil = "<script>alert(1)</script> & co"
    spoilt = [
        dataclasses.replace(
            r,
            title=f"{evil} {r.id}",
            leans=evil,
            plain_words=evil,
            model=f"{evil} model",
            left_out=(LeftOut(evil, evil),),
            caveats=(evil,),
            correction=evil,
        )
        for r in audited.readings[:3]
    ]
    html = render(
        dataclasses.replace(
            audited,
            suite=evil,
            readings=tuple(spoilt),
            models=(f"{evil} model",),
            skipped=(Skipped(evil, evil, evil),),
        )
    )
    assert "script" not in Page(html).tags
    assert "<script" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; co" in html
    assert f"{evil} career" in Page(html).text


def test_a_report_without_effect_sizes_or_readings_of_a_model_is_still_a_report(audited):
    only_mac = tuple(r for r in audited.readings if r.probe == "mac" and r.model == "own:one")
    page = Page(render(dataclasses.replace(audited, readings=only_mac)))
    assert "svg" not in page.tags
    assert "Nothing was measured on this model." in page.text


def test_each_model_has_a_part_of_its_own(html):
    assert re.findall(r"<h2>(.*?)</h2>", html)[:2] == ["own:one", "own:two"]
    first, second = html.split("<h2>own:one</h2>")[1].split("<h2>own:two</h2>")
    assert first.count("<details>") == second.count("<details>") == 3


def test_a_folder_gets_a_report_html_and_the_same_report_every_time(audited, html, tmp_path):
    path = audited.report(tmp_path)
    assert path == tmp_path / "report.html"
    assert path.read_text(encoding="utf-8") == html
