"""One model after another through a suite: asked, measured, and what came of it."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tiltmeter.errors import BadInput, CacheUnusable, TiltmeterError, without_passwords
from tiltmeter.models import CachedModel, Identity, Question
from tiltmeter.probes import Probe
from tiltmeter.probes.kind import Asked, model_name
from tiltmeter.progress import Step, tell
from tiltmeter.readings import Reading, ReadingStore, Skipped
from tiltmeter.run.probe import Answers, Planned, Vectors, marked, plan, side_vectors
from tiltmeter.run.suite import Suite

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


#: The layer in the name of a model, and questions whose answers are the same for every layer.
_LAYER = re.compile(r"\blayer=\d+")
_LAYERLESS = {
    Question.FILLS,
    Question.PSEUDO,
    Question.UNMASKED,
    Question.TOKENS,
    Question.CONTINUATIONS,
    Question.CHOICES,
}


class Call(NamedTuple):
    """A probe to be read: on which model, what it asked, and the answers."""

    probe: Probe[Any]
    identity: Identity
    asked: Asked
    answers: Answers
    vectors: Vectors | None


def read_here(call: Call) -> Reading | TiltmeterError:
    """The reading, or the error that a user can mend."""
    try:
        return call.probe.read(call.identity, call.asked, call.answers, call.vectors)
    except TiltmeterError as error:
        return error


def shown_spec(spec: object) -> str:
    """A model as it is called until it says what it is."""
    return without_passwords(spec) if isinstance(spec, str) else type(spec).__name__


def said_by(model: object) -> list[str]:
    """What a model has to say to everyone who reads its readings."""
    note = getattr(model, "note", None)
    return [note] if isinstance(note, str) else []


@dataclasses.dataclass
class ModelRun:
    """The state of one audit while it runs."""

    suite: Suite
    store: ReadingStore | None
    budget: Budget | None
    #: Asks a model what some probes need, and says beforehand what that costs.
    ask: Callable[[CachedModel, Sequence[Planned]], Answers]
    #: What the models so far are called.
    seen: list[str] = dataclasses.field(default_factory=list)
    readings: list[Reading] = dataclasses.field(default_factory=list)
    files: list[str] = dataclasses.field(default_factory=list)
    skipped: list[Skipped] = dataclasses.field(default_factory=list)
    stopped: CacheUnusable | None = None
    #: Readings of probes on answers, in their order; or the error that stands for one.
    read: Callable[[Sequence[Call]], Iterable[Reading | TiltmeterError]] = lambda calls: map(read_here, calls)

    def measure(self, model: CachedModel, name: str) -> str:
        """Measure one model with the suite, called ``name`` until it says what it is; returns what readings call it."""
        try:
            if self.stopped:
                raise self.stopped
            identity = self._distinct(model.identity)
            name = model_name(identity)
            self._skip(name, self.suite.absent)
            planned, others = plan(model, self.suite.probes)
            self._skip(name, {each.id: f"needs {each.kind.needs}: this model does not give that" for each in others})
            planned = self._once_per_model(name, planned)
            planned, vectors = self._side_vectors(model, name, planned)
            planned, answers = self._ask(model, name, planned)
        except TiltmeterError as error:
            reason = str(error)
            if isinstance(error, CacheUnusable):
                self.stopped, reason = error, f"not finished: {error}"
            done = {each.probe for each in self.skipped if each.model == name}
            self._skip(name, {each.id: reason for each in self.suite.probes if each.id not in done}, failed=True)
            tell(Step("failed", name, message=reason))
            return name
        calls = [Call(probe, identity, asked, answers, vectors[probe.id]) for probe, asked in planned]
        for place, ((probe, asked), read) in enumerate(zip(planned, self.read(calls), strict=True)):
            tell(Step("measuring", name, probe.id, place, len(planned)))
            if isinstance(read, TiltmeterError):
                self._skip(name, {probe.id: str(read)})
                tell(Step("left out", name, probe.id, message=str(read)))
                continue
            reading = marked(read, model, asked)
            self.readings.append(reading)
            if self.store:
                self.files.append(self.store.save(reading))
        tell(Step("measuring", name, done=len(planned), total=len(planned)))
        return name

    def add(self, part: ModelRun) -> None:
        """Take over what another has measured."""
        self.readings += part.readings
        self.files += part.files
        self.skipped += part.skipped
        self.stopped = self.stopped or part.stopped

    def _once_per_model(self, name: str, planned: list[Planned]) -> list[Planned]:
        """Without probes whose answers another layer of the model has given: what it expects depends on no layer."""
        *others, own = self.seen
        before = [each for each in others if each != own and _LAYER.sub("", each) == _LAYER.sub("", own)]
        if not before or not _LAYER.search(own):
            return planned
        again = [each for each in planned if set(each.asked) <= _LAYERLESS]
        reason = f"it does not depend on the layer: see {before[0]}"
        self._skip(name, {each.probe.id: reason for each in again})
        return [each for each in planned if each not in again]

    def _skip(self, model: str, reasons: Mapping[str, str], *, failed: bool = False) -> None:
        self.skipped += [Skipped(model, probe, reason, failed=failed) for probe, reason in reasons.items()]

    def _side_vectors(
        self, model: CachedModel, name: str, planned: list[Planned]
    ) -> tuple[list[Planned], dict[str, Vectors | None]]:
        """The probes whose second model, if they need one, knows what it must, and its vectors by the probe's id."""
        answers, failed = dict[Any, Vectors](), dict[Any, BadInput]()
        for key in {each.probe.vectors.key for each in planned if each.probe.vectors}:
            some = [each for each in planned if each.probe.vectors and each.probe.vectors.key == key]
            try:
                answers |= side_vectors(some, model.store, self.budget)
            except BadInput as error:  # it costs the probes that need these vectors, and no others
                failed[key] = error
        vectors: dict[str, Vectors | None] = {}
        for each in planned:
            try:
                if each.probe.vectors and each.probe.vectors.key in failed:
                    raise failed[each.probe.vectors.key]
                vectors[each.probe.id] = each.vectors(answers)
            except BadInput as error:
                self._skip(name, {each.probe.id: str(error)})
        return [each for each in planned if each.probe.id in vectors], vectors

    def _distinct(self, identity: Identity) -> Identity:
        """Two models of one name (two dicts, two files of one name in different folders) must not share readings."""
        self.seen.append(model_name(identity))
        same = self.seen.count(self.seen[-1])
        return dataclasses.replace(identity, name=f"{identity.name} ({same})") if same > 1 else identity

    def _ask(self, model: CachedModel, name: str, planned: list[Planned]) -> tuple[list[Planned], Answers]:
        """The answers, and the probes they are for: one that asks what the model refuses does not stop the others."""
        try:
            return planned, self.ask(model, planned)
        except BadInput as error:
            refused: dict[str, str] = {}
            answers: Answers = {}
            for each in planned:
                try:
                    for question, some in self.ask(model, [each]).items():
                        answers.setdefault(question, {}).update(some)
                except BadInput as own:
                    refused[each.probe.id] = str(own)
            if len(refused) == len(planned):
                raise error
        self._skip(name, refused)
        return [each for each in planned if each.probe.id not in refused], answers
