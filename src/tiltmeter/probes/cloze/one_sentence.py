"""One sentence, with and without each of its words as the context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.cloze_rows import asked, choose_form, probabilities
from tiltmeter.probes.cloze.similarities import similarities, words_of
from tiltmeter.probes.old_language import Replies
from tiltmeter.stimuli.sentences.sets import ClozeRow

_OPTIONS = re.compile(r"\[([^\[\]/]+)/([^\[\]/]+)\]")
#: Too common to be the context of anything.
_PLAIN = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "being",
        "but",
        "by",
        "did",
        "do",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "if",
        "in",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "she",
        "someone",
        "that",
        "the",
        "their",
        "them",
        "they",
        "this",
        "to",
        "was",
        "were",
        "which",
        "who",
        "will",
        "with",
        "would",
    ]
)


def parse(sentence: str) -> tuple[str, str, tuple[str, str]]:
    """Both versions of a sentence that holds ``[him/her]``, without its full stop.

    >>> parse("The cake was baked by [him/her].")
    ('The cake was baked by him', 'The cake was baked by her', ('him', 'her'))
    """
    found = list(_OPTIONS.finditer(sentence))
    if len(found) != 1:
        raise BadInput(f"the sentence must hold one choice such as [him/her], and it holds {len(found)}: '{sentence}'")
    one, two = (option.strip() for option in found[0].groups())
    if not one or not two or one == two:
        raise BadInput(f"'{found[0].group()}' must name two different words, such as [him/her]")
    last = found[0].end() >= len(sentence.rstrip(" .。"))
    text = sentence.strip().rstrip(".。 ") if last else sentence.strip()
    return text.replace(found[0].group(), one), text.replace(found[0].group(), two), (one, two)


def one_sentence(
    model: CachedModel, vectors: CachedModel, sentence: str, contexts: Sequence[str] | None = None
) -> tuple[list[dict[str, Any]], tuple[str, str]]:
    """The ratio of the two words without a context and with each: as published, and with the sentence ended.

    Without ``contexts``, every word of the sentence that has a vector is one.
    """
    text_1, text_2, pronouns = parse(sentence)
    row = ClozeRow(text_1, text_2, pronouns, ("", ""), None, 1)
    form = choose_form([row], None)
    questions = asked([row], form, model.answers_question)
    if questions is None or Question.CHOICES in questions:
        raise BadInput(f"cloze needs log-probabilities: {model.identity.name} does not give them")
    answers = {question: model.answers(question, inputs) for question, inputs in questions.items()}
    chance = probabilities(row, form, Replies(model.identity.name, answers, None))
    own = [word for word in re.findall(r"\w[\w'-]*", text_1) if word.lower() not in _PLAIN | set(pronouns)]
    chosen = list(dict.fromkeys(contexts if contexts else [word.lower() for word in own]))
    known = vectors.answers(Question.WORDS, words_of([*pronouns, *chosen]))
    rows = [_ratios("", chance, (0.0, 0.0))]
    for context in chosen:
        (one, has), (two, _) = (similarities([(each,)], [context], known) for each in pronouns)
        if has[0]:
            rows.append(_ratios(context, chance, (float(one[0]), float(two[0]))))
        elif contexts:
            raise BadInput(f"'{context}' has no vector in {vectors.identity.name}: choose another context or vectors")
    return rows, pronouns


def _ratios(context: str, chance: Any, similarity: tuple[float, float]) -> dict[str, Any]:
    found: dict[str, Any] = {"context": context, "similarity_1": similarity[0], "similarity_2": similarity[1]}
    for prefix, pair in (("", chance.plain), ("ended_", chance.ended)):
        scores = [p ** (1 - s) for p, s in zip(pair, similarity, strict=True)] if pair else []
        shares = [score / sum(scores) for score in scores] if sum(scores) > 0 else [None, None]
        found |= {f"{prefix}to_1": shares[0], f"{prefix}to_2": shares[1]}
    return found
