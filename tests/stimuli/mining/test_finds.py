from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tests.stimuli.mining.finding import kept, look, settings, windows
from tiltmeter.stimuli.mining import finds as finds_module
from tiltmeter.stimuli.mining.finds import FIELDS, Finds, PartsFolder, Reservoirs, Tally, Windows


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


def test_the_same_window_counts_once_and_its_first_place_is_kept():
    text = "he left early\nshe left\nhe left early\nthere he left early"
    asked = settings(["he"], lengths=["3"])
    finds = look(text, asked)
    assert finds.windows.tolist() == [3]
    assert [(window.text, window.line, window.at) for window in windows(text, asked)] == [
        ("he left early", 1, 0),
        ("there he left", 4, 6),
    ]


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
            patch.setattr(finds_module, "_WAITING", waiting)
            for slot, rank, line in order:
                numbers = np.array([[line if name == "line" else 0] for name in FIELDS])
                text = np.array([b"text %d" % rank], object)
                reservoirs.add(Windows(np.array([slot]), np.array([rank], np.uint64), text, numbers))
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
    assert again.windows.tolist() == (2 * whole.windows).tolist() == [2, 0, 2, 2]
    assert [window.reservoir for window in kept(again.reservoirs)] == [0, 2, 3]


def test_many_parts_are_put_together_and_a_kill_in_between_loses_and_doubles_nothing(tmp_path):
    asked = settings(["he"], lengths=["3"])
    store = PartsFolder(tmp_path / "parts", {"run": 1})
    store.begin()
    whole = Finds.none(asked)
    for number in range(70):
        part = look(f"he left {number}", asked)
        part.shards[number] = Tally(1, 0)
        whole.add(part.to_bytes())
        store.keep(number, part.to_bytes())
    left = (tmp_path / "parts/00000003.arrow").read_bytes()
    store.combine(whole)
    assert [path.name for path in (tmp_path / "parts").glob("*.arrow")] == ["all.arrow"]
    (tmp_path / "parts/00000003.arrow").write_bytes(left)
    again = Finds.none(asked)
    store.load(again)
    assert again.to_bytes() == whole.to_bytes()
    assert again.windows.tolist() == [70]


def test_a_part_in_which_a_disk_has_turned_a_bit_is_mined_again(tmp_path):
    asked = settings(["he"], lengths=["3"])
    store = PartsFolder(tmp_path / "parts", {"run": 1})
    store.begin()
    for number in range(2):
        part = look(f"he left {number}", asked)
        part.shards[number] = Tally(1, 0)
        store.keep(number, part.to_bytes())
    path = tmp_path / "parts/00000001.arrow"
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << (place % 8)
        path.write_bytes(damaged)
        finds = Finds.none(asked)
        store.load(finds)
        assert list(finds.shards) == [0]
    (tmp_path / "parts/run.json").write_bytes(b'{"run": \xb1}')
    assert store.outdated
