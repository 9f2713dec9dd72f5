"""Questions that readers type, and what models answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.models.tiny_language_models import save_tiny
from tests.web.conftest import client_of
from tiltmeter.web.security import DashboardSettings


def test_one_list_alone_stands_on_the_axis_between_the_poles(asking: TestClient, spec: str) -> None:
    found = asking.post(
        "/api/explore/words", json={"model": spec, "x": ["job", "office"], "a": ["he", "him"], "b": ["she", "her"]}
    )
    assert found.json()["probe"] == "semaxis"
    assert all(item["value"] > 0.4 for item in found.json()["items"])


def test_a_static_model_is_not_asked_for_a_sentence(asking: TestClient, spec: str) -> None:
    answer = asking.post("/api/explore/sentence", json={"model": spec, "sentence": "The [MASK] slept."})
    assert answer.status_code == 400
    assert "is no language model" in answer.json()["error"]


def test_a_causal_model_weighs_what_follows(folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    place = save_tiny("gpt2", tmp_path / "gpt2")
    spec = f"hf:{place}"
    with client_of(DashboardSettings(folder, models=(spec,))) as client:
        given = {"model": spec, "sentence": "The nurse said that [MASK] was tired.", "words": ["he", "she"]}
        found = client.post("/api/explore/sentence", json=given).json()
    tokenizer, model = AutoTokenizer.from_pretrained(place), AutoModelForCausalLM.from_pretrained(place).eval()
    with torch.inference_mode():
        ids = tokenizer("The nurse said that", return_tensors="pt").input_ids
        first = tokenizer(" he").input_ids
        text = torch.cat([ids, torch.tensor([first])], dim=1)
        steps = model(text).logits.log_softmax(-1)[0, ids.shape[1] - 1 : -1]
        expected = float(steps[range(len(first)), first].sum().exp())
    assert found["kind"] == "causal"
    assert found["candidates"][0]["probability"] == pytest.approx(expected, rel=1e-4)
    assert sum(each["share"] for each in found["whole"]) == pytest.approx(1)
