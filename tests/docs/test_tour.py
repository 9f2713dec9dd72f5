"""The tour, docs/tour.ipynb: it runs from top to bottom, and what its cells show is what a reader should see."""

from __future__ import annotations

from typing import Any

import pytest

from tests.command import needs_sample
from tests.docs.notebooks import DOCS, run_notebook


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[list[Any]]:
    """What each cell with code shows, run by a kernel of its own."""
    for sample in ("glove", "minilm"):
        needs_sample(sample)
    return run_notebook(DOCS / "tour.ipynb", tmp_path_factory.mktemp("tour"))


def shown(outputs: list[list[Any]], kind: str) -> str:
    """Everything that was shown in one form."""
    data = (output.get("data", {}) for cell in outputs for output in cell)
    return "\n".join(forms[kind] for forms in data if kind in forms)


# Jupyter's own packages warn of each other.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_every_object_of_the_tour_shows_itself_in_a_line_and_as_html(outputs: list[list[Any]]) -> None:
    lines, html = shown(outputs, "text/plain"), shown(outputs, "text/html")
    for start in (
        "<Reading weat [bundled:glove] effect size d ",
        "<Audit tour: 8 readings",
        "<Comparisons ",
        "<Check ",
    ):
        assert start in lines
    assert max(map(len, lines.splitlines())) < 200
    assert "in these words: men towards work, women towards home" in html
    assert 'role="img"' in html


def test_the_planted_growth_fails_the_gate_of_the_tour(outputs: list[list[Any]]) -> None:
    printed = "".join(output["text"] for cell in outputs for output in cell if output["output_type"] == "stream")
    assert "career: failed, grown by at most" in printed
    assert "The check fails: True" in printed


def test_no_bar_and_no_warning_is_left_behind(outputs: list[list[Any]]) -> None:
    streams = {output["name"] for cell in outputs for output in cell if output["output_type"] == "stream"}
    assert streams <= {"stdout"}
    assert "<progress" not in shown(outputs, "text/html")
