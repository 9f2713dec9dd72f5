"""The bar: on a terminal, in a notebook, and nowhere else; and steps for whoever listens."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tiltmeter import progress


class Shown:
    """What a notebook shows in one place, in the order in which it was shown."""

    def __init__(self) -> None:
        self.bundles: list[dict[str, str]] = []

    def display(self, bundle: dict[str, str], **_: Any) -> Shown:
        self.bundles.append(bundle)
        return self

    update = display


@pytest.fixture
def notebook(monkeypatch: pytest.MonkeyPatch) -> Shown:
    """The kernel of a notebook."""
    shown, ipython, display = Shown(), ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())  # type: ignore[attr-defined]
    display.display = shown.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "_SECONDS", 0.0)
    return shown


def test_a_bar_in_a_notebook_moves_and_leaves_nothing(notebook: Shown) -> None:
    with progress.progress_bar("<b>words", 3) as advance:
        advance(1)
        advance(2)
    first, second, last = notebook.bundles
    assert first["text/plain"] == "<b>words 1/3"
    assert second["text/html"] == '&lt;b&gt;words <progress value="3" max="3"></progress> 3/3'
    assert last == {"text/plain": "", "text/html": ""}


def test_what_is_soon_done_or_not_to_be_shown_has_no_bar_in_a_notebook(
    notebook: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    with progress.progress_bar("words", 3, show=False) as advance:
        advance(3)
    monkeypatch.setattr(progress, "_SECONDS", 60.0)
    with progress.progress_bar("words", 3) as advance:
        advance(3)
    assert notebook.bundles == []


def test_the_bar_of_a_notebook_goes_away_with_an_error(notebook: Shown) -> None:
    def broken() -> None:
        with progress.progress_bar("words", 3) as advance:
            advance(1)
            raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        broken()
    assert notebook.bundles[-1]["text/html"] == ""


def test_outside_of_a_notebook_and_a_terminal_nothing_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    assert not progress.in_notebook()
    with progress.progress_bar("words", 3) as advance:
        advance(3)
    assert capfd.readouterr() == ("", "")


def test_whoever_listens_is_told_every_step_and_no_bar_is_shown(notebook: Shown) -> None:
    steps: list[progress.Step] = []
    with progress.listening(steps.append):
        with progress.progress_bar("texts", 5, model="own:m", show=True) as advance:
            advance(2)
            advance(3)
        progress.tell(progress.Step("measuring", "own:m", "weat", 0, 7))
    progress.tell(progress.Step("measuring", "own:m", "weat", 1, 7))
    assert [(step.phase, step.done, step.total) for step in steps] == [
        ("texts", 0, 5),
        ("texts", 2, 5),
        ("texts", 5, 5),
        ("measuring", 0, 7),
    ]
    assert notebook.bundles == []
