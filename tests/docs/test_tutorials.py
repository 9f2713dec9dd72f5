"""The tutorials and the gallery run from top to bottom, and end with what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.command import needs_sample
from tests.docs.notebooks import DOCS, run_notebook

# Jupyter's own packages warn of each other.
pytestmark = pytest.mark.filterwarnings("ignore")

#: The sample models that a notebook asks, and what must stand in its outputs.
TUTORIALS = {
    "tutorials/encoder": (("minilm",), ("d = ", "results/audit.html")),
    "tutorials/language-model": (("smollm2", "glove"), ("Clear", "crafted", "<svg")),
    "tutorials/new-language": ((), ("turkish.women", "Never found: erkek", "men towards work")),
    "tutorials/compare-and-gate": (("glove",), ("career: failed", "The check fails: True", "<svg")),
    "tutorials/cabm": (("minilm",), ("context term is a distance", "Section 2.5", "<svg")),
    "tutorials/clozegender": (
        ("smollm2", "glove"),
        ("0.17, with the full stop: 0.55", "Table 1", "<svg"),
    ),
    "tutorials/bangla": ((), ("নারী", "{9}", "men towards career", "<svg")),
    "tutorials/association": (("minilm",), ("career", "published:", "<svg")),
    "gallery": (("glove", "word2vec", "minilm"), ("grid", "relation", "prior", "<svg")),
}


def test_every_notebook_is_run() -> None:
    found = {path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.ipynb")}
    assert found == {"tour", *TUTORIALS}


def words_of(outputs: list[list[Any]]) -> str:
    """Everything that a reader sees, charts as their SVG."""
    shown = [value for cell in outputs for output in cell for value in output.get("data", {}).values()]
    printed = [output["text"] for cell in outputs for output in cell if output["output_type"] == "stream"]
    return "\n".join(map(str, (*shown, *printed)))


@pytest.mark.parametrize("name", TUTORIALS)
def test_a_tutorial_runs_and_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    samples, promised = TUTORIALS[name]
    for sample in samples:
        needs_sample(sample)
    seen = words_of(run_notebook(DOCS / f"{name}.ipynb", tmp_path))
    assert [text for text in promised if text not in seen] == []
    assert "Traceback" not in seen
