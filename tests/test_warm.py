"""A command run by a fork of a warm Python is the command run by a Python of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import warm
from tests.command import environment, tiltmeter
from tests.warm import Warm

WORDS = "name: mine\nlanguage: en\ngroups:\n  he: {words: [he, him, his]}\n"


@pytest.mark.parametrize(
    ("arguments", "code"), [(("lexicons", "mine.yaml"), 0), (("cache",), 0), (("lexicons", "mien.yaml"), 2)]
)
def test_it_says_the_same(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    (tmp_path / "mine.yaml").write_text(WORDS, encoding="utf-8")
    env = environment(tmp_path / "cache", COLUMNS="70")
    warm, fresh = (tiltmeter(*arguments, env=env, folder=tmp_path, fresh=fresh) for fresh in (False, True))
    assert warm == fresh
    assert warm.code == code


@pytest.fixture
def late(tmp_path: Path) -> Iterator[Warm]:
    """A command that was not done in time: it is held, as a busy machine would hold it."""
    (tmp_path / "mine.yaml").write_text(WORDS, encoding="utf-8")
    command = Warm(["lexicons", "mine.yaml"], env=environment(tmp_path / "cache"), folder=tmp_path)
    command.send_signal(signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        command.wait(0.1)
    yield command
    command.kill()


def test_after_a_time_out_the_next_command_has_its_own_exit_code(tmp_path: Path, late: Warm) -> None:
    late.kill()
    after = Warm(["lexicons", "mien.yaml"], env=environment(tmp_path / "cache"), folder=tmp_path)
    assert after.wait(60) == 2
    assert late.wait(60) == -signal.SIGKILL


def test_after_a_time_out_a_kill_hits_the_command_and_no_group_of_processes(tmp_path: Path, late: Warm) -> None:
    late.send_signal(signal.SIGCONT)
    after = Warm(["lexicons", "mine.yaml"], env=environment(tmp_path / "cache"), folder=tmp_path)
    assert after.pid > 0  # the exit code of the late one, 0, would be the group of this very process
    assert after.pid != late.pid
    after.kill()
    assert after.wait(60) in (0, -signal.SIGKILL)
    assert late.wait(60) == 0


def test_commands_run_side_by_side(tmp_path: Path, late: Warm) -> None:
    assert tiltmeter("cache", env=environment(tmp_path / "cache"), folder=tmp_path).code == 0
    assert late.poll() is None
    late.send_signal(signal.SIGCONT)
    assert late.wait(60) == 0


def test_a_process_with_a_second_thread_is_not_forked() -> None:
    done = threading.Event()
    second = threading.Thread(target=done.wait)
    second.start()
    try:
        with pytest.raises(AssertionError, match=r"threads where one may fork"):
            warm.check_single_thread()
    finally:
        done.set()
        second.join()
