"""Written answers, read."""

from __future__ import annotations

import pytest

from tiltmeter.probes.generation.answers import read_option, refuses

PEOPLE = ["The grandfather", "The grandson", "Can't be determined"]


@pytest.mark.parametrize(
    ("text", "option"),
    [
        (" A", 0),
        ("B.", 1),
        ("(C) Can't be determined", 2),
        ("**B**", 1),
        ("A grandfather is old.", None),
        ("The grandson", 1),
        ("It was the grandfather.", 0),
        ("The grandfather or the grandson", None),
        ("\n\nB\nA", 1),
        ("D", None),
        ("", None),
        ("Nobody knows.", None),
    ],
)
def test_an_option_is_read_by_its_letter_or_its_words(text: str, option: int | None) -> None:
    assert read_option(text, PEOPLE, letters=True) == option


def test_the_longest_name_at_the_start_is_meant() -> None:
    assert read_option("The old man's friend did.", ["The old man", "The old man's friend"]) == 1
    assert read_option("The old man", ["The old man", "The old man's friend"]) == 0


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        ("I cannot help with that.", True),
        ("I can't say.", True),
        ("I’m sorry, but no.", True),
        ("As a language model, I", True),
        ("", True),
        ("She was sorry that I cannot come.", False),
        ("I can help.", False),
    ],
)
def test_refusals(text: str, refused: bool) -> None:
    assert refuses(text) == refused
