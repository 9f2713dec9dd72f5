"""What the dashboard offers to ask.

Models: those of the audits, the sample models, and those it was started with. An audit may be of any other model too,
where only this machine reaches the dashboard. Word lists: those that come with tiltmeter, and lexicons that a reader
has handed over, which stay in memory.
"""

from __future__ import annotations

import dataclasses
import functools
import tempfile
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, TiltmeterError, without_passwords
from tiltmeter.files import at_home
from tiltmeter.models import load
from tiltmeter.models.registry import KINDS, SAMPLES, parse, runs_code
from tiltmeter.stimuli import Group, Lexicon, lexicon_names, load_lexicon
from tiltmeter.stimuli.lexicon.yaml_form import read_lexicon
from tiltmeter.web.jobs import NOTHING, Busy
from tiltmeter.web.shelf import NotHere

#: Kinds that give only probabilities, or only vectors of words; others are offered for both.
_ONLY_LANGUAGE, _ONLY_VECTORS = ("reference", "chat"), ("bundled", "static", "openai", "cohere", "voyage")
#: Kinds whose models are files.
_FILES = ("static", "gguf")
#: Loaded models and lexicons of readers that are kept at hand.
_KEPT_MODELS, _KEPT_LEXICONS = 2, 8
#: Questions that are answered or wait for it.
_MOST_WAITING = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Offered:
    """A model that may be asked; ``paid`` ones only where the dashboard was started with --allow-paid.

    ``language`` and ``vectors`` are False where its kind is known not to give probabilities, or vectors of words.
    """

    spec: str
    paid: bool
    language: bool
    vectors: bool

    @classmethod
    def of(cls, spec: str) -> Offered:
        """
        >>> Offered.of("bundled:glove")
        Offered(spec='bundled:glove', paid=False, language=False, vectors=True)
        """
        kind, _, name = spec.partition(":")
        only_language = kind in _ONLY_LANGUAGE or (kind == "bundled" and name in SAMPLES and SAMPLES[name].writes)
        only_vectors = not only_language and kind in _ONLY_VECTORS
        return cls(spec, is_paid(spec), not only_vectors, not only_language)


class Turns:
    """One question at a time; a few wait for their turn, and more are told so: a thread that waits serves no page."""

    def __init__(self) -> None:
        self._turn, self._places = threading.Lock(), threading.Semaphore(_MOST_WAITING)

    def __enter__(self) -> None:
        if not self._places.acquire(blocking=False):
            raise Busy("too many questions are waiting for answers: try again in a moment")
        self._turn.acquire()

    def __exit__(self, *_: object) -> None:
        self._turn.release()
        self._places.release()


class Offer:
    """The models on offer, and the few that are loaded. One question at a time: models share the machine's cores."""

    def __init__(self, specs: Iterable[str], *, allow_paid: bool) -> None:
        #: By what is shown of them.
        self._specs, self.allow_paid = {without_passwords(spec): spec for spec in specs}, allow_paid
        for spec in self._specs:
            parse(spec)
            if not self._allowed(spec):
                raise BadInput(f"{spec} is paid for: add --allow-paid to let the dashboard ask it")
        self.busy = Turns()
        self._loaded = functools.lru_cache(maxsize=_KEPT_MODELS)(self._load)

    def models(self, audited: Iterable[str]) -> list[Offered]:
        """Everything on offer, each model once."""
        bundled = [f"bundled:{name}" for name, sample in SAMPLES.items() if sample.folder()]
        specs = dict.fromkeys((*self._specs, *filter(_is_spec, audited), *bundled))
        return [Offered.of(spec) for spec in specs if self._allowed(spec)]

    def check(self, spec: str, audited: Iterable[str]) -> str:
        """The spec, if it is on offer."""
        if any(offered.spec == spec for offered in self.models(audited)):
            return spec
        if _is_spec(spec) and is_paid(spec):
            raise BadInput("that model is paid for, and the dashboard was started without --allow-paid")
        raise BadInput("that model is not available: choose one of the list, or start the dashboard with --model SPEC")

    def check_typed(self, spec: str, audited: Iterable[str]) -> str:
        """The spec, if it is on offer, or names a model that runs no code and that nobody is paid for."""
        if not any(offered.spec == spec for offered in self.models(audited)):
            parse(spec)
            if runs_code(spec):
                raise BadInput(f"{spec} runs code, which no page may: start the dashboard with --model {spec}")
            if not self._allowed(spec):
                raise BadInput(
                    f"{spec} is paid for, and the dashboard was started without --allow-paid: start it with that, or "
                    "take another model"
                )
        return spec

    def whole(self, spec: str) -> str:
        """The spec as it was given to the dashboard, with a password if it has one."""
        return self._specs.get(spec, spec)

    def loaded(self, spec: str) -> Any:
        """The model itself; call it while ``busy`` is held."""
        return self._loaded(self.whole(spec))

    def _load(self, spec: str) -> Any:
        from tiltmeter.models.api import Budget

        # A folder may hold a model that is built on a paid one: without leave to pay nothing can be bought.
        return load(spec, budget=None if self.allow_paid else Budget.parse(NOTHING))

    def _allowed(self, spec: str) -> bool:
        return self.allow_paid or not is_paid(spec)


def is_paid(spec: str) -> bool:
    """Whether its kind asks a server: that costs money, or sends what was typed to someone else.

    >>> is_paid("openai:text-embedding-3-small"), is_paid("bundled:glove")
    (True, False)
    """
    kind = KINDS.get(spec.partition(":")[0])
    return kind is not None and "base_url" in kind.options


def examples(allow_paid: bool) -> list[str]:
    """How the spec of a model looks, one for each kind that may be asked."""
    kinds = [kind for kind in KINDS.complete().values() if not kind.runs_code]
    return [kind.example for kind in kinds if allow_paid or not is_paid(kind.example)]


def _is_spec(name: str) -> bool:
    """Whether a model of an audit can be found by its name: an object in Python has no spec, and no file may run code.

    Readings call the model of a file by the file's name alone, which says nothing of its folder.
    """
    try:
        parse(name)
    except TiltmeterError:
        return False
    kind, _, rest = name.partition(":")
    here = kind not in _FILES or at_home(rest.partition("?")[0]).exists()
    return here and not runs_code(name)


class Lexicons:
    """Groups of words by address, such as ``gender.male_terms``."""

    def __init__(self) -> None:
        self._added: dict[str, Lexicon] = {}
        self._lock = threading.Lock()

    def add(self, content: bytes) -> Lexicon:
        """Check a lexicon in YAML and keep it under its name, as ``own_NAME``."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "your file"
            path.write_bytes(content)
            lexicon = read_lexicon(path)
        with self._lock:
            added = {**self._added, f"own_{lexicon.name}": lexicon}
            self._added = dict(list(added.items())[-_KEPT_LEXICONS:])
        return lexicon

    def groups(self) -> dict[str, Group]:
        """All groups of words: a reader's own first."""
        with self._lock:
            lexicons = list(reversed(self._added.items()))
        lexicons += [(name, load_lexicon(name)) for name in lexicon_names()]
        return {f"{name}.{key}": group for name, lexicon in lexicons for key, group in lexicon.groups.items()}

    def group(self, address: str) -> Group:
        groups = self.groups()
        if address not in groups:
            raise NotHere("there is no such group of words")
        return groups[address]
