"""The tokens of texts, and which of them make up a word in its sentence."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import Reach, Span
from tiltmeter.stimuli.sentences.sentence import MASK

Offsets = Sequence[tuple[int, int]]


def tokenise(tokenizer: Any, texts: Sequence[str], *, limit: int | None) -> tuple[list[list[int]], list[Offsets]]:
    """Token ids and character offsets of each text, cut at ``limit`` tokens."""
    encoded = _encoded(tokenizer, texts, truncation=limit is not None, max_length=limit)
    least = tokenizer.num_special_tokens_to_add()
    for text, ids in zip(texts, encoded["input_ids"], strict=True):
        if len(ids) <= least:
            raise BadInput(f"{shortened(text)} holds nothing that the model can read: leave it out")
    return encoded["input_ids"], encoded["offset_mapping"]


@dataclasses.dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one whole text: ``text_places`` are those that are not marks of the model."""

    text: str
    ids: tuple[int, ...]
    offsets: Offsets
    text_places: tuple[int, ...]

    def places(self, start: int, end: int) -> list[int]:
        """Where the tokens stand that hold a character of a stretch of the text."""
        return _word_tokens(Span(self.text, start, end), self.offsets, None)

    def masked(self, places: Sequence[int], mask: int) -> tuple[int, ...]:
        """The token ids with a mask at each of the places."""
        ids = list(self.ids)
        for place in places:
            ids[place] = mask
        return tuple(ids)


def whole(tokenizer: Any, texts: Sequence[str], *, limit: int | None, called: str) -> list[Tokens]:
    """The tokens of texts that are to be scored, none of them cut off."""
    encoded = _encoded(tokenizer, texts, return_special_tokens_mask=True, verbose=False)
    result = []
    rows = zip(texts, encoded["input_ids"], encoded["offset_mapping"], encoded["special_tokens_mask"], strict=True)
    for index, (text, ids, offsets, marks) in enumerate(rows):
        places = tuple(place for place, mark in enumerate(marks) if not mark)
        if not places:
            raise BadInput(f"{shortened(text)} holds nothing that {called} can read: leave it out")
        if limit is not None and len(ids) > limit:
            raise BadInput(f"{shortened(text)} has {len(ids)} tokens, and {called} reads {limit}: shorten it")
        result.append(Tokens(text, tuple(ids), _placed(text, offsets, encoded.word_ids(index)), places))
    return result


def _placed(text: str, offsets: Offsets, words: Sequence[int | None]) -> Offsets:
    """Offsets without white space. Where the space before a rare word is a token of its own, it stands where the word
    begins: it is as much a part of the word as the space inside a common word's only token."""
    placed = [_trimmed(text, *offset) for offset in offsets]
    for at in reversed(range(len(placed) - 1)):
        blank = not text[slice(*placed[at])].strip()
        if blank and words[at] is not None and words[at] == words[at + 1]:
            placed[at] = placed[at + 1]
    return placed


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    first, last = _without_space(text, start, end)
    return (first, last) if first < last else (start, end)


def _encoded(tokenizer: Any, texts: Sequence[str], **options: Any) -> Any:
    plain = {"return_offsets_mapping": True, "return_attention_mask": False, "return_token_type_ids": False}
    # Tokenising takes some 3% of the time, so its threads gain nothing; used once, they make every later
    # fork of the process print a warning.
    name = "TOKENIZERS_PARALLELISM"
    before = os.environ.get(name)
    os.environ.setdefault(name, "false")
    try:
        return tokenizer(list(texts), **plain, **options)
    except Exception as error:
        raise ModelFailed(f"the tokenizer refused a text ({type(error).__name__}: {error})") from error
    finally:
        if before is None:
            del os.environ[name]


def with_model_mask(span: Span, mask: str | None) -> Span:
    """The span in the text as a model must see it: with the mask of the model where ours stands.

    >>> with_model_mask(Span("The [MASK] left.", 11, 15), "<m>")
    Span(text='The <m> left.', start=8, end=12)
    """
    if mask is None or mask == MASK or MASK not in span.text:
        return span
    longer = len(mask) - len(MASK)
    start, end = (at + longer * span.text[:at].count(MASK) for at in (span.start, span.end))
    return Span(span.text.replace(MASK, mask), start, end)


def find_reach(tokenizer: Any, spans: Sequence[Span], *, limit: int | None) -> list[Reach]:
    """What of its text is read around each word: all of it, or where it has more than ``limit`` tokens as many whole
    words on either side as there is room for, more on one where the text ends on the other.
    """
    stretches = [Reach(0, len(span.text)) for span in spans]
    room = None if limit is None else limit - tokenizer.num_special_tokens_to_add()
    # No tokenizer makes more tokens than there are bytes.
    long = [i for i, span in enumerate(spans) if room is not None and len(span.text.encode()) > room]
    if not long or room is None:
        return stretches
    encoded = _encoded(tokenizer, [spans[i].text for i in long], add_special_tokens=False, verbose=False)
    for i, offsets in zip(long, encoded["offset_mapping"], strict=True):
        span, excess = spans[i], len(offsets) - room
        if excess > 0 and span.start < span.end:
            places = _word_tokens(span, offsets, None)
            first = min(max(0, places[0] - max(0, room - len(places)) // 2), excess)
            stretches[i] = _whole_words(span, offsets[first][0], offsets[first + room - 1][1])
    return stretches


def _whole_words(span: Span, start: int, end: int) -> Reach:
    """A stretch around a word without the words that it cuts through, where spaces tell them apart."""
    text = span.text
    if start > 0 and not text[start - 1].isspace():
        start = max(start, text.find(" ", start, span.start) + 1)
    if end < len(text) and not text[end].isspace():
        space = text.rfind(" ", span.end, end)
        end = space if space > 0 else end
    return Reach(min(start, span.start), max(end, span.end))


def within(span: Span, stretch: Reach) -> Span:
    """The word in a stretch of its text.

    >>> within(Span("The nurse slept.", 4, 9), Reach(4, 9))
    Span(text='nurse', start=0, end=5)
    """
    if (stretch.start, stretch.end) == (0, len(span.text)):
        return span
    return Span(span.text[stretch.start : stretch.end], span.start - stretch.start, span.end - stretch.start)


def tokens_of(span: Span, offsets: Offsets, *, limit: int | None = None) -> list[int]:
    """The tokens that hold a character of the span; a text of ``limit`` tokens may have been cut there.

    Some tokenizers count the space before a word as part of its first token; white space decides nothing here. The
    empty span at 0 is the mark, such as [CLS], that the tokenizer puts before every text.

    >>> offsets = [(0, 0), (0, 3), (3, 7), (7, 9), (9, 15), (15, 16)]
    >>> tokens_of(Span("The nurse slept.", 4, 9), offsets), tokens_of(Span("The nurse slept.", 0, 0), offsets)
    ([2, 3], [0])
    """
    if span.start == span.end == 0:
        if tuple(offsets[0]) != (0, 0):
            raise BadInput(f"{shortened(span.text)} has no [CLS]: this model puts no mark of its own before a text")
        return [0]
    return _word_tokens(span, offsets, limit)


def _word_tokens(span: Span, offsets: Offsets, limit: int | None) -> list[int]:
    word = f"{shortened(span.word)} at {span.start}:{span.end} of {shortened(span.text)}"
    if not 0 <= span.start < span.end <= len(span.text) or not span.word.strip():
        raise BadInput(f"{word} is not a word: give the offsets of its first character and past its last one")
    start, end = _without_space(span.text, span.start, span.end)
    if limit is not None and len(offsets) >= limit and end > max(stop for _, stop in offsets):
        raise BadInput(f"{word} is beyond the model's limit of {limit} tokens: shorten the text around it")
    covered = [_without_space(span.text, *offset) for offset in offsets]
    tokens = [index for index, (first, stop) in enumerate(covered) if max(first, start) < min(stop, end)]
    if not tokens:
        raise BadInput(f"{word} has no token of its own in this model: leave it out or choose another word")
    return tokens


def _without_space(text: str, start: int, end: int) -> tuple[int, int]:
    inside = text[start:end]
    return start + len(inside) - len(inside.lstrip()), end - len(inside) + len(inside.rstrip())


def shortened(text: str, *, most: int = 60) -> str:
    """A text quoted in an error line.

    >>> shortened("The nurse slept.", most=10)
    "'The nur...'"
    """
    return repr(text if len(text) <= most else f"{text[: most - 3]}...")
