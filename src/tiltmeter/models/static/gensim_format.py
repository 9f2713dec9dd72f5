"""Vectors saved by gensim (.kv): a pickle, read without gensim and without running what it names.

A pickle can call any function it likes when it is opened. This reader admits numpy's arrays and puts an
inert object wherever gensim's classes are named; a file that names anything else is refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.models.static.npy_format import first_places, matrix, picked

WORDS = ("index_to_key", "index2word", "index2entity")  # gensim 4, and the two names before it
VECTORS = ("vectors", "syn0")


def rows(path: Path, wanted: set[str]) -> Generator[tuple[str, Vector], None, None]:
    """The rows of the wanted words."""
    state = _state(path)
    words = next((state[name] for name in WORDS if name in state), None)
    if not isinstance(words, list):
        raise BadInput(f"{path}: holds no list of words, so these are not gensim's KeyedVectors")
    values = _values(path, state)
    if values.ndim != 2 or values.dtype.kind != "f" or len(values) < len(words):
        raise BadInput(f"{path}: its vectors do not fit its {len(words)} words; save it again")
    yield from picked(path, values, first_places(words, wanted))


def companions(path: Path) -> list[Path]:
    """The matrix gensim puts into a file of its own when it is large."""
    beside = [path.with_name(f"{path.name}.{name}.npy") for name in VECTORS]
    return [file for file in beside if file.is_file()]


def _values(path: Path, state: dict[str, Any]) -> NDArray[Any]:
    for name in VECTORS:
        if isinstance(inside := state.get(name), np.ndarray):
            return inside
    beside = companions(path)
    if beside:
        return matrix(beside[0])
    if "vectors_ngrams" in state or "vectors_ngrams" in str(state.get("__numpys")):
        raise BadInput(f"{path}: is fastText with n-grams; save its words with save_word2vec_format('words.vec')")
    raise BadInput(f"{path}: holds no vectors, and {path.name}.vectors.npy is not beside it; copy both")


def _state(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            opened = _Restricted(path, stream).load()
    except BadInput:
        raise
    except Exception as error:  # damaged pickles fail in every way there is
        raise BadInput(f"{path}: is not a readable gensim .kv file ({type(error).__name__})") from error
    if type(opened).__name__ != "Inert":
        raise BadInput(f"{path}: is a pickle of {type(opened).__name__}, not gensim's KeyedVectors")
    return dict(vars(opened))


class _Restricted(pickle.Unpickler):
    def __init__(self, path: Path, stream: Any) -> None:
        super().__init__(stream)
        self._path = path

        class Inert:  # made anew for each file, because a pickle may write to the class
            def __init__(self, *_: object) -> None: ...

        self._inert = Inert

    def find_class(self, module: str, name: str) -> Any:
        package = module.partition(".")[0]
        if package == "gensim" or (module, name) == ("numpy", "ndarray"):
            return self._inert
        if package == "numpy" and name in _NUMPY:
            return _NUMPY[name]
        if (module, name) == ("_codecs", "encode"):
            return _latin1
        raise BadInput(f"{self._path}: wants to run code ({module}.{name}); do not open it, ask for a .vec or .bin")


def _latin1(text: str, _encoding: str) -> bytes:
    """How old pickles write bytes."""
    return text.encode("latin-1")


#: numpy's own makers of arrays and scalars live in modules that moved; an array names them wherever they are.
_reconstruct: Callable[..., Any] = cast(Any, np.empty(0).__reduce__())[0]
_frombuffer: Callable[..., Any] = cast(Any, np.empty(1).__reduce_ex__(5))[0]
_scalar: Callable[..., Any] = cast(Any, np.float32(0).__reduce__())[0]


def _blank_array(*_: object) -> Any:
    return _reconstruct(np.ndarray, (0,), b"b")


_NUMPY: dict[str, Callable[..., Any]] = {
    "dtype": np.dtype,
    "_reconstruct": _blank_array,
    "_frombuffer": _frombuffer,
    "scalar": _scalar,
}
