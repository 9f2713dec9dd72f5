from __future__ import annotations

import dataclasses
import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tiltmeter.views.report.report
from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tests.views.made import audit as made_audit
from tests.views.made import d
from tests.views.made import reading as made_reading
from tiltmeter import Audit, audit
from tiltmeter.probes import make_probes
from tiltmeter.readings import LeftOut, Poles, ReadingStore, Skipped
from tiltmeter.run.suite import load_suite
from tiltmeter.views.charts import style
from tiltmeter.views.report.report import render

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
        assert reading.about.citation in page.text
        assert reading.about.idea[1:] in page.text
        assert all(caveat in page.text for caveat in reading.about.caveats)
    assert html.count('<details id="reading-') == len(audited.readings) == 6
    assert page.tags.count("svg") == page.tags.count("figure") >= 3


def test_the_report_counts_what_is_significant_after_correction(audited, html):
    states = [reading.verdict.state for reading in audited.readings]
    assert (len(states) - states.count("untested"), states.count("clear")) == (4, 2)
    assert "6 readings, 4 of them bias tests" in Page(html).text
    assert "2 of 4 bias tests show a clear lean, on 1 of 2 models" in Page(html).text


def test_the_first_thing_is_the_grid_then_a_chart_then_what_to_look_at_first(html):
    places = [html.index(f'id="{name}"') for name in ("verdict", "overview", "first", "contents", "models", "charts")]
    assert places == sorted(places)
    grid = html.split('<table class="cards grid">')[1].split("</table>")[0]
    assert re.findall(r'data-label="(.*?)" data-verdict="(.*?)"', grid) == [
        ("own:one", "clear"),
        ("own:two", "undecided"),
    ]
    assert "● clear 2 of 2 male terms → career" in Page(grid).text.replace("\xa0", " ")


def test_every_row_says_which_reading_it_is_and_its_verdict(audited, html):
    rows = re.findall(r'data-reading="(.*?)" data-model="(.*?)" data-verdict="(.*?)"', html)
    assert rows == [
        (r.id, r.model, r.verdict.state) for name in audited.models for r in audited.readings if r.model == name
    ]


def test_of_many_models_each_is_a_row_of_the_grid():
    html = render(made_audit(*(made_reading(f"own:{n}", "career", d(1.0)) for n in range(9))))
    grid = html.split('<table class="cards grid">')[1].split("</table>")[0]
    assert re.findall(r'<th scope="row"><a href="#model-\d">(.*?)</a>', grid) == [f"own:{n}" for n in range(9)]
    assert grid.count('data-label="gender" data-verdict="clear"') == 9


def test_a_control_that_does_not_work_is_said_at_the_top():
    control = made_reading("own:x", "flowers", d(0.1, p=0.8), control=True, family="controls")
    page = render(made_audit(control, made_reading("own:x", "career", d(1.0))))
    top = Page(page.split('id="overview"')[0]).text
    assert "The control does not work on own:x: its other verdicts mean little." in top
    assert "✗ does not work" in top
    assert "nearer to 0 is better" not in Page(page.split('data-reading="flowers"')[1].split("</tr>")[0]).text


def test_what_was_not_measured_folds_away(html):
    folded = html.split("<details><summary>Not measured: 2 probes")[1].split("</details>")[0]
    assert "needs vectors of texts" in folded


def test_the_report_names_what_was_left_out_and_what_was_not_measured(html):
    text = Page(html).text
    assert "'he' (male terms): out of vocabulary of own:two" in text
    assert "seat on own:one, own:two: needs vectors of texts: this model does not give that" in text


def test_the_report_shows_the_published_statistic_beside_the_repaired(audited, html):
    text = Page(html).text
    for reading in audited.readings:
        if reading.published:
            assert f"{reading.published.value:.4f}, p " in text
            assert reading.repair in text


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
    assert page.addresses
    assert all(address.startswith("#") and f'id="{address[1:]}"' in html for address in page.addresses)
    assert not {"script", "link", "iframe", "img", "object", "embed", "form"} & set(page.tags)
    assert "@import" not in html
    assert all(address.startswith("#") for address in re.findall(r"url\(([^)]*)\)", html))
    assert "default-src 'none'; style-src 'unsafe-inline'" in html  # the browser would refuse it as well
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
            poles=Poles(evil, evil),
            finding=evil,
            model=f"{evil} model",
            left_out=(LeftOut(evil, evil),),
            about=dataclasses.replace(r.about, summary=evil, idea=evil, caveats=(evil,)),
            notes=(evil,),
            repair=evil,
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
    assert "Charts" not in page.text.split("Verdict")[1]
    assert "Nothing was measured on this model." in page.text


def test_each_model_has_a_part_of_its_own(html):
    assert re.findall(r'<h3 id="model-\d+">(.*?)</h3>', html) == ["own:one", "own:two"]
    first, second = html.split('<h3 id="model-1">')[1].split('<h3 id="model-2">')
    assert first.count("<details ") == second.split("<section")[0].count("<details ") == 3


def test_headings_come_in_order_and_tables_have_heads(html):
    page = Page(html)
    levels = [int(tag[1]) for tag in page.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert '<html lang="en">' in html
    assert html.count("<table") == html.count("<caption>") == html.count("<thead>")
    assert not re.search(r"<th(?! scope|ead)", html)
    assert html.index('<a class="skip" href="#verdict">') < html.index("<header>") < html.index("<main>")
    assert len(re.findall(r'<svg [^>]*role="img" aria-label="[^"]+', html)) == page.tags.count("svg")


def test_words_and_background_are_far_enough_apart():
    css = (Path(tiltmeter.views.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in css.split("prefers-color-scheme: dark"))
    for colours in (light, dark):
        for back in ("back", "panel"):
            for ink in ("ink", "soft", "accent", "large", "medium", "small", "bad"):
                assert contrast(colours[ink], colours[back]) >= 4.5, (ink, back)
        for state in ("sure", "maybe", "even", "bad"):
            assert contrast(colours[f"on{state}"], colours[state]) >= 4.5, state


def contrast(one: str, two: str) -> float:
    """The ratio of WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return sum(weight * p for weight, p in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_grey_of_a_chart_has_its_counterpart_in_the_dark():
    css = (Path(tiltmeter.views.__file__).parent / "templates" / "page.css").read_text(encoding="utf-8")
    dark = css.split("prefers-color-scheme: dark")[1]
    for colour in (style.INK, style.SOFT, style.PAPER, *style.SHADES):
        assert f'[fill="{colour}"]' in dark
    for colour in (style.INK, style.SOFT, style.FAINT, *style.COLOURS[:4]):
        assert f'[stroke="{colour}"]' in dark


def test_the_report_says_how_the_numbers_came_about(audited, tmp_path):
    suite = load_suite("weat")
    career = dataclasses.replace(suite, probes=(dataclasses.replace(make_probes("weat")[0], id="career"),))
    stored = audit([Named(words(LEANS), name="own:one")], suite=career, cache=False, out=tmp_path)
    page = Page(render(stored))
    day = ReadingStore(tmp_path).manifest()["finished"][:10]
    assert f"finished on {day}" in page.text
    assert "tiltmeter audit own:one --suite weat --seed 0 --permutations 10000" in page.text
    assert "finished on" not in Page(render(audited)).text


def test_what_drives_a_number_is_named_at_both_ends(audited, html):
    reading = next(r for r in audited.readings if r.probe == "weat")
    leans = sorted(reading.items, key=lambda item: -item.value)
    text = Page(html).text
    assert f"highest: {leans[0].unit} ({leans[0].value:+.2f});" in text
    assert f"lowest: {leans[-1].unit} ({leans[-1].value:+.2f});" in text


def test_published_and_repaired_stand_side_by_side_where_they_differ():
    lost = made_reading(id="lost", effect=d(0.3, p=0.2), published=d(0.3, p=0.001), repair="Words are the unit.")
    same = made_reading(id="same", effect=d(0.3, p=0.001), published=d(0.3, p=0.002), repair="It is one-sided.")
    page = Page(render(made_audit(lost, same)))
    part = page.text.split("Each measure is computed as published")[1].split("What the probes mean")[0]
    assert "1 of 2 readings gives a different result as published" in part
    assert "Title of lostown:one 0.300, p 0.0010 0.300, p 0.20 Words are the unit." in part
    assert "Title of same" not in part


def test_charts_of_single_readings_are_for_a_few_models_only():
    for models, drawn in ((2, 2), (6, 0)):
        html = render(made_audit(*(made_reading(f"own:{n}", "career", d(1.0)) for n in range(models))))
        assert "".join(html.split("<details id=")[1:]).split("<section")[0].count("<svg") == drawn


def test_a_folder_gets_a_report_html_and_the_same_report_every_time(audited, html, tmp_path):
    path = audited.report(tmp_path)
    assert path == tmp_path / "audit.html"
    assert path.read_text(encoding="utf-8") == html
