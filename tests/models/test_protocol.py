"""The inputs of questions, the forms of answers, and batches put back in order."""

from __future__ import annotations

import pytest

from tiltmeter.models.protocol import SCORES, Fill, Question, TokenScores, gather


def test_batches_in_any_order_are_put_back_in_that_of_the_inputs() -> None:
    assert gather(iter([([2, 0], ["c", "a"]), ([1], ["b"])]), 4) == ["a", "b", "c", None]


@pytest.mark.parametrize("filler", ["He", "The old engineer", "I"])
def test_hidden_stretches_move_with_the_filler_only_where_they_stand_after_it(filler: str) -> None:
    item = Fill("Yes, X saw her nurse.", 5, 6, (filler,), hidden=((0, 3), (15, 20)))
    text, (start, end), hidden = item.with_filler(filler)
    assert text == f"Yes, {filler} saw her nurse."
    assert text[start:end] == filler
    assert [text[a:b] for a, b in hidden] == ["Yes", "nurse"]


def test_scores_of_tokens_are_picked_by_the_characters_they_hold() -> None:
    scores = TokenScores([5, -1, 7], [0, 4, 9], [3, 9, 10], [-1.0, -2.0, -4.0])  # type: ignore[arg-type]
    assert (len(scores), scores.total, scores.unknown) == (3, -7.0, [(4, 9)])
    assert scores.within(3, 5).ids.tolist() == [-1]
    assert scores.within(0, 9).total == -3.0
    assert len(scores.within(3, 4)) == 0


def test_every_question_has_a_method_and_says_what_it_is_about() -> None:
    assert len({question.method for question in Question}) == len(Question)
    assert len({question.about for question in Question}) == len(Question)
    assert set(Question) - set(SCORES) == {Question.WORDS, Question.TEXTS, Question.SPANS}
