"""GGUF files as ordinary Transformers folders: unpacked once, kept in the cache."""

from __future__ import annotations

import contextlib
import functools
import io
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, MissingExtra, ModelFailed
from tiltmeter.files import at_home, cache_folder, fingerprint
from tiltmeter.models.protocol import Identity, installed
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.models.transformers.weights.checkpoints import first_line, quiet
from tiltmeter.models.transformers.weights.loading import StoredWeights, check_memory, free_memory

#: Every GGUF file starts so.
_MAGIC = b"GGUF"
#: Bytes at the start of a file that hold its metadata, vocabulary included.
_METADATA = 1 << 26


class GgufModel(TransformerModel):
    """A model in a GGUF file. Reading one takes half a minute, so its weights are kept as safetensors."""

    head: Any = "causal"
    _adapter: Any = None

    def __init__(self, path: str | Path, *, name: str | None = None, **options: Any) -> None:
        self._path = at_home(path)
        super().__init__(str(path), name=name or f"gguf:{path}", **options)

    @functools.cached_property
    def identity(self) -> Identity:
        """By the file's own content, so that it is known before the file is unpacked."""
        return Identity(self.name, self._print, self._settings(self._pooling), self._versions)

    @property
    def _versions(self) -> dict[str, str]:
        return {**super()._versions, **installed("gguf")}

    @functools.cached_property
    def _declares_bos(self) -> bool | None:
        _check(self._path)
        with self._path.open("rb") as file:
            return declared_bos(file.read(_METADATA))

    @property
    def _stored(self) -> str:
        return "float32"  # as it is unpacked

    @functools.cached_property
    def _print(self) -> str:
        _check(self._path)
        return fingerprint(self._path)

    @property
    def questions(self) -> Any:
        _check(self._path)
        return super().questions

    @property
    def _trained_as(self) -> tuple[list[str], str, str]:
        return [], self.name, ""  # a GGUF file holds a language model, and need not be unpacked to know that

    @property
    def _pooled(self) -> bool:
        return self._pooling != "auto"  # a GGUF file names no pooling, and need not be unpacked to know that

    @functools.cached_property
    def _root(self) -> Path:
        return unpacked(self._path, self._print, called=self.name)


def declared_bos(start: bytes) -> bool | None:
    """What the metadata of a GGUF file says of the start mark; None where it says nothing.

    An entry is its name, the number of its type (7 for a truth value) and the value.

    >>> declared_bos(b"GGUF... tokenizer.ggml.add_bos_token" + bytes([7, 0, 0, 0, 1]) + b"...")
    True
    """
    _, key, rest = start.partition(b"tokenizer.ggml.add_bos_token")
    return bool(rest[4]) if key and rest[:4] == bytes([7, 0, 0, 0]) and len(rest) > 4 else None


def unpacked(path: Path, digest: str, *, called: str) -> Path:
    """The folder that holds the model of a GGUF file; it is there whole or not at all."""
    target = cache_folder() / "gguf" / digest
    if target.is_dir():
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=target.parent, prefix=".unpacking-"))
    except OSError as error:
        raise BadInput(
            f"{target.parent} cannot be written ({error.strerror}): set TILTMETER_CACHE to another"
        ) from None
    try:
        _unpack(path, work, called)
        try:
            work.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was faster
                raise
    except OSError as error:
        raise BadInput(f"{target.parent} cannot be written ({error.strerror or error}): free some space") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return target


def _unpack(path: Path, folder: Path, called: str) -> None:
    try:
        import accelerate  # noqa: F401
        import gguf
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtra("a GGUF model", "hf") from error
    try:
        numbers = sum(int(tensor.n_elements) for tensor in gguf.GGUFReader(path).tensors)
    except Exception:  # what is wrong with the file is said below
        numbers = 0
    # Held twice: as it is read, and as it is saved.
    check_memory(StoredWeights({"F32": 2 * numbers}, 0), "float32", free_memory(), called=called)
    # Transformers draws a progress bar of its own here that its settings do not turn off.
    with quiet(), contextlib.redirect_stderr(io.StringIO()):
        try:
            tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
            read = AutoModelForCausalLM.from_pretrained(path.parent, gguf_file=path.name, dtype=torch.float32)
            # Transformers refuses to save a model that it read from GGUF, so its weights move into one made anew.
            settings = {key: value for key, value in read.config.to_dict().items() if key != "quantization_config"}
            make: Any = AutoModelForCausalLM.from_config
            model = make(type(read.config).from_dict(settings))
            model.load_state_dict(read.state_dict())
            model.tie_weights()
        except Exception as error:
            raise ModelFailed(
                f"cannot load '{called}': the GGUF file is damaged, cut off or of an unknown kind "
                f"({first_line(error)}); fetch it again"
            ) from error
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


def _check(path: Path) -> None:
    if not path.is_file():
        raise BadInput(f"gguf:{path}: no such file: check the path")
    try:
        with path.open("rb") as file:
            start = file.read(len(_MAGIC))
    except OSError as error:
        raise BadInput(f"gguf:{path}: cannot be read ({error.strerror})") from None
    if start != _MAGIC:
        raise ModelFailed(f"cannot load 'gguf:{path}': this is not a GGUF file")
