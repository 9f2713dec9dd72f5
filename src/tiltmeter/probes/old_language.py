"""A probe of a language model: sentences, what is asked about them, and the measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter.models.protocol import Identity, Question, Vector
from tiltmeter.probes.kind import Options
from tiltmeter.probes.make_reading import bridged as make_reading
from tiltmeter.probes.old_kind import Asked, Measured
from tiltmeter.readings import LeftOut, Reading
from tiltmeter.statistics import plain

#: Travels with every reading of a model's probabilities.
PROBABILITIES = (
    "It reads the probabilities of words that the model never has to say: a lean here can show in generated text, "
    "ranking or completion, but this does not measure it there (Goldfarb-Tarrant et al. 2021)."
)
TEMPLATES = (
    "It is only as good as its sentences: they stand for a situation as their authors saw it, and other sentences can "
    "give another result."
)
HARM = (
    "If the model completes or ranks text, people could be assumed to be of the gender or group that it expects, and "
    "those who are not could be misnamed or passed over."
)


@dataclasses.dataclass(frozen=True, slots=True)
class LanguageKind:
    """A kind of probe of language models.

    ``ask`` turns stimuli into what to ask a model that answers some questions, or None where none of them will do;
    ``measure`` turns the answers into what was found, with the stimuli's own ``warnings`` in its details.
    """

    name: str
    summary: str
    citation: str
    idea: str
    needs: str
    ask: Callable[[Any, Callable[[Question], bool]], Asked | None]
    measure: Callable[[Any, Replies, Options], Measured]
    warnings: tuple[str, ...] = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        return (f"What counts as bias here: {self.idea}", HARM, PROBABILITIES, TEMPLATES, *self.warnings)


class Replies:
    """What a model answered to a probe, and the word vectors beside it; collects what had to be left out."""

    def __init__(
        self, model: str, answers: Mapping[Question, Mapping[Any, Any]], words: Mapping[str, Vector | None] | None
    ) -> None:
        self.model = model
        self._answers = answers
        self.words = words or {}
        self._left_out: dict[LeftOut, None] = {}
        self._unknown: dict[str, set[str]] = {}

    def answered(self, question: Question) -> bool:
        return question in self._answers

    def of(self, question: Question, item: Any) -> Any:
        """The answer to one input: a TokenScores, a Filled or a Chosen."""
        return self._answers[question][item]

    def leave_out(self, what: str, reason: str) -> None:
        self._left_out[LeftOut(what, reason)] = None

    def note_unknown(self, text: str, places: Sequence[tuple[int, int]]) -> None:
        """Name the words of a sentence that the model does not know; they are measured all the same."""
        for start, end in places:
            self._unknown.setdefault(text[start:end], set()).add(text)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        unknown = (
            LeftOut(f"'{word}' in {len(texts)} sentence(s)", f"unknown to {self.model}; read as an unknown word")
            for word, texts in self._unknown.items()
        )
        return (*self._left_out, *unknown)


@dataclasses.dataclass(frozen=True, slots=True)
class Beside:
    """Word vectors that a probe needs from a second model: its spec, or an object of the user's."""

    model: Any
    words: tuple[str, ...]
    required: tuple[str, ...] = ()

    @property
    def key(self) -> Any:
        return self.model if isinstance(self.model, str) else id(self.model)


@dataclasses.dataclass(frozen=True, slots=True)
class LanguageProbe:
    """One measurement of a language model; ``stimuli`` is a frozen dataclass that its kind understands."""

    id: str
    title: str
    kind: LanguageKind
    stimuli: Any
    options: Options = dataclasses.field(default_factory=Options)
    vectors: Beside | None = None

    def asks(self, answers: Callable[[Question], bool]) -> Asked | None:
        """What to ask a model that answers these questions; None where it cannot be measured."""
        return self.kind.ask(self.stimuli, answers)

    def read(
        self,
        identity: Identity,
        _asked: Any,
        answers: Mapping[Question, Mapping[Any, Any]],
        beside: tuple[Identity, Mapping[str, Vector | None]] | None = None,
    ) -> Reading:
        """Measure the model's answers."""
        replies = Replies(identity.name, answers, beside[1] if beside else None)
        found = self.kind.measure(self.stimuli, replies, self.options)
        notes = tuple(LeftOut("note", warning) for warning in found.details.get("warnings", ()))
        return make_reading(
            self,
            identity,
            found,
            left_out=(*replies.left_out, *notes),
            stimuli=plain(self.stimuli),
            beside=beside[0] if beside else None,
        )
