"""What all pages share."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tiltmeter.web.dashboard import FigureCache, link


def test_a_chart_is_drawn_once_and_the_oldest_are_forgotten() -> None:
    cache, drawn = FigureCache(), list[int]()

    def draw(n: int) -> list[dict[str, int]]:
        drawn.append(n)
        return [{"n": n}]

    for n in (0, 0, *range(1, 201), 200, 0):
        assert cache.get(n, lambda n=n: draw(n)) == [{"n": n}]  # type: ignore[misc]
    assert drawn == [*range(201), 0]


@pytest.mark.parametrize(("query", "address"), [({"q": ""}, "/x"), ({"side": ["a", "b"]}, "/x?side=a&side=b")])
def test_an_address_has_only_what_was_asked_for(query: dict[str, object], address: str) -> None:
    assert link("/x", **query) == address


def test_the_dashboard_starts_without_torch() -> None:
    code = "import sys, tiltmeter.web.app; print({'torch', 'transformers'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
