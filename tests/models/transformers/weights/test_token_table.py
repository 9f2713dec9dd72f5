"""Tables of token vectors give what sentence-transformers and model2vec give."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tiltmeter import load
from tiltmeter.errors import ModelFailed
from tiltmeter.models.protocol import Span
from tiltmeter.models.variants import Variation, vary

torch = pytest.importorskip("torch")
peers = pytest.importorskip("sentence_transformers")

from tests.models.tiny_models import SENTENCES, wordpiece  # noqa: E402
from tests.models.transformers.hidden_states import CLOSE  # noqa: E402


def _peer(*after: object, **options: object) -> object:
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding

    torch.manual_seed(0)
    table = StaticEmbedding(wordpiece(), embedding_dim=10)
    return peers.SentenceTransformer(modules=[table, *after], device="cpu", **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    from sentence_transformers.sentence_transformer.modules import Normalize

    _peer(Normalize()).save(str(tmp_path), create_model_card=False)
    return tmp_path


def test_a_static_embedding_is_the_mean_of_its_tokens(folder):
    model = load(f"hf:{folder}")
    expected = peers.SentenceTransformer(str(folder), device="cpu").encode(SENTENCES, show_progress_bar=False)
    np.testing.assert_allclose(model.embed_texts(SENTENCES), expected, **CLOSE)
    np.testing.assert_allclose(model.embed_words(["nurse"]), model.embed_texts(["nurse"]), **CLOSE)
    assert model.identity.settings["pooling"] == "tokens+mean+normalize"
    assert model.head == "none"


def test_prompts_and_dense_layers_follow_a_table_as_they_follow_a_transformer(tmp_path):
    from sentence_transformers.sentence_transformer.modules import Dense

    peer = _peer(Dense(10, 4), prompts={"query": "search: "})
    peer.save(str(tmp_path), create_model_card=False)
    expected = peer.encode(SENTENCES, prompt_name="query", show_progress_bar=False)
    np.testing.assert_allclose(load(f"hf:{tmp_path}?prompt=query").embed_texts(SENTENCES), expected, **CLOSE)


def test_a_word_has_the_same_vector_in_every_context(folder):
    texts = ["The nurse slept.", "Nobody asked the nurse"]
    spans = [Span(text, text.index("nurse"), text.index("nurse") + 5) for text in texts]
    one, two = load(f"hf:{folder}").embed_spans(spans)
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("shared", [False, True])
def test_a_folder_of_model2vec_gives_what_model2vec_gives(tmp_path, shared):
    model2vec = pytest.importorskip("model2vec")
    tokenizer = wordpiece().backend_tokenizer
    tokenizer.post_processor = None
    rng = np.random.default_rng(0)
    n = tokenizer.get_vocab_size()
    more = {"token_mapping": rng.integers(0, 20, n), "weights": rng.random(n)} if shared else {}
    rows = rng.normal(size=(20 if shared else n, 6)).astype(np.float32)
    peer = model2vec.StaticModel(rows, tokenizer, config={"normalize": True}, normalize=True, **more)
    peer.save_pretrained(str(tmp_path))
    expected = peer.encode(SENTENCES)
    np.testing.assert_allclose(load(f"hf:{tmp_path}").embed_texts(SENTENCES), expected, **CLOSE)
    np.testing.assert_allclose(load(peer).embed_texts(SENTENCES), expected, **CLOSE)


def test_the_weights_of_a_table_are_its_revision_and_can_be_varied(folder):
    model = load(f"hf:{folder}")
    other = vary(load(f"hf:{folder}"), Variation("noise", 0.02, 1))
    assert other.identity.revision != model.identity.revision
    moved = np.abs(other.embed_texts(SENTENCES) - model.embed_texts(SENTENCES)).max()
    assert 0 < moved < 0.2


@pytest.mark.parametrize("damage", ["tokenizer.json", "model.safetensors", "rows"])
def test_a_damaged_table_is_one_line(folder, damage):
    (place,) = {path.parent for path in folder.rglob("tokenizer.json")}
    if damage == "rows":
        content = json.loads((place / "tokenizer.json").read_text())
        content["model"]["vocab"]["zebra"] = len(content["model"]["vocab"])
        (place / "tokenizer.json").write_text(json.dumps(content))
    else:
        (place / damage).write_text("{")
    with pytest.raises(ModelFailed, match=r"no table of token vectors in .*fetch it again") as caught:
        load(f"hf:{folder}").embed_texts(SENTENCES)
    assert "\n" not in str(caught.value)
