"""Vectors of texts, words and words in context against bare forward passes."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Question, Span
from tiltmeter.models.transformers.encoder import TransformerEncoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_models import FAMILIES, SENTENCES  # noqa: E402
from tests.models.transformers.hidden_states import CLOSE, by_hand, spans_of  # noqa: E402


@pytest.mark.parametrize("layer", [-1, 0, 2, 3, -4])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_word_in_context_is_the_mean_of_its_own_tokens_in_the_layer_asked_for(tiny, family, layer):
    spans = [span for sentence in SENTENCES[:2] for span in spans_of(sentence)]
    found = TransformerEncoder(str(tiny[family]), layer=layer).embed_spans(spans)
    expected = [by_hand(tiny[family], span, layer) for span in spans]
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_batched_in_any_order_equals_one_by_one(tiny, family):
    encoder = TransformerEncoder(str(tiny[family]))
    texts = [f"{sentence} {sentence[: 3 * i]}" for i, sentence in enumerate(SENTENCES)] * 3
    together = encoder.embed_texts(texts)
    np.testing.assert_allclose(together, np.concatenate([encoder.embed_texts([text]) for text in texts]), **CLOSE)
    np.testing.assert_allclose(together[::-1], encoder.embed_texts(texts[::-1]), **CLOSE)
    spans = [span for sentence in SENTENCES for span in spans_of(sentence)]
    together = encoder.embed_spans(spans)
    np.testing.assert_allclose(together, np.concatenate([encoder.embed_spans([span]) for span in spans]), **CLOSE)


def test_the_encoder_of_an_encoder_decoder_answers(tmp_path, tiny):
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny["bert"] / name, tmp_path)
    config = transformers.T5Config(vocab_size=200, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2)
    config.save_pretrained(tmp_path)
    transformers.T5Model(config).save_pretrained(tmp_path)
    ids = transformers.AutoTokenizer.from_pretrained(tmp_path)(SENTENCES[0])["input_ids"]
    encoder = transformers.T5EncoderModel.from_pretrained(tmp_path).eval()
    with torch.no_grad():
        expected = encoder(input_ids=torch.tensor([ids])).last_hidden_state[0].mean(0).numpy()
    np.testing.assert_allclose(TransformerEncoder(str(tmp_path)).embed_texts(SENTENCES)[0], expected, **CLOSE)


def test_answers_arrive_in_batches_that_cover_every_input_once(tiny):
    texts = [f"{sentence} {i}" for i in range(60) for sentence in SENTENCES[:3]]
    batches = list(TransformerEncoder(str(tiny["bert"])).stream(Question.TEXTS, texts))
    assert len(batches) > 3
    assert sorted(position for positions, _ in batches for position in positions) == list(range(180))
    assert all(len(positions) == len(vectors) for positions, vectors in batches)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_number_of_cpus_does_not_change_a_single_bit(tiny, family):
    texts = [f"{sentence} {i}" for i in range(40) for sentence in SENTENCES]
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        alone = TransformerEncoder(str(tiny[family]), layer=2).embed_texts(texts)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_array_equal(alone, TransformerEncoder(str(tiny[family]), layer=2).embed_texts(texts))


def test_nothing_asked_is_nothing_answered(tiny):
    assert TransformerEncoder(str(tiny["bert"])).embed_words([]).shape == (0, 16)


@pytest.mark.parametrize("layer", [4, -5, 99])
def test_a_layer_that_is_not_there_names_how_many_there_are(tiny, layer):
    with pytest.raises(BadInput, match="has 3 layers; choose from -4 to 3"):
        TransformerEncoder(str(tiny["bert"]), layer=layer).embed_words(["nurse"])


@pytest.mark.parametrize("text", ["", "  ", "\u200b", None, Span("The nurse", 4, 9)])
def test_a_text_without_a_word_is_refused(tiny, text):
    with pytest.raises(BadInput, match=r"leave it out|give str"):
        TransformerEncoder(str(tiny["bert"])).embed_texts(["The nurse slept.", text])


def test_a_text_beyond_the_limit_is_cut_there(tiny):
    for family in FAMILIES:
        encoder = TransformerEncoder(str(tiny[family]))
        long, longer = encoder.embed_texts(["nurse " * 80, "nurse " * 90])
        np.testing.assert_allclose(long, longer, **CLOSE)


def test_nan_weights_are_an_error_and_never_an_answer(bert_copy):
    model = transformers.AutoModel.from_pretrained(bert_copy)
    torch.nn.init.constant_(model.encoder.layer[1].output.dense.weight, float("nan"))
    model.save_pretrained(bert_copy)
    with pytest.raises(ModelFailed, match="NaN"):
        TransformerEncoder(str(bert_copy)).embed_texts(["The nurse slept."])


def test_settings_that_change_an_answer_are_in_the_identity_and_the_device_is_not(tiny):
    plain = TransformerEncoder(str(tiny["bert"]), name="hf:mine").identity
    assert plain.name == "hf:mine"
    assert plain.settings == {"pooling": "mean", "layer": "-1"}
    assert TransformerEncoder(str(tiny["bert"]), name="hf:mine", device="cpu").identity == plain
    other = TransformerEncoder(str(tiny["bert"]), name="hf:mine", layer=2, pooling="cls").identity
    assert other == dataclasses.replace(plain, settings={"pooling": "cls", "layer": "2"})


def test_the_identity_is_known_without_importing_torch(tiny):
    program = (
        "import sys; from tiltmeter.models.transformers.encoder import TransformerEncoder as T; "
        f"print(T({str(tiny['bert'])!r}).identity.revision, 'torch' in sys.modules, 'transformers' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    revision = TransformerEncoder(str(tiny["bert"])).identity.revision
    assert done.stdout.split() == [revision, "False", "False"]


@pytest.mark.parametrize("option", [{"pooling": "meen"}, {"device": "gpu"}])
def test_an_unknown_option_is_an_error(option):
    with pytest.raises(BadInput, match="unknown"):
        TransformerEncoder("anything", **option)
