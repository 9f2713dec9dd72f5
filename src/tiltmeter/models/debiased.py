"""A model whose vectors lean less: another model, and a stored map that its vectors go through.

A folder holds the map as ``eraser.safetensors`` and, in ``debiased.json``, where it comes from. Code of one's own needs
no more of it than one line::

    e = safetensors.numpy.load_file("FOLDER/eraser.safetensors"); v = v - (v @ e["left"]) @ e["right"] + e["shift"]
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home, read_json, write_atomically
from tiltmeter.mitigation import Eraser
from tiltmeter.models.cached import CachedModel
from tiltmeter.models.protocol import Identity, Question, Rows, Vector
from tiltmeter.models.registry import load, runs_code
from tiltmeter.statistics.groups import Result

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

ABOUT, MAP = "debiased.json", "eraser.safetensors"
SCHEMA_VERSION = 1
_PARTS = ("left", "right", "shift")
#: The method that asks a language model twice, and maps no vectors.
SELF_DEBIAS = "self_debias"


@dataclasses.dataclass(frozen=True, slots=True)
class Fitted(Result):
    """Where a map comes from: the method and its settings, what it was fitted on, and the model it belongs to.

    ``fit_words`` are all words that its fit has seen; ``held_out`` those that it was not allowed to.
    """

    method: str
    settings: Mapping[str, Any]
    seed: int
    spec: str
    base: Identity
    fit_words: tuple[str, ...]
    held_out: tuple[str, ...] = ()
    schema_version: int = SCHEMA_VERSION

    @property
    def in_words(self) -> str:
        if not self.fit_words:
            return f"{self.base.name} ({self.base.revision}) after {self.method}, which is fitted on nothing"
        some = ", ".join(self.fit_words[:6])
        more = f" and {len(self.fit_words) - 6:,} more" if len(self.fit_words) > 6 else ""
        return f"{self.base.name} ({self.base.revision}) after {self.method}, fitted on {some}{more}; seed {self.seed}"


def save_debiased(folder: Path, eraser: Eraser | None, fitted: Fitted) -> None:
    """Write a map and where it comes from; the description is written last, and holds the checksum of the map.

    A method that maps no vectors is its description alone.
    """
    from safetensors.numpy import save

    about = dataclasses.asdict(fitted)
    if eraser is None:
        (folder / MAP).unlink(missing_ok=True)
    else:
        words = sorted(eraser.replaced)
        replaced = np.stack([eraser.replaced[word] for word in words]) if words else np.zeros((0, eraser.width))
        tensors = {name: getattr(eraser, name) for name in _PARTS} | {"replaced": replaced}
        content = save({name: np.ascontiguousarray(part, dtype=np.float32) for name, part in tensors.items()})
        write_atomically(folder / MAP, content)
        about |= {"unit_length": eraser.unit_length, "replaced": words, "checksum": hashlib.sha256(content).hexdigest()}
    write_atomically(folder / ABOUT, (json.dumps(about, indent=1, ensure_ascii=False) + "\n").encode())


_AGAIN = "run tiltmeter debias again"


def load_fitted(folder: Path) -> tuple[Fitted, dict[str, Any]]:
    """Where a debiased model comes from, and what else its description says."""
    from pydantic import TypeAdapter, ValidationError

    path = folder / ABOUT
    if not path.is_file():
        raise BadInput(f"{folder} holds no debiased model ({ABOUT} is missing): make one with tiltmeter debias")
    about = read_json(path)
    if not isinstance(about, dict) or about.get("schema_version") != SCHEMA_VERSION:
        raise BadInput(f"{path} was written by another version of tiltmeter: {_AGAIN}")
    more = {name: about.pop(name) for name in ("replaced", "unit_length", "checksum") if name in about}
    try:
        return TypeAdapter(Fitted).validate_python(about), more
    except ValidationError as error:
        raise _damaged(path, error) from None


def load_debiased(folder: Path) -> tuple[Eraser, Fitted, str]:
    """What ``save_debiased`` wrote, and the checksum of the map."""
    from safetensors.numpy import load as load_tensors

    fitted, about = load_fitted(folder)
    try:
        words, unit_length = [str(word) for word in about["replaced"]], bool(about["unit_length"])
        checksum = str(about["checksum"])
        content = (folder / MAP).read_bytes()
        if hashlib.sha256(content).hexdigest() != checksum:
            raise BadInput(f"{folder / MAP} is not the file that {ABOUT} describes: {_AGAIN}")
        parts = load_tensors(content)
        left, right, shift = (parts[name].astype(float) for name in _PARTS)
        eraser = Eraser(left, right, shift, unit_length)
        replaced = dict(zip(words, parts["replaced"].astype(float), strict=True))
    except FileNotFoundError:
        raise BadInput(f"{folder / MAP} is missing: {_AGAIN}") from None
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise _damaged(folder / ABOUT, error) from None
    return dataclasses.replace(eraser, replaced=replaced), fitted, checksum


def _damaged(path: Path, error: Exception) -> BadInput:
    return BadInput(f"{path} is damaged ({' '.join(str(error).split())[:80]}): {_AGAIN}")


def open_debiased(folder: str | Path, *, base: str | object | None = None, budget: Budget | None = None) -> Any:
    """The model in a folder, whichever kind of method it comes from."""
    if load_fitted(at_home(folder))[0].method == SELF_DEBIAS:
        from tiltmeter.models.transformers.self_debias import SelfDebiasedModel

        return SelfDebiasedModel(folder, base=base, budget=budget)
    return DebiasedModel(folder, base=base, budget=budget)


def load_base(folder: Path, fitted: Fitted, base: str | object | None, budget: Budget | None) -> Any:
    """The model below; a folder may not name one that runs code."""
    if base is None and runs_code(fitted.spec):
        raise BadInput(f"{folder} names {fitted.spec}, and a file may not run code: name it with ?base=")
    return load(fitted.spec if base is None else base, budget=budget)


def check_base(name: str, fitted: Fitted, loaded: Any) -> None:
    """Refuse a model that the method was not fitted on."""
    identity, due = CachedModel(loaded).identity, fitted.base
    if (identity.revision, dict(identity.settings)) != (due.revision, dict(due.settings)):
        raise BadInput(
            f"{name} belongs to {due.name} of revision {due.revision}, and {identity.name} is {identity.revision}: "
            f"name the right one with {name}?base=..., or run tiltmeter debias again"
        )


class DebiasedModel:
    """``debiased:FOLDER``: the model that a method was fitted on, with the method applied to its vectors.

    It gives vectors of words and of texts, where the other does. ``base`` is where the other model is now, if not where
    it was; it must be the very one, by its name and revision.
    """

    def __init__(self, folder: str | Path, *, base: str | object | None = None, budget: Budget | None = None) -> None:
        self.folder = at_home(folder)
        self.eraser, self.fitted, self._checksum = load_debiased(self.folder)
        self.name = f"debiased:{self.folder.name}"
        self._loaded = load_base(self.folder, self.fitted, base, budget)
        # A vocabulary in lower case answers to "Mary" with the vector of "mary".
        self._lower = self.fitted.base.settings.get("case") == "lower"
        if self._lower:
            replaced = {word.lower(): vector for word, vector in self.eraser.replaced.items()}
            self.eraser = dataclasses.replace(self.eraser, replaced=replaced)

    @functools.cached_property
    def base(self) -> Any:
        """The model below; one that the method was not fitted on is refused."""
        check_base(self.name, self.fitted, self._loaded)
        return self._loaded

    def with_base(self, base: Any) -> DebiasedModel:
        """The same map on a harmless variant of the model below, which is no other model."""
        changed = copy.copy(self)
        changed.__dict__["base"] = base
        return changed

    @property
    def identity(self) -> Identity:
        below = CachedModel(self.base).identity
        revision = f"{below.revision}+{self.fitted.method}-{self._checksum[:8]}"
        return dataclasses.replace(below, name=self.name, revision=revision)

    @property
    def note(self) -> str:
        """What was done to it, for everyone who reads its readings."""
        return f"{self.name} is {self.fitted.in_words}"

    @property
    def fit_words(self) -> frozenset[str]:
        """Words whose reading proves little: the method was fitted on them."""
        return frozenset(word.lower() for word in self.fitted.fit_words)

    @property
    def questions(self) -> Collection[Question]:
        below = CachedModel(self.base)
        return [question for question in (Question.WORDS, Question.TEXTS) if below.answers_question(question)]

    @property
    def words_are_texts(self) -> bool:
        return bool(self.questions) and CachedModel(self.base).asked_as(Question.WORDS) is Question.TEXTS

    def changed(self, question: Question, answers: Mapping[Any, Vector | None]) -> dict[Any, Vector | None]:
        """The answers of the model below, each through the map."""
        known = {item: vector for item, vector in answers.items() if vector is not None}
        if not known:
            return dict(answers)
        vectors, items = np.stack(list(known.values())), list(known)
        if question is Question.WORDS:
            words = [item.lower() for item in items] if self._lower else items
            rows = self.eraser.apply_to_words(words, vectors)
        else:
            rows = self.eraser.apply(vectors)
        after: dict[Any, Vector] = dict(zip(items, rows.astype(np.float32), strict=True))
        return {item: after.get(item) for item in answers}

    def vocabulary(self, n: int) -> list[str]:
        """The first words of the model below."""
        words: list[str] = self.base.vocabulary(n)
        return words

    def embed_words(self, words: Sequence[str]) -> Rows:
        return CachedModel(self).embed_words(words)

    def embed_texts(self, texts: Sequence[str]) -> Rows:
        return CachedModel(self).embed_texts(texts)

    def __getattr__(self, name: str) -> Any:
        # A model that costs money says so by having an estimate.
        if name == "estimate":
            return getattr(self.base, name)
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")
