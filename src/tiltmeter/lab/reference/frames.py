"""The sentences that measures are calibrated on: every occupation in the same ones."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Mapping
from importlib import resources
from typing import TypeAlias

from tiltmeter.files import read_yaml
from tiltmeter.lab.reference.planted_text import patterns
from tiltmeter.stimuli import capitalise, indefinite
from tiltmeter.stimuli.sentences.sentence import Sentence

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
    marks: Mapping[str, Mapping[str, tuple[str, ...]]]
    mark_frames: FrameSets


@functools.cache
def frames() -> Frames:
    """The frames that come with tiltmeter.

    >>> list(frames().masked), frames().marks["female"]["object"]
    (['subject', 'first', 'owner', 'strange'], ('her',))
    """
    file = resources.files(__package__) / "frames_en.yaml"
    content, digest = read_yaml(file), hashlib.sha256(file.read_bytes()).hexdigest()[:16]
    sets = {
        kind: {name: tuple(rows) for name, rows in content[kind].items()}
        for kind in ("masked", "cloze", "plain", "mark_frames")
    }
    marks = {
        group: {role: tuple(words) for role, words in by_role.items()} for group, by_role in content["marks"].items()
    }
    return Frames(digest, marks=marks, **sets)


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
