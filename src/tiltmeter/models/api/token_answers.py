"""Tokens and their log-probabilities as completions servers write them, set against the text that was sent."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter.models.api.connection import UnusableError
from tiltmeter.models.protocol import Continuation, Filled, TokenScores

#: How vocabularies write a space and a line break inside a token, where a server does not decode it.
_MARKS = str.maketrans({"▁": " ", "Ġ": " ", "Ċ": "\n"})
#: The sign that stands for a part of a character, and a token that is one and is written in another way.
_CUT = "�"
_PART = re.compile(r"bytes:.*|<0x[0-9A-Fa-f]{2}>", re.DOTALL)
#: How tokenizers write what they do not know, and the most characters of it that are looked through.
_UNKNOWN = ("<unk>", "[UNK]", "<|unk|>")
_LONGEST_UNKNOWN = 64
#: Marks that a server may put before a text.
_MOST_MARKS = 2
#: Token numbers are those of the text: float32 keeps every whole number below it.
_NUMBERS = 1 << 24


def echoed(choice: Mapping[str, Any], text: str) -> TokenScores | None:
    """What an answer with ``echo`` and ``logprobs`` says of a text; None where it says nothing of it."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, dict) or not isinstance(logprobs.get("token_logprobs"), list):
        return None
    tokens, values = logprobs.get("tokens"), logprobs["token_logprobs"]
    if not isinstance(tokens, list) or len(tokens) != len(values):
        raise UnusableError(f"{len(values)} log-probabilities, and not as many tokens")
    if not str(choice.get("text", "")).lstrip().startswith(text[:20].strip()):
        return None  # what was written after the text, and not the text itself
    return aligned(text, tokens, values)


def listed(choice: Mapping[str, Any], text: str) -> TokenScores | None:
    """What an answer with ``prompt_logprobs`` (vLLM, SGLang) says: for each token a table by token number."""
    tables = choice.get("prompt_logprobs")
    if not isinstance(tables, list) or not tables:
        return None
    # Of a first token that nothing stands before, nothing is said: it is what the others leave of the text.
    entries = [None if table is None else next(iter(table.values())) for table in tables]
    tokens = [_UNKNOWN[0] if entry is None else entry["decoded_token"] for entry in entries]
    return aligned(text, tokens, [None if entry is None else entry["logprob"] for entry in entries], written=(0,))


def aligned(
    text: str, tokens: Sequence[Any], logprobs: Sequence[Any], *, written: Sequence[int] = (1, 0)
) -> TokenScores:
    """The tokens of a text by their characters; start marks before it and what was written after it are left out.

    ``written`` is how many tokens may stand after the text, the likeliest number first.

    >>> scores = aligned("He slept.", ["<s>", "He", " sle", "pt", ".", " The"], [None, -1.0, -2.0, -3.0, -4.0, -5.0])
    >>> scores.starts.tolist(), scores.ends.tolist(), scores.logprobs.tolist()
    ([0, 3, 6, 8], [2, 6, 8, 9], [-1.0, -2.0, -3.0, -4.0])
    """
    if not all(isinstance(token, str) for token in tokens):
        raise UnusableError("tokens that are not text")
    spans = _spans(text, tokens, written)
    rows = []
    for token, span, value in zip(tokens, spans, logprobs, strict=False):
        if span is None or value is None:
            continue
        if type(value) not in (int, float) or not -1e30 < value <= 1e-3:
            raise UnusableError("a log-probability that is not a number")
        rows.append((_number(token), *span, min(float(value), 0.0)))
    ids, starts, ends, values = zip(*rows, strict=True) if rows else ((), (), (), ())
    return TokenScores(ids, starts, ends, values)  # type: ignore[arg-type]


def _spans(text: str, tokens: Sequence[str], written: Sequence[int]) -> list[tuple[int, int] | None]:
    """Where each token of the text stands; None for a mark before it."""
    for after in written:
        for marks in range(_MOST_MARKS + 1):
            spans = _matched(text, tokens[marks : len(tokens) - after])
            if spans is not None:
                return [*[None] * marks, *_placed(text, spans)]
    raise UnusableError("tokens that do not make up the text")


def _placed(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Places without the white space around a word. A space that is a token of its own stands where its word begins."""
    placed = list[tuple[int, int]]()
    for start, end in reversed(spans):
        part = text[start:end]
        if part.strip():
            placed.append((end - len(part.lstrip()), start + len(part.rstrip())))
        elif part == " " and placed and placed[-1][0] == end:
            placed.append(placed[-1])
        else:
            placed.append((start, end))
    return placed[::-1]


def _matched(text: str, tokens: Sequence[str]) -> list[tuple[int, int]] | None:
    """The tokens one after another from the first character to the last; None where they cannot stand so.

    Which tokens share a character that was cut in two is not known, so all ways are kept until one fits.
    """
    ways: list[dict[int, int]] = [{0: 0}]
    for token in tokens:
        ends: dict[int, int] = {}
        for start in ways[-1]:
            for end in _ends(text, token, start):
                ends.setdefault(end, start)
        ways.append(ends)
    if len(text) not in ways[-1]:
        return None
    end, spans = len(text), list[tuple[int, int]]()
    for ends in reversed(ways[1:]):
        spans.append((ends[end], end))
        end = ends[end]
    return spans[::-1]


def _ends(text: str, token: str, start: int) -> set[int]:
    """Where a token may end that starts at a place."""
    if token in _UNKNOWN:
        return set(range(start + 1, min(start + _LONGEST_UNKNOWN, len(text)) + 1))
    if _PART.fullmatch(token):
        return {start, min(start + 1, len(text))}
    shown = token.translate(_MARKS)
    # Some tokenizers put a space before a text.
    ends = {start, *([start - 1] if not start and shown.startswith(" ") and not text.startswith(" ") else ())}
    for sign in shown:
        if sign == _CUT:
            ends |= {end + 1 for end in ends if end < len(text)}
        else:
            ends = {end + 1 for end in ends if end < 0 or text.startswith(sign, end)}
    return {end for end in ends if end >= start}


def _number(token: str) -> int:
    """A number for a token: servers name them by their text."""
    return -1 if token in _UNKNOWN else zlib.crc32(token.encode("utf-8", "surrogatepass")) % _NUMBERS


def endings(item: Continuation, scored: Sequence[TokenScores]) -> Filled:
    """The log-probability of each ending after the stem, from the scores of the whole texts.

    A tokenizer may join the end of a stem with what follows; the joint token then belongs to the endings, of all.
    """
    same = next(
        (
            i
            for i, ids in enumerate(zip(*(scores.ids.tolist() for scores in scored), strict=False))
            if len(set(ids)) > 1
        ),
        min(map(len, scored)),
    )
    within = [int((scores.ends <= len(item.stem)).sum()) for scores in scored]
    common = min(same, *within, *(len(scores) - 1 for scores in scored))
    first = scored[0]
    unknown = [stretch for stretch in first.unknown if stretch[1] <= len(item.stem)]
    return Filled(
        tuple(float(scores.logprobs[common:].sum()) for scores in scored),
        tuple(len(scores) - common for scores in scored),
        unknown[0] if unknown else None,
    )
