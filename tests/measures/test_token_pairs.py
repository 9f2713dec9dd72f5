"""Scores of sentence pairs from the log-probabilities of their shared or changed tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.measures import aul, changed_tokens, meade, nangia, shared_tokens

IDS = st.lists(st.integers(0, 5), min_size=1, max_size=12)
NAN = float("nan")

# "the two women walked home" and "the men walked home": "two women" against "men"
WOMEN, MEN = [1, 2, 3, 4, 5], [1, 6, 4, 5]


def test_shared_and_changed_tokens_by_hand():
    assert shared_tokens(WOMEN, MEN) == ((0, 3, 4), (0, 2, 3))
    assert changed_tokens(WOMEN, MEN) == ((1, 2), (1,))


@given(IDS, IDS)
def test_shared_tokens_are_the_same_and_with_the_changed_ones_they_are_all(one, two):
    (shared_1, shared_2), (changed_1, changed_2) = shared_tokens(one, two), changed_tokens(one, two)
    assert [one[i] for i in shared_1] == [two[i] for i in shared_2]
    assert sorted(shared_1 + changed_1) == list(range(len(one)))
    assert sorted(shared_2 + changed_2) == list(range(len(two)))
    assert list(shared_1) == sorted(shared_1)


@given(IDS)
def test_a_sentence_shares_all_tokens_with_itself(ids):
    assert shared_tokens(ids, ids) == (tuple(range(len(ids))),) * 2
    assert changed_tokens(ids, ids) == ((), ())


def test_frequent_tokens_of_a_long_sentence_are_no_noise():
    # from 200 tokens on the default of difflib would drop a token that is 1% of them
    long = [7] * 250
    assert shared_tokens([1, *long], [2, *long]) == (tuple(range(1, 251)),) * 2


def test_nangia_sums_over_shared_tokens_and_looks_at_no_other():
    assert nangia([-1.0, NAN, NAN, -2.0, -3.0], WOMEN, [-1.5, NAN, -2.5, -3.5], MEN) == (-6.0, -7.5)


def test_meade_averages_over_changed_tokens_and_looks_at_no_other():
    assert meade([NAN, -1.0, -2.0, NAN, NAN], WOMEN, [NAN, -4.0, NAN, NAN], MEN) == (-1.5, -4.0)


def test_meade_skips_a_pair_in_which_one_sentence_only_adds_tokens():
    assert meade([-1.0, -1.0], [1, 2], [-1.0, -1.0, -1.0], [1, 9, 2]) is None
    assert meade([-1.0], [1], [-1.0], [1]) is None


def test_aul_is_a_mean():
    assert aul([-1.0, -2.0, -6.0]) == -3.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shared_tokens([], [1]), "no tokens"),
        (lambda: nangia([-1.0], [1], [-1.0], [2]), "share no token"),
        (lambda: nangia([-1.0], [1, 2], [-1.0], [1]), "1 log-probabilities for 2 tokens"),
        (lambda: nangia([NAN], [1], [-1.0], [1]), "NaN"),
        (lambda: meade([float("-inf")], [1], [-1.0], [2]), "infinity"),
        (lambda: aul([]), "at least one number"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
