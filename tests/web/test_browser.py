"""The dashboard in a real browser: every page, by mouse and keyboard, with nothing leaving the machine."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reference import reference_model
from tests.web.planted_audits import reading, tiny_suite, vectors_file, write_audit
from tiltmeter.web.listing import key_of

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")

_SERVE = "import sys; from tiltmeter.cli.results import app; app(['serve', *sys.argv[1:]])"
#: Of the first audit, which is small: what takes long in a page takes longest in a tool that reads all of it.
#: "/reading" stands for one whose address is known when it is written.
PAGES = (
    "/?audit=first",
    "/?view=list&audit=first",
    "/audits/first",
    f"/audits/first/models/{key_of('own:tilted')}",
    f"/audits/first/probes/{key_of('career')}",
    f"/compare?side={key_of('first own:level')}&side={key_of('first own:tilted')}",
    "/reading",
    "/explore",
    "/jobs",
    "/api",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A dashboard on a port of its own, and the specs of the models it offers."""
    folder = tmp_path_factory.mktemp("shelf")
    files = write_audit(folder / "first")
    write_audit(folder / "long", [reading("own:many", f"p{n:03}", 0.1) for n in range(130)])
    tiny_suite(folder)
    static = vectors_file(tmp_path_factory.mktemp("vectors") / "vectors.vec")
    masked = f"hf:{reference_model(0.9)}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "TILTMETER_CACHE": str(tmp_path_factory.mktemp("cache"))}
    options = ["--port", str(port), "--model", static, "--model", masked]
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(folder), *options], env=environment)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{address}/static/icon.svg", timeout=60).close()
            break
        time.sleep(0.1)
    yield {"address": address, "static": static, "masked": masked, "/reading": f"/audits/first/readings/{files[-1]}"}
    process.terminate()
    process.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


@pytest.fixture
def page(browser: Any, server: dict[str, str]) -> Iterator[Any]:
    """A page that complains at its end of any error in the console, and of any request to another host."""
    context = browser.new_context(base_url=server["address"], accept_downloads=True)
    made = context.new_page()
    errors: list[str] = []
    elsewhere: list[str] = []
    made.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: errors.append(str(error)))
    made.on("request", lambda request: _note(request.url, server["address"], elsewhere))
    yield made
    context.close()
    assert errors == []
    assert elsewhere == []


def _note(url: str, address: str, elsewhere: list[str]) -> None:
    if not url.startswith((address, "data:", "blob:")):
        elsewhere.append(url)


@pytest.mark.parametrize("address", PAGES)
def test_every_page_fits_and_has_a_heading(page: Any, server: dict[str, str], address: str) -> None:
    page.goto(server.get(address, address))
    sync_api.expect(page.locator("h1")).to_have_count(1)
    for width in (390, 1200):
        page.set_viewport_size({"width": width, "height": 844})
        # Tables scroll in their own boxes, and the page itself never to the side.
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_filtering_answers_while_one_types(page: Any) -> None:
    page.goto("/?audit=first")
    page.get_by_label("Words").fill("tilted science")
    sync_api.expect(page.locator("#results .count b")).to_have_text("1")
    assert "q=tilted+science" in page.url
    page.get_by_label("Words").fill("")
    page.get_by_label("Verdict", exact=True).select_option("clear")
    sync_api.expect(page.locator("#results .count b")).to_have_text("2")
    page.reload()
    sync_api.expect(page.locator("#results .count b")).to_have_text("2")


def test_a_list_is_sorted_and_paged_in_place(page: Any) -> None:
    page.goto("/?view=list&audit=long")
    results = page.locator("#results")
    results.get_by_role("link", name="measured").click()
    sync_api.expect(results.locator("th[aria-sort=ascending]")).to_have_text("measured")
    results.get_by_role("link", name="measured").click()
    sync_api.expect(results.locator("th[aria-sort=descending]")).to_have_text("measured")
    sync_api.expect(results.locator("tbody th").first).to_have_text("About p129")
    page.get_by_role("link", name="next →").click()
    sync_api.expect(results.locator("tbody tr")).to_have_count(30)


def test_a_verdict_at_a_glance_leads_to_the_readings_behind_it(page: Any) -> None:
    page.goto("/")
    glance = page.locator("section.audit", has_text="first").locator("td.clear")
    sync_api.expect(glance).to_contain_text("2 of 2")
    glance.get_by_role("link").click()
    sync_api.expect(page.locator("#results tbody tr")).to_have_count(2)
    sync_api.expect(page.locator("#results tbody .state")).to_have_text(["● clear", "● clear"])


def test_a_filled_mark_means_clear_and_an_open_one_does_not(page: Any) -> None:
    page.goto("/?view=list&audit=first")
    holes = page.locator("#results .hole").evaluate_all("(all) => all.map((e) => getComputedStyle(e).stroke)")
    states = page.locator("#results tbody .state").all_inner_texts()
    assert [state.endswith("clear") for state in states] == [hole == "none" for hole in holes]
    assert set(states) == {"● clear", "○ undecided"}


def test_a_cell_leads_to_its_reading_with_a_chart_that_has_words(page: Any) -> None:
    page.goto("/?audit=first")
    page.locator("td.plus3.clear a").click()
    sync_api.expect(page.locator("h1")).to_have_text("About career")
    figure = page.locator("figure svg[role=img]").first
    figure.wait_for(timeout=300_000)
    assert "60 items" in figure.get_attribute("aria-label")
    page.get_by_label("Find an item").fill("word59")
    sync_api.expect(page.locator("#results tbody tr")).to_have_count(1)


def test_two_models_are_compared(page: Any) -> None:
    page.goto("/compare")
    page.get_by_label("own:level").check()
    page.get_by_label("own:tilted").check()
    page.get_by_role("button", name="Compare").click()
    sync_api.expect(page.locator("#results")).to_contain_text("2 clear")
    sync_api.expect(page.locator("#results tbody tr")).to_have_count(2)
    figure = page.locator("#results figure svg[role=img]")
    figure.wait_for(timeout=300_000)
    assert "2 probes on own:level and own:tilted" in figure.get_attribute("aria-label")


def test_a_sentence_is_explored_with_the_keyboard_alone(page: Any, server: dict[str, str]) -> None:
    page.goto("/explore")
    page.locator("#model-1").select_option(server["masked"])
    page.get_by_label("Sentence with [MASK]").fill("The plumber said that [MASK] was tired.")
    page.keyboard.press("Enter")
    sync_api.expect(page.locator("#results")).to_contain_text("P(he)", timeout=300_000)
    share = page.locator("#results tr", has_text="P(he)").locator("meter").get_attribute("value")
    assert float(share) > 0.7


def test_word_lists_are_explored_and_a_lexicon_handed_over(page: Any, server: dict[str, str]) -> None:
    page.goto("/explore")
    page.locator("#model-2").select_option(server["static"])
    for field, words in {"x": "he, him", "y": "she, her", "a": "job, office", "b": "home, parents"}.items():
        page.locator(f"#list-{field}").fill(words)
    page.locator("#list-b").press("Tab")
    page.locator("form[action='/explore/words'] button").click()
    sync_api.expect(page.locator("#results .headline")).to_contain_text("d = 1.7", timeout=300_000)
    page.get_by_text("Use a lexicon of your own").click()
    lexicon = b"name: mine\nlanguage: en\ngroups:\n  these: {words: [job, home]}\n"
    page.set_input_files("#file", {"name": "mine.yaml", "mimeType": "application/yaml", "buffer": lexicon})
    sync_api.expect(page.locator("#yaml")).to_have_value(re.compile("these"))
    page.get_by_role("button", name="Use it").click()
    page.locator("#group-x").select_option("own_mine.these")
    sync_api.expect(page.locator("#list-x")).to_have_value("job, home")


def test_a_spec_that_names_nothing_is_said_above_the_form_that_keeps_it(browser: Any, server: dict[str, str]) -> None:
    # Not in the page that complains of errors: a browser counts a form that is refused among them.
    context = browser.new_context(base_url=server["address"])
    made = context.new_page()
    made.goto("/jobs")
    made.get_by_label("Other models").fill("hug:nothing")
    made.get_by_role("button", name="Start").click()
    sync_api.expect(made.get_by_role("alert")).to_contain_text("unknown kind of model 'hug'")
    sync_api.expect(made.get_by_label("Other models")).to_have_value("hug:nothing")
    context.close()


def test_an_audit_is_started_watched_and_opened(page: Any, server: dict[str, str]) -> None:
    page.goto("/jobs")
    # Typed, as a model is that is not on the list.
    page.get_by_label("Other models").fill(server["static"])
    page.get_by_label("tiny.yaml").check()
    page.get_by_label("Name of its folder").fill("from-the-browser")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("link", name="Open the audit").click(timeout=300_000)
    sync_api.expect(page.locator("h1")).to_have_text("from-the-browser")
    with page.expect_download() as waiting:
        page.get_by_role("link", name="readings as CSV").click()
    path = Path(waiting.value.path())
    assert waiting.value.suggested_filename == "from-the-browser-readings.csv"
    assert "effect size d" in path.read_text(encoding="utf-8")


def test_the_first_tab_skips_to_the_content_and_focus_is_seen(page: Any) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    style = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert style == "solid"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser: Any, server: dict[str, str], scheme: str) -> None:
    """Contrast of at least 4.5 to 1 (WCAG AA) for every cell of the heat map and every paragraph."""
    context = browser.new_context(base_url=server["address"], color_scheme=scheme)
    made = context.new_page()
    made.goto("/?audit=first")
    worst = made.evaluate(_CONTRAST)
    context.close()
    assert worst["ratio"] >= 4.5, worst


_CONTRAST = """() => {
  const numbers = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  let worst = { ratio: 99 };
  for (const e of document.querySelectorAll("td a, p, th, label, a, button, .key")) {
    if (!e.textContent.trim() || !e.getClientRects().length) continue;
    const [one, two] = [light(numbers(getComputedStyle(e).color)), light(ground(e))].sort((a, b) => b - a);
    const ratio = (one + 0.05) / (two + 0.05);
    if (ratio < worst.ratio) worst = { ratio, text: e.textContent.trim().slice(0, 40), tag: e.tagName };
  }
  return worst;
}"""


@pytest.mark.parametrize(
    ("scheme", "options"), [("light", {}), ("dark", {"runOnly": ["color-contrast"]})], ids=["light", "dark"]
)
def test_axe_finds_no_serious_fault_of_accessibility(
    page: Any, server: dict[str, str], scheme: str, options: dict[str, Any]
) -> None:
    """All rules in the light; in the dark only colours differ."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 1200, "height": 6000})  # so high that every chart is in sight, and drawn
    faults = []
    for path in PAGES:
        page.goto(server.get(path, path))
        sync_api.expect(page.locator(".waiting")).to_have_count(0, timeout=300_000)
        faults += [
            f"{path}: {each['id']}: {each['nodes'][0]['html'][:120]}"
            for each in axe.run(page, options=options).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert faults == []
