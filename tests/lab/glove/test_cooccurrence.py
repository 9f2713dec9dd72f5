from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.lab.glove import cooccurrence
from tiltmeter.lab.glove.cooccurrence import BLOCKS, ENTRY, PairCount, block_file, buckets, count_pairs, put_together
from tiltmeter.lab.glove.vocabulary import TextRules, add_up, count_words, numbered
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.corpus import cut_into_shards, find_files

RULES = TextRules(language("en"), "strict")


def by_hand(lines: list[list[str]], words: list[str], window: int) -> dict[tuple[str, str], float]:
    """Every pair both ways, as a loop over all words says it."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        known = [word for word in line if word in words]
        for at, word in enumerate(known):
            for other in range(max(0, at - window), at):
                counts[word, known[other]] += 1 / (at - other)
                counts[known[other], word] += 1 / (at - other)
    return dict(counts)


def counted(folder: Path, text: str, words: list[str], window: int, shard_bytes: int = 1 << 20):
    """What the files for training hold of a text."""
    (folder / "text.txt").write_text(text, encoding="utf-8")
    how = PairCount(RULES, {word: number for number, word in enumerate(words)}, window)
    parts = []
    for shard in cut_into_shards(find_files([folder / "text.txt"], None), shard_bytes):
        parts.append(folder / f"part-{shard.number}")
        parts[-1].write_bytes(count_pairs(how, shard))
    for one, two in buckets():
        put_together(parts, one, two, folder, size=len(words), x_max=100.0, alpha=0.75, seed=0)
    found = {}
    for row in range(BLOCKS):
        for column in range(BLOCKS):
            entries = np.fromfile(block_file(folder, row, column), ENTRY)
            assert (entries["word"] % BLOCKS == row).all()
            assert (entries["context"] % BLOCKS == column).all()
            for entry in entries:
                pair = words[entry["word"]], words[entry["context"]]
                assert pair not in found
                found[pair] = float(np.exp(entry["target"]))
                assert entry["weight"] == pytest.approx(min(1, (found[pair] / 100) ** 0.75), rel=1e-5)
    return found


def test_pairs_by_hand(tmp_path):
    found = counted(tmp_path, "The nurse saw the cat.\nA cat!\n", ["the", "cat", "nurse", "saw"], 2)
    # the nurse saw the cat: nurse-the 1 before and 1/2 after, ...
    assert found["nurse", "the"] == pytest.approx(1 + 1 / 2)
    assert found["the", "cat"] == found["cat", "the"] == pytest.approx(1.0)
    assert found["saw", "cat"] == pytest.approx(1 / 2)
    assert ("cat", "cat") not in found  # the second cat is on a line of its own


def test_a_word_beside_itself_counts_from_both_sides(tmp_path):
    assert counted(tmp_path, "cat cat\n", ["cat", "the"], 5) == {("cat", "cat"): pytest.approx(2.0)}


@settings(max_examples=6)  # each writes 256 files
@given(
    st.lists(st.lists(st.sampled_from([chr(97 + n) * 2 for n in range(20)]), max_size=12), min_size=1, max_size=8),
    st.integers(1, 6), st.sampled_from([20, 1 << 20]),
)  # fmt: skip
def test_pairs_are_those_of_a_plain_loop(tmp_path_factory, lines, window, shard_bytes):
    words = [chr(97 + n) * 2 for n in range(18)]
    text = "\n".join(" ".join(line) for line in lines) + "\n"
    if not text.strip():
        return
    found = counted(tmp_path_factory.mktemp("pairs"), text, words, window, shard_bytes)
    expected = by_hand(lines, words, window)
    assert found.keys() == expected.keys()
    for pair, count in expected.items():
        assert found[pair] == pytest.approx(count, rel=1e-5)


def test_a_table_that_is_full_is_emptied_and_nothing_is_lost(tmp_path, monkeypatch):
    monkeypatch.setattr(cooccurrence, "_ROOM", 40)
    rng = np.random.default_rng(0)
    words = [f"w{chr(97 + n)}" for n in range(20)]
    lines = [[words[n] for n in rng.integers(0, 20, 12)] for _ in range(30)]
    found = counted(tmp_path, "\n".join(map(" ".join, lines)), words, 4)
    assert found == pytest.approx(by_hand(lines, words, 4), rel=1e-5)


def test_words_are_counted_in_small_letters_by_the_rules_of_the_language(tmp_path):
    (tmp_path / "a.txt").write_text("She's a NURSE.\nShe’s (a) nurse\n", encoding="utf-8")
    (shard,) = cut_into_shards(find_files([tmp_path / "a.txt"], None))
    counts = count_words(RULES, shard)
    assert counts["nurse"] == 2
    assert counts["a"] == 2


def test_rare_words_fall_away_when_there_are_too_many(monkeypatch):
    monkeypatch.setattr("tiltmeter.lab.glove.vocabulary._MOST_TYPES", 3)
    total = add_up([{"a": 5, "b": 1}, {"c": 1, "d": 2, "a": 1}])
    assert total == {"a": 6, "d": 2}
    assert list(numbered(total, min_count=3, most=9)) == ["a"]
