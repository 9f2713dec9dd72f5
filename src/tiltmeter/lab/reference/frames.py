"""The sentences that measures are calibrated on: every occupation in the same ones."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Mapping, Sequence
from importlib import resources

from tiltmeter.files import read_yaml
from tiltmeter.lab.reference.planted_text import patterns
from tiltmeter.models.protocol import Continuation, Fill, Span
from tiltmeter.stimuli import capitalise, indefinite
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_sentences
from tiltmeter.stimuli.sentences.sentence import SentenceSet, pronoun_sentence

_MARK = re.compile(r"\{(he|him|his|man)\}")
_OCCUPATION = re.compile(r"\{(a_)?occupation\}")


@dataclasses.dataclass(frozen=True, slots=True)
class Frames:
    """Sentences by set, a set being those that are built alike; ``marks`` are sentences of words that say a group.

    ``digest`` is of the file that they are in.
    """

    digest: str
    masked: Mapping[str, tuple[str, ...]]
    cloze: Mapping[str, tuple[str, ...]]
    plain: Mapping[str, tuple[str, ...]]
    marks: tuple[tuple[str, tuple[str, str]], ...]


@functools.cache
def frames() -> Frames:
    """The sentences that come with tiltmeter.

    >>> list(frames().masked)
    ['subject', 'first', 'owner', 'strange']
    """
    file = resources.files(__package__) / "frames_en.yaml"
    content, digest = read_yaml(file), hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    sets = {kind: {name: tuple(rows) for name, rows in content[kind].items()} for kind in ("masked", "cloze", "plain")}
    return Frames(digest, **sets, marks=tuple((text, (one, two)) for text, (one, two) in content["marks"]))


def columns(sets: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    """Every sentence with the name of its set.

    >>> columns({"a": ["x", "y"], "b": ["z"]})
    [('a', 'x'), ('a', 'y'), ('b', 'z')]
    """
    return [(name, each) for name, rows in sets.items() for each in rows]


@dataclasses.dataclass(frozen=True, slots=True)
class Marked:
    """A sentence of an occupation in its version for men, where the pronoun stands in it, and both pronouns."""

    text: str
    start: int
    end: int
    forms: tuple[str, str]
    occupation: str

    @property
    def versions(self) -> tuple[str, str]:
        """For men and for women."""
        one, two = (self.text[: self.start] + form + self.text[self.end :] for form in self.forms)
        return one, two

    @property
    def fill(self) -> Fill:
        return Fill(self.text, self.start, self.end, self.forms)

    @property
    def prior(self) -> Fill:
        """The same with the occupation masked as well."""
        found = re.search(rf"(?<!\w){re.escape(self.occupation)}(?!\w)", self.text, re.IGNORECASE)
        assert found is not None  # it was written into the sentence
        return dataclasses.replace(self.fill, hidden=(found.span(),))

    def continuation(self, *, ended: bool) -> Continuation:
        """What may follow everything before the pronoun: the pronouns, with the end of the sentence where ``ended``."""
        one, two = (f" {form}{'.' if ended else ''}" for form in self.forms)
        return Continuation(self.text[: self.start].rstrip(), (one, two))


def marked(frame: str, occupation: str) -> Marked:
    """A sentence about somebody of this occupation.

    >>> marked("{he} is {a_occupation}.", "auditor").versions
    ('He is an auditor.', 'She is an auditor.')
    """
    text = placed(frame, occupation)
    found = _MARK.search(text)
    assert found is not None  # the frames come with tiltmeter
    (one, two), *_ = patterns().gendered[found[1]]
    if found.start() == 0:
        one, two = capitalise(one), capitalise(two)
    whole = text[: found.start()] + one + text[found.end() :]
    return Marked(whole, found.start(), found.start() + len(one), (one, two), occupation)


def placed(frame: str, occupation: str) -> str:
    """The frame with the occupation in its place.

    >>> placed("This is {a_occupation}.", "auditor")
    'This is an auditor.'
    """
    return _OCCUPATION.sub(lambda found: indefinite(occupation) if found[1] else occupation, frame)


def occupation_span(frame: str, occupation: str) -> Span:
    text = placed(frame, occupation)
    start = text.index(occupation)
    return Span(text, start, start + len(occupation))


def mark_spans(side: int) -> list[Span]:
    """The words that say group ``side`` (0: men), each in its sentence.

    >>> mark_spans(1)[0].word
    'She'
    """
    found = []
    for frame, words in frames().marks:
        place = _MARK.search(frame)
        assert place is not None
        word = capitalise(words[side]) if place.start() == 0 else words[side]
        start, end = place.span()
        found.append(Span(frame[:start] + word + frame[end:], start, start + len(word)))
    return found


def marked_set(occupations: Sequence[str], shares: Mapping[str, float], sets: Mapping[str, Sequence[str]]) -> MarkedSet:
    """Masked sentences as CABM wants them, with the shares of women as what is known from elsewhere."""
    rows = (marked(frame, word) for word in occupations for _, frame in columns(sets))
    sentences = tuple(pronoun_sentence(row.text, (row.start, row.end), row.forms, row.occupation) for row in rows)
    source = SentenceSet("calibration", sentences, groups=("men", "women"), shares=shares)
    return marked_sentences(source, both=True)
