"""Where words and sentences stand in a text, and which characters words are made of, in every script."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from typing import Any

from tiltmeter.errors import MissingExtra

#: Zero-width joiner and non-joiner: spelling in Bangla, Persian, Sinhala and others.
JOINERS = "\u200c\u200d"
_APOSTROPHES = "'’"
#: Unicode has no letter, digit or mark beyond, but for the variation selectors far above.
_FIRST_PLANE, _LETTERS_END = 0x10000, 0x34000
_SELECTORS = range(0xE0100, 0xE01F0)
_CJK = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC"})
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
#: Ends of sentences of the languages that have no pack.
GENERAL_ENDS = ".!?…。！？؟۔।॥"
#: These also stand inside a sentence (3.5, tiltmeter.org, Yahoo!), so only white space after them ends it.
_NEED_SPACE = ".!?…"
_CLOSING = "\"'”’»)]}」』）】》〉"
_LAST_WORD = re.compile(r"[\w.]*\w\Z")


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
        return [word.span() for word in _ASCII_WORD.finditer(text)]
    spans = (word.span() for word in _word().finditer(text))
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


def mecab_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of a Japanese text, as MeCab cuts it with the UniDic dictionary.

    >>> text = "彼女は医者です。"
    >>> [text[start:end] for start, end in mecab_spans(text)]
    ['彼女', 'は', '医者', 'です']
    """
    # MeCab stops at a NUL and fails at half of a surrogate pair; what stands in for them keeps the offsets.
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    spans, position = [], 0
    for token in _tagger()(text):
        start = text.index(token.surface, position)
        position = start + len(token.surface)
        if any(character.isalnum() for character in token.surface):
            spans.append((start, position))
    return spans


@functools.cache
def _tagger() -> Any:
    try:
        import fugashi
        import unidic_lite
    except ImportError:
        raise MissingExtra("cutting Japanese into words", "ja") from None
    # Named, because fugashi would take a full UniDic instead where one is installed, and words would differ.
    return fugashi.GenericTagger(f'-r "{unidic_lite.DICDIR}/mecabrc" -d "{unidic_lite.DICDIR}"')


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
    for mark in _marks(ends).finditer(text):
        if _is_end(text, mark, abbreviations, spaced):
            spans.append((start, mark.end()))
            start = mark.end()
    spans.append((start, len(text)))
    return [trimmed for trimmed in (_trim(text, *span) for span in spans) if trimmed[0] < trimmed[1]]


@functools.cache
def _marks(ends: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(ends)}]+[{re.escape(_CLOSING)}]*")


def _is_end(text: str, place: re.Match[str], abbreviations: Collection[str], spaced: bool) -> bool:
    mark, after = place[0], text[place.end() : place.end() + 3]
    if after and not after[0].isspace():
        # Unspaced scripts quote a whole sentence inside another: 「行く。」と言った。
        closed = mark[-1] in _CLOSING
        return not closed and not (spaced and mark[-1] in _NEED_SPACE)
    following = after.lstrip().lstrip("\"'“‘«([")
    if mark[0] in _NEED_SPACE and following[:1].islower():
        return False
    if mark != ".":
        return True
    word = _LAST_WORD.search(text, max(0, place.start() - 30), place.start())
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
