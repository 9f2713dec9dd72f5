"""What is asked about sentences with a place for a pronoun, and the probabilities in the answers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Choice, Continuation, Fill, Question, Span, TokenScores
from tiltmeter.probes.kind import Asked, CanAnswer, Replies
from tiltmeter.probes.sentences.fills import answers_to
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN, differs_elsewhere, stem
from tiltmeter.stimuli.sentences.sentence import Sentence

SCORING = ("last", "all", "mean")
#: Asked along with the other two, so that a stem is read once for all.
_NEUTRAL: Mapping[tuple[str, str], str] = {("him", "her"): "them", ("he", "she"): "they", ("his", "her"): "their"}
_STOPS = (".", "。")
#: Questions about one text with a blank, which has to stand for the versions of both groups.
_BLANKS = (Question.FILLS, Question.CHOICES)


class Chances(NamedTuple):
    """Probabilities of both groups' pronouns (2 x sentences): as published, and with the sentence ended.

    ``ended`` is None where that makes no difference. ``neutral`` are those of the pronoun for all (them), by sentence;
    None where it was not asked for.
    """

    plain: NDArray[np.float64]
    ended: NDArray[np.float64] | None
    neutral: NDArray[np.float64] | None = None


def choose_form(sentences: Sequence[Sentence], method: str | None) -> str:
    """ClozeLast where the pronoun is the last word, the mean of all tokens where it is not, or what is asked for."""
    if method is not None and method not in SCORING:
        raise unknown("method", method, SCORING)
    without = next((sentence for sentence in sentences if stem(sentence) is None), None)
    if method == "last" and without is not None:
        raise BadInput(
            f"method last needs the pronoun as the last word; row {without.tags['number']} has it elsewhere: use mean"
        )
    return method or ("last" if without is None else "mean")


def ask_chances(
    sentences: Sequence[Sentence], form: str, can: CanAnswer, *, asked_for: bool = False, neutral: bool = False
) -> Asked | None:
    """What to ask about the sentences, by what the model answers.

    A masked language model sees both sides of the pronoun wherever it stands, so it fills the pronoun's mask, unless
    another form was ``asked_for``: then every token is masked in turn. It is asked for the ``neutral`` pronoun on
    request alone: one that has no token for it would refuse the others too. What is asked with a blank are the
    sentences that ``with_blank`` keeps.
    """
    blanks = with_blank(sentences)
    if blanks and can(Question.FILLS) and (form == "last" or not asked_for):
        return {Question.FILLS: _fills(blanks, _words_and_neutral if neutral else _words)}
    if can(Question.PSEUDO):
        texts = (sentence.of_group(group).text for sentence in sentences for group in (1, 2))
        return {Question.PSEUDO: [Span(text, 0, len(text)) for text in texts]}
    if form == "last" and can(Question.CONTINUATIONS):
        return {Question.CONTINUATIONS: [_continuation(sentence) for sentence in sentences]}
    if form != "last" and can(Question.TOKENS):
        return {Question.TOKENS: [sentence.of_group(group).text for sentence in sentences for group in (1, 2)]}
    if blanks and can(Question.CHOICES) and all(PRONOUN in sentence.forms for sentence in sentences):
        return {Question.CHOICES: [_choice(sentence) for sentence in blanks]}
    return None


def with_blank(sentences: Sequence[Sentence]) -> list[Sentence]:
    """The sentences whose versions are one text with a blank for the pronoun."""
    return [sentence for sentence in sentences if not differs_elsewhere(sentence)]


def was_asked_with_blank(replies: Replies) -> bool:
    """Whether a blank was filled, or a word for it chosen."""
    return any(replies.answered(question) for question in _BLANKS)


def read_chances(sentences: Sequence[Sentence], form: str, replies: Replies) -> Chances:
    """The probabilities in a model's answers. A sentence of which all groups have one form has it twice."""
    if replies.answered(Question.FILLS):
        answers = answers_to(Question.FILLS, replies)
        # A word that all groups share is the only one; otherwise the first two are those of the groups.
        filled = [[math.exp(value) for value in answer.logprobs] for answer in answers]
        both = np.array([[row[0], row[1] if len(row) > 1 else row[0]] for row in filled]).T
        every = len(answers) // len(sentences)
        neutral = _last(filled[::every], sentences)
        return Chances(both[:, ::every], both[:, 1::2] if every > 1 else None, neutral)
    if replies.answered(Question.CONTINUATIONS):
        answers = answers_to(Question.CONTINUATIONS, replies)
        rows = [np.reshape([math.exp(value) for value in answer.logprobs], (2, -1)) for answer in answers]
        # The first two endings are those of the two groups; the last is the pronoun that all groups share.
        sides = [(0, 1) if PRONOUN in sentence.forms else (-1, -1) for sentence in sentences]
        plain, ended = np.array([row[:, both] for row, both in zip(rows, sides, strict=True)]).transpose(1, 2, 0)
        return Chances(plain, ended, _last([row[0].tolist() for row in rows], sentences))
    question = Question.PSEUDO if replies.answered(Question.PSEUDO) else Question.TOKENS
    scored = zip(replies.asked(question), answers_to(question, replies), strict=True)
    means = [_mean_chance(form, shown if isinstance(shown, str) else shown.text, tokens) for shown, tokens in scored]
    return Chances(np.array([means[0::2], means[1::2]]), None)


def neutral_word(sentence: Sentence) -> str | None:
    """The pronoun for all that is asked about along with those of the two groups, where there is one.

    >>> neutral_word(Sentence("It was cut by him", {"pronoun": (14, 17)}, forms={"pronoun": ("him", "her")}))
    'them'
    """
    one, two, *_ = (*sentence.forms.get(PRONOUN, ()), "", "")
    return _NEUTRAL.get((one, two))


def _last(rows: Sequence[Sequence[float]], sentences: Sequence[Sentence]) -> NDArray[np.float64] | None:
    """The probabilities of the word for all, which stands behind those of the groups."""
    known = all(len(row) > 2 and neutral_word(each) for row, each in zip(rows, sentences, strict=True))
    return np.array([row[2] for row in rows]) if known else None


def _fills(sentences: Sequence[Sentence], words: Callable[[Sentence], tuple[str, ...]]) -> list[Fill]:
    """The pronoun's place in every sentence as it is and, where none of them has a full stop, in the ended ones."""
    ends = ("",) if any(sentence.text.endswith(_STOPS) for sentence in sentences) else ("", ".")
    return [
        Fill(f"{sentence.text}{end}", *sentence.slots[PRONOUN], words(sentence))
        for sentence in sentences
        for end in ends
    ]


def _continuation(sentence: Sentence) -> Continuation:
    """Every pronoun after the stem, alone and with the full stop that ends the sentence."""
    start = stem(sentence)
    assert start is not None  # a form that needs it was chosen only where it is there
    space = sentence.around(PRONOUN)[0][len(start) :]
    words = _words_and_neutral(sentence)
    if len(words) == 1:
        words = next(((*both, shared) for both, shared in _NEUTRAL.items() if (shared,) == words), words)
    stop = "。" if start and not start.isascii() else "."
    return Continuation(start, tuple(f"{space}{word}{end}" for end in ("", stop) for word in words))


def _choice(sentence: Sentence) -> Choice:
    """The sentence, ended, with a blank for the pronoun."""
    text = sentence.masked(PRONOUN).text
    one, two = _words(sentence)
    return Choice(text if text.endswith(_STOPS) else f"{text}.", (one, two))


def _words_and_neutral(sentence: Sentence) -> tuple[str, ...]:
    words, neutral = _words(sentence), neutral_word(sentence)
    return words if neutral is None else (*words, neutral)


def _words(sentence: Sentence) -> tuple[str, ...]:
    return sentence.forms.get(PRONOUN, (sentence.word(PRONOUN),))


def _mean_chance(form: str, text: str, tokens: TokenScores) -> float:
    """ClozeAll: the mean probability of the words but the first. Mean: of the tokens but the first and full stops."""
    if form == "all":
        words = [tokens.within(*word.span()) for word in list(re.finditer(r"\S+", text))[1:]]
        values = [math.exp(word.total) for word in words if len(word)]
    else:
        places = enumerate(zip(tokens.starts, tokens.ends, strict=True))
        kept = [i for i, (start, end) in places if start > 0 and text[start:end].strip() not in _STOPS]
        values = np.exp(tokens.logprobs[kept]).tolist()
    if not values:
        raise BadInput(f"'{text}' has no word but the first to score: leave it out")
    return sum(values) / len(values)
