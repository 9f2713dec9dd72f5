"""Models and what probes say of them, for tables that need many readings: each is loaded once and read once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, without_passwords
from tiltmeter.models import CachedModel, Question, VectorStore, load
from tiltmeter.probes import Options, make_probes
from tiltmeter.readings import Reading, Skipped
from tiltmeter.run.probe import run_probes

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

#: What a model answers that says how likely a word is.
CHANCES = (Question.CONTINUATIONS, Question.FILLS, Question.CHOICES)


class AskedModels:
    """Models by what they are called. What a model does not answer, or a probe cannot measure, is said once."""

    def __init__(
        self,
        specs: Sequence[str | object],
        store: VectorStore | None,
        *,
        options: Options,
        budget: Budget | None = None,
        progress: bool | None = None,
        announce: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.store: VectorStore | bool = False if store is None else store
        self._options, self._budget = options, budget
        self._progress, self._announce = progress, announce
        self._loaded: dict[str, Any] = {}
        for spec in specs:
            model = load(spec, budget=budget)
            name = without_passwords(spec) if isinstance(spec, str) else self._wrap(model).identity.name
            same = sum(one == name or one.startswith(f"{name} (") for one in self._loaded)
            self._loaded[f"{name} ({same + 1})" if same and not isinstance(spec, str) else name] = model
        self._known: dict[tuple[Any, ...], list[Reading] | str] = {}
        self._asked = set[str]()
        #: Why something could not be read, by model and kind of probe: the first reason, and how many there were.
        self._failed: dict[tuple[str, str], list[str]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._loaded)

    def model(self, name: str) -> Any:
        """The model itself."""
        return self._loaded[name]

    def _wrap(self, model: Any) -> CachedModel:
        return CachedModel(model, self.store if isinstance(self.store, VectorStore) else None)

    def answers(self, name: str, *questions: Question) -> bool:
        """Whether a model answers one of these questions."""
        model = self._wrap(self._loaded[name])
        return any(model.answers_question(question) for question in questions)

    def that_answer(self, *questions: Question, but: Sequence[Question] = ()) -> list[str]:
        """The models that answer one of some questions, and none of others."""
        return [name for name in self.names if self.answers(name, *questions) and not self.answers(name, *but)]

    @property
    def left_over(self) -> list[str]:
        """The models that no table made use of, where some were used."""
        return [name for name in self.names if name not in self._asked] if self._asked else []

    @property
    def language_models(self) -> list[str]:
        return self.that_answer(*CHANCES)

    @property
    def word_vectors(self) -> list[str]:
        """The models that are tables of word vectors and nothing else."""
        return self.that_answer(Question.WORDS, but=(*CHANCES, Question.TEXTS))

    def read(self, name: str, kind: str, *, vectors: str | None = None, **stimuli: Any) -> list[Reading]:
        """All readings of a kind of probe on a model; where it cannot be measured, none, and a note says why."""
        try:
            return self.insist(name, kind, vectors=vectors, **stimuli)
        except BadInput as error:
            self._failed.setdefault((name, kind), []).append(Skipped(name, kind, str(error)).in_words)
            return []

    def insist(self, name: str, kind: str, *, vectors: str | None = None, **stimuli: Any) -> list[Reading]:
        """The same, with an error where it cannot be measured."""
        self._asked |= {name, *([] if vectors is None else [vectors])}
        key = (name, kind, vectors, *sorted((option, repr(value)) for option, value in stimuli.items()))
        if key not in self._known:
            self._known[key] = self._measured(name, kind, vectors, stimuli)
        known = self._known[key]
        if isinstance(known, str):
            raise BadInput(known)
        return known

    def _measured(self, name: str, kind: str, vectors: str | None, stimuli: dict[str, Any]) -> list[Reading] | str:
        try:
            if vectors is not None:
                stimuli = {**stimuli, "vectors": self._loaded[vectors]}
            probes = make_probes(kind, options=self._options, **stimuli)
            return run_probes(
                probes,
                self._loaded[name],
                cache=self.store,
                budget=self._budget,
                progress=self._progress,
                announce=self._announce,
            )
        except BadInput as error:
            return str(error)

    def take_notes(self) -> tuple[str, ...]:
        """Why something could not be read since the last time, one line per model and kind of probe."""
        notes = []
        for (_, kind), reasons in self._failed.items():
            more = len(set(reasons)) - 1
            notes.append(f"{kind}, {reasons[0]}" + (f" (and {more} more of this kind)" if more else ""))
        self._failed.clear()
        return tuple(notes)
