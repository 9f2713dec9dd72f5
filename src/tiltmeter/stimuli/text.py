"""What every text goes through before it is looked up, compared or put into a sentence."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

#: Vowel letters that sound like a consonant: "a university", "a European", "a one-off". The look-ahead keeps
#: "unimportant" and "uninspired" apart from "unique" and "union".
_GLIDES = re.compile(
    r"u(?:ni(?!m|n[^gq]|d)|nanim|nary|s(?!h)[aeu]|biq|t[aeio]|k[eru]|r[aiou]|gan|\.)|eu|ew|one(?!r)|once\b",
    re.IGNORECASE,
)
_SILENT_H = re.compile(r"h(?:eir|on(?:es|or|our)|our)", re.IGNORECASE)
_VOWEL = re.compile(r"[aeiouà-æè-ïò-öù-ü]|8|1[18](?!\d)", re.IGNORECASE)
#: Letters whose English name begins with a vowel: "an MBA", "an X-ray".
_VOWEL_NAMES = frozenset("AEFHILMNORSX")
_SAID_AS_WORDS = frozenset({"NASA", "NATO", "LAN", "RAM", "SWAT", "UNESCO", "UNICEF"})


def normalise(text: str) -> str:
    """One form for each text: Unicode NFC, one space for any white space, none at the ends.

    Joiners are kept, because they are part of the spelling in Bangla, Persian and other scripts.

    >>> normalise("  the\\u00a0nurse \\n slept ")
    'the nurse slept'
    >>> normalise("cafe\\u0301") == "caf\\u00e9"
    True
    """
    return " ".join(unicodedata.normalize("NFC", text).replace("\ufeff", "").split())


def comparable(text: str) -> str:
    """The form under which two texts count as the same word: normalised, and blind to case.

    >>> comparable("Straße ") == comparable("STRASSE")
    True
    """
    return unicodedata.normalize("NFC", normalise(text).casefold())


def repeated(texts: Iterable[str]) -> list[str]:
    """The texts that come again, as they first do so, each once.

    >>> repeated(["home", "work", "Home", "HOME"])
    ['Home']
    """
    seen: set[str] = set()
    again: dict[str, str] = {}
    for text in texts:
        key = comparable(text)
        if key in seen:
            again.setdefault(key, text)
        seen.add(key)
    return list(again.values())


def capitalise(sentence: str) -> str:
    """Give a sentence its capital and change nothing else, so that character offsets stay true.

    >>> capitalise("a nurse from NATO slept.")
    'A nurse from NATO slept.'
    >>> capitalise("“he slept.”")
    '“He slept.”'
    """
    # Title case, not upper case: a Georgian sentence has no capital, and "ß" would grow.
    first = re.search(r"[^\W_]", sentence)
    if first is None or len(first[0].title()) > 1:
        return sentence
    return sentence[: first.start()] + first[0].title() + sentence[first.end() :]


def article(word: str) -> str:
    """The English indefinite article of a word or phrase, chosen by sound.

    A word the rules get wrong carries its own ``phrase`` in the lexicon.

    >>> [article(word) for word in ("nurse", "engineer", "honest person", "university", "MBA")]
    ['a', 'an', 'an', 'a', 'an']
    """
    first = re.split(r"[\s\-]", word, maxsplit=1)[0]
    spelled_out = first.isalpha() and first.isupper() and first not in _SAID_AS_WORDS
    if spelled_out and (len(first) > 1 or first != word):
        return "an" if first[0] in _VOWEL_NAMES else "a"
    return "an" if _SILENT_H.match(word) or (_VOWEL.match(word) and not _GLIDES.match(word)) else "a"


def indefinite(word: str) -> str:
    """The word with its English indefinite article.

    >>> indefinite("engineer")
    'an engineer'
    """
    return f"{article(word)} {word}"
