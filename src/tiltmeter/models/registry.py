"""From a model spec, or a user's own object, to something that can be asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.own import as_model

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """A kind of model: what stands before the colon of a spec."""

    about: str
    example: str
    options: Mapping[str, Callable[[str], Any]]


KINDS: Mapping[str, Kind] = {
    "bundled": Kind("a small sample model: minilm, glove, word2vec, smollm2", "bundled:minilm", {}),
    "static": Kind(
        "word vectors in a file: word2vec, GloVe, fastText .vec, gensim .kv, .npy; also .gz",
        "static:vectors.vec?case=lower",
        {"case": str, "index": Path},
    ),
    "hf": Kind(
        "a Transformers model, from a folder or by hub name",
        "hf:bert-base-uncased?pooling=cls&layer=8",
        {"pooling": str, "layer": int, "device": str, "revision": str, "bos": str},
    ),
    "gguf": Kind(
        "a causal language model in a GGUF file",
        "gguf:model.Q4_1.gguf",
        {"device": str, "bos": str, "pooling": str, "layer": int},
    ),
    "reference": Kind(
        "a tiny masked language model with a planted bias, trained here at the first use",
        "reference:tilt-0.9",
        {},
    ),
    "openai": Kind(
        "OpenAI embeddings, or any OpenAI-compatible server by base_url (Ollama, vLLM, TEI)",
        "openai:text-embedding-3-small",
        {"base_url": str, "dimensions": int, "timeout": float},
    ),
    "chat": Kind(
        "a chat model at OpenAI, or at any server that speaks its protocol by base_url (Ollama, vLLM, llama.cpp)",
        "chat:gpt-4o-mini",
        {"base_url": str, "max_tokens": int, "timeout": float},
    ),
    "cohere": Kind(
        "Cohere embeddings",
        "cohere:embed-v4.0",
        {"base_url": str, "dimensions": int, "input_type": str, "timeout": float},
    ),
    "voyage": Kind(
        "Voyage embeddings",
        "voyage:voyage-3.5",
        {"base_url": str, "dimensions": int, "input_type": str, "timeout": float},
    ),
}


def load(spec: str | object, *, budget: Budget | None = None, **options: Any) -> Any:
    """A model by its spec ``kind:name?option=value&...``, or a user's own object as it is.

    Nothing heavy happens here: weights are read, and keys looked up, at the first question.

    >>> load("bundled:glov")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown bundled model 'glov': did you mean 'glove'?
    """
    if not isinstance(spec, str):
        return as_model(spec)
    kind, name, given = parse(spec)
    for option in options:
        if option not in KINDS[kind].options:
            raise unknown(f"option of {kind} models", option, KINDS[kind].options)
    given |= options
    if kind == "bundled":
        from tiltmeter.models.bundled import load_bundled

        return load_bundled(name)
    if kind == "static":
        from tiltmeter.models.static import StaticVectors

        return StaticVectors(name, **given)
    if kind == "hf":
        from tiltmeter.models.transformers.hub import TransformerModel

        return TransformerModel(name, **given)
    if kind == "gguf":
        from tiltmeter.models.transformers.gguf import GgufModel

        return GgufModel(name, **given)
    if kind == "reference":
        from tiltmeter.lab.reference.spec import ReferenceModel

        return ReferenceModel(name)
    if kind == "chat":
        from tiltmeter.models.api.chat import ChatModel

        return ChatModel(name, budget=budget, **given)
    from tiltmeter.models.api import ApiEmbedder

    return ApiEmbedder(kind, name, budget=budget, **given)  # type: ignore[arg-type]


def parse(spec: str) -> tuple[str, str, dict[str, Any]]:
    """Kind, name and options of a spec.

    >>> parse("hf:some/folder?layer=8")
    ('hf', 'some/folder', {'layer': 8})
    """
    kind, _, rest = spec.partition(":")
    name, _, query = rest.partition("?")
    if not name or kind not in KINDS:
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
    path = Path(spec)
    if spec and path.is_dir():
        return BadInput(f"'{spec}' names no kind of model: for this folder write hf:{spec}")
    if path.is_file():
        return BadInput(f"'{spec}' names no kind of model: for this file write static:{spec}")
    if ":" in spec:
        return unknown("kind of model", kind, KINDS)
    return BadInput(f"'{spec}' is no model spec: write kind:name, e.g. {', '.join(k.example for k in KINDS.values())}")
