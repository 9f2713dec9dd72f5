"""Which characters words are made of, in every script."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter

#: Zero-width joiner and non-joiner: spelling in Bangla, Persian, Sinhala and others.
JOINERS = "\u200c\u200d"
_APOSTROPHES = "'’"
#: Unicode has no letter, digit or mark beyond, but for the variation selectors far above.
_FIRST_PLANE, _LETTERS_END = 0x10000, 0x34000
_SELECTORS = range(0xE0100, 0xE01F0)
_CJK = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC"})


def is_word_character(character: str) -> bool:
    """Whether a word can hold this character: a letter, a digit, a mark (a Bangla vowel sign is one) or a joiner.

    >>> [is_word_character(character) for character in ("a", "\\u09be", "৫", "\\u200d", "-", "_", "।")]
    [True, True, True, True, False, False, False]
    """
    return unicodedata.category(character)[0] in "LMN" or character in JOINERS


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of a text in which other characters set words apart.

    An apostrophe between two letters is part of the word; a run of marks alone is no word.

    >>> text = "She's well-read: সুযোগ।"
    >>> [text[start:end] for start, end in word_spans(text)]
    ["She's", 'well', 'read', 'সুযোগ']
    """
    if text.isascii():
        return [found.span() for found in _ASCII_WORD.finditer(text)]
    spans = (found.span() for found in _word().finditer(text))
    whole = (
        (start, end) if text[start].isalnum() else (_after_bare_marks(text, start, end), end) for start, end in spans
    )
    return [(start, end) for start, end in whole if start < end]


def _after_bare_marks(text: str, start: int, end: int) -> int:
    for at in range(start, end):
        if text[at].isalnum():
            return start
        if text[at] in _APOSTROPHES:
            return at + 1
    return end


def script_of(text: str) -> str:
    """The script most letters of a text are of, as Unicode names it; "" where there are no letters.

    Kana and Chinese characters are all "CJK".

    >>> script_of("সে ভালো মেয়ে (ok)"), script_of("彼女は医者です"), script_of("1, 2")
    ('BENGALI', 'CJK', '')
    """
    letters = Counter(character for character in text if character.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    return scripts.most_common(1)[0][0] if scripts else ""


@functools.cache
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "UNNAMED").split(" ")[0]
    return "CJK" if first in _CJK else first


_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")


@functools.cache
def _word() -> re.Pattern[str]:
    # Python's \w leaves out marks: a Bangla word would fall apart at each vowel sign. A class that reaches beyond the
    # first plane is searched from end to end at every space, which the look-ahead saves (seven times as fast).
    codes = [code for code in (*range(_LETTERS_END), *_SELECTORS) if is_word_character(chr(code))]
    first = _ranges([code for code in codes if code < _FIRST_PLANE])
    beyond = _ranges([code for code in codes if code >= _FIRST_PLANE])
    run = f"(?:[{first}]+|(?=[\U00010000-\U0010ffff])[{beyond}]+)+"
    marks = _ranges([code for code in codes if not chr(code).isalnum()])
    return re.compile(rf"{run}(?:[{_APOSTROPHES}](?=[{marks}]*[^\W_]){run})*")


def _ranges(codes: list[int]) -> str:
    starts = [code for code, before in zip(codes, [-2, *codes[:-1]], strict=True) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], -2], strict=True) if code != after - 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))
