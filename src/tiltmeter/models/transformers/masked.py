"""What is asked of a masked language model, as rows of tokens with masks and what is read at them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Fill, Filled, Question, Span, TokenScores
from tiltmeter.models.transformers.batching import Logprobs, Task, TokenRow
from tiltmeter.models.transformers.tokens import Tokens, shortened, whole

QUESTIONS = (Question.FILLS, Question.PSEUDO, Question.UNMASKED)


class MaskedQuestions:
    """Makes tasks of questions; ``called`` is the model in messages."""

    def __init__(self, tokenizer: Any, *, limit: int | None, called: str) -> None:
        self._tokenizer, self._limit, self._called = tokenizer, limit, called
        self._unknown = tokenizer.unk_token_id
        if tokenizer.mask_token_id is None:
            raise BadInput(f"the tokenizer of {called} has no mask token, so nothing can be masked")
        self._mask: int = tokenizer.mask_token_id

    def tasks(self, question: Question, items: Sequence[Any]) -> list[Task]:
        if question is Question.FILLS:
            return self._fills(items)
        texts = [item.text if isinstance(item, Span) else item for item in items]
        tokens = whole(self._tokenizer, texts, limit=self._limit, called=self._called)
        if question is Question.UNMASKED:
            return [self._unmasked(text) for text in tokens]
        return [self._masked_in_turn(text, item) for text, item in zip(tokens, items, strict=True)]

    def _fills(self, items: Sequence[Fill]) -> list[Task]:
        for item in items:
            _check(item)
        texts = [item.with_filler(filler)[0] for item in items for filler in item.fillers]
        versions = iter(whole(self._tokenizer, texts, limit=self._limit, called=self._called))
        return [self._fill(item, list(itertools.islice(versions, len(item.fillers)))) for item in items]

    def _fill(self, item: Fill, versions: list[Tokens]) -> Task:
        """A filler of several tokens is filled in from left to right, so that its probability is a true one."""
        rows: list[TokenRow] = []
        lengths = []
        unknown: tuple[int, int] | None = None
        for filler, tokens in zip(item.fillers, versions, strict=True):
            _, place, stretches = item.with_filler(filler)
            places = tokens.places(*place)
            hidden = sorted({at for stretch in stretches for at in tokens.places(*stretch)} - set(places))
            for at in places:
                if tokens.ids[at] == self._unknown:
                    raise BadInput(
                        f"'{filler}' is unknown to {self._called} (in {shortened(tokens.text)}): use another word"
                    )
            for step, at in enumerate(places):
                rows.append(TokenRow(tokens.masked([*places[step:], *hidden], self._mask), ((at, tokens.ids[at]),)))
            lengths.append(len(places))
            unknown = unknown or self._unknown_stretch(tokens, {*places, *hidden}, place, item)
        ends = list(itertools.accumulate(lengths))

        def answer(read: list[Logprobs]) -> Filled:
            values = np.array([logprobs[0] for logprobs in read], dtype=np.float64)
            sums = [float(values[end - n : end].sum()) for n, end in zip(lengths, ends, strict=True)]
            return Filled(tuple(sums), tuple(lengths), unknown)

        return Task(tuple(rows), answer)

    def _unknown_stretch(
        self, tokens: Tokens, masked: set[int], place: tuple[int, int], item: Fill
    ) -> tuple[int, int] | None:
        """Where the rest of the sentence holds a token that the model does not know, in the item's own characters."""
        for at in tokens.text_places:
            if tokens.ids[at] == self._unknown and at not in masked:
                start, end = tokens.offsets[at]
                longer = (place[1] - place[0]) - (item.end - item.start)
                return (start - longer, end - longer) if start >= place[1] else (start, end)
        return None

    def _unmasked(self, tokens: Tokens) -> Task:
        row = TokenRow(tokens.ids, tuple((at, tokens.ids[at]) for at in tokens.text_places))
        return Task((row,), lambda read: scores(tokens, tokens.text_places, read[0], unknown=self._unknown))

    def _masked_in_turn(self, tokens: Tokens, span: Span) -> Task:
        inside = tokens.places(span.start, span.end)
        places = range(inside[0], inside[-1] + 1)  # with line breaks and spaces in between that are tokens
        rows = tuple(TokenRow(tokens.masked([at], self._mask), ((at, tokens.ids[at]),)) for at in places)
        return Task(rows, lambda read: scores(tokens, places, np.concatenate(read), unknown=self._unknown))


def scores(tokens: Tokens, places: Sequence[int], logprobs: Logprobs, *, unknown: int | None) -> TokenScores:
    """The log-probabilities of the tokens at these places, with where they stand in the text."""
    ids = [-1 if tokens.ids[at] == unknown else tokens.ids[at] for at in places]
    starts, ends = zip(*(tokens.offsets[at] for at in places), strict=True)
    return TokenScores(np.array(ids), np.array(starts), np.array(ends), logprobs.astype(np.float64))


def _check(item: Fill) -> None:
    if not item.fillers or not all(filler.strip() for filler in item.fillers):
        raise BadInput(f"{shortened(item.text)}: an empty filler cannot be scored")
    if len(set(item.fillers)) < len(item.fillers):
        raise BadInput(f"{shortened(item.text)}: a filler is given twice")
    if not 0 <= item.start <= item.end <= len(item.text):
        raise BadInput(f"{shortened(item.text)}: the filler's place {item.start}:{item.end} is not in the sentence")
    if any(start < item.end and end > item.start for start, end in item.hidden):
        raise BadInput(f"{shortened(item.text)}: what is hidden overlaps the filler's place {item.start}:{item.end}")
