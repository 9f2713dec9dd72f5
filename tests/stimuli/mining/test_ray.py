from __future__ import annotations

import os
import signal
import warnings
from pathlib import Path

import pytest

from tests.stimuli.mining.test_mine import run, sentences, table
from tiltmeter.errors import TiltmeterError
from tiltmeter.stimuli.mining import engines

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'tiltmeter[ray]'")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own
SHARD = 8000


@pytest.fixture(scope="module", autouse=True)
def cluster():
    """A cluster of two workers on this machine."""
    root = str(Path(__file__).parents[3])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ray.init(
            num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
            runtime_env={"env_vars": {"PYTHONPATH": root}},
        )  # fmt: skip
        yield
        ray.shutdown()


@pytest.fixture
def corpus(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("\n".join(sentences(4000)))
    return path


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


def test_a_worker_that_is_killed_mid_run_loses_nothing(tmp_path, corpus, monkeypatch):
    run([corpus], tmp_path / "here", shard_bytes=SHARD)
    monkeypatch.setattr(engines, "_scan_on_cluster", scan_and_die_once)
    run([corpus], tmp_path / "there", shard_bytes=SHARD, engine="ray", workers=2)
    assert corpus.with_suffix(".killed").exists()
    assert table(tmp_path / "here") == table(tmp_path / "there")


def test_bad_input_on_a_cluster_is_the_same_clear_line(tmp_path, corpus):
    corpus.write_bytes(corpus.read_bytes() + b"\nhe \xff")
    with pytest.raises(TiltmeterError, match=r"^a.txt: not UTF-8 at byte \d+ \(line 4001\)"):
        run([corpus], tmp_path / "out", shard_bytes=SHARD, engine="ray", workers=2)
