"""What a model is asked about the pronouns of a sentence."""

from __future__ import annotations

import pytest

from tiltmeter.models.protocol import Choice, Fill, Question, Span
from tiltmeter.probes.cloze.pronoun_chances import ask_chances
from tiltmeter.stimuli.sentences.cloze_sets import two_versions
from tiltmeter.stimuli.sentences.sentence import Sentence


def test_what_is_asked_about_a_sentence() -> None:
    row = two_versions("It was cut by him", "It was cut by her", ("him", "her"), contexts=("cut", "cut"), row=2)
    (continuation,) = asked(row, Question.CONTINUATIONS)
    assert continuation.endings == (" him", " her", " them", " him.", " her.", " them.")
    race = Sentence("It was cut by them", {"pronoun": (14, 18)}, "cutter")
    assert asked(race, Question.CONTINUATIONS) == [continuation]
    assert asked(row, Question.FILLS) == [
        Fill("It was cut by him", 14, 17, ("him", "her")),
        Fill("It was cut by him.", 14, 17, ("him", "her")),
    ]
    assert asked(row, Question.CHOICES) == [Choice("It was cut by [MASK].", ("him", "her"))]
    assert asked(row, Question.TOKENS, form="mean") == ["It was cut by him", "It was cut by her"]
    assert ask_chances([race], "last", lambda question: question is Question.CHOICES) is None
    ja = two_versions("昨日、彼は働いた。", "昨日、彼女は働いた。", ("彼", "彼女"), contexts=("仕事", "仕事"), row=2)
    assert asked(ja, Question.FILLS, form="mean") == [Fill("昨日、彼は働いた。", 3, 4, ("彼", "彼女"))]


def test_a_masked_model_fills_the_pronoun_and_masks_every_token_only_where_that_is_asked_for() -> None:
    row = two_versions("It was cut by him.", "It was cut by her.", ("him", "her"), contexts=("cut", "cut"), row=2)
    masked = (Question.FILLS, Question.PSEUDO)

    def questions(form: str, **more: bool) -> list[Question]:
        asked_of = ask_chances([row], form, lambda question: question in masked, **more)
        assert asked_of is not None
        return list(asked_of)

    assert questions("last", asked_for=True) == questions("mean") == questions("last") == [Question.FILLS]
    assert questions("all", asked_for=True) == questions("mean", asked_for=True) == [Question.PSEUDO]
    tokens = ask_chances([row], "all", lambda question: question in masked, asked_for=True)
    assert tokens == {Question.PSEUDO: [Span(text, 0, 18) for text in ("It was cut by him.", "It was cut by her.")]}


@pytest.mark.parametrize(
    ("texts", "pronouns"),
    [
        (("To his aunt he ran.", "To her aunt she ran."), ("he", "she")),
        (("Tell him that he ran.", "Tell her that she ran."), ("him", "her")),
    ],
)
def test_a_row_whose_versions_differ_in_more_than_the_pronoun_is_no_cloze_with_a_blank(texts, pronouns) -> None:
    row = two_versions(*texts, pronouns, contexts=("", ""), row=7)
    for question in (Question.FILLS, Question.CHOICES):
        assert ask_chances([row], "mean", lambda other, one=question: other is one) is None
    assert asked(row, Question.TOKENS, form="mean") == list(texts)
    # Where a masked model can be asked no other way, it masks every token in its turn.
    both = (Question.FILLS, Question.PSEUDO)
    assert list(ask_chances([row], "mean", lambda other: other in both) or ()) == [Question.PSEUDO]


def asked(sentence: Sentence, question: Question, *, form: str = "last") -> list:
    inputs = ask_chances([sentence], form, lambda other: other is question)
    assert inputs is not None
    return list(inputs[question])
