"""What a masked language model is asked about a sentence with slots, and what it answers."""

from __future__ import annotations

from tiltmeter.models.protocol import Fill, Filled, Question
from tiltmeter.probes.kind import Replies
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


def answers_at_masks(replies: Replies) -> list[Filled]:
    """The answers to all fills in the order of asking; words that the model does not know are noted."""
    answers: list[Filled] = replies.all(Question.FILLS)
    for fill, answer in zip(replies.asked(Question.FILLS), answers, strict=True):
        if answer.unknown:
            replies.note_unknown(fill.text, [answer.unknown])
    return answers
