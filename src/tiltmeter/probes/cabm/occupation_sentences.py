"""What is asked of a model about marked sentences of occupations, and its answers sentence by sentence."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Fill, Question, Span, Vector
from tiltmeter.probes.kind import Asked, Replies
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.marked import MarkedSet, Versions
from tiltmeter.stimuli.sentences.sentence import Sentence

FEWEST = 10
#: Measures of bare words, beside which the score is set.
ISOLATED = ("isolated_cosine", "mac", "same")

#: By occupation the places of its sentences in the set.
Used = Mapping[str, list[int]]


def asked_of(sentences: MarkedSet, *, words: bool, fills: bool, causal: bool = False) -> Asked:
    """Every sentence with all that is read off it side by side, so that one pass over it answers everything.

    A ``causal`` model has read all of a sentence only at its last token, so that stands for the whole.
    """
    asked: dict[Question, list[str] | list[Span] | list[Fill]] = {
        Question.SPANS: [span for row in sentences.versions for span in _spans(row, causal=causal)]
    }
    if words:
        marks = (sentence.word("pronoun").lower() for side in sentences.sentences for sentence in side)
        asked[Question.WORDS] = list(dict.fromkeys([*marks, *(row.unit for row in sentences.versions)]))
    if fills:
        asked[Question.FILLS] = [_fill(row) for row in sentences.versions if all(row.by_group)]
    return asked


#: Spans asked of every sentence.
_SPANS = 4


def _spans(row: Versions, *, causal: bool) -> Iterator[Span]:
    """Of a marked sentence the whole, occupation, mark, and the whole without occupation; then of the masked one."""

    def whole(sentence: Sentence) -> Span:
        """By the mark that a model puts before it, or by its last token."""
        text = sentence.text.rstrip()
        return Span(sentence.text, len(text) - 1, len(text)) if causal else Span(sentence.text, 0, 0)

    for sentence in itertools.chain.from_iterable(row.by_group):
        bare = sentence.masked("occupation")
        yield from (whole(sentence), _at(sentence, "occupation"), _at(sentence, "pronoun"), whole(bare))
    bare = row.neutral.masked("occupation")
    yield from (whole(row.neutral), _at(row.neutral, "occupation"), whole(bare), _at(bare, "occupation"))


def reads_from_the_left(replies: Replies) -> bool:
    """Whether the sentences were asked about as of a causal model."""
    first = replies.asked(Question.SPANS)[0]
    return bool(first.start < first.end)


def _at(sentence: Sentence, slot: str) -> Span:
    return Span(sentence.text, *sentence.slots[slot])


def _fill(row: Versions) -> Fill:
    marks = (sentence.word("pronoun") for sentence in itertools.chain.from_iterable(row.by_group))
    return Fill(row.neutral.text, *row.neutral.slots["pronoun"], tuple(dict.fromkeys(marks)))


def usable(sentences: MarkedSet, replies: Replies) -> Used:
    """The occupations that stand in two sentences or more with both groups; the others are left out with the reason."""
    places: dict[str, list[int]] = {}
    for place, row in enumerate(sentences.versions):
        places.setdefault(row.unit, []).append(place)
    used: dict[str, list[int]] = {}
    for word, of_word in places.items():
        rows = {place: sentences.versions[place].by_group for place in of_word}
        both = [place for place, sides in rows.items() if all(sides)]
        if len(both) >= 2:
            used[word] = both
            continue
        sides = zip(sentences.groups, zip(*rows.values(), strict=True), strict=True)
        seen = [name for name, side in sides if any(side)]
        reason = f"seen with {seen[0]} only" if len(seen) == 1 else "in fewer than 2 sentences with both groups"
        replies.leave_out(f"'{word}'", f"{reason}, so the groups cannot be compared")
    if len(used) < FEWEST:
        lines = f"of {sentences.read:,} lines not used"
        unused = "".join(f"; {n:,} {lines}: {why}" for why, n in sentences.left_out.items())
        raise BadInput(
            f"cabm needs at least {FEWEST} occupations that stand in 2 sentences with both {sentences.groups[0]} and "
            f"{sentences.groups[1]}; '{sentences.name}' has {len(used)}: add occupations or sentences" + unused
        )
    return used


@dataclasses.dataclass(frozen=True, slots=True)
class Vectors:
    """One row per masked sentence, of the occupation at ``index``.

    ``one``, ``two`` and ``neutral`` are [CLS] of the sentence with the mark of either group and without; ``word`` is
    the occupation in the masked sentence. ``bare_one``, ``bare_two``, ``bare_neutral`` and ``bare_word`` are the same
    with the occupation masked. ``marks`` has a row for each word (he, him, his) of group 1 and of group 2, its mean
    over sentences.

    ``in_source`` says with which groups the source has the sentence, (rows, 2); of an occupation that it has with one
    group alone, the versions made stand in for the other. ``source_word`` is the occupation in the source's own
    sentences, ``source_marks`` are the marks in them.
    """

    index: NDArray[np.intp]
    one: Floats
    two: Floats
    neutral: Floats
    word: Floats
    bare_one: Floats
    bare_two: Floats
    bare_neutral: Floats
    bare_word: Floats
    marks: tuple[Floats, Floats]
    in_source: NDArray[np.bool_]
    source_word: Floats
    source_marks: tuple[Floats, Floats]


def seen_with_one(sentences: MarkedSet, used: Used) -> tuple[str, ...]:
    """The occupations that the source has with one group alone: for the other there are only versions made of them."""

    def sides(word: str) -> tuple[bool, ...]:
        return tuple(map(any, zip(*(sentences.versions[place].in_source for place in used[word]), strict=True)))

    return tuple(word for word in used if not all(sides(word)))


def read_vectors(sentences: MarkedSet, used: Used, replies: Replies) -> Vectors:
    rows = [place for places in used.values() for place in places]
    read = _by_row(sentences, replies)
    made = seen_with_one(sentences, used)
    in_source = np.array(
        [(True, True) if word in made else sentences.versions[place].in_source for word in used for place in used[word]]
    )
    average = functools.partial(np.mean, axis=0, dtype=np.float64)

    def means(version: int, what: int) -> Floats:
        """What was asked in this place of every row's sentences with group 1, with group 2, or masked."""
        answers = ([four[what] for four in read[place][version]] for place in rows)
        return np.array([average(vectors) for vectors in answers])

    def marks(chosen: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Each word for a group, its mean over the rows chosen for that group."""
        by_mark: tuple[dict[str, list[Vector]], dict[str, list[Vector]]] = ({}, {})
        for row, side in np.argwhere(chosen).tolist():
            own, answers = sentences.versions[rows[row]].by_group[side], read[rows[row]][side]
            for sentence, (_, _, mark, _) in zip(own, answers, strict=True):
                by_mark[side].setdefault(sentence.word("pronoun").lower(), []).append(mark)
        one, two = (np.array([average(vectors) for vectors in side.values()]) for side in by_mark)
        return one, two

    words = np.stack([means(0, 1), means(1, 1)])
    weights = in_source.T[:, :, None].astype(np.float64)
    weights[:, ~in_source.any(axis=1)] = 1  # a row that the source has with a third pronoun counts for the word alone
    return Vectors(
        index=np.repeat(np.arange(len(used)), [len(places) for places in used.values()]),
        one=means(0, 0),
        two=means(1, 0),
        neutral=means(2, 0),
        word=means(2, 1),
        bare_one=means(0, 3),
        bare_two=means(1, 3),
        bare_neutral=means(2, 2),
        bare_word=means(2, 3),
        marks=marks(np.ones_like(in_source)),
        in_source=in_source,
        source_word=(weights * words).sum(axis=0) / weights.sum(axis=0),
        source_marks=marks(in_source),
    )


def _by_row(sentences: MarkedSet, replies: Replies) -> list[list[list[list[Vector]]]]:
    """The answers to ``_spans`` of every row, those of a sentence together: with group 1, with group 2, and masked."""
    answers = replies.all(Question.SPANS)
    fours = iter([answers[start : start + _SPANS] for start in range(0, len(answers), _SPANS)])
    sizes = ([*map(len, row.by_group), 1] for row in sentences.versions)
    return [[list(itertools.islice(fours, size)) for size in of_row] for of_row in sizes]


def read_isolated(sentences: MarkedSet, used: Used, replies: Replies) -> dict[str, list[float | None]]:
    """What other measures say of the bare words, where the model gives vectors of words; None where it does not.

    The cosine bias is the association of WEAT; MAC is unsigned; SAME is the cosine with the groups' difference.
    """
    nothing: dict[str, list[float | None]] = {name: [None] * len(used) for name in ISOLATED}
    if not replies.answered(Question.WORDS):
        return nothing
    vectors = dict(zip(replies.asked(Question.WORDS), replies.all(Question.WORDS), strict=True))
    rows = [sentences.versions[place] for places in used.values() for place in places]
    marks = [
        dict.fromkeys(sentence.word("pronoun").lower() for row in rows for sentence in row.by_group[n]) for n in (0, 1)
    ]
    one, two = ([vectors[word] for word in side if vectors[word] is not None] for side in marks)
    in_vocabulary = [word for word in used if vectors[word] is not None]
    if not (one and two and len(in_vocabulary) > 1):
        return nothing
    words = [vectors[word] for word in in_vocabulary]
    scores = (
        measures.cosine_bias(words, one, two).tolist(),
        np.mean(measures.mac(words, [one, two]).by_target, axis=1).tolist(),
        measures.same(words, [one, two]).by_word,
    )
    by_word = [dict(zip(in_vocabulary, values, strict=True)) for values in scores]
    return {name: [of.get(word) for word in used] for name, of in zip(ISOLATED, by_word, strict=True)}


def read_unmasking(sentences: MarkedSet, used: Used, replies: Replies) -> Floats | None:
    """P(group 1) - P(group 2) at the mask, where the model gives probabilities; those of a group's words add up."""
    if not replies.answered(Question.FILLS):
        return None
    places = [place for place, row in enumerate(sentences.versions) if all(row.by_group)]
    fills = zip(replies.asked(Question.FILLS), replies.all(Question.FILLS), strict=True)
    answered = dict(zip(places, fills, strict=True))

    def gap(place: int) -> float:
        fill, answer = answered[place]
        if answer.unknown:
            replies.note_unknown(fill.text, [answer.unknown])
        first = {sentence.word("pronoun") for sentence in sentences.versions[place].by_group[0]}
        return float(np.exp(answer.logprobs) @ [1 if word in first else -1 for word in fill.fillers])

    return np.array([np.mean([gap(place) for place in places]) for places in used.values()])
