"""The lab's English sentences about people at work: texts with a known bias, and frames for every occupation.

In a text the share of each group is known for every occupation. The groups are men and women, told by pronouns and
nouns, or any two groups of words of a lexicon. The frames are what measures are calibrated on.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from typing import Any, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import read_yaml
from tiltmeter.stimuli import capitalise, group, indefinite
from tiltmeter.stimuli.sentences.sentence import Sentence

T = TypeVar("T")
Side = Literal["first", "second"]

_NAME = re.compile(r"(tilt|causal|vectors)-(0\.\d{1,2})(?:-seed(\d{1,4}))?")
_PLACE = re.compile(r"\{(\w+)\}")


class GroupCounts(NamedTuple):
    """How many sentences of an occupation are about the first group (men) and about the second (women)."""

    first: int
    second: int

    @property
    def share(self) -> float:
        """The share of the first group, such as of "he"."""
        return self.first / (self.first + self.second)


@dataclasses.dataclass(frozen=True, slots=True)
class SentencePatterns:
    """What sentences are made of: patterns with places, the words for them, and (male, female) pairs of words."""

    patterns: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    gendered: Mapping[str, tuple[tuple[str, str], ...]]

    @property
    def marks(self) -> frozenset[str]:
        """Every word that says a group: for men and women the pronouns, and nouns such as man and woman."""
        return frozenset(word for pairs in self.gendered.values() for pair in pairs for word in pair)


@dataclasses.dataclass(frozen=True, slots=True)
class Reference:
    """Which reference model: ``tilt-0.9`` (masked), ``causal-0.9`` or ``vectors-0.9``; ``-seed1`` is another such one.

    >>> Reference.named("causal-0.75-seed1").name
    'causal-0.75-seed1'
    """

    tilt: float
    kind: Literal["masked", "causal", "vectors"] = "masked"
    seed: int = 0

    @classmethod
    def named(cls, name: str) -> Self:
        match = _NAME.fullmatch(name)
        if not match or not 0.5 <= float(match[2]) <= 0.99:
            raise BadInput(
                f"unknown reference model {name!r}: write tilt-0.5 (no bias) to tilt-0.99, e.g. tilt-0.9, or "
                "causal-0.9 for a causal one, vectors-0.9 for vectors; -seed1 at the end gives another of the same tilt"
            )
        kind: Any = "masked" if match[1] == "tilt" else match[1]
        return cls(float(match[2]), kind, int(match[3] or 0))

    @property
    def name(self) -> str:
        kind = "tilt" if self.kind == "masked" else self.kind
        return f"{kind}-{self.tilt:g}" + (f"-seed{self.seed}" if self.seed else "")


def planted(tilt: float) -> dict[str, float]:
    """P(he) of every shipped occupation, evenly spread from 1 - tilt to tilt; a tilt of .5 is no bias.

    The order is that of the lexicon's share of women, from the highest down (equal shares: by alphabet), so a tilt is
    in the direction of the stereotype.

    >>> tilted = planted(0.9)
    >>> round(tilted["pathologist"], 2), round(tilted["plumber"], 2), len(tilted)
    (0.1, 0.9, 60)
    """
    if not 0.5 <= tilt <= 1:
        raise BadInput(f"a tilt must be from 0.5 (no bias) to 1, not {tilt}")
    shares = {word.text: float(word.properties["female_share"]) for word in group("occupations.all").words}
    words = sorted(shares, key=lambda word: (-shares[word], word))
    return dict(zip(words, np.linspace(1 - tilt, tilt, len(words)).round(6).tolist(), strict=True))


def planted_truth(name: str) -> Mapping[str, float]:
    """P(he) by occupation in the text that a reference model learned from, or as planted in its vectors.

    >>> planted_truth("tilt-0.9")["plumber"]
    0.9
    """
    return planted(Reference.named(name).tilt)


def sentences(
    probabilities: Mapping[str, float],
    *,
    n: int,
    seed: int | list[int],
    groups: tuple[str, str] | None = None,
    quota: bool = True,
) -> list[Sentence]:
    """``n`` sentences in random order, as many for each occupation, its given share of them about men.

    Their tag ``group`` is ``first`` (men) or ``second``. The shares are met by quota, not by chance: the text holds the
    planted bias to one sentence per occupation, so what a measure then misses is the model's error or its own. Without
    ``quota`` a coin is tossed for each sentence. ``groups`` are the addresses of two groups of a lexicon that take the
    place of men and women.

    >>> realised(sentences({"nurse": 0.25, "plumber": 1.0}, n=80, seed=0))
    {'nurse': GroupCounts(first=10, second=30), 'plumber': GroupCounts(first=40, second=0)}
    """
    check_shares(probabilities)
    if not probabilities or n < 1:
        raise BadInput(f"give at least one occupation and one sentence, not {len(probabilities)} and {n}")
    made_of = patterns() if groups is None else group_patterns(*groups)
    rng = np.random.default_rng(seed)
    names = list(probabilities)
    which = rng.permutation(np.arange(n) % len(names))
    first = np.zeros(n, dtype=bool)
    for number, probability in enumerate(probabilities.values()):
        own = rng.permutation(np.flatnonzero(which == number))
        if quota:
            first[own[: int(len(own) * probability + rng.random())]] = True
        else:
            first[own] = rng.random(len(own)) < probability
    return [
        _sentence(names[number], "first" if is_first else "second", made_of, rng)
        for number, is_first in zip(which, first, strict=True)
    ]


def check_shares(probabilities: Mapping[str, float]) -> None:
    """Refuse what is not a share."""
    for occupation, probability in probabilities.items():
        if not 0 <= probability <= 1:
            raise BadInput(f"the probability for {occupation} must be from 0 to 1, not {probability}")


def realised(sentences: Iterable[Sentence]) -> dict[str, GroupCounts]:
    """How often each occupation stands with either group, by alphabet.

    >>> realised([Sentence("She is a nurse.", unit="nurse", tags={"group": "second"})])
    {'nurse': GroupCounts(first=0, second=1)}
    """
    counts = Counter((sentence.unit, sentence.tags["group"]) for sentence in sentences)
    return {unit: GroupCounts(counts[unit, "first"], counts[unit, "second"]) for unit, _ in sorted(counts)}


@functools.cache
def patterns() -> SentencePatterns:
    """The patterns that come with tiltmeter.

    >>> "The {occupation} said that {he} was {state}." in patterns().patterns
    True
    """
    content = read_yaml(resources.files(__package__) / "patterns_en.yaml")
    gendered = {
        place: tuple((male, female) for male, female in (pairs if isinstance(pairs[0], list) else [pairs]))
        for place, pairs in content["gendered"].items()
    }
    return SentencePatterns(tuple(content["patterns"]), _tuples(content["words"]), gendered)


@functools.cache
def group_patterns(first: str, second: str) -> SentencePatterns:
    """SentencePatterns for two groups of a lexicon, by what kind of words they are: names, adjectives or nouns.

    >>> made = group_patterns("identity.black_names", "identity.white_names")
    >>> made.patterns[0], "Tyrone" in made.marks
    ('{one} works as {a_occupation}.', True)
    """
    by_kind = read_yaml(resources.files(__package__) / "patterns_groups_en.yaml")["patterns"]
    one, two = group(first), group(second)
    kind, *others = {word.kind for word in (*one.words, *two.words)}
    if others or kind not in by_kind:
        kinds = ", ".join(by_kind)
        raise BadInput(f"{first} and {second} must hold words of one kind ({kinds}): choose other groups")
    shared = set(one.texts) & set(two.texts)
    if shared:
        raise BadInput(f"'{min(shared)}' is in both {first} and {second}: it says neither group")
    # Every word with every other, so that each is as likely however many there are on either side.
    pairs = tuple(itertools.product(one.texts, two.texts))
    return SentencePatterns(tuple(by_kind[kind]), patterns().words, {"one": pairs})


def _sentence(occupation: str, side: Side, known: SentencePatterns, rng: np.random.Generator) -> Sentence:
    def fill(place: re.Match[str]) -> str:
        if place[1] in known.gendered:
            return _any(known.gendered[place[1]], rng)[side == "second"]
        return _any(known.words[place[1]], rng)

    text = _PLACE.sub(fill, with_occupation(_any(known.patterns, rng), occupation))
    whole = ". ".join(capitalise(part) for part in text.split(". "))
    return Sentence(whole, unit=occupation, tags={"group": side})


def _any(choices: Sequence[T], rng: np.random.Generator) -> T:
    return choices[int(rng.integers(len(choices)))]


#: Frames by set, a set being those that are built alike.
FrameSets: TypeAlias = Mapping[str, tuple[str, ...]]

_PRONOUN = re.compile(r"\{(he|him|his)\}")
_OCCUPATION = re.compile(r"\{(a_)?occupation\}")


@dataclasses.dataclass(frozen=True, slots=True)
class Frames:
    """Frames for masked and for causal models, and plain ones without a pronoun; ``digest`` is of their file.

    ``marks`` are the words that say a group, by group and role, and ``mark_frames`` by role where these stand.
    """

    digest: str
    masked: FrameSets
    cloze: FrameSets
    plain: FrameSets
    marks: Mapping[str, FrameSets]
    mark_frames: FrameSets


@functools.cache
def frames() -> Frames:
    """The frames that come with tiltmeter.

    >>> list(frames().masked), frames().marks["female"]["object"]
    (['subject', 'first', 'owner', 'strange'], ('her',))
    """
    file = resources.files(__package__) / "frames_en.yaml"
    content, digest = read_yaml(file), hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    marks = {group: _tuples(by_role) for group, by_role in content["marks"].items()}
    sets = {kind: _tuples(content[kind]) for kind in ("masked", "cloze", "plain", "mark_frames")}
    return Frames(digest, marks=marks, **sets)


def _tuples(lists: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(rows) for name, rows in lists.items()}


def pronoun_sentence(frame: str, occupation: str) -> Sentence:
    """A sentence about somebody of this occupation, in its version for men; its slot is the ``pronoun``.

    >>> sentence = pronoun_sentence("{he} is {a_occupation}.", "auditor")
    >>> sentence.text, sentence.version("pronoun", 2).text
    ('He is an auditor.', 'She is an auditor.')
    """
    text = with_occupation(frame, occupation)
    place = _PRONOUN.search(text)
    assert place is not None  # the frames come with tiltmeter
    (one, two), *_ = patterns().gendered[place[1]]
    forms = (capitalise(one), capitalise(two)) if place.start() == 0 else (one, two)
    return Sentence(text, {"pronoun": place.span()}, occupation, {"pronoun": forms}).version("pronoun", 1)


def with_occupation(frame: str, occupation: str) -> str:
    """The frame with the occupation in its place.

    >>> with_occupation("This is {a_occupation}.", "auditor")
    'This is an auditor.'
    """
    return _OCCUPATION.sub(lambda place: indefinite(occupation) if place[1] else occupation, frame)
