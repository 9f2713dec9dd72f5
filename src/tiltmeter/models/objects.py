"""Users' own objects as models: what they already have in memory is asked as it is.

An object that answers a question itself (``embed_words``, ``embed_texts``, ...) needs none of this. The others are
known by what they can do, never by an import, so that no library is needed for objects of another.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Question, Rows


class WordMap:
    """Word vectors in a mapping: a dict, gensim's KeyedVectors, a WEFE model, the rows of a table.

    ``prefix`` stands before each word in the mapping, such as /c/en/ in ConceptNet's vectors.
    """

    def __init__(self, vectors: Any, *, prefix: str = "") -> None:
        self._vectors, self._prefix = vectors, prefix

    def embed_words(self, words: Sequence[str]) -> Rows:
        keys = [self._prefix + word for word in words]
        return [self._vectors[key] if self._vectors.__contains__(key) else None for key in keys]

    def vocabulary(self, n: int) -> list[str]:
        """Its first words."""
        keys = map(str, getattr(self._vectors, "key_to_index", self._vectors))
        words = (key.removeprefix(self._prefix) for key in keys if key.startswith(self._prefix))
        return list(itertools.islice(words, n))


class _TableRows:
    """A table of vectors, one row per word: its index holds the words."""

    def __init__(self, table: Any) -> None:
        if not table.index.is_unique:
            twice = table.index[table.index.duplicated()][0]
            raise BadInput(f"the table of vectors has two rows for '{twice}': drop one")
        try:
            self._rows = table.to_numpy(dtype=np.float32)
        except (TypeError, ValueError):
            raise BadInput(
                "the table of vectors holds something that is not a number: put the words into its index, e.g. "
                "table.set_index('word')"
            ) from None
        self._places = {str(word): place for place, word in enumerate(table.index)}

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __getitem__(self, word: str) -> Any:
        return self._rows[self._places[word]]


class Encoder:
    """An object with ``encode(texts)``, such as a SentenceTransformer or a model2vec model."""

    def __init__(self, encoder: Any) -> None:
        self._encoder = encoder

    def embed_texts(self, texts: Sequence[str]) -> Rows:
        rows: Rows = self._encoder.encode(list(texts))
        return rows


class SpacyPipeline:
    """A spaCy pipeline with vectors: words by its table of vectors, texts by the mean of their words."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        if not len(pipeline.vocab.vectors):
            raise BadInput("the spaCy pipeline has no word vectors: load one that has, e.g. en_core_web_md")

    def embed_words(self, words: Sequence[str]) -> Rows:
        lexemes = [self._pipeline.vocab[word] for word in words]
        return [lexeme.vector if lexeme.has_vector else None for lexeme in lexemes]

    def embed_texts(self, texts: Sequence[str]) -> Rows:
        return [document.vector for document in self._pipeline.pipe(list(texts))]


def as_model(thing: object, *, name: str | None = None) -> Any:
    """The object itself where it answers a question; known kinds of objects are given the method they lack.

    Args:
        thing: word vectors (a dict, gensim's KeyedVectors, Word2Vec or FastText, WEFE's WordEmbeddingModel, a DataFrame
            with the words as its index), an encoder with ``encode(texts)``, a spaCy or Transformers pipeline, a
            Transformers model or a pair of one and its tokenizer.
        name: what readings call it; ``own:`` and its type where none is given.

    >>> as_model({"he": [1.0, 0.0]}).embed_words(["he", "she"])
    [[1.0, 0.0], None]
    """
    model = _adapted(thing)
    if name is None and model is not thing:
        said = getattr(thing, "name", None)  # a WEFE model has one; a column or an index of pandas may have another
        name = said if isinstance(said, str) and said else f"own:{type(thing).__name__}"
        model.name = getattr(model, "name", name)
    elif name is not None:
        try:
            model.name = name
        except AttributeError:
            raise BadInput(f"a {type(thing).__name__} takes no name: give it an attribute 'name'") from None
    return model


def _adapted(thing: Any) -> Any:
    # gensim's trained models, and WEFE's wrapper; gensim's have a method named score, which means something else
    if hasattr(thing, "wv") and not hasattr(thing, Question.WORDS.method):
        return WordMap(thing.wv, prefix=getattr(thing, "vocab_prefix", None) or "")
    # a Transformers model has a method named generate, which means something else too
    if any(callable(getattr(thing, question.method, None)) for question in Question) and not _is_model(thing):
        return thing
    if isinstance(thing, Mapping) or hasattr(thing, "key_to_index"):
        return WordMap(thing)
    if hasattr(thing, "to_numpy") and hasattr(thing, "index") and hasattr(thing, "columns"):
        return WordMap(_TableRows(thing))
    if callable(getattr(thing, "pipe", None)) and hasattr(thing, "vocab"):
        return SpacyPipeline(thing)
    model, tokenizer = _with_tokenizer(thing)
    if model is not None:
        from tiltmeter.models.transformers.hub import InMemory

        return InMemory(model, tokenizer)
    if callable(getattr(thing, "encode", None)) and not isinstance(thing, str):
        return Encoder(thing)
    raise BadInput(
        f"a {type(thing).__name__} cannot be asked anything: give it embed_words(words) or embed_texts(texts), or pass "
        "a spec such as bundled:minilm"
    )


def _with_tokenizer(thing: Any) -> tuple[Any, Any]:
    """A Transformers model and its tokenizer: of a pipeline, of a pair, or of a model that knows where it came from."""
    if isinstance(thing, tuple | list) and len(thing) == 2:
        pair = sorted(thing, key=_is_model, reverse=True)
        return (pair[0], pair[1]) if _is_model(pair[0]) and not _is_model(pair[1]) else (None, None)
    if _is_model(getattr(thing, "model", None)) and getattr(thing, "tokenizer", None) is not None:
        return thing.model, thing.tokenizer
    if not _is_model(thing):
        return None, None
    from transformers import AutoTokenizer

    source = getattr(thing, "name_or_path", "")
    try:
        return thing, AutoTokenizer.from_pretrained(source, local_files_only=True)
    except Exception as error:
        raise BadInput(
            f"the tokenizer of the {type(thing).__name__} is not known: pass (model, tokenizer), or a pipeline"
        ) from error


def _is_model(thing: Any) -> bool:
    return hasattr(thing, "config") and callable(getattr(thing, "forward", None))


def load_attribute(place: str) -> Any:
    """The model that a Python module holds: ``package.module:attribute``, or a function that makes it.

    >>> load_attribute("json:no_such_thing")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: python:json:no_such_thing: the module json has no 'no_such_thing'
    """
    module, _, attribute = place.partition(":")
    if not module or not attribute:
        raise BadInput(f"python:{place}: write python:module:attribute, e.g. python:my_models:encoder")
    try:
        thing: Any = importlib.import_module(module)
    except ImportError as error:
        raise BadInput(
            f"python:{place}: the module {module} cannot be imported ({error}): run the command where it lies, or put "
            "its folder into PYTHONPATH"
        ) from error
    except Exception as error:
        raise ModelFailed(f"python:{place}: importing {module} failed ({type(error).__name__}: {error})") from error
    for name in attribute.split("."):
        if not hasattr(thing, name):
            raise BadInput(f"python:{place}: the module {module} has no '{attribute}'")
        thing = getattr(thing, name)
    model = thing() if isinstance(thing, type) or _is_function(thing) else thing
    return as_model(model, name=f"python:{place}")


def _is_function(thing: Any) -> bool:
    return type(thing).__name__ in ("function", "builtin_function_or_method", "partial")
