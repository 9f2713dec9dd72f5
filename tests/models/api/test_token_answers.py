"""Tokens of servers set against the text: marks, cut characters, joined words, and what is refused."""

from __future__ import annotations

import math

import pytest

from tiltmeter.models.api.connection import UnusableError
from tiltmeter.models.api.token_answers import aligned, echoed, endings, listed
from tiltmeter.models.protocol import Continuation


def test_tokens_of_every_vocabulary_stand_at_the_same_characters() -> None:
    for tokens in (["He", " slept", "."], ["▁He", "▁slept", "."], ["He", "Ġslept", "."], [" He", " slept", "."]):
        scores = aligned("He slept.", tokens, [-1.0, -2.0, -3.0], written=(0,))
        assert scores.starts.tolist() == [0, 3, 8]
        assert scores.ends.tolist() == [2, 8, 9]


def test_a_character_cut_in_two_belongs_to_both_of_its_tokens() -> None:
    scores = aligned("né.", ["n", "<0xC3>", "<0xA9>", "."], [-1.0, -2.0, -3.0, -4.0], written=(0,))
    assert scores.logprobs.sum() == -10.0
    assert (scores.starts[0], scores.ends[-1]) == (0, 3)


def test_tokens_of_another_text_are_refused_and_so_is_what_is_no_log_probability() -> None:
    with pytest.raises(UnusableError, match="do not make up the text"):
        aligned("He slept.", ["She", " slept", "."], [-1.0, -2.0, -3.0])
    for value in (0.5, -math.inf, math.nan, "-1", True):
        with pytest.raises(UnusableError, match="a log-probability that is not a number"):
            aligned("He slept", ["He", " slept"], [-1.0, value], written=(0,))


def test_an_answer_that_says_nothing_of_the_text_is_told_from_one_that_is_broken() -> None:
    scored = {"tokens": ["He", " slept", " well"], "token_logprobs": [None, -2.0, -9.0]}
    assert echoed({"text": "He slept well", "logprobs": None}, "He slept") is None
    assert echoed({"text": " and slept", "logprobs": scored}, "He slept") is None
    found = echoed({"text": "He slept well", "logprobs": scored}, "He slept")
    assert found is not None
    assert found.logprobs.tolist() == [-2.0]
    with pytest.raises(UnusableError, match="3 log-probabilities, and not as many tokens"):
        echoed({"text": "He slept", "logprobs": {**scored, "tokens": ["He"]}}, "He slept")


def test_tables_by_token_number_say_the_same() -> None:
    tables = [None, {"7": {"decoded_token": " slept", "logprob": -2.0}}]
    found = listed({"prompt_logprobs": tables}, "He slept")
    assert found is not None
    assert (found.starts.tolist(), found.logprobs.tolist()) == ([3], [-2.0])
    assert listed({}, "He slept") is None


def test_endings_are_what_is_no_longer_the_stem() -> None:
    texts = {"He slept": [-1.0, -2.0], "He ran": [-1.0, -4.0]}
    scored = [aligned(text, [text[:2], text[2:]], values, written=(0,)) for text, values in texts.items()]
    assert endings(Continuation("He", (" slept", " ran")), scored).logprobs == (-2.0, -4.0)


def test_a_token_that_joins_stem_and_ending_belongs_to_the_endings() -> None:
    texts = {"un-ripe": ["un", "-ripe"], "un-done": ["un-", "done"]}
    scored = [aligned(text, tokens, [-1.0, -2.0], written=(0,)) for text, tokens in texts.items()]
    assert endings(Continuation("un-", ("ripe", "done")), scored).logprobs == (-3.0, -3.0)
