"""Answers as they are kept: checked, and as rows of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import ModelFailed
from tiltmeter.models.cached import checked, checked_row, same_width, shown
from tiltmeter.models.protocol import Choice, Chosen, Continuation, Fill, Filled, Generated, Prompt, Span, TokenScores

SINGLE = st.floats(-1e4, 0, width=32)
WHOLE = st.integers(0, 2**24)  # the largest that float32 keeps
TWO = Fill("x", 0, 1, ("he", "she"))


@given(st.lists(st.tuples(SINGLE, st.integers(1, 99)), min_size=1), st.none() | st.tuples(WHOLE, WHOLE))
def test_log_probabilities_of_fillers_are_kept_exactly(fillers: list[tuple[float, int]], unknown: Any) -> None:
    logprobs, tokens = zip(*fillers, strict=True)
    answer = Filled(logprobs, tokens, unknown)
    assert Filled.from_row(answer.to_row()) == answer


@given(st.lists(st.tuples(st.integers(-1, 2**24), WHOLE, WHOLE, SINGLE)))
def test_scores_of_tokens_are_kept_exactly(tokens: list[tuple[int, int, int, float]]) -> None:
    columns = list(zip(*tokens, strict=True)) or [()] * 4
    again = TokenScores.from_row(TokenScores(*columns).to_row())
    kept = (again.ids, again.starts, again.ends, again.logprobs)
    assert [column.tolist() for column in kept] == [list(column) for column in columns]


@pytest.mark.parametrize("answer", [Chosen(1, 2), Chosen(0, 0)])
def test_choices_are_kept_exactly(answer: Chosen) -> None:
    assert Chosen.from_row(answer.to_row()) == answer


@given(st.lists(st.text(st.characters(), max_size=20)))
def test_texts_are_kept_exactly(texts: list[str]) -> None:
    assert Generated.from_row(Generated(tuple(texts)).to_row()) == Generated(tuple(texts))


def test_plain_texts_are_what_was_written_after_a_prompt() -> None:
    assert Generated.from_row(checked_row("m", Generated, Prompt("x", n=2), ["a", ""])) == Generated(("a", ""))


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (["a"], "m gave 1 texts for 'x': it was asked for 2"),
        (["a", 2], "m: the answer for 'x' is not a list of texts"),
        ("ab", "m: the answer for 'x' is a str, not a Generated"),
        (7, "m: the answer for 'x' is not a list of texts"),
    ],
)
def test_texts_that_cannot_be_used_are_one_clear_line(answer: Any, complaint: str) -> None:
    with pytest.raises(ModelFailed) as error:
        checked_row("m", Generated, Prompt("x", n=2), answer)
    assert str(error.value) == complaint


def test_plain_numbers_are_log_probabilities_of_fillers_of_one_token() -> None:
    row = checked_row("m", Filled, TWO, [-1.0, -2.0])
    assert Filled.from_row(row) == Filled((-1.0, -2.0), (1, 1))


@pytest.mark.parametrize(
    ("kind", "answer", "complaint"),
    [
        (Filled, [-1.0], "m gave 1 log-probabilities for the 2 fillers of 'x'"),
        (Filled, ["he", "she"], "m: the answer for 'x' is not a list of log-probabilities"),
        (Filled, [-1.0, float("nan")], "m: the log-probabilities of 'x' hold NaN or infinity"),
        (Chosen, Filled((-1.0,), (1,)), "m: the answer for 'x' is a Filled, not a Chosen"),
        (TokenScores, 7, "m: the answer for 'x' is a int, not a TokenScores"),
    ],
)
def test_an_answer_that_cannot_be_used_is_one_clear_line(kind: Any, answer: Any, complaint: str) -> None:
    with pytest.raises(ModelFailed) as error:
        checked_row("m", kind, TWO, answer)
    assert str(error.value).startswith(complaint)


def test_vectors_come_in_the_order_of_the_inputs_with_none_for_what_is_unknown() -> None:
    for answer in ({"b": [1, 2], "a": [3, 4]}, [[3, 4], [1, 2], None], [np.array([3.0, 4.0]), (1, 2), None]):
        a, b, c = checked("m", ["a", "b", "c"], answer)  # type: ignore[arg-type]
        assert c is None
        assert a is not None
        assert b is not None
        assert (a.tolist(), b.tolist(), a.dtype) == ([3, 4], [1, 2], np.float32)


def test_all_vectors_have_one_width() -> None:
    one, two = np.ones(2, np.float32), np.ones(3, np.float32)
    assert same_width("m", [None, one, one], None) == 2
    assert same_width("m", [None], 2) == 2
    assert same_width("m", [], None) is None
    with pytest.raises(ModelFailed, match="m gave vectors of 2 and of 3 numbers"):
        same_width("m", [one, two], None)


@pytest.mark.parametrize(
    ("item", "quoted"),
    [
        (Span("The nurse slept.", 4, 9), "'nurse'"),
        (Fill("He is a nurse.", 0, 2, ("He",)), "'He is a nurse.'"),
        (Continuation("He is", (" here",)), "'He is'"),
        (Choice("[MASK] left.", ("He", "She")), "'[MASK] left.'"),
        ("x" * 61, f"'{'x' * 57}...'"),
    ],
)
def test_an_input_is_quoted_by_its_text(item: object, quoted: str) -> None:
    assert shown(item) == quoted
