"""How the tokens of a text become its vector: as sentence-transformers does it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.models.transformers.encoder import TransformerEncoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_models import FAMILIES, SENTENCES  # noqa: E402
from tests.models.transformers.hidden_states import CLOSE, hidden_states  # noqa: E402


@pytest.mark.parametrize("family", FAMILIES)
def test_without_settings_of_its_own_a_text_is_the_mean_of_all_its_tokens(tiny, family):
    hidden = hidden_states(tiny[family], SENTENCES[1])[1][-1][0].numpy()
    encoder = TransformerEncoder(str(tiny[family]))
    np.testing.assert_allclose(encoder.embed_texts(SENTENCES)[1], hidden.mean(0), **CLOSE)
    np.testing.assert_allclose(encoder.embed_words(["nurse"]), encoder.embed_texts(["nurse"]), **CLOSE)
    first = TransformerEncoder(str(tiny[family]), pooling="cls").embed_texts(SENTENCES)[1]
    np.testing.assert_allclose(first, hidden[0], **CLOSE)


def test_the_sample_model_gives_what_sentence_transformers_gives(minilm):
    peer = pytest.importorskip("sentence_transformers").SentenceTransformer(str(minilm), device="cpu")
    texts = [*SENTENCES, "Café  ZÜRICH", "naïve", "word " * 400, "The nurse slept.", " spaces around "]
    encoder = TransformerEncoder(str(minilm))
    np.testing.assert_allclose(encoder.embed_texts(texts), peer.encode(texts, show_progress_bar=False), **CLOSE)
    assert encoder.identity.settings == {"pooling": "mean+normalize", "layer": "-1"}


@pytest.mark.parametrize("mode", ["mean", "cls", "max"])
def test_a_folder_saved_by_sentence_transformers_is_pooled_as_it_says(tiny, tmp_path, mode):
    peers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import Normalize, Pooling, Transformer

    reader = Transformer(str(tiny["roberta"]), max_seq_length=12)
    peer = peers.SentenceTransformer(
        modules=[reader, Pooling(16, pooling_mode=mode), *([Normalize()] if mode == "max" else [])],
        prompts={"search": "query: "},
        default_prompt_name="search",
        device="cpu",
    )
    peer.save(str(tmp_path), create_model_card=False)
    found = TransformerEncoder(str(tmp_path)).embed_texts(SENTENCES)
    np.testing.assert_allclose(found, peer.encode(SENTENCES, show_progress_bar=False), **CLOSE)


def describe(folder: Path, modules: list[str], pooling: dict[str, object]) -> None:
    """Make a folder one of sentence-transformers, in the layout of its early versions."""
    described = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(modules)
    ]
    (folder / "modules.json").write_text(json.dumps(described))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling/config.json").write_text(json.dumps({"word_embedding_dimension": 16} | pooling))


def test_lower_case_and_length_are_those_of_the_folder(tiny, tmp_path):
    peers = pytest.importorskip("sentence_transformers")
    folder = Path(shutil.copytree(tiny["roberta"], tmp_path / "roberta"))
    describe(folder, ["Transformer", "Pooling"], {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 12, "do_lower_case": True}))
    texts = [SENTENCES[1], SENTENCES[1].upper(), SENTENCES[4]]
    found = TransformerEncoder(str(folder)).embed_texts(texts)
    peer = peers.SentenceTransformer(str(folder), device="cpu")
    np.testing.assert_allclose(found, peer.encode(texts, show_progress_bar=False), **CLOSE)
    np.testing.assert_allclose(found[0], found[1], **CLOSE)


@pytest.mark.parametrize(
    ("modules", "pooling", "line"),
    [
        (["Transformer", "Pooling"], {"pooling_mode": "lasttoken"}, "pooling by lasttoken is not supported"),
        (
            ["Transformer", "Pooling"],
            {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
            "pooling by cls and mean is not supported",
        ),
        (["Transformer", "Pooling", "Dense"], {"pooling_mode": "mean"}, "asks for a Dense layer"),
    ],
)
def test_a_way_of_pooling_that_is_not_supported_says_what_to_choose_instead(bert_copy, modules, pooling, line):
    describe(bert_copy, modules, pooling)
    with pytest.raises(BadInput, match=f"{line}.*pooling=mean or pooling=cls"):
        TransformerEncoder(str(bert_copy)).embed_texts(["The nurse slept."])
    assert TransformerEncoder(str(bert_copy), pooling="cls").embed_texts(["The nurse slept."]).shape == (1, 16)
