"""The loops of mining that look at every character and at every hit, compiled by numba when they are first run.

Numpy would go over a whole block of text once for each step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tiltmeter.errors import MissingExtra
from tiltmeter.stimuli.mining.blocks import Hashes, Kinds, Places

try:
    from numba import njit
except ImportError:
    raise MissingExtra("mining a corpus", "mining") from None

SLOTS = 4096
#: How many characters on either side of its word a window holds at most: one is kept thousands of times.
_FARTHEST = 1 << 15
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_MIX, _SECOND_MIX = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@njit(cache=True)
def slot(first: int, last: int, length: int) -> Any:
    """A place among SLOTS for a form, by its first and last kinds and its length: few runs share one with a form."""
    return (np.int64(first) * 67 + np.int64(last) * 13 + length) % SLOTS


@njit(cache=True)
def words_and_forms(
    kinds: Kinds, borders: Places, joins: int, letter: int,
    slots: Places, after: Places, spelled: Kinds, places: Places, most: int,
) -> tuple[Places, Places, Places]:  # fmt: skip
    """Starts and ends of the words, and form, start and end where a run of word characters is spelled like a form.

    ``borders`` are the starts and ends of the runs, in turn. A run without a letter is not a word; a single ``joins``
    between two words makes them one. ``slots`` has the first form for each ``slot``, ``after`` the next one of the
    same slot; form n is ``spelled[places[n]:places[n + 1]]``; no more than ``most`` are spelled alike.
    """
    room = len(borders) // 2
    starts, ends, forms = np.empty(room, np.int64), np.empty(room, np.int64), np.empty((3, room * most), np.int64)
    words = spelled_alike = 0
    for run in range(room):
        start, end = borders[2 * run], borders[2 * run + 1]
        form = slots[slot(kinds[start], kinds[end - 1], end - start)]
        while form >= 0:
            first = places[form]
            same = places[form + 1] - first == end - start
            for at in range(end - start):
                if not same:
                    break
                same = spelled[first + at] == kinds[start + at]
            if same:
                forms[0, spelled_alike], forms[1, spelled_alike], forms[2, spelled_alike] = form, start, end
                spelled_alike += 1
            form = after[form]
        lettered = start
        while lettered < end and kinds[lettered] < letter:
            lettered += 1
        if lettered == end:
            continue
        if words and ends[words - 1] == start - 1 and kinds[start - 1] == joins:
            ends[words - 1] = end
        else:
            starts[words], ends[words] = start, end
            words += 1
    return starts[:words], ends[:words], forms[:, :spelled_alike]


@njit(cache=True)
def character(data: Kinds, at: int) -> Any:
    """The number of the character that begins at a byte of UTF-8, and how many bytes it has."""
    first = np.int64(data[at])
    if first < 0x80:
        return first, 1
    second = np.int64(data[at + 1]) & 0x3F
    if first < 0xE0:
        return (first & 0x1F) << 6 | second, 2
    third = np.int64(data[at + 2]) & 0x3F
    if first < 0xF0:
        return (first & 0x0F) << 12 | second << 6 | third, 3
    return (first & 0x07) << 18 | second << 12 | third << 6 | np.int64(data[at + 3]) & 0x3F, 4


@njit(cache=True)
def characters(data: Kinds, places: Places) -> Places:
    """The numbers of the characters that begin at some bytes of UTF-8."""
    codes = np.empty(len(places), np.int64)
    for number in range(len(places)):
        codes[number], _ = character(data, places[number])
    return codes


@njit(cache=True)
def read(data: Kinds, table: Kinds, unseen: int) -> tuple[Kinds, Places, Places, Places, Places]:
    """What ``table`` says of each character of UTF-8; where line breaks are; where characters of several bytes are,
    with how many more bytes than characters there are up to each; and characters that the table says ``unseen`` of.
    """
    n = len(data)
    kinds, breaks, new = np.empty(n, np.uint8), np.empty(n, np.int64), np.empty(n, np.int64)
    wide, more = np.empty(n, np.int64), np.empty(n + 1, np.int64)
    at = length = n_breaks = n_wide = n_new = 0
    more[0] = 0
    while at < n:
        code, size = character(data, at)
        kind = table[code]
        kinds[length] = kind
        if code == 10:
            breaks[n_breaks] = length
            n_breaks += 1
        elif size > 1:
            wide[n_wide], more[n_wide + 1] = length, more[n_wide] + size - 1
            n_wide += 1
            if kind == unseen:
                new[n_new] = code
                n_new += 1
        length += 1
        at += size
    return kinds[:length], breaks[:n_breaks], wide[:n_wide], more[: n_wide + 1], new[:n_new]


@njit(cache=True)
def running_hash(data: Kinds, length: int, base: np.uint64) -> Hashes:
    """The polynomial in ``base`` that a text of so many characters is up to each of them; a line break is a space."""
    hashes = np.empty(length + 1, np.uint64)
    value = hashes[0] = np.uint64(0)
    at = 0
    for number in range(length):
        code, size = character(data, at)
        value = value * base + np.uint64(32 if code == 10 else code)
        hashes[number + 1] = value
        at += size
    return hashes


@njit(cache=True)
def mix(x: Any) -> Any:
    """The finaliser of SplitMix64 (Steele et al. 2014): one to one, and every bit depends on every other."""
    x = x + _GOLDEN
    x = (x ^ (x >> _SHIFTS[0])) * _FIRST_MIX
    x = (x ^ (x >> _SHIFTS[1])) * _SECOND_MIX
    return x ^ (x >> _SHIFTS[2])


@njit(cache=True)
def rank_of(hashes: Hashes, powers: Hashes, key: np.uint64, start: int, end: int, form: int) -> Any:
    """The number of the window from ``start`` to ``end`` in which the word begins at ``form``."""
    text = hashes[end] - hashes[start] * powers[end - start]
    place = np.uint64(form - start) << _SHIFTS[3] | np.uint64(end - start)
    return mix(mix(text ^ key) + mix(place))


@njit(cache=True)
def windows(
    hits: Places, words: tuple[Places, Places], texts: Places, lengths: Places,
    hashes: Hashes, powers: Hashes, keys: Hashes, limits: Hashes,
) -> tuple[Places, Hashes, Places]:  # fmt: skip
    """Windows around hits that may enter their reservoirs (hit, start, end, reservoir), their ranks, and the number
    of all windows of each reservoir.

    ``hits`` has rows of word, start, end, first and last word; ``texts``, for whole records and for sentences, of
    start, end, first word and the one after the last; ``lengths`` of words, whether exactly so many, and the kind of
    text. ``engines.py`` says what a window is.
    """
    n = hits.shape[1]
    entering, ranks = np.empty((4, n * len(lengths)), np.int64), np.empty(n * len(lengths), np.uint64)
    counts = np.zeros(len(keys), np.int64)
    kept = 0
    for hit in range(n):
        word, form, form_end, first, last = hits[0, hit], hits[1, hit], hits[2, hit], hits[3, hit], hits[4, hit]
        for number in range(len(lengths)):
            asked, exactly, kind = lengths[number, 0], lengths[number, 1], lengths[number, 2]
            start, end, begin, stop = texts[kind, 0, hit], texts[kind, 1, hit], texts[kind, 2, hit], texts[kind, 3, hit]
            if exactly:
                taken = last - first + 1
                if stop - begin < asked or taken > asked:
                    continue
                to = max(begin, min(first - (asked - taken) // 2, stop - asked))
                if to != begin:
                    start = words[0][to]
                if to + asked != stop:
                    end = words[1][to + asked - 1]
                # The signs of a form such as C++ or .NET are no part of a word, but of the form.
                start, end = min(start, form), max(end, form_end)
            elif stop - begin <= asked:
                continue
            start, end = max(start, form - _FARTHEST), min(end, form_end + _FARTHEST)
            reservoir = word * len(lengths) + number
            counts[reservoir] += 1
            rank = rank_of(hashes, powers, keys[reservoir], start, end, form)
            if rank <= limits[reservoir]:
                entering[0, kept], entering[1, kept], entering[2, kept], entering[3, kept] = hit, start, end, reservoir
                ranks[kept] = rank
                kept += 1
    return entering[:, :kept], ranks[:kept], counts
