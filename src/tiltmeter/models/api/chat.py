"""A chat model: which of two words fits a blank, asked in both orders, and what it writes to a prompt."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.api.budget import Budget, Cost, estimate_tokens
from tiltmeter.models.api.chat_prompt import (
    PROMPT_VERSION,
    THINKS,
    THOUGHT,
    bare,
    chance_of_first,
    prompts,
    read_choice,
)
from tiltmeter.models.api.connection import FaultError, Post, UnusableError
from tiltmeter.models.api.provider import CHAT, checked_url
from tiltmeter.models.api.requests import Requests
from tiltmeter.models.api.side_by_side import buy_side_by_side, sample_seed
from tiltmeter.models.protocol import Batch, Choice, Chosen, Generated, Identity, Prompt, Question, gather
from tiltmeter.stimuli.sentences.sentence import MASK

#: Tokens that a server puts around one message, at most.
_FRAME = 12
#: What an HTTP 400 is called that refuses what the prompt says, not how it was sent.
_FILTERED = ("content_filter", "content_policy_violation")
#: OpenAI's models that think before they answer: they take no temperature but their own, and need room for thoughts.
_THINKERS = re.compile(r"(?:o\d|gpt-5)(?!.*chat)")
_ROOM, _ROOM_TO_THINK = 32, 2048
#: Tokens of whose log-probabilities a server tells: as many as OpenAI does.
_TOP = 20
_COUNT = "leave logprobs out, or count its answers by samples=10"
_OWN_TEMPERATURE = "it takes no temperature but its own, write chat:...?temperature=default"


@dataclass(frozen=True, slots=True)
class Message:
    """One request: what is said to the model, and how it is to answer."""

    text: str
    max_tokens: int
    temperature: float = 0
    seed: int | None = None
    #: Whether the log-probabilities of the tokens that the answer may begin with are asked for.
    logprobs: bool = False

    @property
    def most_tokens(self) -> int:
        return estimate_tokens(self.text) + _FRAME + self.max_tokens


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said, and the log-probabilities of the tokens that it might have begun with."""

    text: str
    top: Mapping[str, float] | None = None


class ChatModel:
    """A chat model at OpenAI, or at any server that speaks its protocol (Ollama, vLLM, llama.cpp, ...).

    Each choice is asked twice, with the options in either order, at temperature 0; a model that goes by the place of
    a word and not by the word then shows itself. An answer that is not one of the two words counts as none. A prompt is
    sent as it is, once for each sample, with a seed that servers may heed.

    With ``logprobs="yes"`` a choice is read from the log-probabilities of the first token (``top_logprobs``), which say
    how sure it is and not only which way it falls. Where a server offers none, ``samples=10`` asks for so many answers
    at temperature 1, each with a seed of its own, and counts them.

    The key is read from OPENAI_API_KEY when the first request is made, and goes to OpenAI alone; one for another
    server (``base_url``), which may need none, is named in TILTMETER_KEYS. ``max_tokens`` is for a model that thinks
    before it answers, ``timeout`` for a whole answer. ``temperature="default"`` is for one that refuses to be asked at
    0: its answers are then drawn by chance, and its settings say so. OpenAI's own are known by their names.

    >>> model = ChatModel("gpt-4o-mini")
    >>> model.identity.name, model.identity.settings["max_tokens"]
    ('chat:gpt-4o-mini', '32')
    >>> model.estimate([Choice("The nurse said that [MASK] was tired.", ("he", "she"))]).requests
    2
    """

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        max_tokens: int | None = None,
        temperature: str = "auto",
        logprobs: str = "no",
        samples: int = 1,
        budget: Budget | None = None,
        timeout: float = 60.0,
        max_tries: int = 6,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if not name.strip():
            raise BadInput("no model named: write e.g. 'chat:gpt-4o-mini'")
        if temperature not in ("auto", "0", "default"):
            raise unknown("temperature", temperature, ["auto", "0", "default"])
        thinks = base_url is None and _THINKERS.match(name) is not None
        self._temperature = temperature if temperature != "auto" else "default" if thinks else "0"
        max_tokens = max_tokens if max_tokens is not None else _ROOM_TO_THINK if thinks else _ROOM
        if max_tokens < 1 or timeout <= 0 or max_tries < 1:
            raise BadInput("max_tokens, timeout and max_tries must be positive")
        if logprobs not in ("yes", "no"):
            raise unknown("logprobs", logprobs, ["yes", "no"])
        if samples < 1 or (samples > 1 and logprobs == "yes"):
            raise BadInput(f"samples={samples}: give at least 1, and leave it out with logprobs=yes, which say as much")
        self._logprobs, self._samples = logprobs == "yes", samples
        url = None if base_url is None else checked_url(base_url)
        self._max_tokens, self._sleep = max_tokens, sleep
        self._requests = Requests(CHAT, name, url, budget or Budget(), timeout, max_tries)

    @property
    def identity(self) -> Identity:
        settings = {"prompt": PROMPT_VERSION, "temperature": self._temperature, "max_tokens": str(self._max_tokens)}
        asked = {"logprobs": "yes"} if self._logprobs else {"samples": str(self._samples)} if self._samples > 1 else {}
        return self._requests.identity(settings | asked)

    @property
    def questions(self) -> tuple[Question, ...]:
        return Question.CHOICES, Question.GENERATE

    def choose(self, items: Sequence[Choice]) -> list[Chosen]:
        """One answer per choice, in order."""
        return gather(self.stream(Question.CHOICES, items), len(items))

    def generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        """What the model writes to each prompt, in order."""
        return gather(self.stream(Question.GENERATE, prompts), len(prompts))

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """A few inputs at a time, in order, so that they can be saved before the next are bought.

        One that stands several times among the inputs is bought once. Where a request fails for good, those that were
        answered along with it still come before the error.
        """
        if question not in self.questions:
            raise BadInput(f"{self.identity.name} gives {Question.CHOICES.about}, not {question.about}")
        return buy_side_by_side(
            self._requests,
            _places(question, inputs, known),
            messages=self._messages,
            ask=self._asked,
            answer=self._answer,
            sleep=self._sleep,
        )

    def estimate(self, items: Sequence[Choice | Prompt]) -> Cost:
        """What these cost at most, without a request."""
        asked = [message for item in dict.fromkeys(items) for message in self._messages(item)]
        tokens, written = sum(one.most_tokens for one in asked), sum(one.max_tokens for one in asked)
        return Cost(len(asked), tokens, self._requests.dollars(tokens - written, written=written))

    def _messages(self, item: Choice | Prompt) -> list[Message]:
        if isinstance(item, Choice):
            if self._samples > 1:
                return [
                    Message(prompt, self._max_tokens, 1.0, sample_seed(0, sample))
                    for prompt in prompts(item)
                    for sample in range(self._samples)
                ]
            return [Message(prompt, self._max_tokens, logprobs=self._logprobs) for prompt in prompts(item)]
        # A model that thinks first needs room for it, which is what max_tokens of the model is set for.
        room = max(item.max_tokens, self._max_tokens)
        if not item.temperature:
            return [Message(item.text, room)]
        return [Message(item.text, room, item.temperature, sample_seed(item.seed, sample)) for sample in range(item.n)]

    def _answer(self, item: Choice | Prompt, replies: list[Reply]) -> Chosen | Generated:
        if isinstance(item, Choice):
            return self._chosen(item, replies)
        texts = tuple(reply.text.rpartition(THOUGHT)[2].strip() for reply in replies)
        return Generated(texts * (item.n // len(texts)))  # at temperature 0 one text stands for all

    def _chosen(self, item: Choice, replies: list[Reply]) -> Chosen:
        """The choice in either order of the options: as it was said, or by chances where these are asked for."""
        read = [read_choice(reply.text, item.options) for reply in replies]
        if not self._logprobs and self._samples == 1:
            return Chosen(read[0], read[1])
        halves = [slice(self._samples), slice(self._samples, None)]
        if self._logprobs:
            chances = [chance_of_first(reply.top or {}, item.options) for reply in replies]
        else:
            chances = [_counted(read[half]) for half in halves]
        one, two = (_which(chance) for chance in chances)
        known = [chance for chance in chances if chance is not None]
        return Chosen(one, two, (known[0], known[1]) if len(known) == len(halves) else None)

    def _asked(self, requests: Requests, post: Post, message: Message) -> Reply:
        """What the model writes to a message, nothing where a filter steps in."""
        # OpenAI's newer models refuse the old name, and many other servers do not know the new one.
        limit = "max_tokens" if requests.base_url else "max_completion_tokens"
        messages = [{"role": "user", "content": message.text}]
        seed = {} if message.seed is None else {"seed": message.seed}
        heat = {"temperature": message.temperature} if self._temperature == "0" else {}
        logprobs = {"logprobs": True, "top_logprobs": _TOP} if message.logprobs else {}
        body = {"model": requests.model, "messages": messages, **heat, limit: message.max_tokens, **seed, **logprobs}

        def send() -> tuple[tuple[Reply, bool], Any]:
            try:
                answer = post("/chat/completions", body)
            except FaultError as fault:
                if fault.status == 400 and "temperature" in body and "temperature" in fault.reason.lower():
                    raise replace(fault, advice=_OWN_TEMPERATURE) from None
                if message.logprobs and fault.status in (400, 422, 501) and "logprobs" in fault.reason.lower():
                    raise replace(fault, advice=_COUNT) from None
                if fault.status != 400 or fault.code not in _FILTERED:
                    raise
                return (Reply("", {}), False), None
            return _reply(answer), (answer.get("usage") or {}).get("total_tokens")

        reply, cut = requests.buy(send, tokens=message.most_tokens)
        text = reply.text
        if message.logprobs and reply.top is None:
            raise requests.failed(f"the server gives no log-probabilities of its answers: {_COUNT}")
        if cut and (not text or (text.startswith(THINKS) and THOUGHT not in text)):
            # Not a refusal: the model was stopped in its thoughts, and every answer would be lost that way.
            raise requests.failed(
                f"{message.max_tokens} tokens were spent before it answered: a model that thinks needs more max_tokens"
            )
        return reply

    def __repr__(self) -> str:
        return f"ChatModel({self.identity.name!r})"


def _reply(answer: Any) -> tuple[Reply, bool]:
    """What a model wrote, and whether it ran out of tokens."""
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnusableError("no message in it")
    content = (choices[0].get("message") or {}).get("content", ...)
    if content is not None and not isinstance(content, str):
        raise UnusableError("a message without text")
    ended = choices[0].get("finish_reason")
    if ended == "content_filter" or not content:
        return Reply("", {}), ended == "length"
    return Reply(content.strip(), _top(choices[0].get("logprobs"))), ended == "length"


def _top(logprobs: Any) -> Mapping[str, float] | None:
    """The likeliest tokens at the first place of an answer that is no white space; None where a server says nothing."""
    places = logprobs.get("content") if isinstance(logprobs, dict) else None
    if not isinstance(places, list):
        return None
    for place in places:
        if not place["token"].strip():
            continue
        top = {str(one["token"]): float(one["logprob"]) for one in place.get("top_logprobs") or ()}
        if not all(-math.inf <= logprob <= 1e-3 for logprob in top.values()):
            raise UnusableError("a log-probability that is not a number")
        return top or None
    return None


def _counted(read: Sequence[int]) -> float | None:
    """The share of answers that name option 1, of those that name one."""
    named = [which for which in read if which]
    return named.count(1) / len(named) if named else None


def _which(chance: float | None) -> int:
    """The option that a chance of option 1 speaks for; 0 for none."""
    return 0 if chance is None or chance == 0.5 else 1 if chance > 0.5 else 2


def _places(question: Question, items: Sequence[Any], known: Collection[int] = ()) -> dict[Any, list[int]]:
    """Where each different input stands; all are checked before anything is bought."""
    places: dict[Any, list[int]] = {}
    for position, item in enumerate(items):
        (_check_prompt if question is Question.GENERATE else _check_choice)(item, position, len(items))
        if position not in known:
            places.setdefault(item, []).append(position)
    return places


def _check_choice(item: object, position: int, n: int) -> None:
    which = f"choice {position + 1} of {n}"
    if not isinstance(item, Choice) or item.text.count(MASK) != 1:
        raise BadInput(f"{which} is not a sentence with one {MASK} in it")
    if not all(map(bare, item.options)) or len(set(map(bare, item.options))) != 2:
        raise BadInput(f"{which}: the options {item.options} must be two words that differ in more than case")


def _check_prompt(item: object, position: int, n: int) -> None:
    if not isinstance(item, Prompt) or not item.text.strip():
        raise BadInput(f"prompt {position + 1} of {n} is not a Prompt with a text in it")
