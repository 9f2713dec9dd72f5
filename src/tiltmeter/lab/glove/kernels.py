"""The loops of GloVe that look at every pair of words, compiled by numba when they are first run."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import MissingExtra

try:
    from numba import njit
except ImportError:
    raise MissingExtra("training GloVe", "mining") from None

Numbers = NDArray[np.int32]
Keys = NDArray[np.int64]
Matrix = NDArray[np.float32]
Row = NDArray[np.float32]

_GOLDEN, _SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(20)
#: Sums may be added in any order, so that the processor adds several numbers at a time.
_SUMS = {"reassoc", "contract"}


@njit(cache=True)
def count_pairs(
    words: Numbers, lines: Numbers, start: int, window: int, size: int, keys: Keys, sums: NDArray[np.float64], room: int
) -> tuple[int, int]:
    """Add 1 / distance for each pair of words at most ``window`` apart in a line to a hash table with -1 for no key.

    A pair is ``smaller * size + larger``. Stops when ``room`` pairs are in the table; says at which word, and how many.
    """
    mask, pairs = np.uint64(len(keys) - 1), 0
    for at in range(start, len(words)):
        if pairs + window > room:
            return at, pairs
        one = np.int64(words[at])
        for distance in range(1, window + 1):
            other = at - distance
            if other < 0 or lines[other] != lines[at]:
                break
            two = np.int64(words[other])
            key = min(one, two) * size + max(one, two)
            slot = (np.uint64(key) * _GOLDEN) >> _SHIFT & mask
            while keys[slot] != key:
                if keys[slot] == -1:
                    keys[slot] = key
                    pairs += 1
                    break
                slot = (slot + np.uint64(1)) & mask
            sums[slot] += 1.0 / distance
    return len(words), pairs


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def learn(
    entries: Any, words: Matrix, contexts: Matrix, word_biases: Row, context_biases: Row,
    word_squares: Matrix, context_squares: Matrix, word_bias_squares: Row, context_bias_squares: Row, rate: np.float32,
    group_of: Numbers, neutral: int,
) -> float:  # fmt: skip
    """One step of AdaGrad on J_G for each entry (word, context, ln X, f(X)); the sum of their losses.

    Of two words that say no group the ``neutral`` first dimensions count alone.
    """
    total, one = 0.0, np.float32(1)
    for n in range(len(entries)):
        i, j = entries[n].word, entries[n].context
        width = words.shape[1] if group_of[i] >= 0 or group_of[j] >= 0 else neutral
        w, c, w_squares, c_squares = words[i], contexts[j], word_squares[i], context_squares[j]
        error = word_biases[i] + context_biases[j] - entries[n].target
        for d in range(width):
            error += w[d] * c[d]
        pull = entries[n].weight * error
        total += 0.5 * pull * error
        pull *= rate
        for d in range(width):
            by_word, by_context = pull * c[d], pull * w[d]
            w[d] -= by_word * (one / np.sqrt(w_squares[d]))
            c[d] -= by_context * (one / np.sqrt(c_squares[d]))
            w_squares[d] += by_word * by_word
            c_squares[d] += by_context * by_context
        word_biases[i] -= pull / np.sqrt(word_bias_squares[i])
        context_biases[j] -= pull / np.sqrt(context_bias_squares[j])
        word_bias_squares[i] += pull * pull
        context_bias_squares[j] += pull * pull
    return total


@njit(cache=True, nogil=True, fastmath=_SUMS, error_model="numpy")
def confine(
    vectors: Matrix, first: int, step: int, group_of: Numbers, corners: Matrix, directions: Matrix, strength: np.float32
) -> None:
    """The proximal steps of J_D and J_E for every ``step``-th word from the ``first``; see ``loss``."""
    neutral, reserved = directions.shape[1], corners.shape[1]
    share = strength / (np.float32(1) + strength)
    for word in range(first, len(vectors), step):
        vector, group = vectors[word], group_of[word]
        if group >= 0:
            for d in range(reserved):
                vector[neutral + d] += share * (corners[group, d] - vector[neutral + d])
            continue
        for direction in directions:
            along = np.float32(0)
            for d in range(neutral):
                along += vector[d] * direction[d]
            along *= share
            for d in range(neutral):
                vector[d] -= along * direction[d]
