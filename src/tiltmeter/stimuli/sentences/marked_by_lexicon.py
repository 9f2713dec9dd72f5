"""Marked sentences for any groups that a lexicon has words for: ages, ethnicities, ..."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group, check_disjoint
from tiltmeter.stimuli.sentences.marked import MarkedSentence, MarkedSet, Neutral
from tiltmeter.stimuli.sentences.sentence import MASK, Place
from tiltmeter.stimuli.text import article, capitalise

_PLACE = re.compile(r"\{(a )?(group|occupation)\}")


def marked_by_lexicon(
    frames: Mapping[str, Sequence[str]],
    groups: Sequence[Group],
    occupations: Sequence[str],
    *,
    name: str = "groups",
) -> MarkedSet:
    """Every word of two or more groups beside every occupation, in the frames for words of its kind.

    A frame has ``{group}`` and ``{occupation}`` once each, with their article as ``{a group}``, ``{a occupation}``.

    >>> groups = [Group.of(f"mine.{word}", [word], kind="adjective", label=word) for word in ("young", "old")]
    >>> made = marked_by_lexicon({"adjective": ["We met {a group} {occupation}."]}, groups, ["nurse"])
    >>> [(row.text, row.group, row.mark) for row in made.rows], made.rows[0].neutral.text
    ([('We met a young nurse.', 1, 'young'), ('We met an old nurse.', 2, 'old')], 'We met a [MASK] nurse.')
    """
    if len(groups) < 2:
        raise BadInput("marked sentences need words of at least two groups to compare")
    for first, second in itertools.combinations(groups, 2):
        if shared := check_disjoint(first, second):
            raise BadInput(f"'{shared[0]}' is in '{first.name}' and in '{second.name}': leave it out of one of them")
    rows: list[MarkedSentence] = []
    left_out: list[str] = []
    for number, group in enumerate(groups, 1):
        fitting = [word for word in group.words if word.kind in frames]
        left_out += [f"'{word.text}' of {group.label}" for word in group.words if word not in fitting]
        if not fitting:
            raise BadInput(f"'{group.name}' has no word for the frames: they take words of kind {', '.join(frames)}")
        rows += [
            _framed(frame, word.text, occupation, number, word.kind or "")
            for occupation in occupations
            for word in fitting
            for frame in frames[word.kind or ""]
        ]
    balanced = tuple(
        sum(row.group == number for row in rows) // len(occupations) for number in range(1, len(groups) + 1)
    )
    note = f"no frame for words of their kind, left out: {', '.join(left_out)}"
    return MarkedSet(
        name,
        tuple(group.label for group in groups),
        tuple(rows),
        dict.fromkeys(occupations, balanced),
        read=len(rows),
        language=groups[0].language,
        warnings=(note,) if left_out else (),
    )


def _framed(frame: str, word: str, occupation: str, group: int, kind: str) -> MarkedSentence:
    text, place, mention = _filled(frame, word, occupation)
    return MarkedSentence(
        text, group, occupation, mention, place, Neutral(*_filled(frame, MASK, occupation)), f"{kind}: {frame}"
    )


def _filled(frame: str, mark: str, occupation: str) -> tuple[str, Place, Place]:
    words, text, end = {"group": mark, "occupation": occupation}, "", 0
    places: dict[str, Place] = {}
    for place in _PLACE.finditer(frame):
        word = words[place[2]]
        text += frame[end : place.start()] + (f"{'a' if word == MASK else article(word)} " if place[1] else "")
        places[place[2]] = len(text), len(text) + len(word)
        text, end = text + word, place.end()
    if set(places) != set(words):
        raise BadInput(f"'{frame}' needs {{group}} and {{occupation}} once each")
    return capitalise(text + frame[end:]), places["group"], places["occupation"]
