import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.models.transformers.batching import by_length, fair_budget, pad

LENGTHS = st.lists(st.integers(1, 60), max_size=80)


@given(LENGTHS, st.integers(1, 200), st.integers(0, 40))
def test_every_text_is_in_one_batch_within_the_budget_and_the_padding_allowed(lengths, budget, slack):
    batches = by_length(lengths, budget=budget, slack=slack)
    assert sorted(position for batch in batches for position in batch) == list(range(len(lengths)))
    for batch in batches:
        widest = max(lengths[position] for position in batch)
        assert len(batch) == 1 or widest * len(batch) <= budget
        assert sum(widest - lengths[position] for position in batch) <= slack


def test_the_longest_texts_come_first_and_equal_ones_keep_their_order():
    assert by_length([2, 7, 2, 7, 2], budget=14, slack=0) == [[1, 3], [0, 2, 4]]


def test_a_text_longer_than_the_budget_stands_alone():
    assert by_length([100, 3], budget=10) == [[0], [1]]


def test_no_texts_make_no_batches():
    assert by_length([], budget=10) == []


@pytest.mark.parametrize(("texts", "batches"), [(20, 4), (60, 4), (128, 8), (1000, 40)])
def test_batches_come_in_numbers_that_two_or_four_cpus_share_evenly(texts, batches):
    lengths = [20] * texts
    budget = fair_budget(lengths, budget=512)
    assert len(by_length(lengths, budget=budget)) == batches


def test_a_few_words_are_not_shattered():
    assert fair_budget([5] * 4, budget=512) == 64


def test_rows_of_one_length_need_no_mask():
    ids, real = pad([[1, 2], [3, 4]], fill=9)
    assert ids.tolist() == [[1, 2], [3, 4]]
    assert real is None


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=6))
def test_padding_stands_on_the_right_and_is_masked(rows):
    ids, real = pad(rows, fill=0)
    mask = np.ones_like(ids, dtype=bool) if real is None else real
    assert [row[keep].tolist() for row, keep in zip(ids, mask, strict=True)] == rows
    assert not ids[~mask].any()
