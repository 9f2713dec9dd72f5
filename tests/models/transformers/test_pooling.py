"""The vector of a text out of the states of its tokens, by hand; and the recipe in a folder."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from tiltmeter.errors import BadInput
from tiltmeter.models.transformers.pooling import MODES, Mode, finish, pool, read_recipe

#: Two texts, of three and of two tokens.
STATES = torch.tensor([[[1.0, 0.0], [2.0, 4.0], [3.0, 2.0]], [[5.0, 1.0], [1.0, 3.0], [99.0, 99.0]]])
REAL = torch.tensor([[True, True, True], [True, True, False]])
BY_HAND: dict[Mode, list[list[float]]] = {
    "cls": [[1, 0], [5, 1]],
    "mean": [[2, 2], [3, 2]],
    "max": [[3, 4], [5, 3]],
    "mean_sqrt_len": [[6 / math.sqrt(3), 6 / math.sqrt(3)], [6 / math.sqrt(2), 4 / math.sqrt(2)]],
    "weightedmean": [[14 / 6, 14 / 6], [7 / 3, 7 / 3]],
    "lasttoken": [[3, 2], [1, 3]],
}


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_by_hand(mode: Mode) -> None:
    torch.testing.assert_close(pool(STATES, REAL, mode), torch.tensor(BY_HAND[mode], dtype=torch.float32))
    # Without padding nothing need be said of what is real.
    torch.testing.assert_close(pool(STATES[:1], None, mode), torch.tensor(BY_HAND[mode][:1], dtype=torch.float32))


def test_vectors_are_brought_to_length_1() -> None:
    torch.testing.assert_close(finish(torch.tensor([[3.0, 4.0]]), ("normalize",)), torch.tensor([[0.6, 0.8]]))


def model(folder: Path, *kinds: str, **config: Any) -> Path:
    """A folder as sentence-transformers writes it; ``config`` is that of its pooling."""
    (folder / "pooling").mkdir()
    (folder / "pooling" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    modules = [{"type": f"st.models.{kind}", "path": "pooling" if kind == "Pooling" else ""} for kind in kinds]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    return folder


def test_a_recipe_is_read_in_the_old_form_and_in_the_new(tmp_path: Path) -> None:
    for name, config, modes in (
        ("old", {"pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, "cls+mean"),
        ("new", {"pooling_mode": ["mean", "cls"]}, "mean+cls"),
    ):
        (tmp_path / name).mkdir()
        folder = model(tmp_path / name, "Transformer", "Pooling", "Normalize", **config)
        assert str(read_recipe(folder, "auto")) == f"{modes}+normalize"
        assert str(read_recipe(folder, "cls")) == "cls"


def test_without_a_recipe_it_is_the_mean_and_what_is_not_known_is_refused(tmp_path: Path) -> None:
    assert str(read_recipe(tmp_path, "auto")) == "mean"
    folder = model(tmp_path, "Transformer", "Pooling", pooling_mode="median")
    with pytest.raises(BadInput, match="pooling by median is not supported; choose one with pooling=mean"):
        read_recipe(folder, "auto")
    (folder / "modules.json").write_text("[", encoding="utf-8")
    with pytest.raises(BadInput, match="it is not JSON"):
        read_recipe(folder, "auto")
