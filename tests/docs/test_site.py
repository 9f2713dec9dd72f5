"""The documentation site: built with warnings as errors, without network, and every link in it leads somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with notebooks as they are stored; the tests of the tutorials run them."""
    pytest.importorskip("mkdocs", reason="mkdocs is not installed: it comes with the extra docs")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Page(HTMLParser):
    """The places of a page, what it points to, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        self.places |= {value for name in ("id", "name") if (value := has.get(name))}
        if tag == "a" and has.get("href"):
            self.links.append(str(has["href"]))
        if tag in ("script", "img", "link") and (address := has.get("src") or has.get("href")):
            self.loads += [address] if has.get("rel") not in ("canonical", "edit", "next", "prev") else []


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def test_every_link_leads_to_a_page_and_a_place_in_it(pages: dict[Path, Page]) -> None:
    wrong = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            missing = not target.is_file() or (
                target in pages and parts.fragment and unquote(parts.fragment) not in pages[target].places
            )
            wrong += [f"{path.parent.name}: {link}"] if missing else []
    assert wrong == []


def test_no_page_loads_anything_from_elsewhere(pages: dict[Path, Page]) -> None:
    assert len(pages) > 25
    assert {address for page in pages.values() for address in page.loads if urlsplit(address).netloc} == set()


def test_the_page_of_commands_has_every_command_with_its_options(site: Path) -> None:
    text = (site / "reference/commands/index.html").read_text(encoding="utf-8")
    for name in ("tiltmeter audit", "tiltmeter check", "tiltmeter lab calibrate", "--budget", "--baseline"):
        assert name in text


def test_the_reference_has_the_public_functions_with_their_examples(site: Path) -> None:
    text = (site / "reference/measures/index.html").read_text(encoding="utf-8")
    for name in ("weat", "ceat", "lpbs", "cloze", "cabm", "association", "crows_pairs", "stereoset", "same", "rnsb"):
        assert re.search(rf'id="tiltmeter\.measures\.[\w.]+\.{name}"', text), name
    assert '<span class="gp">' in text  # the prompt of an example, set as code
