"""Marked sentences for any two groups that a lexicon has words for: ages, ethnicities, ..."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group, check_disjoint
from tiltmeter.stimuli.sentences.marked import MarkedSet, join_versions
from tiltmeter.stimuli.sentences.sentence import Place, Sentence
from tiltmeter.stimuli.text import article, capitalise

_PLACE = re.compile(r"\{(a )?(group|occupation)\}")


def marked_by_lexicon(
    frames: Mapping[str, Sequence[str]], groups: tuple[Group, Group], occupations: Sequence[str], *, name: str = ""
) -> MarkedSet:
    """Every word of two groups beside every occupation, in the frames for words of its kind.

    Args:
        frames: Sentences by the kind of word that they take, with ``{group}`` and ``{occupation}`` once each, or with
            their article as ``{a group}``, ``{a occupation}``.
        groups: The words of either group; none may be in both.
        occupations: Words for what people do.
        name: How the set is called; the names of the groups unless it is given.

    >>> groups = [Group.of(f"mine.{word}", [word], kind="adjective", label=word) for word in ("young", "old")]
    >>> marked = marked_by_lexicon({"adjective": ["We met {a group} {occupation}."]}, tuple(groups), ["nurse"])
    >>> [[sentence.text for sentence in side] for side in marked.sentences], marked.versions[0].neutral.text
    ([['We met a young nurse.'], ['We met an old nurse.']], 'We met a [MASK] nurse.')
    """
    one, two = groups
    if shared := check_disjoint(one, two):
        raise BadInput(f"'{shared[0]}' is in '{one.name}' and in '{two.name}': leave it out of one of them")
    numbered: list[tuple[int, Sentence]] = []
    per_occupation: list[int] = []
    left_out: list[str] = []
    for number, group in enumerate(groups, 1):
        fitting = [word for word in group.words if word.kind in frames]
        left_out += [f"'{word.text}' of {group.label}" for word in group.words if word not in fitting]
        if not fitting:
            raise BadInput(f"'{group.name}' has no word for the frames: they take words of kind {', '.join(frames)}")
        framed = [(word, frame) for word in fitting for frame in frames[word.kind or ""]]
        per_occupation.append(len(framed))
        numbered += [
            (number, _filled(frame, word.text, occupation).tagged(kind=f"{word.kind}: {frame}"))
            for occupation in occupations
            for word, frame in framed
        ]
    note = f"no frame for words of their kind, left out: {', '.join(left_out)}"
    return MarkedSet(
        name or f"{one.name} / {two.name}",
        (one.label, two.label),
        join_versions(numbered),
        dict.fromkeys(occupations, tuple(per_occupation)),
        read=len(numbered),
        dimension="",
        notes=(note,) if left_out else (),
    )


def _filled(frame: str, mark: str, occupation: str) -> Sentence:
    """The frame with both words in their slots; the article of the mark is a slot too, because it follows the word."""
    words, text, end = {"group": mark, "occupation": occupation}, "", 0
    slots: dict[str, Place] = {}
    for place in _PLACE.finditer(frame):
        with_article, name = place.groups()
        text += frame[end : place.start()]
        if with_article:
            before = article(words[name])
            if name == "group":
                slots["article"] = len(text), len(text) + len(before)
            text += f"{before} "
        slots["pronoun" if name == "group" else name] = len(text), len(text) + len(words[name])
        text, end = text + words[name], place.end()
    if not {"pronoun", "occupation"} <= set(slots):
        raise BadInput(f"'{frame}' needs {{group}} and {{occupation}} once each")
    return Sentence(capitalise(text + frame[end:]), slots, occupation)
