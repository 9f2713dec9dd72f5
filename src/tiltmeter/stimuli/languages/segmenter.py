"""Words of a language that sets none apart: a dictionary says where they are."""

from __future__ import annotations

import functools
from typing import Any

from tiltmeter.errors import MissingExtra


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
