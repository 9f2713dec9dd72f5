"""Vectors of texts, words and words in context against bare forward passes."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Question, Span
from tiltmeter.models.transformers import encoder
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
    assert encoder.identity.settings == {"pooling": "mean+normalize", "layer": "-1", "dtype": "float32"}


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize(
    "mode", ["mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens", ("mean", "cls")]
)
def test_a_folder_saved_by_sentence_transformers_is_pooled_as_it_says(tiny, tmp_path, mode, dense):
    peers = pytest.importorskip("sentence_transformers")
    from sentence_transformers.sentence_transformer.modules import Dense, Normalize, Pooling, Transformer

    torch.manual_seed(0)
    reader = Transformer(str(tiny["roberta"]), max_seq_length=12)
    width = 16 if isinstance(mode, str) else 32
    after = [Dense(width, 8), Dense(8, 6, bias=False, activation_function=torch.nn.ReLU()), Normalize()]
    peer = peers.SentenceTransformer(
        modules=[reader, Pooling(16, pooling_mode=mode), *(after if dense else [Normalize()] if mode == "max" else [])],
        prompts={"search": "query: ", "passage": "passage: "},
        default_prompt_name="search",
        device="cpu",
    )
    peer.save(str(tmp_path), create_model_card=False)
    found = TransformerEncoder(str(tmp_path)).embed_texts(SENTENCES)
    np.testing.assert_allclose(found, peer.encode(SENTENCES, show_progress_bar=False), **CLOSE)
    other = TransformerEncoder(str(tmp_path), prompt="passage")
    expected = peer.encode(SENTENCES, prompt_name="passage", show_progress_bar=False)
    np.testing.assert_allclose(other.embed_texts(SENTENCES), expected, **CLOSE)
    assert other.identity.settings["prompt"] == "passage"


def test_a_prompt_that_the_folder_does_not_hold_is_one_line(bert_copy):
    with pytest.raises(BadInput, match="holds no prompts: leave it out"):
        TransformerEncoder(str(bert_copy), prompt="query").embed_texts(["The nurse slept."])


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
        (["Transformer", "Pooling"], {"pooling_mode": "median"}, "pooling by median is not supported"),
        (["Transformer", "Pooling", "LayerNorm"], {"pooling_mode": "mean"}, "asks for a LayerNorm layer"),
    ],
)
def test_a_way_of_pooling_that_is_not_supported_says_what_to_choose_instead(bert_copy, modules, pooling, line):
    describe(bert_copy, modules, pooling)
    with pytest.raises(BadInput, match=f"{line}.*pooling=mean or pooling=cls"):
        TransformerEncoder(str(bert_copy)).embed_texts(["The nurse slept."])
    assert TransformerEncoder(str(bert_copy), pooling="cls").embed_texts(["The nurse slept."]).shape == (1, 16)


from tests.models.tiny_models import FAMILIES  # noqa: E402
from tests.models.transformers.hidden_states import by_hand, spans_of  # noqa: E402


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
    assert plain.settings == {"pooling": "mean", "layer": "-1", "dtype": "float32"}
    assert TransformerEncoder(str(tiny["bert"]), name="hf:mine", device="cpu").identity == plain
    other = TransformerEncoder(str(tiny["bert"]), name="hf:mine", layer=2, pooling="cls").identity
    assert other == dataclasses.replace(plain, settings={**plain.settings, "pooling": "cls", "layer": "2"})


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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("modules.json", 3.5),
        ("modules.json", [{"type": "sentence_transformers.models.Transformer"}]),
        ("modules.json", ["Transformer"]),
        ("1_Pooling/config.json", 3.5),
        ("1_Pooling/config.json", {"pooling_mode": {}}),
        ("config_sentence_transformers.json", "x"),
        ("config_sentence_transformers.json", {"prompts": [], "default_prompt_name": "query"}),
        ("config_sentence_transformers.json", {"prompts": {"query": 1}, "default_prompt_name": []}),
        ("sentence_bert_config.json", []),
        ("sentence_bert_config.json", {"max_seq_length": "many"}),
        ("sentence_bert_config.json", {"max_seq_length": 10**400}),
    ],
)
def test_a_configuration_of_another_shape_is_one_line(bert_copy, name, content):
    describe(bert_copy, ["Transformer", "Pooling"], {"pooling_mode_mean_tokens": True})
    (bert_copy / name).write_text(json.dumps(content))
    with pytest.raises(BadInput, match=r"cannot be read \(.*\); fetch the model again") as caught:
        TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)
    assert "\n" not in str(caught.value)


def test_a_configuration_nested_without_end_is_one_line(bert_copy):
    (bert_copy / "modules.json").write_text("[" * 100_000)
    with pytest.raises(BadInput, match="it is not JSON"):
        TransformerEncoder(str(bert_copy)).embed_texts(SENTENCES)


@pytest.mark.parametrize("limit", ["many", None, -5, float("nan")])
def test_a_tokenizer_whose_limit_is_no_number_is_one_line(limit):
    with pytest.raises(BadInput, match=r"its tokenizer takes .* tokens, which is not a number"):
        encoder.token_limit(SimpleNamespace(model_max_length=limit), None, encoder.PoolingRecipe(Path("model")))
