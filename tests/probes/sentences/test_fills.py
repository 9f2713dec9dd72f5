"""What is asked at a slot, and the words of an answer that a model does not know."""

from __future__ import annotations

from tiltmeter.models.protocol import Fill, Filled, Question
from tiltmeter.probes.kind import Replies
from tiltmeter.probes.sentences.fills import answers_to, fill_at
from tiltmeter.stimuli.sentences.sentence import Sentence

COOK = Sentence(
    "The cook said she ran.", {"pronoun": (14, 17), "occupation": (4, 8)}, "cook", {"pronoun": ("he", "she")}
)


def test_the_question_is_the_same_whichever_form_the_sentence_has() -> None:
    fill = fill_at(COOK, "pronoun")
    assert fill == fill_at(COOK.version("pronoun", 1), "pronoun")
    assert fill == Fill("The cook said [MASK] ran.", 14, 20, ("he", "she"))


def test_hidden_slots_are_named_where_they_stand_in_the_masked_text() -> None:
    fill = fill_at(COOK, "pronoun", "occupation")
    assert [fill.text[start:end] for start, end in fill.hidden] == ["cook"]


def test_a_form_that_is_there_twice_is_asked_once() -> None:
    both = Sentence("It is hers.", {"pronoun": (6, 10)}, "", {"pronoun": ("hers", "hers")})
    assert fill_at(both, "pronoun").fillers == ("hers",)


def test_answers_come_in_order_and_unknown_words_are_noted() -> None:
    one, two = Fill("[MASK] left.", 0, 6, ("he",)), Fill("The zqx said [MASK].", 13, 19, ("he",))
    answers = {two: Filled((-2.0,), (1,), (4, 7)), one: Filled((-1.0,), (1,))}
    replies = Replies("own", {Question.FILLS: (one, two)}, {Question.FILLS: answers})
    assert [answer.logprobs for answer in answers_to(Question.FILLS, replies)] == [(-1.0,), (-2.0,)]
    assert [left.what for left in replies.left_out] == ["'zqx' in 1 sentence(s)"]
