"""What is asked of a language model, as rows of tokens and what is read at them.

Of a masked one: the words at a mask, and the tokens of a text, masked in their turn or not. Of a causal one: the tokens
of a text from left to right, and continuations of a stem.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Blank, Continuation, Fill, Filled, Prompt, Question, Span, TokenScores
from tiltmeter.models.transformers.batching import Logprobs, Task, TokenRow
from tiltmeter.models.transformers.tokens import Tokens, shortened, whole

#: What either kind answers.
MASKED = (Question.FILLS, Question.PSEUDO, Question.UNMASKED, Question.LIKELIEST)
CAUSAL = (Question.TOKENS, Question.CONTINUATIONS, Question.GENERATE)


@dataclasses.dataclass(frozen=True, slots=True)
class Stem:
    """A continuation in tokens: the stem's, each ending's, and where the text holds a token unknown to the model."""

    ids: tuple[int, ...]
    endings: tuple[tuple[int, ...], ...]
    unknown: tuple[int, int] | None

    def task(self) -> Task:
        """As whole rows, which begin alike."""
        last = len(self.ids) - 1
        rows = tuple(TokenRow(self.ids + ending[:-1], list(enumerate(ending, last))) for ending in self.endings)
        lengths = tuple(map(len, self.endings))
        return Task(rows, lambda read: Filled(tuple(float(logprobs.sum()) for logprobs in read), lengths, self.unknown))


class Questions:
    """Makes tasks of questions; ``called`` is the model in messages.

    With ``bos`` the start mark of a causal model stands before every text, without it before none, whatever its
    tokenizer does in this version of Transformers; None leaves it to the tokenizer. With ``chat`` a prompt is put to
    the model as the message of a user, in the words of its own chat template.
    """

    def __init__(
        self, tokenizer: Any, *, limit: int | None, called: str, bos: bool | None = None, chat: bool = False
    ) -> None:
        self._tokenizer, self._limit, self._called, self._bos, self._chat = tokenizer, limit, called, bos, chat
        self._unknown = tokenizer.unk_token_id
        self._mask = tokenizer.mask_token_id

    def tasks(self, question: Question, items: Sequence[Any]) -> list[Task]:
        if question is Question.CONTINUATIONS:
            return [stem.task() for stem in self._stems(items)]
        if question is Question.TOKENS:
            return [self._left_to_right(text) for text in self._started(items)]
        self._need_mask()
        if question is Question.FILLS:
            return self._fills(items)
        if question is Question.UNMASKED:
            return [self._in_one_pass(text, text.text_places) for text in self._whole(items)]
        texts = self._whole([item.text for item in items])
        return [self._masked_in_turn(text, item) for text, item in zip(texts, items, strict=True)]

    def blanks(self, items: Sequence[Blank]) -> list[tuple[tuple[int, ...], int]]:
        """The tokens of each sentence with one mask at its place, and where that stands."""
        self._need_mask()
        mark = self._tokenizer.mask_token
        for item in items:
            if not (0 <= item.start <= item.end <= len(item.text) and item.k >= 1):
                raise BadInput(
                    f"{shortened(item.text)}: {item.k} words at {item.start}:{item.end} cannot be asked for: give a "
                    "place in the sentence, and at least one word"
                )
        texts = [item.text[: item.start] + mark + item.text[item.end :] for item in items]
        tokens = self._whole(texts)
        places = [one.places(item.start, item.start + len(mark)) for one, item in zip(tokens, items, strict=True)]
        return [(one.masked(at, self._mask), at[0]) for one, at in zip(tokens, places, strict=True)]

    def _need_mask(self) -> None:
        if self._mask is None:
            raise BadInput(f"the tokenizer of {self._called} has no mask token, so nothing can be masked")

    def _whole(self, texts: Sequence[str]) -> list[Tokens]:
        return whole(self._tokenizer, texts, limit=self._limit, called=self._called)

    def _fills(self, items: Sequence[Fill]) -> list[Task]:
        for item in items:
            _check(item)
        versions = iter(self._whole([item.with_filler(filler)[0] for item in items for filler in item.fillers]))
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
            for step, at in enumerate(places):
                if tokens.ids[at] == self._unknown:
                    text = shortened(tokens.text)
                    raise BadInput(f"'{filler}' is unknown to {self._called} (in {text}): use another word")
                rows.append(TokenRow(tokens.masked([*places[step:], *hidden], self._mask), ((at, tokens.ids[at]),)))
            lengths.append(len(places))
            longer = len(filler) - (item.end - item.start)
            unknown = unknown or self._unknown_stretch(tokens, {*places, *hidden}, place[1], longer)

        def answer(read: list[Logprobs]) -> Filled:
            values = np.split(np.concatenate(read).astype(np.float64), np.cumsum(lengths)[:-1])
            return Filled(tuple(float(of_filler.sum()) for of_filler in values), tuple(lengths), unknown)

        return Task(tuple(rows), answer)

    def _unknown_stretch(self, tokens: Tokens, masked: set[int], after: int, longer: int) -> tuple[int, int] | None:
        """Where the rest of the sentence holds a token that the model does not know, in the item's own characters."""
        for at in tokens.text_places:
            if tokens.ids[at] == self._unknown and at not in masked:
                start, end = tokens.offsets[at]
                return (start - longer, end - longer) if start >= after else (start, end)
        return None

    def _in_one_pass(self, tokens: Tokens, places: Sequence[int], *, before: int = 0) -> Task:
        """The tokens at these places, each read at its own or so many places before it."""
        row = TokenRow(tokens.ids, [(at - before, tokens.ids[at]) for at in places])
        return Task((row,), lambda read: self._scores(tokens, places, read[0]))

    def _masked_in_turn(self, tokens: Tokens, span: Span) -> Task:
        inside = tokens.places(span.start, span.end)
        places = range(inside[0], inside[-1] + 1)  # with line breaks and spaces in between that are tokens
        rows = tuple(TokenRow(tokens.masked([at], self._mask), ((at, tokens.ids[at]),)) for at in places)
        return Task(rows, lambda read: self._scores(tokens, places, np.concatenate(read)))

    def _scores(self, tokens: Tokens, places: Sequence[int], logprobs: Logprobs) -> TokenScores:
        ids = [-1 if tokens.ids[at] == self._unknown else tokens.ids[at] for at in places]
        starts, ends = zip(*(tokens.offsets[at] for at in places), strict=True)
        return TokenScores(np.array(ids), np.array(starts), np.array(ends), logprobs.astype(np.float64))

    def _stems(self, items: Sequence[Continuation]) -> list[Stem]:
        for item in items:
            if not item.endings or not all(ending.strip() for ending in item.endings):
                raise BadInput(f"{shortened(item.stem)}: an empty ending cannot be scored")
        texts = [text for item in items for text in (item.stem, *(item.stem + ending for ending in item.endings))]
        tokens = iter(self._started(texts))
        return [self._stem(item, list(itertools.islice(tokens, 1 + len(item.endings)))) for item in items]

    def prompts(self, items: Sequence[Prompt]) -> list[tuple[int, ...]]:
        """The tokens that stand before what is to be written; the model must have room for both."""
        if self._chat:
            ids = [self._as_message(item.text) for item in items]
        else:
            tokens = self._started([item.text for item in items])
            ids = [one.ids[: one.text_places[-1] + 1] for one in tokens]
        for item, one in zip(items, ids, strict=True):
            if self._limit is not None and len(one) + item.max_tokens > self._limit:
                raise BadInput(
                    f"the prompt {shortened(item.text)} has {len(one)} tokens and asks for {item.max_tokens} more, and "
                    f"{self._called} reads {self._limit}: shorten it, or ask for fewer"
                )
        return ids

    def _as_message(self, text: str) -> tuple[int, ...]:
        if not getattr(self._tokenizer, "chat_template", None):
            raise BadInput(f"chat=yes: the tokenizer of {self._called} has no chat template; leave the option out")
        message = [{"role": "user", "content": text}]
        framed = self._tokenizer.apply_chat_template(message, add_generation_prompt=True, tokenize=False)
        return tuple(self._tokenizer(framed, add_special_tokens=False)["input_ids"])

    def _started(self, texts: Sequence[str]) -> list[Tokens]:
        """The tokens of texts for a causal model, with or without a start mark."""
        if self._bos and self._tokenizer.bos_token_id is None:
            raise BadInput(f"bos=yes: the tokenizer of {self._called} has no start mark; leave the option out")
        whole_texts = self._whole(texts)
        return whole_texts if self._bos is None else [self._marked(tokens) for tokens in whole_texts]

    def _marked(self, tokens: Tokens) -> Tokens:
        mark = self._tokenizer.bos_token_id
        if (tokens.ids[0] == mark and 0 not in tokens.text_places) == self._bos:
            return tokens
        if not self._bos:
            places = tuple(at - 1 for at in tokens.text_places)
            return Tokens(tokens.text, tokens.ids[1:], tokens.offsets[1:], places)
        if self._limit is not None and len(tokens.ids) >= self._limit:
            raise BadInput(
                f"{shortened(tokens.text)} has {len(tokens.ids) + 1} tokens with its start mark, and "
                f"{self._called} reads {self._limit}: shorten it"
            )
        places = tuple(at + 1 for at in tokens.text_places)
        return Tokens(tokens.text, (mark, *tokens.ids), [(0, 0), *tokens.offsets], places)

    def _left_to_right(self, tokens: Tokens) -> Task:
        places = [at for at in tokens.text_places if at > 0]
        if not places:
            raise BadInput(
                f"{shortened(tokens.text)} is one token to {self._called} with nothing before it: add bos=yes to "
                "the model, or give a longer text"
            )
        return self._in_one_pass(tokens, places, before=1)

    def _stem(self, item: Continuation, versions: list[Tokens]) -> Stem:
        """The stem ends where the tokens of all versions are still those of the stem alone.

        A tokenizer may join the end of a stem with what follows; the joint token then belongs to the endings.
        """
        ids = [tokens.ids[: tokens.text_places[-1] + 1] for tokens in versions]
        common = next((i for i, same in enumerate(zip(*ids, strict=False)) if len(set(same)) > 1), min(map(len, ids)))
        common = min(common, *(len(version) - 1 for version in ids[1:]))
        if common == 0:
            raise BadInput(f"{shortened(item.stem)}: nothing stands before the ending that {self._called} could read")
        endings = tuple(version[common:] for version in ids[1:])
        for ending, tokens in zip(item.endings, endings, strict=True):
            if self._unknown in tokens:
                raise BadInput(f"'{ending.strip()}' is unknown to {self._called}: use another word")
        first = versions[1]
        unknown = [at for at in first.text_places if at < common and first.ids[at] == self._unknown]
        return Stem(ids[0][:common], endings, first.offsets[unknown[0]] if unknown else None)


def _check(item: Fill) -> None:
    if not item.fillers or not all(filler.strip() for filler in item.fillers):
        raise BadInput(f"{shortened(item.text)}: an empty filler cannot be scored")
    if len(set(item.fillers)) < len(item.fillers):
        raise BadInput(f"{shortened(item.text)}: a filler is given twice")
    if not 0 <= item.start <= item.end <= len(item.text):
        raise BadInput(f"{shortened(item.text)}: the filler's place {item.start}:{item.end} is not in the sentence")
    if any(start < item.end and end > item.start for start, end in item.hidden):
        raise BadInput(f"{shortened(item.text)}: what is hidden overlaps the filler's place {item.start}:{item.end}")
