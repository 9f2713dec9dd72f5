"""Our snippets on the page for those who come from another tool run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "migrate.md"
SNIPPETS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
COMMANDS = re.findall(
    r"tiltmeter (\w+)", " ".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL))
)


class Vectors(dict[str, np.ndarray]):
    """A vector for every word that is asked for."""

    def __init__(self, seed: int) -> None:
        words = set(re.findall(r'"([a-z]+)"', " ".join(SNIPPETS)))
        rng = np.random.default_rng(seed)
        super().__init__({word: rng.normal(size=8) for word in sorted(words)})


@pytest.mark.parametrize("snippet", SNIPPETS, ids=range(len(SNIPPETS)))
def test_a_snippet_runs(
    snippet: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    names: dict[str, object] = {"vectors": Vectors(0), "other_vectors": Vectors(1)}
    if "folder" in snippet:
        pytest.importorskip("torch")
        from tests.models.tiny_language_models import save_tiny

        names["folder"] = save_tiny("bert", tmp_path / "model")
    exec(snippet, names)
    if "print(" in snippet:
        assert capsys.readouterr().out.strip()
    if "vectors_of_texts" in names:
        assert np.shape(names["vectors_of_texts"]) == (2, 16)


def test_every_command_on_the_page_exists() -> None:
    from typer.main import get_command

    from tiltmeter.cli.app import app

    assert len(SNIPPETS) == 4
    assert set(COMMANDS) <= set(get_command(app).commands)
    assert {"audit", "data", "import", "serve"} <= set(COMMANDS)
