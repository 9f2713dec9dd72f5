from __future__ import annotations

import gzip
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.stimuli.mining.finding import group, look, settings
from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.stimuli.mining import Occurrence, engines, load_mined, mine, scan
from tiltmeter.stimuli.mining.parts import Finds, PartsFolder, Tally
from tiltmeter.stimuli.mining.records import Reader

WORDS = ("he", "she", "nurse")


def sentences(n: int, seed: int = 0) -> list[str]:
    """Lines of 3 to 40 words in which the words sought stand among others."""
    draw = random.Random(seed)
    filler = ["the", "report", "was", "said", "to", "of", "these", "other", "years", "ago,", "over.", "nurses"]
    return [" ".join(draw.choices([*WORDS, *filler], k=draw.randint(3, 40))) for _ in range(n)]


def run(paths, out, **more):
    chosen = {"lexicon": [group(*WORDS)], "lengths": ["5", "9", ">20"], "keep": 40, "least": 5} | more
    return mine(paths, out=out, **chosen)


def table(out) -> bytes:
    return (out / "occurrences.parquet").read_bytes()


def test_what_is_mined_can_be_loaded(tmp_path):
    (tmp_path / "a.txt").write_text("Nobody knew.\nThe old Nurse said that he left.\n")
    report = run([tmp_path / "a.txt"], tmp_path / "out", lengths=["3", ">6"], least=1)
    mined = load_mined(tmp_path / "out")
    assert mined.rows == (
        Occurrence("he", "test.words", "he", "3", "that he left.", 5, 7, 7, "a.txt", 2, 24),
        Occurrence("he", "test.words", "he", ">6", "The old Nurse said that he left.", 24, 26, 26, "a.txt", 2, 24),
        Occurrence("nurse", "test.words", "Nurse", "3", "old Nurse said", 4, 9, 9, "a.txt", 2, 8),
        Occurrence("nurse", "test.words", "Nurse", ">6", "The old Nurse said that he left.", 8, 13, 13, "a.txt", 2, 8),
    )
    assert (mined.lengths, mined.groups, mined.language) == (("3", ">6"), ("test.words",), "en")
    assert mined.sha256 == report.sha256 == mined.about["sha256"]
    assert (report.occurrences, report.records, report.rows) == (2, 2, 4)
    assert report.never_found == ("she",)
    assert [(each.word, each.length, each.found, each.missing) for each in report.too_few] == [
        ("she", "3", 0, 1), ("she", ">6", 0, 1),
    ]  # fmt: skip
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["mined.json", "occurrences.parquet"]


def test_a_word_of_two_groups_has_a_row_for_each(tmp_path):
    (tmp_path / "a.txt").write_text("Then he left\n")
    groups = [group("he", "him", name="one.men"), group("he", name="two.people")]
    run([tmp_path / "a.txt"], tmp_path / "out", lexicon=groups, lengths=["3"])
    rows = load_mined(tmp_path / "out").rows
    assert [(row.word, row.group) for row in rows] == [("he", "one.men"), ("he", "two.people")]


def test_lexicons_are_named_by_address_by_name_or_by_file(tmp_path):
    (tmp_path / "a.txt").write_text("Then he left with the nurses\n")
    own = tmp_path / "my.yaml"
    own.write_text(
        "name: my\nlanguage: en\nlicence: MIT\ngroups:\n  jobs: {properties: [suffixes], "
        "words: [{word: nurse, suffixes: plural}]}\n  others: {words: [doctor]}\n"
    )
    run([tmp_path / "a.txt"], tmp_path / "out", lexicon=["gender.male_terms", str(own)], lengths=["3"])
    mined = load_mined(tmp_path / "out")
    assert mined.groups == ("gender.male_terms", f"{own}.jobs", f"{own}.others")
    assert [(row.group, row.form, row.text[row.start : row.root_end]) for row in mined.rows] == [
        ("gender.male_terms", "he", "he"), (f"{own}.jobs", "nurses", "nurse"),
    ]  # fmt: skip


def test_the_sample_does_not_depend_on_the_order_of_files_and_lines_or_on_how_they_are_cut(tmp_path):
    lines = sentences(600)
    content = {}
    for name, order in (("one", lines), ("two", random.Random(1).sample(lines, len(lines)))):
        folder = tmp_path / name
        folder.mkdir()
        for number in range(3):
            (folder / f"{number}.txt").write_text("\n".join(order[number::3]) + "\n")
        files = sorted(folder.iterdir(), reverse=name == "two")
        run(files, folder / "out", shard_bytes=1 << 20 if name == "one" else 5000)
        rows = load_mined(folder / "out").rows
        content[name] = [(row.word, row.length, row.text, row.start) for row in rows]
    assert content["one"] == content["two"]
    assert len(content["one"]) == 3 * 3 * 40


@given(st.integers(0, 2**32), st.integers(300, 3000))
@hypothesis_settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_same_bytes_come_out_however_the_work_is_cut(tmp_path, seed, size):
    corpus = tmp_path / f"{seed}.txt"
    lines = sentences(60, seed % 7)
    corpus.write_text("\n".join(lines + random.Random(seed).sample(lines, 30)))
    run([corpus], tmp_path / "whole", least=1)
    run([corpus], tmp_path / "cut", least=1, shard_bytes=size)
    assert table(tmp_path / "cut") == table(tmp_path / "whole")


def test_two_workers_write_the_same_bytes_as_one(tmp_path):
    corpus, packed = tmp_path / "a.txt", tmp_path / "b.txt.gz"
    corpus.write_text("\n".join(sentences(800)))
    packed.write_bytes(gzip.compress("\n".join(sentences(300, 3)).encode()))
    one = run([corpus, packed], tmp_path / "one", shard_bytes=20_000)
    two = run([packed, corpus], tmp_path / "two", shard_bytes=20_000, workers=2)
    assert table(tmp_path / "one") == table(tmp_path / "two")
    assert (tmp_path / "one/mined.json").read_bytes() == (tmp_path / "two/mined.json").read_bytes()
    assert one.counts == two.counts


def test_another_seed_keeps_other_windows(tmp_path):
    corpus = tmp_path / "a.txt"
    corpus.write_text("\n".join(sentences(600)))
    for seed in (0, 1):
        run([corpus], tmp_path / str(seed), seed=seed)
    texts = [{row.text for row in load_mined(tmp_path / seed).rows} for seed in ("0", "1")]
    assert 0.02 < len(texts[0] & texts[1]) / len(texts[0]) < 0.6


def test_what_is_found_of_a_word_does_not_depend_on_the_other_words(tmp_path):
    corpus = tmp_path / "a.txt"
    corpus.write_text("\n".join(sentences(300)))
    run([corpus], tmp_path / "all")
    run([corpus], tmp_path / "one", lexicon=[group("nurse")])
    alone = load_mined(tmp_path / "one").rows
    assert alone == tuple(row for row in load_mined(tmp_path / "all").rows if row.word == "nurse")


SHARD = 8000
RUN = f"""
import sys
from pathlib import Path
from tests.stimuli.mining.test_mine import run

if __name__ == "__main__":
    run([sys.argv[1]], Path(sys.argv[2]), shard_bytes={SHARD})
"""


def kill_in_the_middle(corpus: Path, out: Path) -> None:
    """Start mining in a process of its own, and end it without a warning after some parts are done."""
    process = subprocess.Popen([sys.executable, "-c", RUN, str(corpus), str(out)])
    limit = time.monotonic() + 60
    while not (out / "parts/00000012.arrow").exists() and time.monotonic() < limit:
        time.sleep(0.001)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (out / "mined.json").exists()


@pytest.fixture
def read_shards(monkeypatch) -> list[int]:
    """The numbers of the parts of the corpus that are read from here on, apart from a look at its beginning."""
    numbers: list[int] = []

    def reader(shard, errors):
        numbers.append(shard.number)
        return Reader(shard, errors)

    monkeypatch.setattr(scan, "Reader", reader)
    return numbers


def test_a_run_that_is_killed_goes_on_where_it_was_and_writes_the_same_bytes(tmp_path, read_shards):
    corpus, out = tmp_path / "a.txt", tmp_path / "out"
    corpus.write_text("\n".join(sentences(12_000)))
    run([corpus], tmp_path / "undisturbed", shard_bytes=SHARD)
    parts = len(read_shards)
    read_shards.clear()
    kill_in_the_middle(corpus, out)
    with pytest.raises(BadInput, match="mining was interrupted: run the same command again"):
        load_mined(out)
    messages: list[str] = []
    run([corpus], out, shard_bytes=SHARD, announce=messages.append)
    done = parts - len(read_shards)
    assert 12 <= done < parts
    assert read_shards == list(range(done, parts))
    assert messages == [f"going on: {done} of {parts} parts of the corpus are done"]
    assert table(out) == table(tmp_path / "undisturbed")
    assert (out / "mined.json").read_bytes() == (tmp_path / "undisturbed/mined.json").read_bytes()
    assert not (out / "parts").exists()


@pytest.mark.parametrize("change", ["settings", "corpus"])
def test_other_settings_or_another_corpus_start_anew(tmp_path, read_shards, change):
    corpus, out = tmp_path / "a.txt", tmp_path / "out"
    corpus.write_text("\n".join(sentences(8000)))
    kill_in_the_middle(corpus, out)
    if change == "corpus":
        corpus.write_text("\n".join(sentences(3000, seed=5)))
    seed = 7 if change == "settings" else 0
    messages: list[str] = []
    run([corpus], out, shard_bytes=SHARD, seed=seed, announce=messages.append)
    assert messages == ["other settings or another corpus than in the run that was interrupted: starting anew"]
    assert read_shards == list(range(len(read_shards)))
    run([corpus], tmp_path / "undisturbed", seed=seed)
    assert table(out) == table(tmp_path / "undisturbed")


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
    store.put_together(whole)
    assert [path.name for path in (tmp_path / "parts").glob("*.arrow")] == ["all.arrow"]
    (tmp_path / "parts/00000003.arrow").write_bytes(left)
    again = Finds.none(asked)
    store.load(again)
    assert again.to_bytes() == whole.to_bytes()
    assert again.found.tolist() == [70]


MEMORY = """
import resource, sys
from pathlib import Path
from tests.stimuli.mining.test_mine import run

run([sys.argv[1]], Path(sys.argv[2]) / "warm")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run([sys.argv[3]], Path(sys.argv[2]) / "large")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    small, large = tmp_path / "small.txt", tmp_path / "large.txt.gz"
    small.write_text("\n".join(sentences(15_000)))
    lines = [f"{line} {number}" for number, line in enumerate(sentences(15_000, seed=1))]
    with gzip.open(large, "wt", compresslevel=1) as stream:
        for _ in range(20):
            stream.write("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(small), str(tmp_path), str(large)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert int(done.stdout) < 12  # MB, for more than 30 MB of text


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


@pytest.mark.parametrize(
    ("content", "more", "complaint"),
    [
        (b"", {}, "^the corpus is empty: give a file with text in it$"),
        (b"\n \n\n", {}, "^the corpus holds no text"),
        ("সে ভালো আছে".encode(), {}, "^the words are LATIN, the corpus is BENGALI: give a lexicon in the script"),
        (b"something else", {}, "^none of the 3 words stands in the corpus: check the lexicon and --language$"),
        (b"he \xff", {}, r"^a.txt: not UTF-8 at byte 3 \(line 1\)"),
        (b"he", {"lengths": ["many"]}, "^unknown length 'many'"),
        (b"he", {"lengths": []}, "^no length is given"),
        (b"he", {"lexicon": []}, "^no words to look for"),
        (b"he", {"lexicon": ["gender.mal_terms"]}, "^unknown group of gender 'mal_terms': did you mean 'male_terms'?"),
        (b"he", {"lexicon": [group("he"), group("el", code="es", name="b")]}, "several languages .en, es.: say which"),
        (b"he", {"least": 50}, "^--least 50 and --keep 40"),
        (b"he", {"within": "line"}, "^unknown within 'line'"),
        (b"he", {"errors": "ignore"}, "^unknown errors 'ignore'"),
        (b"he", {"engine": "spark"}, "^unknown engine 'spark'"),
        (b"he", {"column": "text"}, "^--column text: a text file has no columns"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line_and_leaves_nothing_behind(tmp_path, content, more, complaint):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(BadInput, match=complaint):
        run([tmp_path / "a.txt"], tmp_path / "out", **more)
    assert not (tmp_path / "out/mined.json").exists()


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "a.txt").write_text("he left it")
    with pytest.raises(BadInput, match=r"holds something else \(a.txt\): name a new or empty folder"):
        run([tmp_path / "a.txt"], tmp_path)
    with pytest.raises(BadInput, match="is a file: name a folder"):
        run([tmp_path / "a.txt"], tmp_path / "a.txt")
    out = tmp_path / "out"
    run([tmp_path / "a.txt"], out, lengths=["3"])
    run([tmp_path / "a.txt"], out, lengths=["2"])
    assert load_mined(out).lengths == ("2",)


def test_a_folder_that_is_missing_or_broken_is_one_clear_line(tmp_path):
    (tmp_path / "a.txt").write_text("he left it")
    out = tmp_path / "out"
    with pytest.raises(BadInput, match=f"^no folder {out}: make it with tiltmeter mine"):
        load_mined(out)
    out.mkdir()
    with pytest.raises(BadInput, match=r"holds no mined\.json, so it is no folder of tiltmeter mine$"):
        load_mined(out)
    run([tmp_path / "a.txt"], out, lengths=["3"])
    whole = table(out)
    about = (out / "mined.json").read_text()
    for file, content, complaint in (
        ("occurrences.parquet", whole[:-20], "occurrences.parquet is damaged .*: mine it again$"),
        ("mined.json", about[:50], "mined.json cannot be read .*: mine it again$"),
        ("mined.json", "{}", "mined.json is damaged .*: mine it again$"),
        (
            "mined.json",
            about.replace('"sha256": "', '"sha256": "0'),
            "is not what mined.json says it is: mine it again",
        ),
    ):
        (out / file).write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(BadInput, match=complaint):
            load_mined(out)
        (out / "occurrences.parquet").write_bytes(whole)
        (out / "mined.json").write_text(about)
    (out / "occurrences.parquet").unlink()
    with pytest.raises(BadInput, match=r"occurrences\.parquet is missing: mine it again"):
        load_mined(out)
