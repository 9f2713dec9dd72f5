from __future__ import annotations

import gzip
import os
import signal
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from tests.stimuli.mining.finding import kept, look, settings, windows
from tests.stimuli.mining.test_mine import SHARD, run, sentences, table
from tiltmeter.errors import TiltmeterError
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining import engines
from tiltmeter.stimuli.mining.blocks import Alphabet
from tiltmeter.stimuli.mining.engines import Ranks
from tiltmeter.stimuli.mining.kernels import rank_of

ENGLISH = language("en")


def count(text: str) -> int:
    return len(ENGLISH.words(text))


def texts(text: str, *words: str, **more) -> list[str]:
    return [window.text for window in windows(text, settings(words, **more))]


@pytest.mark.parametrize(
    ("place", "window"),
    [(0, "X 1 2"), (1, "0 X 2"), (2, "1 X 3"), (4, "3 X 5"), (6, "5 X 7"), (7, "6 X 8"), (8, "6 7 X")],
)
def test_three_words_at_the_start_in_the_middle_and_at_the_end(place, window):
    line = " ".join("X" if number == place else str(number) for number in range(9))
    assert texts(line, "x", lengths=["3"]) == [window]


def test_an_even_window_has_one_word_more_behind():
    assert texts("a b c X d e f", "x", lengths=["4"]) == ["c X d e"]


def test_a_window_at_an_edge_takes_the_signs_there_and_no_other():
    assert texts('"X one, two, three, four."', "x", lengths=["3"]) == ['"X one, two']
    assert texts('"one two, three, X."', "x", lengths=["3"]) == ['two, three, X."']
    assert texts('("X one two")', "x", lengths=["3"]) == ['("X one two")']


def test_a_text_with_fewer_words_has_no_window():
    assert texts("a b X c", "x", lengths=["5"]) == []
    assert texts("a b X c d", "x", lengths=["5"]) == ["a b X c d"]


def test_records_do_not_run_into_each_other():
    assert texts("a b c\nd X e\nf g h", "x", lengths=["3", "4"]) == ["d X e"]


def test_more_than_so_many_words_is_the_whole_text():
    assert texts("a b X c d.\na X b c.", "x", lengths=[">4"]) == ["a b X c d."]


def test_a_form_of_several_words_counts_as_so_many():
    assert texts("a b mother in law c d", "mother in law", lengths=["3", "5", "2"]) == [
        "mother in law", "b mother in law c",
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["C++", "C++ .NET C", "a C++ b", "a b .NET c d", ".NET a b", "a b C++", "a.NET b"])
def test_the_signs_of_a_form_are_in_its_window_and_count_as_no_word(line):
    for length in (1, 2, 3):
        for window in windows(line, settings(["C++", ".NET"], lengths=[str(length)])):
            assert window.text[window.start : window.end] in ("C++", ".NET")
            assert count(window.text) == length


def test_a_sentence_is_the_sentence_the_word_is_in():
    line = "She left. He stayed there! Nobody knew."
    assert texts(line, "he", "nobody", lengths=["sentence"]) == ["He stayed there!", "Nobody knew."]
    assert texts(line, "he", lengths=["3", "4"], within="sentence") == ["He stayed there!"]
    assert texts(line, "he", lengths=["3", "4"]) == ["left. He stayed", "left. He stayed there"]
    assert texts(line, "he", lengths=[">2", ">3"], within="sentence") == ["He stayed there!"]


def test_japanese_windows_hold_so_many_words():
    pytest.importorskip("fugashi")
    found = windows("彼女は医者です。", settings(["医者"], code="ja", lengths=["3"]))
    assert [window.text for window in found] == ["は医者です。"]


LINE = st.lists(
    st.sampled_from(["X", "x's", "a", "bc", "it's", "-", "...", "é", "যোগ", "x-y", '"', "12"]), min_size=1, max_size=40
).map(" ".join)


@given(st.lists(LINE, min_size=1, max_size=5), st.integers(1, 12))
def test_a_window_holds_exactly_so_many_words_of_its_record_and_the_word_itself(lines, length):
    lines = [ENGLISH.normalise(line) for line in lines]
    found = windows("\n".join(lines), settings(["x"], lengths=[str(length)]))
    for window in found:
        record = lines[window.line - 1]
        assert count(window.text) == length
        assert window.text[window.start : window.end].lower() == "x"
        begin = window.at - window.start
        assert record[begin : begin + len(window.text)] == window.text
        spans = ENGLISH.words(record)
        inside = [number for number, (start, end) in enumerate(spans) if begin <= start < begin + len(window.text)]
        at = next(number for number, (start, end) in enumerate(spans) if start <= window.at < end)
        before, after = at - inside[0], inside[-1] - at
        # As many words on either side, as far as the record allows it.
        assert -1 <= after - before <= 1 or inside[0] == 0 or inside[-1] == len(spans) - 1


@given(LINE, st.integers(1, 12))
def test_every_occurrence_in_a_long_enough_record_has_a_window(line, length):
    line = ENGLISH.normalise(line)
    assume(count(line) >= length)
    found = windows(line, settings(["x"], lengths=[str(length)]))
    everywhere = windows(line, settings(["x"], lengths=["sentence", ">0"]))
    distinct = {(window.text, window.start) for window in found}
    assert {window.at for window in found} <= {window.at for window in everywhere}
    assert len(distinct) == len(found)
    assert bool(found) == bool(everywhere)


def test_the_number_of_a_window_depends_on_its_text_and_not_on_where_it_stands():
    ranked = Ranks(0, ["he\n9"])
    block = Alphabet(["he"], language("en")).block("\nüne he twö, üne he twö\n".encode())
    hashes = ranked.running_hash(block)
    first, second, moved, other = (
        rank_of(hashes, ranked.powers, ranked.keys[0], start, end, form)
        for start, end, form in [(1, 11, 5), (13, 23, 17), (1, 11, 6), (1, 10, 5)]
    )
    assert first == second
    assert len({first, moved, other}) == 3


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


def test_the_same_text_with_the_word_in_another_place_is_another_window():
    found = windows("he saw he", settings(["he"], lengths=["3"]))
    assert [(window.text, window.start) for window in found] == [("he saw he", 0), ("he saw he", 7)]


def test_two_workers_write_the_same_bytes_as_one(tmp_path):
    corpus, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    corpus.write_text("\n".join(sentences(800)))
    packed.write_bytes(gzip.compress("\n".join(sentences(300, 3)).encode()))
    one = run([corpus, packed], tmp_path / "one", shard_bytes=20_000)
    two = run([packed, corpus], tmp_path / "two", shard_bytes=20_000, workers=2)
    assert table(tmp_path / "one") == table(tmp_path / "two")
    assert (tmp_path / "one/mined.json").read_bytes() == (tmp_path / "two/mined.json").read_bytes()
    assert one.counts == two.counts


def test_a_worker_that_is_ended_from_outside_is_one_clear_line(tmp_path, monkeypatch):
    corpus = tmp_path / "a.txt"
    corpus.write_text("\n".join(sentences(2000)))
    monkeypatch.setattr(engines, "_scan", end_this_process)
    with pytest.raises(TiltmeterError, match=r"a worker process was ended from outside .* run the same command again"):
        run([corpus], tmp_path / "out", shard_bytes=SHARD, workers=2)
    monkeypatch.undo()
    run([corpus], tmp_path / "out", shard_bytes=SHARD)
    run([corpus], tmp_path / "undisturbed", shard_bytes=SHARD)
    assert table(tmp_path / "out") == table(tmp_path / "undisturbed")


def end_this_process(*_) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture(scope="module")
def cluster():
    """A Ray cluster of two workers on this machine."""
    ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'tiltmeter[ray]'")
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
            runtime_env={"env_vars": {"PYTHONPATH": os.pathsep.join(paths)}},
        )  # fmt: skip
        yield
        ray.shutdown()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(sentences(4000)))
    return path


def on_cluster(test):
    """Ray's own warnings are no errors."""
    return pytest.mark.usefixtures("cluster")(pytest.mark.filterwarnings("ignore")(test))


@on_cluster
def test_a_cluster_writes_the_same_bytes_as_one_process(tmp_path, corpus):
    run([corpus], tmp_path / "here", shard_bytes=SHARD)
    run([corpus], tmp_path / "there", shard_bytes=SHARD, engine="ray", workers=2)
    assert table(tmp_path / "here") == table(tmp_path / "there")
    assert (tmp_path / "here/mined.json").read_bytes() == (tmp_path / "there/mined.json").read_bytes()


def scan_and_die_once(settings, item):
    """The work of a worker that is killed in the middle of the run, once."""
    shard, _ = item
    mark = Path(shard.file.path).with_suffix(".killed")
    if shard.number == 20 and not mark.exists():
        mark.write_text(str(os.getpid()))
        os.kill(os.getpid(), signal.SIGKILL)
    return REAL(settings, item)


REAL = engines._scan


@on_cluster
def test_a_worker_that_is_killed_mid_run_loses_nothing(tmp_path, corpus, monkeypatch):
    run([corpus], tmp_path / "here", shard_bytes=SHARD)
    monkeypatch.setattr(engines, "_scan", scan_and_die_once)
    run([corpus], tmp_path / "there", shard_bytes=SHARD, engine="ray", workers=2)
    assert corpus.with_suffix(".killed").exists()
    assert table(tmp_path / "here") == table(tmp_path / "there")


@on_cluster
def test_bad_input_on_a_cluster_is_the_same_clear_line(tmp_path, corpus):
    corpus.write_bytes(corpus.read_bytes() + b"\nhe \xff")
    with pytest.raises(TiltmeterError, match=r"^a.txt: not UTF-8 at byte \d+ \(line 4001\)"):
        run([corpus], tmp_path / "out", shard_bytes=SHARD, engine="ray", workers=2)
