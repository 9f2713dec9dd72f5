"""The words of a probe, in named sets, and the vectors that came back for them."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures, stimuli
from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import Bands
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import OF_VECTORS, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.readings import Evidence, Item
from tiltmeter.statistics.families import CrossedTest, Placebo
from tiltmeter.statistics.two_way import TwoWay
from tiltmeter.stimuli import Group, Pairs, SomePairs, SomeWords

Matrix = NDArray[np.float32]
#: Fewer neutral words than this are no choice of arbitrary ones.
_FEWEST_NEUTRAL = 100
#: How many sets a probe takes, at least and at most.
Number: TypeAlias = tuple[int, int]
#: Groups as a user may give them: a list of them, or their labels with the words of each.
SomeGroups: TypeAlias = Sequence[SomeWords] | Mapping[str, SomeWords]
GENDERS = ("gender.male_terms", "gender.female_terms")
CAREER_FAMILY = ("attributes.career", "attributes.family")
OCCUPATIONS = ("occupations.all",)
RELIGIONS = ("identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms")
PLEASANT = ("attributes.pleasant", "attributes.unpleasant")


@dataclasses.dataclass(frozen=True, slots=True)
class WordList:
    """Inputs that stand for one group, words or sentences; ``units`` names the word behind each input.

    ``families`` names the family of every word, where the lexicon does, and ``times`` says how often the source has
    each input, where it repeats some.
    """

    label: str
    inputs: tuple[str, ...]
    units: tuple[str, ...]
    properties: Mapping[str, Mapping[str, float | str]] = dataclasses.field(default_factory=dict)
    families: Mapping[str, str] = dataclasses.field(default_factory=dict)
    times: tuple[int, ...] = ()

    @classmethod
    def of_words(cls, group: Group) -> WordList:
        properties = {word.text: dict(word.properties) for word in group.words if word.properties}
        return cls(group.label, group.texts, group.texts, properties, families_of(group))


@dataclasses.dataclass(frozen=True, slots=True)
class WordStimuli:
    """Sets of targets, sets of attributes, and pairs where the measure uses them; asked about as words or as texts.

    ``partners`` are matched words of the two groups of targets or, where there is one, of the two sets of attributes.
    """

    targets: tuple[WordList, ...] = ()
    attributes: tuple[WordList, ...] = ()
    pairs: Pairs | None = None
    notes: tuple[str, ...] = ()
    question: Question = Question.WORDS
    partners: tuple[tuple[str, str], ...] = ()
    language: str = "en"

    def inputs(self) -> tuple[str, ...]:
        """Every different input, in order."""
        words = [word for pair in (self.pairs.pairs if self.pairs else ()) for word in pair]
        sets = [item for words in (*self.targets, *self.attributes) for item in words.inputs]
        return tuple(dict.fromkeys([*sets, *words]))

    def title(self) -> str:
        """A title made from the sets: who is compared, on what."""
        targets = " / ".join(words.label for words in self.targets)
        attributes = " / ".join(words.label for words in self.attributes)
        return " × ".join(filter(None, (targets, attributes, self.pairs.label if self.pairs else "")))

    def to_dict(self) -> dict[str, Any]:
        """What identifies the stimuli in a reading's provenance."""
        return {
            "targets": [[words.label, list(words.inputs), list(words.units)] for words in self.targets],
            "attributes": [[words.label, list(words.inputs), list(words.units)] for words in self.attributes],
            "pairs": [list(pair) for pair in self.pairs.pairs] if self.pairs else [],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class KnownWords:
    """The part of a set that the model knows, with its vectors."""

    label: str
    vectors: Matrix
    inputs: tuple[str, ...]
    units: tuple[str, ...]
    named: Mapping[str, str] = dataclasses.field(default_factory=dict)
    times: tuple[int, ...] = ()

    def __len__(self) -> int:
        return len(self.inputs)

    @property
    def words(self) -> tuple[str, ...]:
        """The different words, in the order in which they first come."""
        return tuple(dict.fromkeys(self.units))

    @property
    def families(self) -> tuple[str, ...] | None:
        """The family of every word, where the lexicon names them."""
        return tuple(self.named.get(word, word) for word in self.words) if self.named else None

    @property
    def title(self) -> str:
        """The label as it begins a sentence."""
        return self.label[:1].upper() + self.label[1:]

    def items(self, values: Sequence[float | None], **columns: Sequence[float]) -> list[Item]:
        """One item for each input, with its value and what else is known of it."""
        return [
            Item(label, unit, self.label, value, {name: column[i] for name, column in columns.items()})
            for i, (label, unit, value) in enumerate(zip(self.inputs, self.units, values, strict=True))
        ]


class WordVectors:
    """A model's vectors of a probe's words; what it does not know is left out, and the replies say so."""

    def __init__(self, words: WordStimuli, replies: Replies) -> None:
        self.words, self._replies = words, replies
        asked = replies.asked(words.question)
        self._vectors = dict(zip(asked, replies.all(words.question), strict=True))

    def targets(self, *, at_least: int = 1) -> list[KnownWords]:
        return [self._known(words, at_least) for words in self.words.targets]

    def attributes(self, *, at_least: int = 1) -> list[KnownWords]:
        return [self._known(words, at_least) for words in self.words.attributes]

    def kin(self) -> dict[str, Any]:
        """Which words are matched and which belong together, as measures of two groups or of two sets take it."""
        targets, sets = self.targets(), self.attributes()
        one, two = (
            {word: place for place, word in enumerate(group.words)}
            for group in (targets if len(targets) == 2 else sets)
        )
        known = [(x, y) for x, y in self.words.partners if x in one and y in two]
        return {
            "partners": [(one[x], two[y]) for x, y in known],
            "families": tuple(words.families for words in (*targets, *sets)),
        }

    def placebo(self, measure: Callable[..., Placebo], replaced: Sequence[str], **options: Any) -> Placebo | None:
        """What a measure gives with arbitrary words in the places of some; None where the model knows too few.

        They are words of the same frequency where that is known. Words that a model cannot tell apart, such as those of
        a small vocabulary, are one.
        """
        words = stimuli.neutral_words(self.words.language)
        known = ((word, vector) for word in words if (vector := self._vectors.get(word)) is not None)
        different = dict({np.asarray(vector).tobytes(): (word, vector) for word, vector in known}.values())
        if len(different) < _FEWEST_NEUTRAL:
            return None
        frequency = stimuli.frequency_bands(self.words.language)
        bands = Bands([words[word] for word in different], [frequency.get(word.lower()) for word in replaced])
        result = measure(neutral=np.stack(list(different.values())), bands=bands, **options)
        matched = len(replaced) - bands.replaced.count(None)
        return dataclasses.replace(result, n_words=len(replaced), n_matched=matched)

    def association_placebo(self, d: float, options: Options) -> Placebo | None:
        """WEAT's d with arbitrary words in place of the attributes, beside the observed one."""
        (x, y), (a, b) = self.targets(), self.attributes()
        return self.placebo(
            measures.weat_placebo,
            [*a.words, *b.words],
            x=x.vectors,
            y=y.vectors,
            d=d,
            sizes=(len(a.words), len(b.words)),
            seed=options.seed,
        )

    def pairs(self) -> tuple[Pairs, Matrix, Matrix]:
        """The pairs whose two words are known, and both sides' vectors; a pair with an unknown one is dropped whole."""
        pairs = self.words.pairs
        assert pairs is not None  # make has put them there
        kept, model = [], self._replies.model
        for pair in pairs.pairs:
            lacking = [word for word in pair if self._vectors[word] is None]
            if lacking:
                self._replies.leave_out(f"pair {pair[0]}/{pair[1]}", f"'{lacking[0]}' is out of vocabulary of {model}")
            else:
                kept.append(pair)
        if not kept:
            raise BadInput(f"'{pairs.label}': no pair has both words in the vocabulary of {model}")
        one, two = (np.stack([self._vectors[pair[side]] for pair in kept]) for side in (0, 1))
        return dataclasses.replace(pairs, pairs=tuple(kept)), one, two

    def _known(self, words: WordList, at_least: int) -> KnownWords:
        model, places = self._replies.model, []
        for i, item in enumerate(words.inputs):
            if self._vectors[item] is None:
                self._replies.leave_out(f"'{item}' ({words.label})", f"out of vocabulary of {model}")
            else:
                places.append(i)
        units = tuple(words.units[i] for i in places)
        n = len(set(units))
        if n < at_least:
            raise BadInput(
                f"'{words.label}': {n or 'none'} of its {len(set(words.units))} words "
                f"{'are' if n > 1 else 'is'} in the vocabulary of {model}, and "
                f"{at_least} are needed: use other words (for a lower-case vocabulary add ?case=lower)"
            )
        inputs = tuple(words.inputs[i] for i in places)
        vectors = np.stack([self._vectors[item] for item in inputs])
        times = tuple(words.times[i] for i in places) if words.times else (1,) * len(places)
        return KnownWords(words.label, vectors, inputs, units, words.families, times)


Measure: TypeAlias = Callable[[WordVectors, Options], Measured]


def word_kind(
    name: str, measure: Measure, make: Callable[..., list[Part[WordStimuli]]], *, placebo: bool = False, **about: str
) -> Kind[Any]:
    """A kind of probe of vectors; ``about`` are its summary, citation and idea, ``needs`` unless it asks for words.

    ``make`` is given the name of the kind before its options. With ``placebo`` the model is asked about neutral words
    too, which are the same for all probes.
    """
    return Kind(
        name=name,
        needs=about.pop("needs", Question.WORDS.about),
        make=functools.partial(make, name),
        ask=functools.partial(_ask, placebo),
        measure=functools.partial(_measure, measure),
        caveats=OF_VECTORS,
        **about,
    )


def _ask(placebo: bool, words: WordStimuli, can: CanAnswer) -> Asked | None:
    neutral = stimuli.neutral_words(words.language) if placebo else ()
    return {words.question: tuple(dict.fromkeys((*words.inputs(), *neutral)))} if can(words.question) else None


def _measure(measure: Measure, words: WordStimuli, replies: Replies, options: Options) -> Measured:
    return dataclasses.replace(measure(WordVectors(words, replies), options), notes=words.notes)


def compares(
    targets: SomeGroups, attributes: SomeGroups, *, n_targets: Number, n_attributes: Number
) -> Callable[..., list[Part[WordStimuli]]]:
    """What makes the stimuli of a kind with so many groups of targets and sets of attributes, these unless named."""

    def make(
        name: str, *, targets: SomeGroups = targets, attributes: SomeGroups = attributes
    ) -> list[Part[WordStimuli]]:
        groups = find_groups(name, "targets", targets, n_targets)
        against = find_groups(name, "attributes", attributes, n_attributes)
        return [compared_part(groups, against, WordList.of_words, WordList.of_words)]

    return make


def compared_part(
    groups: Sequence[Group],
    against: Sequence[Group],
    as_target: Callable[[Group], WordList],
    as_attribute: Callable[[Group], WordList],
    question: Question = Question.WORDS,
) -> Part[WordStimuli]:
    """Groups of targets and sets of attributes as the whole of a probe."""
    words = WordStimuli(
        tuple(map(as_target, groups)),
        tuple(map(as_attribute, against)),
        notes=remarks_on_shared([*groups, *against]),
        question=question,
        partners=_matched(groups, against),
        language=groups[0].language,
    )
    return Part("", words.title(), words, dimension_of(*groups, *against))


def along_pairs(
    name: str, *, targets: SomeGroups = OCCUPATIONS, pairs: SomePairs = "gender.definitional"
) -> list[Part[WordStimuli]]:
    """The stimuli of a probe along the direction of pairs such as he/she."""
    (group,) = find_groups(name, "targets", targets, (1, 1))
    direction = stimuli.pairs(pairs)
    words = WordStimuli((WordList.of_words(group),), pairs=direction, language=group.language)
    return [Part("", words.title(), words, dimension_of(group, direction))]


def along_arbitrary(
    vectors: WordVectors, measure: Callable[..., Placebo], pairs: Pairs, **options: Any
) -> Placebo | None:
    """What a measure of the targets gives along pairs of arbitrary words in the places of these."""
    (words,) = vectors.targets()
    one, two = zip(*pairs.pairs, strict=True)
    return vectors.placebo(measure, [*one, *two], words=words.vectors, n_pairs=len(one), **options)


def find_groups(name: str, what: str, words: SomeGroups, number: Number) -> list[Group]:
    """The groups that a probe is given; those that share a label get their address with it.

    A result that names one group must not mean two.

    >>> [group.label for group in find_groups("weat", "targets", {"men": ["he", "him"], "women": ["she"]}, (2, 2))]
    ['men', 'women']
    """
    if isinstance(words, str) or not isinstance(words, Sequence | Mapping):
        raise BadInput(f"{what} of {name} are a list of groups, e.g. [{', '.join(GENDERS)}]")
    least, most = number
    if not least <= len(words) <= most:
        needed = f"{least}" if least == most else f"{least} to {most}"
        raise BadInput(f"{name} needs {needed} {what}, but got {len(words)}")
    if isinstance(words, Mapping):
        groups = [dataclasses.replace(stimuli.group(group), label=str(label)) for label, group in words.items()]
    else:
        groups = [stimuli.group(group) for group in words]
    labels = [group.label for group in groups]
    return [
        dataclasses.replace(group, label=f"{group.label} ({group.name})") if labels.count(group.label) > 1 else group
        for group in groups
    ]


def _matched(groups: Sequence[Group], against: Sequence[Group]) -> tuple[tuple[str, str], ...]:
    """The matched words of two groups of targets or, where there is one, of two sets of attributes."""
    two = groups if len(groups) == 2 else against if len(groups) == 1 and len(against) == 2 else ()
    return stimuli.matched_words(*two) if two else ()


def evidence(crossed: CrossedTest, labels: Sequence[str], placebo: Placebo | None = None) -> Evidence:
    """What the p-value of an association rests on; ``labels`` are those of X, Y, A and B."""
    p_values = [("other targets", crossed.by_targets.p_value)]
    if crossed.by_attributes is not None:
        p_values.append(("other attributes", crossed.by_attributes.p_value))
    return Evidence(tuple(p_values), tuple(zip(labels, crossed.families, strict=True)), crossed.n_pairs, placebo)


def two_way_evidence(test: TwoWay, labels: Sequence[str], n_pairs: int, placebo: Placebo | None) -> Evidence:
    """What the p-value of a mean along a direction rests on; ``labels`` name the words and the poles or pairs."""
    p_values = [("other words", test.by_words)]
    if test.by_others is not None:
        p_values.append(("other pairs" if len(test.families) == 2 else "other attributes", test.by_others))
    return Evidence(tuple(p_values), tuple(zip(labels, test.families, strict=False)), n_pairs, placebo)


def p_evidence(
    p_values: Mapping[str, float | None], independent: Iterable[tuple[str, int]], placebo: Placebo | None = None
) -> Evidence:
    """What a p-value rests on, by what else could have been chosen; a p-value of None could not be had."""
    found = tuple((what, p) for what, p in p_values.items() if p is not None)
    return Evidence(found, tuple(independent), placebo=placebo)


def families_of(group: Group) -> dict[str, str]:
    """The family of every word of a group, where its lexicon names families."""
    return dict(zip(group.texts, group.families, strict=True)) if group.families else {}


def dimension_of(*groups: Group | Pairs) -> str:
    """What the groups differ in, as the first that says so has it."""
    return next((group.dimension for group in groups if group.dimension), "")


def remarks_on_shared(groups: Sequence[Group]) -> tuple[str, ...]:
    """A remark on each two groups that share words; the very same words are an error."""
    shared = ((one, two, stimuli.check_disjoint(one, two)) for one, two in itertools.combinations(groups, 2))
    return tuple(
        f"{one.label} and {two.label} share {len(words)} word(s): {', '.join(words)}"
        for one, two, words in shared
        if words
    )
