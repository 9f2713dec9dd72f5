"""Mining: tiltmeter against a search for each word in each line, as published. Run: make bench

One process each, on text made of natural sentences. The slow way is timed on a sample and compared by bytes a second.
"""

from __future__ import annotations

import csv
import functools
import random
import re
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from row import Row
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import group
from tiltmeter.stimuli.datasets import data_folder
from tiltmeter.stimuli.mining import mine
from tiltmeter.stimuli.sentences.shipped import occupation_set

LEXICON = ("gender.male_terms", "gender.female_terms", "attributes.career", "attributes.family")
#: Megabytes of text, of the sample for the slow way, and how many times as much text shows how the cost grows; the
#: speed is that of the largest.
SIZE, SAMPLE, TIMES = 50, 1, (1, 2, 4)
#: Texts kept of each word and length: as few beside this text as the default is beside a corpus of gigabytes.
KEEP = 100
#: Sentences of one record; so there are texts of all lengths.
MOST_SENTENCES = 6
MEGABYTE = 1_000_000


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        texts = {times: folder / f"{times}.txt" for times in TIMES}
        for times, path in texts.items():
            write(path, megabytes=SIZE * times)
        write(folder / "warm.txt", megabytes=1)
        run(folder / "warm.txt", folder)  # what is imported at the first run is no part of the speed
        took = {times: seconds(functools.partial(run, path, folder)) for times, path in texts.items()}
        slow = sample(texts[1])
        size = SIZE * TIMES[-1]
        speed = size / took[TIMES[-1]]
        published = SAMPLE / seconds(lambda: search_each_word(slow))
    growth = took[TIMES[-1]] / took[1] / TIMES[-1]
    return [
        Row(
            f"mining {size} MB of English, {len(words())} words, 4 lengths, {KEEP} of each",
            f"{speed:.0f} MB/s",
            f"{published:.2f} MB/s (a search a word)",
            speed / published,
            ">= 50 x",
            speed / published >= 50,
        ),
        Row("mining, one core", f"{speed:.0f} MB/s", target=">= 30 MB/s (goal 100)", met=speed >= 30),
        Row(
            f"mining {', '.join(f'{SIZE * times}' for times in TIMES)} MB",
            ", ".join(f"{took[times]:.1f}" for times in TIMES) + " s",
            ratio=growth,
            target="<= 1.2 x the time per MB",
            met=growth <= 1.2,
        ),
    ]


def run(corpus: Path, folder: Path) -> None:
    """Everything from the file to the folder that is left behind."""
    mine([corpus], lexicon=LEXICON, out=folder / f"mined-{corpus.stem}", keep=KEEP)


def search_each_word(lines: list[str]) -> dict[str, list[str]]:
    """For every word, for every line: is it in there, and which nine words are around it?"""
    found: dict[str, list[str]] = {}
    for word in words():
        pattern = re.compile(rf"\b{re.escape(word)}\b", re.IGNORECASE)
        for line in lines:
            if pattern.search(line):
                parts = line.split()
                at = next((number for number, part in enumerate(parts) if pattern.search(part)), 0)
                found.setdefault(word, []).append(" ".join(parts[max(0, at - 4) : at + 5]))
    return found


def words() -> list[str]:
    return [word for address in LEXICON for word in group(address).texts]


def write(path: Path, *, megabytes: int) -> None:
    """Records of one to six sentences each, in an order of their own."""
    pool, draw, size = sentences(), random.Random(0), 0
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        while size < megabytes * MEGABYTE:
            line = " ".join(draw.choices(pool, k=draw.randint(1, MOST_SENTENCES))) + "\n"
            size += len(line.encode())
            stream.write(line)


def sentences() -> list[str]:
    """Natural sentences of BUG, where it is there, or else of our own sets."""
    try:
        path = data_folder() / "bug" / "balanced_BUG.csv"
        with path.open(encoding="utf-8", newline="") as stream:
            return [" ".join(row["sentence_text"].split()) for row in csv.DictReader(stream)]
    except (BadInput, OSError):  # not on this machine
        return list(occupation_set().texts)


def sample(path: Path) -> list[str]:
    with path.open(encoding="utf-8") as stream:
        return stream.readlines(SAMPLE * MEGABYTE)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    from row import show

    show(bench())
