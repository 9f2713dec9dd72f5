"""What is asked of a model about marked sentences of occupations, and its answers sentence by sentence."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Fill, Question, Span
from tiltmeter.probes.old_kind import Asked
from tiltmeter.probes.old_language import Replies
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.marked import MarkedSentence, MarkedSet, Neutral
from tiltmeter.stimuli.sentences.sentence import MASK

FEWEST = 10
#: Measures of bare words, beside which the score is set.
ISOLATED = ("isolated_cosine", "mac", "same")

#: A masked sentence with its versions for group 1 and for group 2.
Versions = Mapping[Neutral, tuple[list[MarkedSentence], list[MarkedSentence]]]
Used = Mapping[str, Versions]


def asked_of(sentences: MarkedSet, *, words: bool, fills: bool) -> Asked:
    """Every sentence with all that is read off it side by side, so that one pass over it answers everything."""
    by_text: dict[str, dict[Span, None]] = {}
    for row in sentences.rows:
        of_row = (_cls(row.text), _mark(row), _occupation(row))
        of_neutral = (_cls(row.neutral.text), _occupation(row.neutral))
        of_bare = (_bare(row), _bare(row.neutral), _masked_occupation(row.neutral))
        for span in (*of_row, *of_neutral, *of_bare):
            by_text.setdefault(span.text, {})[span] = None
    spans = [span for own in by_text.values() for span in own]
    asked: dict[Question, list[str] | list[Span] | list[Fill]] = {Question.SPANS: spans}
    if words:
        marks = (row.mark.lower() for row in sentences.rows)
        asked[Question.WORDS] = list(dict.fromkeys([*marks, *(row.occupation for row in sentences.rows)]))
    if fills:
        found = _versions(sentences.rows).values()
        asked[Question.FILLS] = [_fill(each, *of) for own in found for each, of in own.items() if all(of)]
    return asked


def _cls(text: str) -> Span:
    """The sentence as a whole, by the mark that the model puts before it."""
    return Span(text, 0, 0)


def _mark(row: MarkedSentence) -> Span:
    return Span(row.text, *row.pronoun_place)


def _occupation(row: MarkedSentence | Neutral) -> Span:
    return Span(row.text, *row.occupation_place)


def _bare(row: MarkedSentence | Neutral) -> Span:
    """The sentence as a whole with its occupation masked: what it says of the groups without one."""
    return _cls(_masked_occupation(row).text)


def _masked_occupation(row: MarkedSentence | Neutral) -> Span:
    start, end = row.occupation_place
    return Span(row.text[:start] + MASK + row.text[end:], start, start + len(MASK))


def _fill(neutral: Neutral, one: list[MarkedSentence], two: list[MarkedSentence]) -> Fill:
    return Fill(neutral.text, *neutral.place, tuple(dict.fromkeys(row.mark for row in [*one, *two])))


def _versions(rows: Iterable[MarkedSentence]) -> dict[str, Versions]:
    found: dict[str, dict[Neutral, tuple[list[MarkedSentence], list[MarkedSentence]]]] = {}
    for row in rows:
        found.setdefault(row.occupation, {}).setdefault(row.neutral, ([], []))[row.group - 1].append(row)
    return dict(found)


def usable(sentences: MarkedSet, replies: Replies) -> Used:
    """The occupations that stand in two sentences or more with both groups; the others are left out with the reason."""
    used: dict[str, Versions] = {}
    for word, neutrals in _versions(sentences.rows).items():
        both = {each: (one, two) for each, (one, two) in neutrals.items() if one and two}
        if len(both) >= 2:
            used[word] = both
            continue
        sides = zip(*neutrals.values(), strict=True)
        seen = [name for name, rows in zip(sentences.groups, sides, strict=True) if any(rows)]
        reason = f"seen with {seen[0]} only" if len(seen) == 1 else "in fewer than 2 sentences with both groups"
        replies.leave_out(f"'{word}'", f"{reason}, so the groups cannot be compared")
    if len(used) < FEWEST:
        raise BadInput(
            f"cabm needs at least {FEWEST} occupations that stand in 2 sentences with both {sentences.groups[0]} and "
            f"{sentences.groups[1]}; '{sentences.name}' has {len(used)}: add occupations or sentences"
        )
    return used


@dataclasses.dataclass(frozen=True, slots=True)
class Vectors:
    """One row a masked sentence, of the occupation at ``index``.

    ``one``, ``two`` and ``neutral`` are [CLS] of the sentence with the mark of either group and without; ``word`` is
    the occupation in the masked sentence, ``marked_word`` its mean in the others. ``bare_one``, ``bare_two``,
    ``bare_neutral`` and ``bare_word`` are the same with the occupation masked. ``marks`` has a row for each word (he,
    him, his) of group 1 and of group 2, its mean over sentences.
    """

    index: NDArray[np.intp]
    one: Floats
    two: Floats
    neutral: Floats
    word: Floats
    marked_word: Floats
    bare_one: Floats
    bare_two: Floats
    bare_neutral: Floats
    bare_word: Floats
    marks: tuple[Floats, Floats]


def read_vectors(used: Used, replies: Replies) -> Vectors:
    def mean(spans: Iterable[Span]) -> Floats:
        rows = np.array([replies.of(Question.SPANS, each) for each in spans], dtype=np.float64)
        found: Floats = rows.mean(axis=0)
        return found

    def sides(of: tuple[list[MarkedSentence], list[MarkedSentence]]) -> Floats:
        return (mean(map(_occupation, of[0])) + mean(map(_occupation, of[1]))) / 2

    each = [(neutral, of) for neutrals in used.values() for neutral, of in neutrals.items()]
    by_mark: tuple[dict[str, list[Span]], dict[str, list[Span]]] = ({}, {})
    for _, of in each:
        for side, rows in zip(by_mark, of, strict=True):
            for row in rows:
                side.setdefault(row.mark.lower(), []).append(_mark(row))
    one, two = (np.array([mean(spans) for spans in side.values()]) for side in by_mark)
    return Vectors(
        np.repeat(np.arange(len(used)), [len(neutrals) for neutrals in used.values()]),
        np.array([mean(_cls(row.text) for row in of[0]) for _, of in each]),
        np.array([mean(_cls(row.text) for row in of[1]) for _, of in each]),
        np.array([mean([_cls(neutral.text)]) for neutral, _ in each]),
        np.array([mean([_occupation(neutral)]) for neutral, _ in each]),
        np.array([sides(of) for _, of in each]),
        np.array([mean(map(_bare, of[0])) for _, of in each]),
        np.array([mean(map(_bare, of[1])) for _, of in each]),
        np.array([mean([_bare(neutral)]) for neutral, _ in each]),
        np.array([mean([_masked_occupation(neutral)]) for neutral, _ in each]),
        (one, two),
    )


def read_isolated(used: Used, replies: Replies) -> dict[str, list[float | None]]:
    """What other measures say of the bare words, where the model gives vectors of words; None where it does not.

    The cosine bias is the association of WEAT; MAC is unsigned; SAME is the cosine with the groups' difference.
    """
    nothing: dict[str, list[float | None]] = {name: [None] * len(used) for name in ISOLATED}
    rows = [row for neutrals in used.values() for of in neutrals.values() for side in of for row in side]
    marks = [dict.fromkeys(row.mark.lower() for row in rows if row.group == group) for group in (1, 2)]
    if not replies.answered(Question.WORDS):
        return nothing
    vectors = {word: replies.of(Question.WORDS, word) for word in [*used, *marks[0], *marks[1]]}
    one, two = ([vectors[word] for word in side if vectors[word] is not None] for side in marks)
    known = [word for word in used if vectors[word] is not None]
    if not (one and two and len(known) > 1):
        return nothing
    words = [vectors[word] for word in known]
    found = (
        measures.cosine_bias(words, one, two).tolist(),
        np.mean(measures.mac(words, [one, two]).by_target, axis=1).tolist(),
        list(measures.same(words, [one, two]).by_word),
    )
    by_word = {name: dict(zip(known, values, strict=True)) for name, values in zip(ISOLATED, found, strict=True)}
    return {name: [own.get(word) for word in used] for name, own in by_word.items()}


def read_unmasking(used: Used, replies: Replies) -> Floats | None:
    """P(group 1) - P(group 2) at the mask, where the model gives probabilities; those of a group's words add up."""
    if not replies.answered(Question.FILLS):
        return None
    gaps = []
    for neutrals in used.values():
        own = []
        for each, (one, two) in neutrals.items():
            item = _fill(each, one, two)
            answer = replies.of(Question.FILLS, item)
            if answer.unknown:
                replies.note_unknown(each.text, [answer.unknown])
            first = {row.mark for row in one}
            own.append(float(np.exp(answer.logprobs) @ [1 if word in first else -1 for word in item.fillers]))
        gaps.append(np.mean(own))
    return np.array(gaps)
