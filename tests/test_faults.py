"""Nothing is lost: not when the command is killed, not when a provider fails, not when the money runs out.

Every run is the real command in a process of its own; the provider is a real HTTP server on loopback.
"""

from __future__ import annotations

import contextlib
import functools
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.command import COMMAND, environment, heed_permissions, needs_sample, tiltmeter
from tests.models import provider as wire
from tests.models.provider import LoopbackProvider, refuse, slow, vector_of
from tests.warm import Warm
from tiltmeter.models import CachedModel, Question, VectorStore, load
from tiltmeter.models.api.keys import host_of
from tiltmeter.run.suite import load_suite

KEY = "sk-SECRET-4f9a7c1e2b8d6053"
#: Inputs that a server of one's own is sent in one request.
BATCH = 32
NOUNS = {
    "men": "man father brother uncle boy husband king lord groom monk waiter actor host hero baron wizard",
    "women": "woman mother sister aunt girl wife queen lady bride nun waitress actress hostess heroine baroness witch",
    "work": "job office salary career desk boss contract meeting profit wage firm factory market bank trade report",
    "home": "home kitchen sofa garden child family bed table cradle broom oven curtain blanket toy doll pantry",
}


def write_suite(folder: Path, words_a_group: int) -> Path:
    """One probe on words and one on sentences, 10 for each word."""
    lexicon, suite = folder / "mine.yaml", folder / "suite.yaml"
    groups = {name: {"kind": "noun", "words": words.split()[:words_a_group]} for name, words in NOUNS.items()}
    # JSON is YAML too. No neutral words ship for German, so that nothing else is asked about.
    lexicon.write_text(json.dumps({"name": "mine", "language": "de", "groups": groups}))
    sets = {
        "targets": [f"{lexicon}.men", f"{lexicon}.women"],
        "attributes": [f"{lexicon}.work", f"{lexicon}.home"],
    }
    probes = [{"id": "words", "probe": "weat", **sets}, {"id": "sentences", "probe": "seat", **sets}]
    suite.write_text(json.dumps({"name": "small", "probes": probes}))
    return suite


def inputs(suite: Path | str) -> set[str]:
    asked = [
        probe.asks(lambda question: question in (Question.WORDS, Question.TEXTS)) for probe in load_suite(suite).probes
    ]
    return {item for each in asked if each for items in each.values() for item in items}


class Bench:
    """A server, a suite and a place for results; runs the command against them."""

    def __init__(self, folder: Path, server: LoopbackProvider, *, words_a_group: int) -> None:
        self.folder, self.server = folder, server
        self.suite = write_suite(folder, words_a_group)
        self.inputs = inputs(self.suite)
        self.cache, self.out = folder / "cache", folder / "out"

    def spec(self, options: str = "") -> str:
        return f"openai:test-model?base_url={self.server.base_url('openai')}{options}"

    def arguments(self, options: str = "") -> list[str]:
        return ["audit", self.spec(options), "--suite", str(self.suite), "--out", str(self.out)]

    @property
    def env(self) -> dict[str, str]:
        host = host_of(self.server.base_url("openai"))
        return environment(self.cache, OPENAI_API_KEY=KEY, TILTMETER_KEYS=f"{host}=OPENAI_API_KEY")

    def audit(self, *more: str, options: str = "", fresh: bool = False) -> Any:
        return tiltmeter(*self.arguments(options), *more, env=self.env, fresh=fresh)

    def start(self) -> Warm:
        return Warm(self.arguments(), env=self.env)

    @property
    def finished(self) -> bool:
        return (self.out / "audit.json").exists()

    def known(self) -> set[str]:
        """What the store holds, read from a copy: whatever a kill has left there is the next run's to mend."""
        if not self.cache.exists():
            return set()
        copy = self.folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.cache, copy)
        with VectorStore(copy) as store:
            unknown = CachedModel(load(self.spec()), store).unknown_inputs(Question.TEXTS, sorted(self.inputs))
            assert store.notes == []
        return self.inputs - set(unknown)

    def stored_vectors_are_right(self) -> None:
        with VectorStore(self.cache) as store:
            texts = sorted(self.inputs)
            rows = CachedModel(load(self.spec()), store).embed_texts(texts)
        for text, row in zip(texts, rows, strict=True):
            np.testing.assert_array_equal(row, vector_of(text))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackProvider]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackProvider() as running:
        yield running


@pytest.fixture
def bench(tmp_path: Path, server: LoopbackProvider) -> Bench:
    return Bench(tmp_path, server, words_a_group=6)


def readings(out: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (out / "readings").iterdir()}


def wait_until(happened: Callable[[], bool], process: Warm) -> None:
    while not happened() and process.poll() is None:
        time.sleep(0.01)


def kill(process: Warm) -> bool:
    """SIGKILL, which cannot be caught; False where the process had already ended, well."""
    if process.poll() is None:
        process.kill()
    process.wait()
    assert process.returncode in (0, -signal.SIGKILL)
    return process.returncode != 0


# Killed


def test_an_audit_killed_at_random_moments_buys_nothing_twice_and_ends_with_the_same_readings(
    tmp_path: Path, server: LoopbackProvider
) -> None:
    bench = Bench(tmp_path, server, words_a_group=16)
    server.faults = [slow(0.04)] * 10_000
    process = bench.start()
    started = time.monotonic()
    wait_until(lambda: bench.finished, process)
    whole = time.monotonic() - started
    assert process.wait() == 0
    expected = readings(bench.out)
    assert len(expected) == 4
    assert set(server.texts) == bench.inputs

    draw = random.Random(0)
    kills = in_the_middle = cycle = 0
    while kills < 20:
        if cycle == 0 or bench.finished:
            cycle += 1
            bench.cache, bench.out = tmp_path / f"cache{cycle}", tmp_path / f"out{cycle}"
        before, seen = bench.known(), len(server.texts)
        process = bench.start()
        # Every third kill may come anywhere in the run, the others come while it is asking.
        latest = time.monotonic() + draw.uniform(0, whole) if kills % 3 == 2 else None
        while process.poll() is None and not bench.finished and (latest is None or time.monotonic() < latest):
            if latest is None and len(server.texts) > seen:
                latest = time.monotonic() + draw.uniform(0, 0.3)
            time.sleep(0.01)
        kills += not bench.finished
        kill(process)
        time.sleep(0.05)  # a request that was on its way is counted with the run that sent it
        asked, after = server.texts[seen:], bench.known()
        assert not before & set(asked), "an answer that was stored is bought again"
        assert len(asked) == len(set(asked)), "an answer is bought twice in one run"
        assert len(set(asked) - after) <= BATCH, "more than the batch in flight is lost"
        in_the_middle += before < after < bench.inputs
        assert not bench.finished or readings(bench.out) == expected
    before, seen = bench.known(), len(server.texts)
    assert bench.audit(fresh=True).code == 0
    assert not before & set(server.texts[seen:])
    assert readings(bench.out) == expected
    bench.stored_vectors_are_right()
    assert in_the_middle >= 10, "too few kills came while answers were coming in for this test to mean anything"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word vectors for every word of the suite 'weat'."""
    path = tmp_path_factory.mktemp("vectors") / "random.vec"
    words = sorted(inputs("weat"))
    rows = (f"{word.replace(' ', '_')} {' '.join(map(str, vector_of(word)))}" for word in words)
    path.write_text("".join(f"{row}\n" for row in rows), encoding="utf-8")
    return path


def test_kills_while_readings_are_written_leave_only_whole_files(tmp_path: Path, vectors: Path) -> None:
    env, out = environment(tmp_path / "cache"), tmp_path / "out"
    arguments = ["audit", f"static:{vectors}", "--suite", "weat", "--out", str(out)]
    assert tiltmeter(*arguments, env=env, fresh=True).code == 0
    expected, report = readings(out), (out / "audit.html").read_bytes()
    assert len(expected) == 20

    draw = random.Random(0)
    found: list[int] = []
    for _ in range(5):
        shutil.rmtree(out)
        process = Warm(arguments, env=env)
        wait_until(lambda: any((out / "readings").glob("*.json")), process)
        time.sleep(draw.uniform(0, 0.1))
        kill(process)
        whole = {name: content for name, content in readings(out).items() if not name.endswith(".part")}
        assert whole.items() <= expected.items()
        found.append(len(whole))
    assert min(found) < 20, "no kill came while readings were written"

    # What a kill between writing and renaming leaves behind hurts neither the next run nor the report.
    (out / "readings" / ".left.part").write_bytes(b'{"half":')
    assert tiltmeter(*arguments, env=env, fresh=True).code == 0
    assert readings(out) == expected

    # And an audit with another seed, killed in the same folder, leaves the finished one as it was.
    process = Warm([*arguments, "--seed", "1"], env=env)
    # Counted by name: a file that is being written may be gone before it could be opened.
    wait_until(lambda: sum(file.suffix != ".part" for file in (out / "readings").iterdir()) > len(expected), process)
    assert kill(process), "the second audit ended before it was killed"
    assert expected.items() < readings(out).items()
    (out / "readings" / ".left.part").write_bytes(b'{"half":')
    assert tiltmeter("report", out, env=env).code == 0
    assert (out / "audit.html").read_bytes() == report


def test_an_interrupted_audit_says_how_to_go_on(bench: Bench) -> None:
    bench.server.script(*[slow(0.2)] * 20)
    with subprocess.Popen(
        [*COMMAND, *bench.arguments()],
        env=bench.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell that runs the tests in the background has the signal ignored, and children would inherit that.
        preexec_fn=functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    ) as process:
        while len(bench.server.requests) < 3 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert stdout == ""
    assert stderr.splitlines()[-1] == "error: stopped; run the same command again and it resumes from here"
    assert "Traceback" not in stderr
    assert bench.known()


# A provider that fails


def everything_written(bench: Bench) -> bytes:
    return b"".join(path.read_bytes() for path in bench.folder.rglob("*") if path.is_file())


def the_key_is_nowhere(bench: Bench, outcome: Any) -> None:
    # The provider's own words may quote part of the key, so its parts count too.
    for secret in (KEY, KEY[3:], KEY[-8:]):
        assert secret not in outcome.stdout + outcome.stderr
        assert secret.encode() not in everything_written(bench)


def test_faults_that_pass_are_waited_out_and_every_vector_is_right(bench: Bench) -> None:
    bench.server.script(
        *(refuse(429, "slow down", retry_after="0.3"), wire.WELL),
        *(refuse(500, f"trouble with {KEY}"), wire.WELL),
        *(slow(3), wire.WELL),
        *(wire.HALF_JSON, wire.WELL),
        *(wire.FEWER, wire.WELL),
        *(wire.DROPPED, wire.CUT_SHORT, wire.NOT_FINITE),
    )
    outcome = bench.audit(options="&timeout=1")
    assert outcome.code == 0, outcome.stderr
    assert "error" not in outcome.stderr
    # 24 words and 240 sentences are 9 requests; 8 of them were asked again.
    assert len(bench.server.requests) == 9 + 8
    bench.stored_vectors_are_right()
    the_key_is_nowhere(bench, outcome)


@pytest.mark.parametrize(
    ("fault", "complaint", "bought"),
    [
        (refuse(401, f"Incorrect API key provided: {KEY}."), "HTTP 401, Incorrect API key provided: [key]", 0),
        (refuse(429, "come back", retry_after="9999"), "asks to wait 9,999 s", 2 * BATCH),
        (refuse(429, "no quota", code="insufficient_quota"), "the account has no credit left, add some", 2 * BATCH),
        (refuse(400, f"bad request with {KEY}"), "HTTP 400, bad request with [key]", 2 * BATCH),
        (refuse(404, "no such model"), "check the model name 'test-model' and the base URL", 2 * BATCH),
        (wire.WRONG_DIMENSION, "vectors of 7 numbers where 8 were expected: check the model", 2 * BATCH),
    ],
)
def test_a_fault_that_stays_is_one_clear_line_and_what_was_bought_is_kept(
    bench: Bench, fault: wire.Fault, complaint: str, bought: int
) -> None:
    # The words are one request of 24, the sentences go 32 at a time.
    bench.server.script(*[wire.WELL] * (bought // BATCH), fault)
    outcome = bench.audit()
    assert complaint in outcome.complaint
    assert outcome.stdout == ""
    assert len(bench.known()) == (24 + BATCH if bought else 0)
    the_key_is_nowhere(bench, outcome)


def test_models_that_fail_do_not_stop_the_others(bench: Bench, vectors: Path) -> None:
    bench.server.script(refuse(401, "who are you?"))
    outcome = tiltmeter(
        *("audit", "hf:no/such-model", bench.spec(), f"static:{vectors}", "--suite", "weat", "--out", bench.out),
        env={**bench.env, "HF_HUB_OFFLINE": "1"},
        fresh=True,
    )
    assert outcome.code == 2
    errors = [line for line in outcome.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 2
    assert "hf:no/such-model" in errors[0]
    assert "HTTP 401" in errors[1]
    assert len(readings(bench.out)) == 20
    assert bench.finished


# Money


def test_a_budget_keeps_what_was_bought_the_next_run_buys_only_the_rest_and_the_one_after_it_nothing(
    bench: Bench,
) -> None:
    complaint = bench.audit("--budget", "2 requests").complaint
    assert "would go over the budget: 2 of 2 requests spent, 0 remain" in complaint
    assert "everything bought is kept: raise the budget and run again to resume" in complaint
    bought = list(bench.server.texts)
    assert len(bench.server.requests) == 2
    assert bench.known() == set(bought)

    planned = bench.audit("--dry-run", "--json")
    assert planned.code == 0
    rows = [(row["asked for"], row["inputs"], row["new"], row["requests"]) for row in json.loads(planned.stdout)]
    assert rows == [("words", 24, 0, 0), ("texts", 240, 240 - BATCH, 7)]
    assert bench.server.texts == bought

    assert bench.audit().code == 0
    assert sorted(bench.server.texts) == sorted(bench.inputs)
    first = readings(bench.out)

    again = bench.audit("--out", str(bench.folder / "again"), fresh=True)
    assert again.code == 0
    assert again.stderr == ""
    assert "0 inputs sent to models, 264 from the cache." in again.stdout
    assert sorted(bench.server.texts) == sorted(bench.inputs)
    assert readings(bench.folder / "again") == first


def test_stored_answers_of_a_transformer_are_read_without_torch(tmp_path: Path) -> None:
    needs_sample("minilm")
    suite = write_suite(tmp_path, 2)
    arguments = ["audit", "bundled:minilm", "--suite", str(suite), "--out", str(tmp_path / "out")]
    env = environment(tmp_path / "cache")
    assert tiltmeter(*arguments, env=env).code == 0
    code = (
        "import sys\n"
        "from tiltmeter.cli.app import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, [name for name in ('torch', 'transformers') if name in sys.modules])"
    )
    again = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=env, capture_output=True, text=True, check=False
    )
    assert again.stdout.splitlines()[-1] == "0 []", again.stderr
    assert "0 inputs sent to models, 88 from the cache." in again.stdout


# Several processes at once


def test_four_processes_on_one_cache_buy_each_text_once_and_all_have_every_answer(bench: Bench) -> None:
    bench.server.faults = [slow(0.1)] * 1000
    running = []
    for number in range(4):
        running.append(Warm([*bench.arguments(), "--out", str(bench.folder / f"out{number}")], env=bench.env))
    assert [process.wait(60) for process in running] == [0] * 4
    assert sorted(bench.server.texts) == sorted(bench.inputs)
    first, *others = [readings(bench.folder / f"out{number}") for number in range(4)]
    assert len(first) == 4
    assert all(other == first for other in others)
    bench.stored_vectors_are_right()


def test_another_process_finishes_what_a_killed_one_had_claimed_and_buys_only_the_batch_in_flight_again(
    bench: Bench,
) -> None:
    bench.server.faults = [slow(0.3)] * 1000
    killed = bench.start()
    wait_until(lambda: len(bench.server.requests) > 1, killed)
    waiting = Warm([*bench.arguments(), "--out", str(bench.folder / "other")], env=bench.env)
    wait_until(lambda: len(bench.server.requests) > 3, killed)
    assert kill(killed)
    in_flight = bench.server.requests[-1].texts
    assert waiting.wait(60) == 0
    texts = bench.server.texts
    assert set(texts) == bench.inputs
    again = {text for text in texts if texts.count(text) > 1}
    assert again <= set(in_flight)
    assert len(texts) - len(bench.inputs) <= BATCH


def test_a_process_that_fails_leaves_what_it_claimed_to_the_next(bench: Bench) -> None:
    assert "would go over the budget" in bench.audit("--budget", "1 request").complaint
    began = time.monotonic()
    assert bench.audit().code == 0
    assert time.monotonic() - began < 30
    assert sorted(bench.server.texts) == sorted(bench.inputs)


# A cache that cannot be written


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=768k", "tmpfs", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a disk of one's own can be mounted by root alone")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_full_cache_disk_ends_the_asking_at_once_and_can_be_cleared(
    bench: Bench, small_disk: Path, vectors: Path
) -> None:
    bench.cache = small_disk
    # Of vectors of 2 KB the disk takes some; the model after it would fit, but is not asked.
    models = [f"static:{vectors}", bench.spec("&dimensions=512"), bench.spec("&dimensions=1")]
    arguments = ["audit", *models, "--suite", "weat", "--out", str(bench.out)]
    outcome = tiltmeter(*arguments, env=bench.env)
    errors = [line for line in outcome.stderr.splitlines() if line.startswith("error: ")]
    assert outcome.code == 2
    assert "Traceback" not in outcome.stderr
    assert len(errors) == 2
    assert all(f"not finished: the cache {small_disk}" in error for error in errors)
    assert "disk is full" in errors[0]
    assert len(readings(bench.out)) == 20, "what was measured before is kept"
    assert bench.finished
    asked = [request.body["dimensions"] for request in bench.server.requests]
    assert len(asked) > 1
    assert set(asked) == {512}, "nothing is asked after the first answer that could not be stored"

    # Another run buys no more than one batch: nothing at all where even a claim cannot be stored.
    tiltmeter(*arguments, env=bench.env)
    assert len(bench.server.requests) <= len(asked) + 1
    texts = bench.server.texts
    assert len(texts) - len(set(texts)) <= BATCH

    with contextlib.suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as file:
        while file.write(bytes(512)):
            pass
    cleared = tiltmeter("cache", "--clear", env=bench.env)
    assert cleared.code == 0, cleared.stderr
    assert cleared.stdout.startswith("forgot ")
    assert not list(small_disk.glob("vectors.sqlite*"))


def test_a_complete_cache_that_is_read_only_is_enough(bench: Bench) -> None:
    assert bench.audit().code == 0
    bought, expected = len(bench.server.texts), readings(bench.out)
    (bench.cache / "vectors.sqlite").chmod(0o444)
    bench.cache.chmod(0o555)
    try:
        again = tiltmeter(*bench.arguments(), "--out", bench.folder / "again", env=bench.env, prepare=heed_permissions)
        more = tiltmeter(
            *("audit", bench.spec("&dimensions=4"), "--suite", bench.suite, "--out", bench.folder / "more"),
            env=bench.env,
            prepare=heed_permissions,
        )
    finally:
        bench.cache.chmod(0o755)
    assert again.code == 0, again.stderr
    assert readings(bench.folder / "again") == expected
    assert "not finished: the cache" in more.complaint
    assert len(bench.server.texts) == bought, "nothing is bought that cannot be stored"


# Keys and passwords


def test_a_suite_file_cannot_send_the_key_of_a_provider_elsewhere(bench: Bench) -> None:
    needs_sample("smollm2")
    suite = bench.folder / "hostile.yaml"
    suite.write_text(json.dumps({"probes": [{"probe": "cloze", "vectors": bench.spec()}]}))
    env = environment(bench.cache, OPENAI_API_KEY=KEY)
    tiltmeter("audit", "bundled:smollm2", "--suite", suite, "--out", bench.out, "--budget", "1 request", env=env)
    assert {request.authorization for request in bench.server.requests} == {"Bearer none-needed"}


def test_a_key_is_named_on_the_command_line(tmp_path: Path) -> None:
    with LoopbackProvider(key="mine") as server:
        bench = Bench(tmp_path, server, words_a_group=2)
        env, host = environment(bench.cache, MINE="mine"), host_of(server.base_url("openai"))
        assert f"--key {host}=VARIABLE" in tiltmeter(*bench.arguments(), env=env).complaint
        assert tiltmeter(*bench.arguments(), "--key", f"{host}=MINE", env=env).code == 0
        assert "a key is named as HOST=VARIABLE" in tiltmeter(*bench.arguments(), "--key", "MINE", env=env).complaint


def test_a_password_in_a_base_url_shows_nowhere(bench: Bench, vectors: Path) -> None:
    spec = bench.spec().replace("//", "//ann:hunter22@")
    suite = ["--suite", str(bench.suite), "--out", str(bench.out)]
    bench.server.script(refuse(404))
    outcomes = [
        tiltmeter("audit", f"{spec}&timeout=hunter", env=bench.env),
        tiltmeter("audit", f"openai:m?timeout=&base_url={spec.partition('=')[2]}", env=bench.env),
        tiltmeter("audit", f"opnai:{spec.partition(':')[2]}", env=bench.env),
        tiltmeter("unmask", spec, "[MASK]", env=bench.env),
        tiltmeter("audit", spec, f"static:{vectors}", *suite, env=bench.env),
        tiltmeter("audit", spec, *suite, env=bench.env),
    ]
    assert [outcome.code for outcome in outcomes] == [2, 2, 2, 2, 2, 0]
    assert not [outcome for outcome in outcomes if "hunter22" in outcome.stdout + outcome.stderr]
    assert b"hunter22" not in everything_written(bench)


# The budget


def test_the_budget_holds_for_word_vectors_too(bench: Bench) -> None:
    needs_sample("smollm2")
    outcome = tiltmeter(
        *("probe", "cloze", "bundled:smollm2", "--vectors", bench.spec(), "--budget", "0 requests, 0 tokens"),
        env=bench.env,
    )
    assert "would go over the budget: 0 of 0 tokens spent" in outcome.complaint
    assert bench.server.requests == []
