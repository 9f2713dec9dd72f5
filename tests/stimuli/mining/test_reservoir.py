from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.stimuli.mining.finding import kept, look, settings, windows
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining import reservoir as reservoir_module
from tiltmeter.stimuli.mining.alphabet import Alphabet
from tiltmeter.stimuli.mining.kernels import rank_of
from tiltmeter.stimuli.mining.parts import Finds
from tiltmeter.stimuli.mining.priority import Priorities
from tiltmeter.stimuli.mining.reservoir import FIELDS, Batch, Reservoirs


def test_the_number_of_a_window_depends_on_its_text_and_not_on_where_it_stands():
    priorities = Priorities(0, ["he\n9"])
    block = Alphabet(["he"], language("en")).block("\nüne he twö, üne he twö\n".encode())
    hashes = priorities.running_hash(block)
    first, second, moved, other = (
        rank_of(hashes, priorities.powers, priorities.keys[0], start, end, form)
        for start, end, form in [(1, 11, 5), (13, 23, 17), (1, 11, 6), (1, 10, 5)]
    )
    assert first == second
    assert len({first, moved, other}) == 3


@pytest.mark.parametrize("seed", range(3))
def test_every_window_is_as_likely_to_be_kept(seed):
    lines = [f"he number {number}" for number in range(4000)]
    asked = settings(["he"], keep=1000, seed=seed)
    chosen = {window.line - 1 for window in windows("\n".join(lines), asked)}
    assert len(chosen) == 1000
    by_tenth = np.bincount([number // 400 for number in chosen], minlength=10)
    assert stats.chisquare(by_tenth).pvalue > 0.001
    by_digit = np.bincount([number % 10 for number in chosen], minlength=10)
    assert stats.chisquare(by_digit).pvalue > 0.001


def test_numbers_are_uniform_and_another_seed_word_or_length_gives_others():
    lines = "\n".join(f"he is number {number} and she is not" for number in range(3000))
    ranks = {}
    for seed in (0, 1):
        asked = settings(["he", "she"], lengths=["7", ">7"], keep=3000, seed=seed)
        finds = look(lines, asked)
        for slot in range(asked.reservoirs):
            own = {each.line: each.rank / 2**64 for each in kept(finds.reservoirs) if each.reservoir == slot}
            ranks[seed, slot] = np.array([own[line] for line in sorted(own)])
    for values in ranks.values():
        assert stats.kstest(values, "uniform").pvalue > 0.001
    table = np.corrcoef(list(ranks.values()))
    assert np.abs(table[~np.eye(len(table), dtype=bool)]).max() < 4 / np.sqrt(3000)


def test_the_same_window_counts_once_and_its_first_place_is_kept():
    text = "he left early\nshe left\nhe left early\nthere he left early"
    asked = settings(["he"], lengths=["3"])
    finds = look(text, asked)
    assert finds.found.tolist() == [3]
    assert [(window.text, window.line, window.at) for window in windows(text, asked)] == [
        ("he left early", 1, 0),
        ("there he left", 4, 6),
    ]


def test_the_same_text_with_the_word_in_another_place_is_another_window():
    found = windows("he saw he", settings(["he"], lengths=["3"]))
    assert [(window.text, window.start) for window in found] == [("he saw he", 0), ("he saw he", 7)]


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 40), st.integers(0, 5)), max_size=120),
    st.randoms(),
    st.integers(1, 12),
    st.integers(1, 30),
)
def test_reservoirs_keep_the_smallest_ranks_in_whatever_order_they_come(offered, random, keep, waiting):
    def fill(order):
        reservoirs = Reservoirs(3, keep)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(reservoir_module, "_WAITING", waiting)
            for slot, rank, line in order:
                numbers = np.array([[line if name == "line" else 0] for name in FIELDS])
                text = np.array([b"text %d" % rank], object)
                reservoirs.put(Batch(np.array([slot]), np.array([rank], np.uint64), text, numbers))
            return kept(reservoirs)

    first = {}
    for slot, rank, line in offered:
        first[slot, rank] = min(line, first.get((slot, rank), line))
    smallest = [
        (*each, line)
        for slot in range(3)
        for each, line in sorted(item for item in first.items() if item[0][0] == slot)[:keep]
    ]
    found = fill(offered)
    assert [(window.reservoir, window.rank, window.line) for window in found] == smallest
    assert fill(random.sample(offered, len(offered))) == found


def test_finds_go_through_bytes_and_add_up():
    asked = settings(["he", "she"], lengths=["3", ">3"])
    whole = look("he left early\nshe stayed there today", asked)
    again = Finds.none(asked)
    again.add(whole.to_bytes())
    assert again.to_bytes() == whole.to_bytes()
    again.add(whole.to_bytes())
    assert again.found.tolist() == (2 * whole.found).tolist() == [2, 0, 2, 2]
    assert [window.reservoir for window in kept(again.reservoirs)] == [0, 2, 3]
