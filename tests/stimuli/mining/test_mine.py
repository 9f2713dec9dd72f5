from __future__ import annotations

import gzip
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.stimuli.mining.finding import group
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining import engines, load_mined, mine
from tiltmeter.stimuli.mining.records import RecordReader

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
        return RecordReader(shard, errors)

    monkeypatch.setattr(engines, "RecordReader", reader)
    return numbers


def test_a_run_that_is_killed_resumes_where_it_was_and_writes_the_same_bytes(tmp_path, read_shards):
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
    assert messages == [f"resuming: {done} of {parts} parts of the corpus are done"]
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
    assert messages == ["other settings or another corpus than in the interrupted run: starting over"]
    assert read_shards == list(range(len(read_shards)))
    run([corpus], tmp_path / "undisturbed", seed=seed)
    assert table(out) == table(tmp_path / "undisturbed")


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


@pytest.mark.parametrize(
    ("content", "more", "complaint"),
    [
        (b"", {}, "^the corpus is empty: give a file with text in it$"),
        (b"\n \n\n", {}, "^the corpus holds no text"),
        ("সে ভালো আছে".encode(), {}, "^the words are LATIN, the corpus is BENGALI: give a lexicon in the script"),
        (b"something else", {}, "^none of the 3 words occurs in the corpus: check the lexicon and --language$"),
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


def test_a_kill_while_the_table_is_written_is_no_obstacle(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(sentences(50)))
    run([tmp_path / "a.txt"], tmp_path / "out")
    undisturbed = table(tmp_path / "out")
    (tmp_path / "out/mined.json").unlink()
    (tmp_path / "out/.k2j3h4.part").write_bytes(undisturbed[:99])
    run([tmp_path / "a.txt"], tmp_path / "out")
    assert table(tmp_path / "out") == undisturbed
    assert not list((tmp_path / "out").glob(".*.part"))


def test_two_runs_do_not_mine_into_one_folder(tmp_path):
    (tmp_path / "a.txt").write_text("\n".join(sentences(50)))

    def second(_message):
        with ThreadPoolExecutor() as pool:  # a run may take its own lock again, and a thread is another run
            pool.submit(run, [tmp_path / "a.txt"], tmp_path / "out").result()

    (tmp_path / "out/parts").mkdir(parents=True)  # so that the run says something: it starts anew
    with pytest.raises(BadInput, match=r"^another run is writing to .*out: wait until it is done"):
        run([tmp_path / "a.txt"], tmp_path / "out", announce=second)


LONG = """
import resource, sys
from tests.stimuli.mining.test_mine import run

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
run([sys.argv[1]], sys.argv[2])
"""


@pytest.mark.parametrize(
    ("name", "piece", "complaint"),
    [
        ("bomb.txt.zst", b"he ", "line 3: longer than 16 MB: break it up, one text a line"),
        ("bomb.jsonl.zst", b"he ", "line 3: longer than 16 MB: break it up, one text a line"),
        ("bomb.csv.zst", b"he ", "line 3: longer than 16 MB: break it up, one text a line"),
        ("row.csv.zst", b'"\n",', "line 8454143: not a proper table: a row of more than 16 MB"),
        ("cell.csv.zst", b'""\n', "line 8388611: not a proper table: field larger than field limit (16777216)"),
    ],
)
def test_a_line_of_gigabytes_in_a_small_file_is_one_clear_line(tmp_path, name, piece, complaint):
    zstandard = pytest.importorskip("zstandard")
    corpus = tmp_path / name
    with corpus.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as packed:
        packed.write(b'{"text": "he left"}\n\n' if "json" in name else b"text\nhe left\n")
        packed.write(b'"' if "cell" in name else b"")
        for _ in range(1 << 10):
            packed.write(piece * (1 << 20))
    assert corpus.stat().st_size < 2_000_000
    done = subprocess.run([sys.executable, "-c", LONG, corpus, tmp_path / "out"], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1] == f"tiltmeter.errors.BadInput: {name}: {complaint}"


LONG_TEXT = """
import resource, sys
from tests.stimuli.mining.test_mine import run

run([sys.argv[1]], sys.argv[2], lengths=["9", ">75"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_a_text_of_millions_of_words_does_not_take_its_square_of_memory(tmp_path):
    corpus = tmp_path / "a.txt"
    corpus.write_text("then he left\n" + " ".join(f"so she said he left {number}" for number in range(500_000)))
    done = subprocess.run(
        [sys.executable, "-c", LONG_TEXT, corpus, tmp_path / "out"], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 2_000  # MB
    rows = [row for row in load_mined(tmp_path / "out").rows if row.length == ">75"]
    assert len(rows) == 80
    assert max(len(row.text) - len(row.form) for row in rows) == 2 * (1 << 15)
    assert {row.text[row.start : row.end] for row in rows} == {"he", "she"}


@pytest.mark.parametrize(("name", "across", "expected"), [
    ("a.txt", "none", ["he c"]), ("a.txt", "lines", ["a b he c d e"]), ("a.txt", "records", ["a b he c d e"]),
    ("a.csv", "none", ["he c"]), ("a.csv", "lines", ["he c"]), ("a.csv", "records", ["a b he c d e"]),
])  # fmt: skip
def test_windows_reach_across_lines_of_texts_or_records_of_any_file(tmp_path, name, across, expected):
    header = "text\n" if name.endswith("csv") else ""
    (tmp_path / name).write_text(f"{header}a b\nhe c\nd e\n", encoding="utf-8")
    run([tmp_path / name], tmp_path / "out", lengths=[">0"], across=across)
    rows = load_mined(tmp_path / "out").rows
    assert [row.text for row in rows] == expected
    assert [(row.line, row.at, row.text[row.start : row.end]) for row in rows] == [(2, 0, "he")]


def test_windows_across_lines_do_not_depend_on_how_a_file_is_read(tmp_path, monkeypatch):
    lines = sentences(300)
    (tmp_path / "a.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    more = {"lengths": ["9", "60"], "across": "lines", "keep": 5000}
    run([tmp_path / "a.txt"], tmp_path / "one", **more)
    monkeypatch.setattr("tiltmeter.stimuli.mining.records.BLOCK", 256)
    run([tmp_path / "a.txt"], tmp_path / "two", shard_bytes=1000, **more)
    assert table(tmp_path / "one") == table(tmp_path / "two")
    joined = " ".join(lines)
    assert all(row.text in joined for row in load_mined(tmp_path / "one").rows)
