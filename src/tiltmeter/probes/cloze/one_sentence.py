"""One sentence of the user's, with and without each of its words as the context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.pronoun_chances import Chances, ask_chances, choose_form, neutral_word, read_chances
from tiltmeter.probes.cloze.similarity import similarities, words_to_ask
from tiltmeter.probes.kind import Replies
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN
from tiltmeter.stimuli.sentences.sentence import Sentence

_OPTIONS = re.compile(r"\[([^\[\]/]+)/([^\[\]/]+)\]")
#: Too common to be the context of anything.
_PLAIN = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "did", "do", "for", "from", "had", "has",
    "have", "he", "her", "him", "his", "if", "in", "is", "it", "its", "of", "on", "or", "she", "someone", "that", "the",
    "their", "them", "they", "this", "to", "was", "were", "which", "who", "will", "with", "would",
})  # fmt: skip


def parse_sentence(sentence: str) -> Sentence:
    """A sentence that holds ``[him/her]``, without its full stop where that is its last word.

    >>> parsed = parse_sentence("The cake was baked by [him/her].")
    >>> parsed.text, parsed.version("pronoun", 2).text
    ('The cake was baked by him', 'The cake was baked by her')
    """
    places = list(_OPTIONS.finditer(sentence.strip()))
    if len(places) != 1:
        raise BadInput(f"the sentence must hold one choice such as [him/her], and it holds {len(places)}: '{sentence}'")
    one, two = (option.strip() for option in places[0].groups())
    if not one or not two or one == two:
        raise BadInput(f"'{places[0].group()}' must name two different words, such as [him/her]")
    text = sentence.strip()
    if not text[places[0].end() :].strip(" .。"):
        text = text.rstrip(".。 ")
    parsed = Sentence(text, {PRONOUN: places[0].span()}, forms={PRONOUN: (one, two)}, tags={"number": "1"})
    return parsed.version(PRONOUN, 1)


def one_sentence(
    model: CachedModel, vectors: CachedModel, sentence: str, contexts: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """The ratio of the two words without a context and with each: as published, and with the sentence ended.

    Args:
        model: The language model that is asked.
        vectors: The model whose word vectors give the similarities.
        sentence: A sentence with a choice such as [him/her] in it.
        contexts: Context words; without them, every word of the sentence that has a vector is one.
    """
    parsed = parse_sentence(sentence)
    pronouns = parsed.forms[PRONOUN]
    form = choose_form([parsed], None)
    asked = ask_chances([parsed], form, model.answers_question)
    if asked is None or Question.CHOICES in asked:
        raise BadInput(f"cloze needs log-probabilities: {model.identity.name} does not give them")
    plain, ended, neutral = _chances(parsed, form, model)
    bare, finished = plain[:, 0].tolist(), None if ended is None else ended[:, 0].tolist()
    words = [word.lower() for word in re.findall(r"\w[\w'-]*", parsed.text) if word.lower() not in {*_PLAIN, *pronouns}]
    chosen = list(dict.fromkeys(contexts or words))
    third = neutral_word(parsed) if neutral is not None else None
    terms = (*pronouns, *([third] if third else []))
    by_word = vectors.answers(Question.WORDS, words_to_ask([*terms, *chosen]))
    if third and by_word.get(third) is None:
        terms, neutral = pronouns, None
    chances = [*bare, *(neutral.tolist() if neutral is not None else [])]
    rows = [_ratios("", chances, finished, [0.0] * len(terms))]
    for context in chosen:
        near = [similarities([(word,)], [context], by_word) for word in terms]
        if near[0][1][0]:
            rows.append(_ratios(context, chances, finished, [float(value[0]) for value, _ in near]))
        elif contexts:
            raise BadInput(f"'{context}' has no vector in {vectors.identity.name}: choose another context or vectors")
    return rows, pronouns


def _chances(sentence: Sentence, form: str, model: CachedModel) -> Chances:
    """The probabilities of the pronouns, that of the neutral one among them if the model has a token for it."""
    for neutral in (True, False):
        asked = ask_chances([sentence], form, model.answers_question, neutral=neutral) or {}
        try:
            answers = {question: model.answers(question, inputs) for question, inputs in asked.items()}
            break
        except BadInput:
            if not neutral:
                raise
    return read_chances([sentence], form, Replies(model.identity.name, asked, answers))


def _ratios(
    context: str, chances: Sequence[float], finished: Sequence[float] | None, similarity: Sequence[float]
) -> dict[str, Any]:
    """Shares of the two words in both; ``to_neutral`` is that of the pronoun for all among the three."""
    row: dict[str, Any] = {"context": context, "similarity_1": similarity[0], "similarity_2": similarity[1]}
    for prefix, some in (("", chances[:2]), ("ended_", finished)):
        shares = _shares(some or (), similarity[:2])
        row |= {f"{prefix}to_1": shares[0], f"{prefix}to_2": shares[1]}
    return row | {"to_neutral": _shares(chances, similarity)[2] if len(chances) > 2 else None}


def _shares(chances: Sequence[float], similarity: Sequence[float]) -> list[float | None]:
    """Of each revised probability among all; None of each where all are 0."""
    scores = [p ** (1 - s) for p, s in zip(chances, similarity, strict=False)]
    return [score / sum(scores) for score in scores] if sum(scores) > 0 else [None] * len(similarity)
