"""Which models the dashboard asks: those of the audits, the bundled ones, and those it was told of. No others."""

from __future__ import annotations

import dataclasses
import threading
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.models import load
from tiltmeter.models.registry import SAMPLES, parse

#: Kinds that cost money, or send what was typed to someone else.
PAID = ("openai", "cohere", "voyage", "chat")
#: Loaded models that are kept at hand.
_KEPT = 2


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
        kind = spec.partition(":")[0]
        only_language = kind in ("reference", "chat") or spec == "bundled:smollm2"
        only_vectors = not only_language and kind not in ("hf", "gguf")
        return cls(spec, is_paid(spec), not only_vectors, not only_language)


class Offer:
    """The models on offer, and the few that are loaded. One question at a time: models share the machine's cores."""

    def __init__(self, given: Iterable[str], *, allow_paid: bool) -> None:
        self._given, self.allow_paid = tuple(given), allow_paid
        for spec in self._given:
            parse(spec)
            if not self._allowed(spec):
                raise BadInput(f"{spec} is paid for: add --allow-paid to let the dashboard ask it")
        self.busy = threading.Lock()
        self._loaded: OrderedDict[str, Any] = OrderedDict()

    def models(self, audited: Iterable[str]) -> list[Offered]:
        """Everything on offer, each model once."""
        bundled = [f"bundled:{name}" for name, sample in SAMPLES.items() if sample.folder()]
        specs = dict.fromkeys((*self._given, *(each for each in audited if _is_spec(each)), *bundled))
        return [Offered.of(spec) for spec in specs if self._allowed(spec)]

    def check(self, spec: str, audited: Iterable[str]) -> str:
        """The spec, if it is on offer."""
        if any(each.spec == spec for each in self.models(audited)):
            return spec
        if _is_spec(spec) and is_paid(spec):
            raise BadInput("that model is paid for, and the dashboard was started without --allow-paid")
        raise BadInput("that model is not on offer: take one of the list, or start the dashboard with --model SPEC")

    def loaded(self, spec: str) -> Any:
        """The model itself; call it while ``busy`` is held."""
        if spec not in self._loaded:
            self._loaded[spec] = load(spec)
            while len(self._loaded) > _KEPT:
                self._loaded.popitem(last=False)
        self._loaded.move_to_end(spec)
        return self._loaded[spec]

    def _allowed(self, spec: str) -> bool:
        return self.allow_paid or not is_paid(spec)


def is_paid(spec: str) -> bool:
    return spec.partition(":")[0] in PAID


def _is_spec(name: str) -> bool:
    """A model of an audit may have been an object in Python, which has no spec."""
    try:
        parse(name)
    except TiltmeterError:
        return False
    return True
