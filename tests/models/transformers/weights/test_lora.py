"""Adapters of PEFT: a folder, a sentence-transformers folder and an object give what PEFT gives."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tiltmeter import load
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Continuation, Fill

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")

from tests.models.transformers.hidden_states import CLOSE  # noqa: E402

# What PEFT and Transformers say of each other is not ours to mend.
pytestmark = [pytest.mark.filterwarnings("ignore::FutureWarning"), pytest.mark.filterwarnings("ignore::UserWarning")]
TEXTS = ["The nurse slept.", "A carpenter left early."]
FILL = [Fill("He is a nurse.", 0, 2, ("He", "She"))]
STEM = [Continuation("The nurse said that", (" he", " she"))]


def wild(model: object) -> object:
    """Adapters start as no change at all: give this one something to say."""
    torch.manual_seed(1)
    for name, weights in model.named_parameters():
        if "lora_" in name:
            torch.nn.init.normal_(weights, std=0.5)
    return model.eval()


def adapted(folder: Path, head: str, targets: list[str], **options: object) -> tuple[object, object]:
    """A model with an adapter, and its tokenizer."""
    model = getattr(transformers, head).from_pretrained(folder)
    config = peft.LoraConfig(r=2, lora_alpha=4, target_modules=targets, **options)
    return wild(peft.get_peft_model(model, config)), transformers.AutoTokenizer.from_pretrained(folder)


def test_an_adapter_of_a_causal_model_changes_its_probabilities_as_peft_does(tiny_lm, tmp_path):
    base = Path(tiny_lm("llama")._source)
    model, tokenizer = adapted(base, "AutoModelForCausalLM", ["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model.save_pretrained(tmp_path)
    ours = load(f"hf:{tmp_path}")
    (found,) = ours.continue_with(STEM)
    ids = [tokenizer(STEM[0].stem + ending)["input_ids"] for ending in STEM[0].endings]
    stem = len(tokenizer(STEM[0].stem)["input_ids"])
    for tokens, value in zip(ids, found.logprobs, strict=True):
        with torch.no_grad():
            logprobs = model(input_ids=torch.tensor([tokens])).logits[0].log_softmax(-1)
        expected = sum(float(logprobs[at - 1, tokens[at]]) for at in range(stem, len(tokens)))
        assert value == pytest.approx(expected, abs=1e-4)
    (without,) = load(f"hf:{base}").continue_with(STEM)
    assert abs(found.logprobs[0] - without.logprobs[0]) > 0.01
    assert ours.identity.revision.endswith("+" + load(f"hf:{base}").identity.revision)
    assert ours.identity.versions["peft"]


@pytest.mark.parametrize("head", ["AutoModel", "AutoModelForMaskedLM"])
def test_an_adapter_of_a_masked_model_fits_with_its_head_and_without(tiny_lm, tmp_path, head):
    base = Path(tiny_lm("bert")._source)
    model, tokenizer = adapted(base, head, ["query", "value"])
    model.save_pretrained(tmp_path)
    ours = load(f"hf:{tmp_path}")
    with torch.no_grad():
        states = model(**tokenizer(TEXTS[0], return_tensors="pt"), output_hidden_states=True).hidden_states[-1][0]
    np.testing.assert_allclose(ours.embed_texts(TEXTS)[0], states.mean(0), **CLOSE)
    assert ours.fill(FILL)[0].logprobs != load(f"hf:{base}").fill(FILL)[0].logprobs
    # The same object in memory, as its user holds it.
    np.testing.assert_allclose(load((model, tokenizer)).embed_texts(TEXTS), ours.embed_texts(TEXTS), **CLOSE)


def test_an_adapter_trained_for_vectors_is_asked_for_vectors_only(tiny_lm, tmp_path):
    model, _ = adapted(Path(tiny_lm("bert")._source), "AutoModel", ["query"], task_type="FEATURE_EXTRACTION")
    model.save_pretrained(tmp_path)
    ours = load(f"hf:{tmp_path}")
    assert ours.head == "none"
    assert ours.embed_texts(TEXTS).shape == (2, 16)


def test_a_folder_of_sentence_transformers_with_an_adapter_is_pooled_as_it_says(tiny, tmp_path):
    peers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    reader = Transformer(str(tiny["bert"]))
    peer = peers.SentenceTransformer(modules=[reader, Pooling(16, pooling_mode="cls"), Normalize()], device="cpu")
    peer.add_adapter(peft.LoraConfig(r=2, target_modules=["query"], task_type="FEATURE_EXTRACTION"))
    wild(peer)
    peer.save(str(tmp_path), create_model_card=False)
    expected = peer.encode(TEXTS, show_progress_bar=False)
    ours = load(f"hf:{tmp_path}")
    np.testing.assert_allclose(ours.embed_texts(TEXTS), expected, **CLOSE)
    assert ours.identity.settings["pooling"] == "cls+normalize"
    # With the adapter alone, the pooling is that of the model it changes.
    root = Path(shutil.copytree(tiny["bert"], tmp_path / "base"))
    alone = tmp_path / "alone"
    adapted(root, "AutoModel", ["query"])[0].save_pretrained(alone)
    (root / "1_Pooling").mkdir()
    (root / "1_Pooling/config.json").write_text(json.dumps({"pooling_mode_cls_token": True}))
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    (root / "modules.json").write_text(
        json.dumps([{"path": path, "type": f"sentence_transformers.models.{kind}"} for path, kind in kinds])
    )
    assert load(f"hf:{alone}").identity.settings["pooling"] == "cls"


def test_tokens_added_with_the_adapter_have_their_vectors(tiny_lm, tmp_path):
    base = Path(tiny_lm("bert")._source)
    model, tokenizer = adapted(base, "AutoModelForMaskedLM", ["query"], modules_to_save=None)
    inner = model.get_base_model()
    tokenizer.add_tokens(["hairdresser"])
    inner.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(tmp_path, save_embedding_layers=True)
    tokenizer.save_pretrained(tmp_path)
    with torch.no_grad():
        output = model(**tokenizer("A hairdresser.", return_tensors="pt"), output_hidden_states=True)
    found = load(f"hf:{tmp_path}").embed_texts(["A hairdresser."])[0]
    np.testing.assert_allclose(found, output.hidden_states[-1][0].mean(0), **CLOSE)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"task_type": "SEQ_CLS"}, "trained for SEQ_CLS, which gives labels"),
        ({"peft_type": "PROMPT_TUNING"}, "changes no weights"),
        ({"base_model_name_or_path": None}, "names no model"),
        ({"base_model_name_or_path": "/no/such/base"}, "cannot load 'hf:/no/such/base'"),
        ({"target_modules": ["key"]}, "the adapter does not fit"),
        ({"peft_type": 3}, "cannot be read"),
    ],
    ids=str,
)
def test_an_adapter_that_cannot_be_used_is_one_line(tiny_lm, tmp_path, changes, line):
    model, _ = adapted(Path(tiny_lm("bert")._source), "AutoModelForMaskedLM", ["query"])
    model.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "adapter_config.json").read_text())
    (tmp_path / "adapter_config.json").write_text(json.dumps(config | changes))
    with pytest.raises((BadInput, ModelFailed), match=line) as caught:
        load(f"hf:{tmp_path}").embed_texts(TEXTS)
    assert "\n" not in str(caught.value)
