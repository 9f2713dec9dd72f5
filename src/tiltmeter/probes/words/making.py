"""A probe: stimuli, the question asked about them, and the measure. Asked of a model, it gives a reading."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter import stimuli
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Identity, Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.make_reading import bridged as make_reading
from tiltmeter.probes.old_kind import Asked, Kind
from tiltmeter.probes.words import along_pairs, one_group, two_groups
from tiltmeter.probes.words.sets import Answers, Query, StimulusSet
from tiltmeter.probes.words.two_groups import labels
from tiltmeter.readings import LeftOut, Reading

KINDS: Mapping[str, Kind] = {kind.name: kind for kind in (*two_groups.KINDS, *one_group.KINDS, *along_pairs.KINDS)}


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """One measurement, ready to be put to any model that answers its question."""

    id: str
    title: str
    kind: Kind
    query: Query
    options: Options = dataclasses.field(default_factory=Options)

    @property
    def question(self) -> Question:
        return self.kind.question

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.query.inputs()

    @property
    def vectors(self) -> None:
        """No second model is needed."""

    def asks(self, answers: Callable[[Question], bool]) -> Asked | None:
        """What to ask a model that answers these questions; None where it cannot be measured."""
        return {self.question: self.inputs} if answers(self.question) else None

    def read(
        self, identity: Identity, _asked: Any, answers: Mapping[Question, Mapping[Any, Any]], _vectors: None = None
    ) -> Reading:
        """Measure the model's answers."""
        known = Answers(identity.name, answers[self.question])
        found = self.kind.measure(self.query, known, self.options)
        notes = tuple(LeftOut("note", note) for note in self.query.notes)
        left_out = (*known.left_out, *notes)
        return make_reading(self, identity, found, left_out=left_out, stimuli=self.query.to_dict())


def make_probe(
    name: str,
    *,
    id: str | None = None,
    title: str | None = None,
    targets: Sequence[str | stimuli.Group] | None = None,
    attributes: Sequence[str | stimuli.Group] | None = None,
    pairs: str | None = None,
    templates: str | None = None,
    options: Options | None = None,
) -> Probe:
    """A probe by the name of its kind, with the stimuli at the given addresses (or its default ones).

    >>> probe = make_probe("weat", targets=["weat.flowers", "weat.insects"])
    >>> probe.title
    'flowers / insects × career / family'
    """
    kind = find_kind(name)
    default = kind.default
    target_names = list(targets if targets is not None else default.get("targets", ()))
    attribute_names = list(attributes if attributes is not None else default.get("attributes", ()))
    _check_number(kind, "targets", target_names, kind.targets)
    _check_number(kind, "attributes", attribute_names, kind.attributes)
    if pairs is not None and not kind.pairs:
        raise BadInput(f"{name} takes no pairs: leave them out")
    if templates is not None and kind.question is not Question.TEXTS:
        raise BadInput(f"{name} takes words, not sentences: leave the templates out")
    groups = _distinct([_group(each) for each in target_names])
    against = _distinct([_group(each) for each in attribute_names])
    notes = _overlaps([*groups, *against])
    frames = templates if templates is not None else default.get("templates")
    query = Query(
        targets=tuple(_stimuli(group, frames, own=False) for group in groups),
        attributes=tuple(_stimuli(group, frames, own=True) for group in against),
        pairs=stimuli.pairs(pairs or default["pairs"]) if kind.pairs else None,
        notes=notes,
    )
    return Probe(id or name, title or labels(query), kind, query, options or Options())


def _group(each: str | stimuli.Group) -> stimuli.Group:
    return each if isinstance(each, stimuli.Group) else stimuli.group(each)


def find_kind(name: str) -> Kind:
    """A kind of probe by name; hyphens and underscores are the same."""
    kind = KINDS.get(name.replace("-", "_"))
    if kind is None:
        raise unknown("probe", name, KINDS)
    return kind


def _stimuli(group: stimuli.Group, frames: str | None, *, own: bool) -> StimulusSet:
    """Words as they are, or in sentences: from one template set, or from a whole lexicon of them.

    From a whole lexicon, attribute words stand in the templates that bear their group's name and targets in all.
    """
    if frames is None:
        return StimulusSet.of_words(group)
    if "." in frames and not frames.endswith((".yaml", ".yml")):
        return StimulusSet.of_sentences(stimuli.fill_templates(group, stimuli.templates(frames)))
    sets = stimuli.load_lexicon(frames).templates
    if not sets:
        raise BadInput(f"lexicon '{frames}' holds no templates")
    name = group.name.rpartition(".")[2]
    chosen = [sets[name]] if own and name in sets else list(sets.values())
    made = [sentence for each in chosen for sentence in stimuli.fill_templates(group, each).sentences]
    return StimulusSet.of_sentences(stimuli.SentenceSet(group.label, tuple(made)))


def _check_number(kind: Kind, what: str, given: list[Any], bounds: tuple[int, int]) -> None:
    least, most = bounds
    if not least <= len(given) <= most:
        needed = f"{least}" if least == most else f"{least} to {most}"
        raise BadInput(f"{kind.name} needs {needed} {what}, and {len(given)} were given")


def _distinct(groups: list[stimuli.Group]) -> list[stimuli.Group]:
    """Groups that share a label get their address with it: a result that names one must not mean two."""
    labels = [each.label for each in groups]
    return [
        dataclasses.replace(each, label=f"{each.label} ({each.name})") if labels.count(each.label) > 1 else each
        for each in groups
    ]


def _overlaps(groups: list[stimuli.Group]) -> tuple[str, ...]:
    notes = []
    for i, one in enumerate(groups):
        for two in groups[i + 1 :]:
            shared = stimuli.check_disjoint(one, two)
            if shared:
                notes.append(f"{one.label} and {two.label} share {len(shared)} word(s): {', '.join(shared)}")
    return tuple(notes)
