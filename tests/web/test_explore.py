from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from tests.models.tiny_language_models import save_tiny
from tests.reference import reference_model
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
    assert "is not a language model" in answer.json()["error"]


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


LISTS = {"x": "he, him", "y": "she, her", "a": "job\noffice", "b": "home;parents"}


def test_two_lists_of_words_lean_as_planted(asking: TestClient, spec: str) -> None:
    """Each word's cosine to the axis is planted, so s(he) = .9 x .6 - .9 x -.6 and so on: d is near its most, 1.73."""
    found = asking.post(
        "/api/explore/words",
        json={"model": spec, **{k: v.replace("\n", ",").replace(";", ",").split(",") for k, v in LISTS.items()}},
    )
    reading = found.json()
    assert reading["effect"]["name"] == "effect size d"
    assert reading["effect"]["value"] == pytest.approx(1.7, abs=0.05)
    assert {item["label"]: item["value"] > 0 for item in reading["items"]} == {
        "he": True,
        "him": True,
        "she": False,
        "her": False,
    }
    page = asking.post("/explore/words", data={"model": spec, **LISTS}).text
    assert f"{reading['effect']['value']:.2f} [" in page


def test_words_that_no_one_knows_are_one_line(asking: TestClient, spec: str) -> None:
    answer = asking.post("/explore/words", data={"model": spec, **LISTS, "x": "xqzt, qqqq"})
    assert answer.status_code == 400
    assert "vocabulary" in answer.text


@pytest.mark.parametrize("sentence", ["no mask", "[MASK] and [MASK]", "", "[MASK] " + "long " * 500])
def test_a_sentence_needs_one_mask(asking: TestClient, spec: str, sentence: str) -> None:
    assert (
        asking.post("/explore/sentence", data={"model": spec, "sentence": sentence, "words": "he"}).status_code == 400
    )


def test_a_masked_model_says_what_was_planted_in_it(folder: Path) -> None:
    """In the reference model's text the pathologist is a man one time in ten, the plumber nine times."""
    spec = f"hf:{reference_model(0.9)}"
    with client_of(DashboardSettings(folder, models=(spec,))) as client:
        shares = {}
        for occupation in ("pathologist", "plumber"):
            given = {"model": spec, "sentence": f"The {occupation} said that [MASK] was tired.", "words": ["he", "she"]}
            found = client.post("/api/explore/sentence", json=given).json()
            shares[occupation] = found["candidates"][0]["share"]
            assert len(found["top"]) == 10
            assert sum(each["share"] for each in found["candidates"]) == pytest.approx(1)
        page = client.post("/explore/sentence", data={**given, "words": "he, she"}).text
    assert shares["pathologist"] < 0.3
    assert shares["plumber"] > 0.7
    assert "P(he)" in page
    assert "The words it finds most likely" in page


@pytest.mark.parametrize("place", ["x", "a"])
def test_half_a_character_is_no_fault_of_the_dashboard(asking: TestClient, spec: str, place: str) -> None:
    question = {"model": spec, "x": ["job", "office"], "a": ["he", "him"], "b": ["she", "her"], place: ["he", "\ud800"]}
    # As JSON writes it: the text itself could not be sent.
    answer = asking.post("/api/explore/words", content=json.dumps(question).encode())
    assert answer.status_code in (200, 400, 422)
    form = {name: ", ".join(words) if isinstance(words, list) else words for name, words in question.items()}
    body = "&".join(f"{name}={quote(text, errors='surrogatepass')}" for name, text in form.items())
    kind = {"content-type": "application/x-www-form-urlencoded"}
    assert asking.post("/explore/words", content=body.encode(), headers=kind).status_code in (200, 400)
