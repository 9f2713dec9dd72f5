"""Does a killed run lose or change anything? Run: python benchmarks/kills.py --kills 200 --seed 1

Starts ``audit``, ``mine``, ``lab inject``, ``report`` and an audit of a paid API (on loopback), ends them with SIGKILL
at random moments, up to three times in a row, and then lets the same command finish. What it leaves is compared, byte
by byte, with what a run left that nobody disturbed. Of the API every text is counted: what was bought twice, and of
that what was not in the batch in flight when a run was killed.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.command import environment
from tests.models.provider import LoopbackProvider, slow, vector_of
from tests.reference import reference_model
from tests.test_faults import NOUNS, write_suite
from tests.warm import Warm

#: Of how many kills these are a part: what takes longest comes least often.
SHARES = {"audit": 0.25, "mine": 0.25, "api": 0.25, "report": 0.15, "inject": 0.1}
_IN_A_ROW = 3
_KEY = "sk-kills-0123456789"


@dataclass
class Tally:
    """What came of the kills of one command."""

    kills: int = 0
    resumed: int = 0
    differ: int = 0
    twice: int = 0
    beyond: int = 0
    notes: list[str] = field(default_factory=list)


class Bench:
    """A command, what it reads, and what it leaves that must be the same after a kill."""

    def __init__(self, root: Path, name: str, server: LoopbackProvider) -> None:
        self.root, self.name, self.server = root / name, name, server
        self.root.mkdir()
        self.cache, self.out = self.root / "cache", self.root / "out"
        self.suite = write_suite(self.root, 8)
        self.finished = self.root / "finished"
        getattr(self, f"_prepare_{name}", lambda: None)()

    def arguments(self) -> list[str]:
        out, suite = ["--out", str(self.out)], ["--suite", str(self.suite)]
        if self.name == "mine":
            corpora = map(str, sorted((self.root / "corpus").iterdir()))
            return [
                "mine",
                *corpora,
                "--lexicon",
                str(self.root / "mine.yaml"),
                "--lengths",
                "5,9",
                "--keep",
                "50",
                *out,
            ]
        if self.name == "inject":
            size = ["--sentences", "200", "--steps", "90"]
            return ["lab", "inject", "--model", f"hf:{reference_model(0.5)}", "--doses", ".9", *size, *out]
        if self.name == "report":
            return ["report", str(self.out)]
        spec = f"openai:m?base_url={self.server.base_url('openai')}" if self.name == "api" else self._static()
        return ["audit", spec, *suite, *out]

    def _static(self) -> str:
        path = self.root / "words.vec"
        if not path.exists():
            words = sorted({word for words in NOUNS.values() for word in words.split()})
            path.write_text("".join(f"{word} {' '.join(map(str, vector_of(word)))}\n" for word in words))
        return f"static:{path}"

    def _prepare_mine(self) -> None:
        draw = random.Random(0)
        words = [
            *" ".join(NOUNS.values()).split(),
            *["the", "a", "and", "of", "to", "in", "was", "had", "when", "over"] * 5,
        ]
        for number in range(12):
            lines = (" ".join(draw.choices(words, k=25)) for _ in range(1500))
            path = self.root / "corpus" / f"{number:02}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines))

    def _prepare_report(self) -> None:
        process = Warm(["audit", self._static(), "--suite", str(self.suite), "--out", str(self.finished)], env=self.env)
        assert process.wait() == 0

    @property
    def env(self) -> dict[str, str]:
        host = self.server.base_url("openai").partition("//")[2].partition("/")[0]
        return environment(self.cache, OPENAI_API_KEY=_KEY, TILTMETER_KEYS=f"{host}=OPENAI_API_KEY")

    def fresh(self) -> None:
        """Nothing done yet: no results, and no answers."""
        shutil.rmtree(self.out, ignore_errors=True)
        shutil.rmtree(self.cache, ignore_errors=True)
        if self.name == "report":
            shutil.copytree(self.finished, self.out)
            (self.out / "audit.html").unlink()

    def left(self) -> dict[str, bytes]:
        """What counts of the results: not when a run began, and not what only the next run would look at."""
        kept = {
            "mine": ("occurrences.parquet", "mined.json"),
            "inject": ("dose-0.90/model/model.safetensors", "dose-0.90/training.json", "dose-0.90/text.json"),
            "report": ("audit.html", "readings/*"),
        }.get(self.name, ("audit.html", "readings/*"))
        files = (path for pattern in kept for path in sorted(self.out.glob(pattern)))
        left = {str(path.relative_to(self.out)): path.read_bytes() for path in files}
        if self.name == "api":  # the report counts what was asked in this run, which is less after a kill
            left.pop("audit.html", None)
        unfinished = [str(path) for path in self.out.rglob("*.part")]
        return left | dict.fromkeys(unfinished, b"unfinished")

    def run(self, seconds: float | None = None) -> bool:
        """Run the command, and kill it after so long; whether it was killed."""
        process = Warm(self.arguments(), env=self.env)
        if seconds is not None:
            end = time.monotonic() + seconds
            while process.poll() is None and time.monotonic() < end:
                time.sleep(0.002)
            process.kill()
        code = process.wait(300)
        assert code in (0, -signal.SIGKILL), (self.name, code)
        return code != 0


def kill_often(bench: Bench, kills: int, draw: random.Random, tally: Tally) -> None:
    for _ in range(2):  # the first run of all waits for the server that forks the others
        bench.fresh()
        began = time.monotonic()
        assert not bench.run()
        whole = time.monotonic() - began
    expected = bench.left()
    assert len(expected) > 2 or bench.name == "mine", expected.keys()
    while tally.kills < kills:
        bench.fresh()
        seen, in_flight = len(bench.server.requests), Counter[str]()
        for _ in range(draw.randint(1, _IN_A_ROW)):
            if tally.kills >= kills or not bench.run(draw.uniform(0, whole)):
                break
            tally.kills += 1
            time.sleep(0.08 if bench.name == "api" else 0)  # what was on its way has arrived
            if bench.name == "api" and len(bench.server.requests) > seen:
                in_flight.update(bench.server.requests[-1].texts)
        if bench.run():
            tally.notes.append(f"{bench.name}: did not finish")
        tally.resumed += 1
        if bench.left() != expected:
            tally.differ += 1
            different = sorted(
                name for name in {*expected, *bench.left()} if expected.get(name) != bench.left().get(name)
            )
            tally.notes.append(f"{bench.name}: differs in {', '.join(different)[:300]}")
        if bench.name == "api":
            bought = Counter(text for request in bench.server.requests[seen:] for text in request.texts)
            tally.twice += sum(count - 1 for count in bought.values())
            tally.beyond += sum(max(0, count - 1 - in_flight[text]) for text, count in bought.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    draw, total = random.Random(chosen.seed), Tally()
    with tempfile.TemporaryDirectory() as root, LoopbackProvider() as server:
        server.faults = [slow(0.04)] * 1_000_000
        for name, share in SHARES.items():
            tally = Tally()
            began = time.monotonic()
            kill_often(Bench(Path(root), name, server), max(1, round(chosen.kills * share)), draw, tally)
            print(
                f"{name}: {tally.kills} kills, {tally.resumed} runs resumed, {tally.differ} differ", end="", flush=True
            )
            bought = (
                f"; {tally.twice} texts bought twice, {tally.beyond} of them not in flight" if name == "api" else ""
            )
            print(
                f"{bought} ({time.monotonic() - began:.0f} s)",
                *tally.notes,
                sep="\n  " if tally.notes else "",
                flush=True,
            )
            for count in ("kills", "resumed", "differ", "twice", "beyond"):
                setattr(total, count, getattr(total, count) + getattr(tally, count))
            total.notes += tally.notes
        texts = sum(len(request.texts) for request in server.requests)
    print(
        f"{total.kills} kills, {total.resumed} runs resumed: {total.differ} differ; of {texts:,} texts bought "
        f"{total.twice} twice, {total.beyond} of them beyond the batch in flight"
    )
    sys.exit(bool(total.differ or total.beyond or total.notes))


if __name__ == "__main__":
    main()
