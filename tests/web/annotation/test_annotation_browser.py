"""Three people label in a real browser, by keyboard, mouse and thumb: what comes out is what was computed by hand."""

from __future__ import annotations

import contextlib
import csv
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.command import COMMAND
from tests.labelled import ALPHA, FLEISS, GROUPS, KAPPA, PEOPLE, WORK, draft_file
from tests.web.test_browser import CHROMIUM, sync_api
from tiltmeter.compare.agreement import agreement
from tiltmeter.stimuli.datasets.draft_file import read_draft

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")


@contextlib.contextmanager
def served(*options: str | Path) -> Iterator[str]:
    """tiltmeter serve with these options, and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [*COMMAND, "serve", *map(str, options), "--port", str(port)]
    process = subprocess.Popen(command, env=dict(os.environ), stderr=sys.stderr)
    address = f"http://127.0.0.1:{port}"
    for _ in range(600):
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"{address}/static/icon.svg", timeout=60).close()
            break
        time.sleep(0.1)
    try:
        yield address
    finally:
        process.terminate()
        process.wait()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield made
        made.close()


def test_three_people_label_and_their_agreement_is_the_one_computed_by_hand(browser: Any, tmp_path: Path) -> None:
    draft, folder = draft_file(tmp_path / "draft.csv"), tmp_path / "labels"
    errors: list[str] = []
    with served("--annotate", draft, "--people", ",".join(PEOPLE), "--labels", folder):
        links = {row["person"]: row["link"] for row in csv.DictReader((folder / "links.csv").read_text().splitlines())}
        for (person, labels), (width, way) in zip(
            PEOPLE.items(), [(1280, "keys"), (1280, "mouse"), (390, "thumb")], strict=True
        ):
            context = browser.new_context(viewport={"width": width, "height": 800}, has_touch=way == "thumb")
            page = context.new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(links[person])
            by_occupation = dict(zip((work[0] for work in WORK), labels, strict=True))
            for place in range(len(WORK)):
                sync_api.expect(page.get_by_text(f"{place} of 8 answered")).to_be_visible()
                if place == 4:  # Somebody closes the page, and comes back.
                    page.close()
                    page = context.new_page()
                    page.goto(links[person])
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                sentence = page.locator("#sentence").inner_text()
                label = next(label for word, label in by_occupation.items() if f"The {word} " in sentence)
                button = page.locator(f'button[value="{GROUPS[label]}"]')
                if way == "keys":
                    page.keyboard.press(button.get_attribute("data-key"))
                elif way == "mouse":
                    button.click()
                else:
                    button.tap()
            sync_api.expect(page.locator("h1")).to_have_text("All 8 sentences are answered")
            context.close()
    assert errors == []
    found = agreement(folder).stages[0]
    assert found.alpha is not None
    assert found.fleiss is not None
    assert found.alpha.value == pytest.approx(ALPHA)
    assert found.fleiss.value == pytest.approx(FLEISS)
    assert {(pair.first, pair.second): pair.kappa.value for pair in found.pairs} == pytest.approx(KAPPA)


def test_a_draft_is_decided_by_keyboard_and_the_pages_are_accessible(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    file = draft_file(tmp_path / "draft.csv", "")
    with served("--annotate", file) as address:
        for scheme in ("light", "dark"):
            context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme=scheme)
            page = context.new_page()
            page.goto(address)
            sync_api.expect(page.locator("h1")).to_have_text("Is this row good?")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            assert axe.run(page).response["violations"] == []
            page.keyboard.press("a" if scheme == "light" else "r")
            sync_api.expect(page.get_by_text("1 accepted" if scheme == "light" else "1 rejected")).to_be_visible()
            noun = page.get_by_label("Noun", exact=True)
            word = noun.input_value()
            noun.press("a")  # In a field a letter is a letter.
            assert noun.input_value() == f"a{word}"
            context.close()
    assert [row.decision for row in read_draft(file)] == ["yes", "no", *[""] * 6]


def test_the_page_of_a_person_is_accessible(browser: Any, tmp_path: Path) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed").Axe()
    options = ("--people", "ann", "--labels", tmp_path / "labels", "--either", "--stage", "2")
    with served("--annotate", "cloze_en", *options):
        links = tmp_path / "labels" / "links.csv"
        (link,) = (row["link"] for row in csv.DictReader(links.read_text().splitlines()))
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme)
            page = context.new_page()
            page.goto(link)
            sync_api.expect(page.get_by_text("look it up before you answer")).to_be_visible()
            assert axe.run(page).response["violations"] == []
            context.close()
