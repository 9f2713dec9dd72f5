from __future__ import annotations

import gzip
import os
import signal
import warnings
from pathlib import Path

import pytest

from tests.stimuli.mining.test_mine import SHARD, run, sentences, table
from tiltmeter.errors import TiltmeterError
from tiltmeter.stimuli.mining import engines


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


REAL = engines._scan_on_cluster


@on_cluster
def test_a_worker_that_is_killed_mid_run_loses_nothing(tmp_path, corpus, monkeypatch):
    run([corpus], tmp_path / "here", shard_bytes=SHARD)
    monkeypatch.setattr(engines, "_scan_on_cluster", scan_and_die_once)
    run([corpus], tmp_path / "there", shard_bytes=SHARD, engine="ray", workers=2)
    assert corpus.with_suffix(".killed").exists()
    assert table(tmp_path / "here") == table(tmp_path / "there")


@on_cluster
def test_bad_input_on_a_cluster_is_the_same_clear_line(tmp_path, corpus):
    corpus.write_bytes(corpus.read_bytes() + b"\nhe \xff")
    with pytest.raises(TiltmeterError, match=r"^a.txt: not UTF-8 at byte \d+ \(line 4001\)"):
        run([corpus], tmp_path / "out", shard_bytes=SHARD, engine="ray", workers=2)
