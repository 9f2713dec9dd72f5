"""A user's own model: an object that answers a question, or one of the usual containers of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import METHODS, Rows


class WordMap:
    """Word vectors in a mapping (a dict, a gensim KeyedVectors)."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def embed_words(self, words: Sequence[str]) -> Rows:
        return [self._vectors[word] if self._vectors.__contains__(word) else None for word in words]


class Encoder:
    """An object with ``encode(texts)``, such as a SentenceTransformer."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def embed_texts(self, texts: Sequence[str]) -> Rows:
        rows: Rows = self._encoder.encode(list(texts))
        return rows


def as_model(thing: object) -> Any:
    """The object itself where it answers a question; known containers are given the method they lack.

    >>> as_model({"he": [1.0, 0.0]}).embed_words(["he", "she"])
    [[1.0, 0.0], None]
    """
    if any(callable(getattr(thing, method, None)) for method in METHODS.values()):
        return thing
    if isinstance(thing, Mapping) or hasattr(thing, "key_to_index"):
        return WordMap(thing)
    if callable(getattr(thing, "encode", None)):
        return Encoder(thing)
    raise BadInput(
        f"a {type(thing).__name__} cannot be asked anything: give it embed_words(words) or "
        "embed_texts(texts), or pass a spec such as bundled:minilm"
    )
