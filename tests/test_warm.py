"""A command run by a fork of a warm Python is the command run by a Python of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import environment, tiltmeter

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
