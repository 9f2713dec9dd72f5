from __future__ import annotations

import unicodedata
from collections import Counter

import pytest
import regex

from tiltmeter.stimuli.datasets import load_bangla_categories
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining import load_mined, mine
from tiltmeter.stimuli.mining.form_finder import FormFinder
from tiltmeter.stimuli.mining.mining_settings import find_words

BANGLA = language("bn")
#: Line, place, word and form of 50 occurrences, read in the sample one by one.
READ = [
    (1, 13, "গল্প", "গল্প"), (58, 23, "যোগ", "যোগে"), (232, 95, "আবুল", "আবুল"), (344, 15, "লোক", "লোকটির"),
    (371, 0, "কন্যা", "কন্যা"), (404, 57, "গবেষণা", "গবেষণা"), (421, 138, "পরিবার", "পরিবারে"),
    (439, 0, "সাহিত্য", "সাহিত্যের"), (446, 21, "বাড়ি", "বাড়িটি"), (520, 0, "বন্ধু", "বন্ধুরা"),
    (533, 491, "সঙ্গীত", "সঙ্গীত"), (572, 35, "ব্যবসা", "ব্যবসার"), (656, 91, "আনন্দ", "আনন্দ"),
    (757, 47, "শিল্প", "শিল্পের"), (881, 27, "রজনীগন্ধা", "রজনীগন্ধা"), (935, 85, "হীরা", "হীরা"),
    (977, 55, "ছবি", "ছবি"), (1003, 0, "বন্ধু", "বন্ধুরা"), (1093, 21, "বন্ধু", "বন্ধুরা"),
    (1159, 0, "সিনেমা", "সিনেমাতে"), (1210, 33, "বাড়ি", "বাড়ি"), (1273, 30, "শিল্প", "শিল্পের"),
    (1343, 12, "কোণ", "কোণের"), (1405, 52, "সূর্যোদয়", "সূর্যোদয়"), (1573, 31, "বাড়ি", "বাড়ির"),
    (1597, 206, "শিল্প", "শিল্পের"), (1605, 60, "শিল্প", "শিল্প"), (1633, 48, "বাড়ি", "বাড়ি"),
    (1730, 77, "গুণ", "গুণ"), (1802, 33, "ময়লা", "ময়লা"), (1847, 40, "গোলাপ", "গোলাপ"),
    (1897, 45, "শিল্প", "শিল্পে"), (1952, 24, "মশা", "মশার"), (2022, 45, "ভালবাসা", "ভালবাসা"),
    (2071, 7, "বাড়ি", "বাড়ি"), (2186, 20, "উপহার", "উপহার"), (2265, 55, "যোগ", "যোগে"), (2360, 33, "অফিস", "অফিস"),
    (2506, 31, "শিল্প", "শিল্পের"), (2521, 46, "শিল্প", "শিল্পের"), (2593, 8, "গোলাপ", "গোলাপ"),
    (2612, 21, "গোলাপ", "গোলাপ"), (2703, 80, "ভাই", "ভাই"), (2749, 62, "নারী", "নারী"), (2797, 56, "গল্প", "গল্প"),
    (2827, 126, "শিল্প", "শিল্পের"), (2870, 66, "শেখ", "শেখ"), (2963, 62, "যোগ", "যোগে"),
    (3090, 23, "শাপলা", "শাপলা"), (3151, 56, "অফিস", "অফিসে"),
]  # fmt: skip
#: Lines in which a word of the lexicon stands only inside a longer one, e.g. যোগ in সুযোগ and in যোগাযোগ.
INSIDE = [
    (68, "গান", "বাগানবাড়ী"), (286, "তীর", "বিস্তীর্ণ"), (631, "তীর", "সমুদ্রতীরে"), (708, "যোগ", "সুযোগ"),
    (1100, "যোগ", "যোগাযোগ"), (1278, "গান", "গান্ধীজীর"), (1550, "লোক", "লোকজন"), (1738, "ভাই", "পাঁচভাই"),
    (1900, "যোগ", "সহযোগিতা"), (2191, "যোগ", "মনোযোগ"), (2848, "যোগ", "সংযোগ"), (2997, "লোক", "লোকসংখ্যা"),
]  # fmt: skip


@pytest.fixture(scope="module")
def published(data_folder):
    folder = data_folder("bangla") / "CeatDataCollection"
    categories = load_bangla_categories(folder)
    return folder / "sample_data/porjotonlipi.bn", categories.groups


@pytest.fixture(scope="module")
def lines(published):
    return [BANGLA.normalise(line) for line in published[0].read_text(encoding="utf-8").split("\n")]


@pytest.fixture(scope="module")
def words(published):
    return find_words(published[1], BANGLA)


def occurrences(text, words):
    """Line, place, word and form of all that is found."""
    finder = FormFinder(words, BANGLA)
    block = finder.block(f"\n{text}\n".encode())
    _, hits = finder.find(block)
    line = block.line_of(hits.start)
    at = hits.start - block.breaks[line] - 1
    spans = zip(line.tolist(), at.tolist(), hits.word.tolist(), hits.start.tolist(), hits.end.tolist(), strict=True)
    return sorted((n + 1, place, words[word].text, block.text(start, end)) for n, place, word, start, end in spans)


def by_regular_expressions(lines, words):
    """The same, by a search for each word on its own that shares nothing with the miner."""
    edge = r"[\p{L}\p{M}\p{N}\u200c\u200d]"
    found = []
    for each in words:
        either = "|".join(map(regex.escape, sorted(each.forms, key=len, reverse=True)))
        pattern = regex.compile(rf"(?<!{edge})(?:{either})(?!{edge})")
        for number, line in enumerate(lines, 1):
            found += [(number, hit.start(), each.text, hit[0]) for hit in pattern.finditer(line)]
    return sorted(found)


def test_every_true_occurrence_in_the_sample_is_found_and_no_false_one(lines, words):
    found = occurrences("\n".join(lines), words)
    print(f"{len(found)} occurrences of {len({word for _, _, word, _ in found})} words")
    assert found == by_regular_expressions(lines, words)
    assert len(found) == 512
    counts = Counter(word for _, _, word, _ in found)
    assert (counts["শিল্প"], counts[BANGLA.normalise("বাড়ি")], counts["যোগ"]) == (54, 48, 19)


def test_the_occurrences_that_were_read_by_hand_are_found(lines, words):
    found = set(occurrences("\n".join(lines), words))
    assert len(READ) == 50
    assert {tuple(BANGLA.normalise(each) if isinstance(each, str) else each for each in row) for row in READ} <= found
    assert sum(at > 0 for _, at, _, _ in READ) == 45  # within the line


@pytest.mark.parametrize(("number", "word", "longer"), INSIDE)
def test_a_word_inside_a_longer_one_is_not_found(lines, words, number, word, longer):
    line = lines[number - 1]
    assert BANGLA.normalise(longer) in line
    assert word not in [found for _, _, found, _ in occurrences(line, words)]


def test_one_spelling_of_the_letters_with_a_dot_is_as_good_as_the_other(published, lines, words):
    text = published[0].read_text(encoding="utf-8")
    apart = unicodedata.normalize("NFD", text)
    assert text.count("\u09df") + text.count("\u09dc") == 4905
    assert apart.count("\u09df") + apart.count("\u09dc") == 0
    again = [BANGLA.normalise(line) for line in apart.split("\n")]
    assert occurrences("\n".join(again), words) == occurrences("\n".join(lines), words)


def test_mining_the_sample_keeps_each_text_once(published, lines, words, tmp_path):
    sample, groups = published
    report = mine([sample], lexicon=list(groups.values()), out=tmp_path / "out", lengths=["9", ">0"], keep=1000)
    assert (report.occurrences, report.records) == (512, 3284)
    rows = load_mined(tmp_path / "out").rows
    expected = {(word, lines[number - 1], at) for number, at, word, _ in by_regular_expressions(lines, words)}
    assert {(row.word, row.text, row.start) for row in rows if row.length == ">0"} == expected
    nine = [row for row in rows if row.length == "9"]
    assert {len(BANGLA.words(row.text)) for row in nine} == {9}
    assert all(row.text[row.start : row.end] == row.form and row.form.startswith(row.word[:2]) for row in nine)


@pytest.mark.parametrize(
    ("across", "windows", "different"),
    [("none", (415, 54, 5), (332, 44, 5)), ("lines", (510, 426, 21), (402, 345, 17))],
)
def test_windows_reach_into_the_lines_before_and_after_as_the_study_joins_them(
    published, lines, words, tmp_path, across, windows, different
):
    sample, groups = published
    report = mine(
        [sample],
        lexicon=list(groups.values()),
        out=tmp_path / "out",
        lengths=["9", "25", "75"],
        keep=1000,
        across=across,
    )
    found, kept = Counter(), Counter()
    for count in report.counts:
        found[count.length] += count.found
        kept[count.length] += count.kept
    assert tuple(found[length] for length in ("9", "25", "75")) == windows
    assert tuple(kept[length] for length in ("9", "25", "75")) == different
    reach = across == "lines"
    for number, length in enumerate((9, 25, 75)):
        texts = [" ".join(lines[max(0, n - 1 - reach) : n + reach]) for n, *_ in by_regular_expressions(lines, words)]
        assert sum(len(BANGLA.words(text)) >= length for text in texts) == windows[number]
    rows = load_mined(tmp_path / "out").rows
    assert all(len(BANGLA.words(row.text)) == int(row.length) for row in rows)
    assert all(row.text[row.start : row.end] == row.form for row in rows)
    assert not any("\n" in row.text for row in rows)
    assert all(lines[row.line - 1][row.at : row.at + len(row.form)] == row.form for row in rows)


def test_one_window_across_lines_belongs_to_the_first_line_which_has_none_before_it(published, tmp_path):
    sample, groups = published
    lines = sample.read_text(encoding="utf-8").split("\n")
    rest = tmp_path / "rest.txt"
    rest.write_text("\n".join(lines[1:]), encoding="utf-8")
    lexicon = list(groups.values())
    report = mine([rest], lexicon=lexicon, out=tmp_path / "out", lengths=["9"], keep=1000, across="lines")
    assert sum(count.kept for count in report.counts) == 401
