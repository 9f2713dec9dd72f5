"""A chat model as a model that chooses: which of two words fits a blank, asked in both orders."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack

from tiltmeter.errors import BadInput
from tiltmeter.models.api.budget import Budget, Cost, estimate_cost, estimate_tokens
from tiltmeter.models.api.chat_prompt import PROMPT_VERSION, bare, prompts, read_choice
from tiltmeter.models.api.chat_requests import AT_ONCE, CHAT, PromptPool, StoppedError, prompt_sender
from tiltmeter.models.api.connection import connect
from tiltmeter.models.api.keys import scrubbed_logs, secrets_of
from tiltmeter.models.api.provider import Target, checked_url, revision_at
from tiltmeter.models.api.requests import Requests
from tiltmeter.models.protocol import Batch, Choice, Chosen, Identity, Question, gather
from tiltmeter.stimuli.sentences.sentence import MASK

#: Tokens that a server puts around one message, at most.
_FRAME = 12


class ChatModel:
    """A chat model at OpenAI, or at any server that speaks its protocol (Ollama, vLLM, llama.cpp, ...).

    Each choice is asked twice, with the options in either order, at temperature 0; a model that goes by the place of
    a word and not by the word then shows itself. An answer that is not one of the two words counts as none.

    The key is read from OPENAI_API_KEY when the first request is made, and goes to OpenAI alone; one for another
    server (``base_url``), which may need none, is named in TILTMETER_KEYS. ``max_tokens`` is for a model that thinks
    before it answers, ``timeout`` for a whole answer.

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
        max_tokens: int = 32,
        budget: Budget | None = None,
        timeout: float = 60.0,
        max_tries: int = 6,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if not name.strip():
            raise BadInput("no model named: write e.g. 'chat:gpt-4o-mini'")
        if max_tokens < 1 or timeout <= 0 or max_tries < 1:
            raise BadInput("max_tokens, timeout and max_tries must be positive")
        self._model = name
        self._base_url = None if base_url is None else checked_url(base_url)
        self._max_tokens = max_tokens
        self._budget = budget or Budget()
        self._timeout, self._max_tries, self._sleep = timeout, max_tries, sleep

    @property
    def identity(self) -> Identity:
        """What the answers depend on. Providers publish no revision of their weights: the name has to do."""
        return Identity(
            name=f"chat:{self._model}",
            revision=revision_at(self._model, self._base_url),
            settings={"prompt": PROMPT_VERSION, "temperature": "0", "max_tokens": str(self._max_tokens)},
        )

    def choose(self, items: Sequence[Choice]) -> list[Chosen]:
        """One answer per choice, in order."""
        return gather(self.stream(Question.CHOICES, items), len(items))

    def stream(self, question: Question, inputs: Sequence[Choice], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """A few choices at a time, in order, so that they can be saved before the next are bought.

        A choice that stands several times among the inputs is bought once. Where a request fails for good, the
        choices that were answered along with it still come before the error.
        """
        if question is not Question.CHOICES:
            raise BadInput(f"{self.identity.name} gives {Question.CHOICES.about}, not {question.about}")
        return self._buy(_places(inputs, known))

    def estimate(self, items: Sequence[Choice]) -> Cost:
        """What these choices cost at most, without a request; no price is known for a server of one's own."""
        asked = [prompt for item in _places(items) for prompt in prompts(item)]
        written = len(asked) * self._max_tokens
        tokens = sum(map(self._most_tokens, asked))
        dollars = None if self._base_url else estimate_cost(self.identity.name, tokens - written, written=written)
        return Cost(len(asked), tokens, dollars)

    def _buy(self, places: dict[Choice, list[int]]) -> Iterator[Batch]:
        if not places:
            return
        items = list(places)
        with ExitStack() as stack:
            pool = self._open(stack)
            for start in range(0, len(items), AT_ONCE):
                some = items[start : start + AT_ONCE]
                asked = [(prompt, self._most_tokens(prompt)) for item in some for prompt in prompts(item)]
                replies = pool.ask(asked)
                pairs = zip(some, replies.texts[::2], replies.texts[1::2], strict=True)
                chosen = {
                    item: Chosen(read_choice(first, item.options), read_choice(second, item.options))
                    for item, first, second in pairs
                    if first is not None and second is not None
                }
                if chosen:
                    positions = [place for item in chosen for place in places[item]]
                    yield positions, [answer for item, answer in chosen.items() for _ in places[item]]
                if replies.failure:
                    raise replies.failure

    def _open(self, stack: ExitStack) -> PromptPool:
        key = CHAT.key_at(self._base_url)
        secrets = secrets_of(key, self._base_url)
        stop = threading.Event()

        def pause(seconds: float) -> None:
            (self._sleep or stop.wait)(seconds)
            if stop.is_set():
                raise StoppedError

        requests = Requests(
            service=CHAT,
            model=self._model,
            budget=self._budget,
            max_tries=self._max_tries,
            sleep=pause,
            base_url=self._base_url,
            secrets=secrets,
        )
        target = Target(self._model, key, self._base_url or CHAT.address, self._timeout)
        # OpenAI's newer models refuse the old name, and many other servers do not know the new one.
        limit = {"max_tokens" if self._base_url else "max_completion_tokens": self._max_tokens}
        send = prompt_sender(requests.open(connect(target), stack), self._model, limit)
        stack.enter_context(scrubbed_logs(secrets))
        return stack.enter_context(PromptPool(requests, send, max_tokens=self._max_tokens, stop=stop))

    def _most_tokens(self, prompt: str) -> int:
        return estimate_tokens(prompt) + _FRAME + self._max_tokens

    def __repr__(self) -> str:
        return f"ChatModel({self.identity.name!r})"


def _places(items: Sequence[Choice], known: Collection[int] = ()) -> dict[Choice, list[int]]:
    """Where each different choice stands; all are checked before anything is bought."""
    places: dict[Choice, list[int]] = {}
    for position, item in enumerate(items):
        which = f"choice {position + 1} of {len(items)}"
        if not isinstance(item, Choice) or item.text.count(MASK) != 1:
            raise BadInput(f"{which} is no sentence with one {MASK} in it")
        if not all(map(bare, item.options)) or len(set(map(bare, item.options))) != 2:
            raise BadInput(f"{which}: the options {item.options} must be two words that differ in more than case")
        if position not in known:
            places.setdefault(item, []).append(position)
    return places
