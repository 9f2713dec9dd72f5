"""Where sentences end."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection

#: Ends of sentences of the languages that have no pack.
GENERAL_ENDS = ".!?…。！？؟۔।॥"
#: These also stand inside a sentence (3.5, tiltmeter.org, Yahoo!), so only white space after them ends it.
_NEED_SPACE = ".!?…"
_CLOSING = "\"'”’»)]}」』）】》〉"
_LAST_WORD = re.compile(r"[\w.]*\w\Z")


def sentence_spans(
    text: str, *, ends: str, abbreviations: Collection[str] = (), spaced: bool = True
) -> list[tuple[int, int]]:
    """Character spans of the sentences: every character that is not white space is in one of them.

    A full stop ends none before a small letter, after an abbreviation or after the initial of a name.

    >>> text = 'Dr. Rao left at 3.5 a.m. on foot. "Why?" he asked. Nobody knew'
    >>> [text[start:end] for start, end in sentence_spans(text, ends=".?!", abbreviations=["Dr"])]
    ['Dr. Rao left at 3.5 a.m. on foot.', '"Why?" he asked.', 'Nobody knew']
    """
    spans, start = [], 0
    for found in _marks(ends).finditer(text):
        if _is_end(text, found, abbreviations, spaced):
            spans.append((start, found.end()))
            start = found.end()
    spans.append((start, len(text)))
    return [trimmed for trimmed in (_trim(text, *span) for span in spans) if trimmed[0] < trimmed[1]]


@functools.cache
def _marks(ends: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(ends)}]+[{re.escape(_CLOSING)}]*")


def _is_end(text: str, found: re.Match[str], abbreviations: Collection[str], spaced: bool) -> bool:
    mark, after = found[0], text[found.end() : found.end() + 3]
    if after and not after[0].isspace():
        # Unspaced scripts quote a whole sentence inside another: 「行く。」と言った。
        closed = mark[-1] in _CLOSING
        return not closed and not (spaced and mark[-1] in _NEED_SPACE)
    following = after.lstrip().lstrip("\"'“‘«([")
    if mark[0] in _NEED_SPACE and following[:1].islower():
        return False
    if mark != ".":
        return True
    word = _LAST_WORD.search(text, max(0, found.start() - 30), found.start())
    if word is None:
        return True
    # "I" is a word of its own far more often than the initial of a name.
    initial = len(word[0]) == 1 and word[0].isupper() and word[0] != "I"
    return not (after and (initial or word[0] in abbreviations))


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
