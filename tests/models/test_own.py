"""A user's own model: any object that answers a question, and the usual containers of vectors."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tiltmeter
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models import CachedModel, Identity, VectorStore, load

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
        ({"he": HE, "she": "a text"}, "the answer for 'she' is no list of numbers"),
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
        for _ in range(2):
            named = tiltmeter.probe("weat", Identified(), cache=store, **sets)
    assert Identified.calls == 1
    assert named.effect == plain.effect
    assert plain.effect.value > 1
