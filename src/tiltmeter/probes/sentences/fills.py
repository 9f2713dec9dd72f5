"""What a masked language model is asked about a sentence with slots, and what a language model answers."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from tiltmeter.models.protocol import Continuation, Fill, Question, TokenScores
from tiltmeter.probes.kind import Replies
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.sentences.sentence import Sentence


def fill_at(sentence: Sentence, slot: str, *hidden: str) -> Fill:
    """Which of its forms could stand in a slot, with every token of the hidden slots masked as well.

    The slot holds a mask, so the question is the same whichever form the source gives the sentence.

    >>> nurse = Sentence("He is a nurse.", {"pronoun": (0, 2), "occupation": (8, 13)}, "", {"pronoun": ("He", "She")})
    >>> fill_at(nurse, "pronoun", "occupation")
    Fill(text='[MASK] is a nurse.', start=0, end=6, fillers=('He', 'She'), hidden=((12, 17),))
    """
    masked = sentence.masked(slot)
    places = tuple(masked.slots[name] for name in hidden)
    return Fill(masked.text, *masked.slots[slot], tuple(dict.fromkeys(sentence.forms[slot])), places)


def hide_mentions(fill: Fill, code: str) -> Fill:
    """The question with every other mention of what is hidden masked too: whole words that begin with it.

    So a suffixed form is hidden with its suffix; ``code`` is the language that says what a word is.

    >>> once = Fill("[MASK] is kind, for kindness is rare.", 0, 6, ("He", "She"), hidden=((10, 14),))
    >>> hide_mentions(once, "en").hidden
    ((10, 14), (20, 28))
    """
    # Plain text that says it once needs no language, and most sentences are such.
    lower = fill.text.lower()
    if fill.text.isascii() and all(lower.count(lower[start:end]) == 1 for start, end in fill.hidden):
        return fill
    spoken = language(code)
    text, words = spoken.fold(fill.text), spoken.words(fill.text)
    starts = {start for start, _ in words}
    mentions = set(fill.hidden)
    for first, last in fill.hidden:
        for mention in re.finditer(re.escape(text[first:last]), text):
            end = max((end for start, end in words if start < mention.end()), default=0)
            place = mention.start(), max(end, mention.end())
            free = all(place[1] <= start or place[0] >= stop for start, stop in (*fill.hidden, (fill.start, fill.end)))
            if mention.start() in starts and free:
                mentions.add(place)
    return dataclasses.replace(fill, hidden=tuple(sorted(mentions))) if len(mentions) > len(fill.hidden) else fill


def answers_to(question: Question, replies: Replies) -> list[Any]:
    """All answers to a question, in the order of asking; words that the model does not know are noted."""
    answers = replies.all(question)
    for asked, answer in zip(replies.asked(question), answers, strict=True):
        text = asked if isinstance(asked, str) else asked.stem if isinstance(asked, Continuation) else asked.text
        places = answer.unknown if isinstance(answer, TokenScores) else filter(None, [answer.unknown])
        replies.note_unknown(text, list(places))
    return answers
