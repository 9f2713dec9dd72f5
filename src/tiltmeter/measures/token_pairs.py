"""Scores of two sentences that differ in a few tokens, from the log-probability of each token."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats, numbers

Positions = tuple[int, ...]
Logprobs = Sequence[float] | Floats


def shared_tokens(ids_1: Sequence[int], ids_2: Sequence[int]) -> tuple[Positions, Positions]:
    """Positions of the tokens that two sentences have in common, in order, as many in one as in the other.

    Tokens come without those that the tokenizer puts around a sentence.

    >>> shared_tokens([7, 1, 8, 9], [7, 2, 3, 8, 9])
    ((0, 2, 3), (0, 3, 4))
    """
    return _positions(ids_1, ids_2, shared=True)


def changed_tokens(ids_1: Sequence[int], ids_2: Sequence[int]) -> tuple[Positions, Positions]:
    """Positions of the tokens that only one of two sentences has.

    >>> changed_tokens([7, 1, 8, 9], [7, 2, 3, 8, 9])
    ((1,), (1, 2))
    """
    return _positions(ids_1, ids_2, shared=False)


def nangia(
    logprobs_1: Logprobs, ids_1: Sequence[int], logprobs_2: Logprobs, ids_2: Sequence[int]
) -> tuple[float, float]:
    """Score of each sentence as Nangia et al. (2020): the sum of log-probabilities over the shared tokens.

    ``logprobs`` holds a value for every token, of that token when it is masked; those of changed tokens are
    not looked at and may be NaN.

    >>> nangia([-1.0, -9.0, -2.0], [5, 1, 6], [-1.5, -9.0, -2.5], [5, 2, 6])
    (-3.0, -4.0)
    """
    shared_1, shared_2 = shared_tokens(ids_1, ids_2)
    if not shared_1:
        raise BadInput("the two sentences share no token, so they cannot be compared by their shared tokens")
    one, two = _chosen(logprobs_1, ids_1, shared_1), _chosen(logprobs_2, ids_2, shared_2)
    return float(one.sum()), float(two.sum())


def meade(
    logprobs_1: Logprobs, ids_1: Sequence[int], logprobs_2: Logprobs, ids_2: Sequence[int]
) -> tuple[float, float] | None:
    """Score of each sentence as Meade et al. (2022): the mean of log-probabilities over the changed tokens.

    None where a sentence has no changed token: such a pair is skipped, as in the published code. ``logprobs``
    holds a value for every token; those of shared tokens are not looked at and may be NaN.

    >>> meade([-1.0, -3.0, -2.0], [5, 1, 6], [-1.0, -2.0, -6.0, -2.0], [5, 2, 3, 6])
    (-3.0, -4.0)
    """
    changed_1, changed_2 = changed_tokens(ids_1, ids_2)
    if not changed_1 or not changed_2:
        return None
    one, two = _chosen(logprobs_1, ids_1, changed_1), _chosen(logprobs_2, ids_2, changed_2)
    return float(one.mean()), float(two.mean())


def aul(logprobs: ArrayLike) -> float:
    """All unmasked likelihood (Kaneko & Bollegala 2022): the mean log-probability of all tokens, none masked.

    >>> aul([-1.0, -3.0])
    -2.0
    """
    return float(numbers("log-probabilities", logprobs).mean())


def _positions(ids_1: Sequence[int], ids_2: Sequence[int], *, shared: bool) -> tuple[Positions, Positions]:
    if not len(ids_1) or not len(ids_2):
        raise BadInput("a sentence has no tokens")
    # Without autojunk, which from 200 tokens on would take frequent tokens for noise; shorter lists are not touched.
    matcher = difflib.SequenceMatcher(None, list(ids_1), list(ids_2), autojunk=False)
    spans = [places for tag, *places in matcher.get_opcodes() if (tag == "equal") == shared]
    one = tuple(position for start, end, _, _ in spans for position in range(start, end))
    return one, tuple(position for _, _, start, end in spans for position in range(start, end))


def _chosen(logprobs: Logprobs, ids: Sequence[int], positions: Positions) -> Floats:
    if len(logprobs) != len(ids):
        raise BadInput(f"{len(logprobs)} log-probabilities for {len(ids)} tokens: give one a token")
    return numbers("log-probabilities of compared tokens", [logprobs[position] for position in positions])
