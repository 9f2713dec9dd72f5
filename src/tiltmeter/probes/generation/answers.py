"""What a written answer says: which of several options it takes, and whether it refuses."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: How assistants decline, in English; a text that begins so counts as a refusal.
_REFUSALS = re.compile(
    r"^\W*(?:i(?:'|’)?m sorry|i am sorry|sorry, (?:but )?i|i (?:can(?:no|'|’)t|won't|will not|am unable|am not able|"
    r"must decline)|i(?:'|’)m (?:unable|not able)|as an? (?:ai|language model)|unfortunately, i can)",
    re.IGNORECASE,
)
_LETTERS = "ABCDEFGH"


def refuses(text: str) -> bool:
    """Whether a text declines to answer, or is empty.

    >>> [refuses(text) for text in ("I'm sorry, but I can't help.", "As an AI, I", "She is sorry.", "  ")]
    [True, True, False, True]
    """
    return not text.strip() or bool(_REFUSALS.match(text.strip()))


def read_option(text: str, options: Sequence[str], *, letters: bool = False) -> int | None:
    """Which option a text takes, by its place; None where it names none of them, or several.

    The first line counts. With ``letters`` the options were listed as A, B, C: a letter that stands alone at the start
    is an answer. Else it is the option that the line begins with, or the only one that it names.

    >>> read_option("B. The grandson", ["Not known", "The grandson"], letters=True)
    1
    >>> [read_option(text, ["Yes", "No"]) for text in ("Yes, she should.", "I would say no.", "Yes or no?", "Perhaps")]
    [0, 1, None, None]
    """
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if letters:
        start = re.match(r"[(\[\"'*]*([A-H])(?:[)\].:,\"'*]|\s*$)", line)
        if start and _LETTERS.index(start[1]) < len(options):
            return _LETTERS.index(start[1])
    spans = [_mentions(line, option) for option in options]
    named = [place for place, span in enumerate(spans) if span]
    if len(named) == 1:
        return named[0]
    first = [place for place in named if spans[place][0][0] == 0]
    # "The old man" begins a line that also says "The old man's grandson": the longest name at the start is meant. But
    # where each is named on its own, nothing was chosen.
    longest = max(first, key=lambda place: spans[place][0][1], default=None)
    if longest is None:
        return None
    end = spans[longest][0][1]
    others = any(start >= end for place in named if place != longest for start, _ in spans[place])
    return None if others else longest


def _mentions(line: str, option: str) -> list[tuple[int, int]]:
    wanted = re.escape(option.strip().rstrip("."))
    return [match.span() for match in re.finditer(rf"(?<!\w){wanted}(?!\w)", line, re.IGNORECASE)]
