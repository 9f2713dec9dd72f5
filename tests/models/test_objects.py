"""Users' own objects give the vectors that their own libraries give."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tiltmeter import audit, load, probe
from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Continuation, Fill

WORDS = ["he", "she", "nurse", "doctor"]
TABLE = np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32)
TEXTS = ["The nurse slept.", "A doctor left early."]


def test_a_table_of_vectors_has_its_words_in_the_index():
    model = load(pd.DataFrame(TABLE, index=WORDS))
    np.testing.assert_array_equal(np.stack(model.embed_words(WORDS)), TABLE)
    assert model.embed_words(["xyz"]) == [None]


@pytest.mark.parametrize(
    ("table", "line"),
    [
        (pd.DataFrame({"word": WORDS, "x": [1.0, 2, 3, 4]}), r"put the words into its index"),
        (pd.DataFrame(TABLE, index=["he", "he", "a", "b"]), "two rows for 'he': drop one"),
    ],
)
def test_a_table_that_holds_something_else_is_one_line(table, line):
    with pytest.raises(BadInput, match=line):
        load(table)


def test_trained_gensim_models_and_their_vectors_are_asked_alike():
    models = pytest.importorskip("gensim").models
    sentences = [[*WORDS, "and"], WORDS[::-1]] * 20
    for kind in (models.Word2Vec, models.FastText):
        trained = kind(sentences, vector_size=6, min_count=1, seed=1, workers=1)
        for thing in (trained, trained.wv):
            found = np.stack(load(thing).embed_words(WORDS))
            np.testing.assert_allclose(found, np.stack([trained.wv[word] for word in WORDS]), atol=1e-5)


def test_what_wraps_word_vectors_as_wefe_does_is_asked_for_them():
    class WordEmbeddingModel:
        def __init__(self, wv: object) -> None:
            self.wv = wv

    model = load(WordEmbeddingModel(dict(zip(WORDS, TABLE, strict=True))))
    np.testing.assert_array_equal(model.embed_words(["she"])[0], TABLE[1])


def test_a_model_of_wefe_gives_its_vectors_under_its_name_with_its_prefix():
    wefe = pytest.importorskip("wefe.word_embedding_model", reason="WEFE needs an older numpy: pip install --no-deps")
    vectors = pytest.importorskip("gensim").models.KeyedVectors(5)
    vectors.add_vectors([f"/c/en/{word}" for word in WORDS], TABLE)
    model = load(wefe.WordEmbeddingModel(vectors, "Numberbatch", vocab_prefix="/c/en/"))
    np.testing.assert_allclose(np.stack(model.embed_words(WORDS)), TABLE, atol=1e-5)
    assert CachedModel(model).identity.name == "Numberbatch"
    assert model.vocabulary(2) == WORDS[:2]


def test_a_thing_without_a_name_is_called_by_its_own_type():
    assert CachedModel(load(pd.DataFrame(TABLE, index=WORDS))).identity.name == "own:DataFrame"
    assert CachedModel(load({"he": TABLE[0]})).identity.name == "own:dict"


def test_a_spacy_pipeline_gives_words_and_texts():
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    for word, vector in zip(WORDS, TABLE, strict=True):
        pipeline.vocab.set_vector(word, vector)
    model = load(pipeline)
    np.testing.assert_allclose(np.stack(model.embed_words(WORDS)), TABLE, atol=1e-6)
    assert model.embed_words(["xyz"]) == [None]
    np.testing.assert_allclose(model.embed_texts(["he she"])[0], TABLE[:2].mean(0), atol=1e-5)
    with pytest.raises(BadInput, match="has no word vectors"):
        load(spacy.blank("en"))


class TestTransformers:
    @pytest.fixture
    def pair(self, tiny_lm):
        transformers = pytest.importorskip("transformers")
        folder = str(tiny_lm("bert")._source)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        return folder, transformers.AutoModelForMaskedLM.from_pretrained(folder), tokenizer

    def test_a_model_and_its_tokenizer_give_what_their_folder_gives(self, pair):
        folder, model, tokenizer = pair
        expected = load(f"hf:{folder}")
        fills = [Fill("He is a nurse.", 0, 2, ("He", "She"))]
        for thing in ((model, tokenizer), (tokenizer, model), model):
            ours = load(thing)
            np.testing.assert_allclose(ours.embed_texts(TEXTS), expected.embed_texts(TEXTS), atol=1e-5)
            assert ours.fill(fills)[0].logprobs == pytest.approx(expected.fill(fills)[0].logprobs, abs=1e-5)

    def test_a_pipeline_is_asked_through_its_model(self, pair):
        transformers = pytest.importorskip("transformers")
        folder, model, tokenizer = pair
        pipeline = transformers.pipeline("fill-mask", model=model, tokenizer=tokenizer)
        np.testing.assert_allclose(
            load(pipeline).embed_texts(TEXTS), load(f"hf:{folder}").embed_texts(TEXTS), atol=1e-5
        )

    def test_a_causal_model_continues(self, tiny_lm):
        transformers = pytest.importorskip("transformers")
        folder = str(tiny_lm("gpt2")._source)
        model = transformers.AutoModelForCausalLM.from_pretrained(folder)
        stem = [Continuation("The nurse said that", (" he", " she"))]
        expected = load(f"hf:{folder}").continue_with(stem)[0].logprobs
        assert load(model).continue_with(stem)[0].logprobs == pytest.approx(expected, abs=1e-4)

    def test_a_model_whose_tokenizer_is_not_known_says_what_to_pass(self, pair):
        _, model, _ = pair
        model.name_or_path = "/no/such/folder"
        with pytest.raises(BadInput, match=r"pass \(model, tokenizer\), or a pipeline"):
            load(model)

    def test_a_masked_model_holds_its_weights_once(self, pair):
        folder, _, _ = pair
        model = load(f"hf:{folder}")
        model.embed_texts(TEXTS)
        model.fill([Fill("He is a nurse.", 0, 2, ("He", "She"))])
        vectors, scores = model._loaded.model, model._language._loaded.model
        assert vectors is scores.base_model


def test_a_name_is_what_readings_call_it():
    vectors = dict(zip(WORDS, TABLE, strict=True))
    terms = {"targets": [["he", "doctor"], ["she", "nurse"]], "attributes": [["he"], ["she"]]}
    reading = probe("weat", load(vectors, name="my vectors"), cache=False, **terms)
    assert reading.model == "my vectors"
    with pytest.raises(BadInput, match="layer is an option of a spec"):
        load(vectors, layer=3)


MODULE = """
import numpy as np
vectors = {word: np.eye(4)[i] for i, word in enumerate(["he", "she", "nurse", "doctor"])}
def make():
    return vectors
class Mine:
    def embed_texts(self, texts):
        return [[len(text), 1.0] for text in texts]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch) -> str:
    (tmp_path / "models_of_mine.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "models_of_mine", raising=False)
    return "models_of_mine"


@pytest.mark.parametrize("attribute", ["vectors", "make"])
def test_a_spec_names_an_object_in_a_module_or_what_makes_it(module, attribute):
    model = load(f"python:{module}:{attribute}")
    assert model.embed_words(["she"])[0].tolist() == [0, 1, 0, 0]
    assert CachedModel(model).identity.name == f"python:{module}:{attribute}"
    assert load(f"python:{module}:Mine").embed_texts(["ab"]) == [[2, 1.0]]


@pytest.mark.parametrize(
    ("spec", "line"),
    [
        ("python:no_such_module_here:x", "cannot be imported"),
        ("python:json", "write python:module:attribute"),
        ("python:json:decoder.nothing", "the module json has no 'decoder.nothing'"),
        ("python:json:__name__", "a str cannot be asked anything"),
    ],
)
def test_a_spec_that_names_nothing_is_one_line(spec, line):
    with pytest.raises(BadInput, match=line):
        load(spec)


def test_an_audit_lets_go_of_a_model_before_it_loads_the_next(tmp_path, monkeypatch):
    (tmp_path / "heavy_models.py").write_text(
        "import weakref\nimport numpy as np\nmade, most = [], []\n"
        "class Heavy:\n"
        "    def embed_words(self, words):\n"
        "        if all(one() is not self for one in made):\n"
        "            made.append(weakref.ref(self))\n"
        "        most.append(sum(one() is not None for one in made))\n"
        "        return [np.random.default_rng(len(word)).normal(size=4) for word in words]\n"
        "class A(Heavy): pass\nclass B(Heavy): pass\nclass C(Heavy): pass\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path)
    suite = tmp_path / "suite.yaml"
    suite.write_text("name: small\nprobes:\n  - probe: mac\n", encoding="utf-8")
    audit([f"python:heavy_models:{name}" for name in "ABC"], suite=suite, cache=False)
    heavy = sys.modules["heavy_models"]
    assert len(heavy.made) == 3
    assert set(heavy.most) == {1}
