"""A causal language model behind a completions server: log-probabilities of texts and endings, and texts written."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.api.budget import Budget, Cost, estimate_tokens
from tiltmeter.models.api.connection import FaultError, Post, UnusableError
from tiltmeter.models.api.provider import COMPLETIONS, checked_url
from tiltmeter.models.api.requests import Requests
from tiltmeter.models.api.side_by_side import AT_ONCE, buy_side_by_side, sample_seed
from tiltmeter.models.api.token_answers import echoed, endings, listed
from tiltmeter.models.protocol import (
    SCORES,
    Batch,
    Continuation,
    Filled,
    Generated,
    Identity,
    Prompt,
    Question,
    TokenScores,
    gather,
)

#: How a server is asked for the log-probabilities of a text, and how its answer is read.
_WAYS: dict[str, tuple[dict[str, Any], Callable[[Any, str], TokenScores | None]]] = {
    "echo": ({"echo": True, "logprobs": 1}, echoed),
    "prompt": ({"prompt_logprobs": 0}, listed),
}


@dataclass(frozen=True, slots=True)
class _Texts:
    """One request for the log-probabilities of some texts."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sample:
    """One request for a text that continues a prompt."""

    prompt: Prompt
    seed: int | None


class CompletionsModel:
    """A causal language model at a server that speaks OpenAI's completions protocol (vLLM, SGLang, TGI, ...).

    A text is sent as a prompt, and the server says the log-probability of each of its tokens: with ``logprobs="echo"``
    by repeating it (``echo`` and ``logprobs``), with ``"prompt"`` by ``prompt_logprobs``. Tokens are found again in the
    text by their characters. A server that prepends a start mark is taken as it is.

    The key is read from OPENAI_API_KEY when the first request is made, and goes to OpenAI alone; one for another
    server (``base_url``), which may need none, is named in TILTMETER_KEYS. ``parallel`` requests are under way at once.

    >>> model = CompletionsModel("llama", base_url="http://localhost:8000/v1")
    >>> model.identity.name, model.identity.revision
    ('completions:llama', 'llama@localhost:8000/v1')
    >>> model.estimate([Continuation("The chef said that", (" he", " she"))])
    Cost(requests=1, tokens=19, dollars=None)
    """

    questions = (Question.TOKENS, Question.CONTINUATIONS, Question.GENERATE)

    def __init__(
        self,
        name: str,
        *,
        base_url: str | None = None,
        logprobs: str = "echo",
        parallel: int = AT_ONCE,
        budget: Budget | None = None,
        timeout: float = 60.0,
        max_tries: int = 6,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if not name.strip():
            raise BadInput("no model named: write e.g. 'completions:llama?base_url=http://localhost:8000/v1'")
        if logprobs not in _WAYS:
            raise unknown("logprobs", logprobs, _WAYS)
        if parallel < 1 or timeout <= 0 or max_tries < 1:
            raise BadInput("parallel, timeout and max_tries must be positive")
        url = None if base_url is None else checked_url(base_url)
        self._logprobs, self._parallel, self._sleep = logprobs, parallel, sleep
        self._requests = Requests(COMPLETIONS, name, url, budget or Budget(), timeout, max_tries)

    @property
    def identity(self) -> Identity:
        return self._requests.identity({})

    def score(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probabilities of the tokens of a text, each after those before it."""
        return gather(self.stream(Question.TOKENS, texts), len(texts))

    def continue_with(self, items: Sequence[Continuation]) -> list[Filled]:
        """Log-probabilities of endings after a stem."""
        return gather(self.stream(Question.CONTINUATIONS, items), len(items))

    def generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        """What the model writes after each prompt, in order."""
        return gather(self.stream(Question.GENERATE, prompts), len(prompts))

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """A few inputs at a time, in order, so that they can be saved before the next are bought."""
        if question not in self.questions:
            raise BadInput(f"{self.identity.name} gives {Question.TOKENS.about}, not {question.about}")
        places: dict[Any, list[int]] = {}
        for position, item in enumerate(inputs):
            _check(question, item, f"input {position + 1} of {len(inputs)}")
            if position not in known:
                places.setdefault(item, []).append(position)
        return buy_side_by_side(
            self._requests,
            places,
            messages=_messages,
            ask=self._ask,
            answer=self._answer,
            sleep=self._sleep,
            at_once=self._parallel,
        )

    def estimate(self, items: Sequence[Any]) -> Cost:
        """What these cost at most, without a request."""
        asked = [message for item in dict.fromkeys(items) for message in _messages(item)]
        tokens, written = sum(map(_most_tokens, asked)), sum(map(_written, asked))
        return Cost(len(asked), tokens, self._requests.dollars(tokens - written, written=written))

    def _ask(self, requests: Requests, post: Post, message: _Texts | _Sample) -> Any:
        return self._scored(requests, post, message) if isinstance(message, _Texts) else _text(requests, post, message)

    def _scored(self, requests: Requests, post: Post, message: _Texts) -> list[TokenScores]:
        options, read = _WAYS[self._logprobs]
        prompt = list(message.texts) if len(message.texts) > 1 else message.texts[0]
        # One token at least: some servers write without end where none is asked for.
        body = {"model": requests.model, "prompt": prompt, "max_tokens": 1, "temperature": 0, **options}

        def send() -> tuple[list[TokenScores | None], Any]:
            try:
                answer = post("/completions", body)
            except FaultError as fault:
                if fault.status in (400, 422, 501) and any(
                    name in fault.reason.lower() for name in ("echo", "logprobs")
                ):
                    return [None], None
                raise
            choices = _choices(answer, len(message.texts))
            scores = [read(choice, text) for choice, text in zip(choices, message.texts, strict=True)]
            return scores, (answer.get("usage") or {}).get("total_tokens")

        scores = requests.buy(send, tokens=_most_tokens(message), inputs=len(message.texts))
        if any(one is None for one in scores):
            other = next(way for way in _WAYS if way != self._logprobs)
            raise requests.failed(
                f"the server gives no log-probabilities of a prompt (asked by logprobs={self._logprobs}): try "
                f"logprobs={other}, or ask it for choices and texts by chat:{requests.model}?base_url=..."
            )
        return [one for one in scores if one is not None]

    def _answer(self, item: Any, replies: list[Any]) -> Any:
        if isinstance(item, Prompt):
            return Generated(tuple(replies) * (item.n // len(replies)))  # at temperature 0 one text stands for all
        scores: list[TokenScores] = replies[0]
        if isinstance(item, str):
            if not len(scores[0]):
                raise BadInput(
                    f"'{item[:40]}' is one token to {self.identity.name} with nothing before it: give a longer text"
                )
            return scores[0]
        filled = endings(item, scores)
        if min(filled.tokens) < 1:
            raise BadInput(f"'{item.stem[:40]}': nothing stands before the ending that {self.identity.name} could read")
        return filled

    def __repr__(self) -> str:
        return f"CompletionsModel({self.identity.name!r})"


def _text(requests: Requests, post: Post, message: _Sample) -> str:
    prompt = message.prompt
    seed = {} if message.seed is None else {"seed": message.seed}
    how = {"max_tokens": prompt.max_tokens, "temperature": prompt.temperature, **seed}
    body = {"model": requests.model, "prompt": prompt.text, **how}

    def send() -> tuple[str, Any]:
        answer = post("/completions", body)
        (choice,) = _choices(answer, 1)
        if not isinstance(choice.get("text"), str):
            raise UnusableError("a completion without text")
        return choice["text"], (answer.get("usage") or {}).get("total_tokens")

    return requests.buy(send, tokens=_most_tokens(message))


def _choices(answer: Any, n: int) -> list[dict[str, Any]]:
    """The completions of an answer in the order of the prompts."""
    choices = answer.get("choices")
    if not isinstance(choices, list) or len(choices) != n:
        raise UnusableError(f"{len(choices) if isinstance(choices, list) else 'no'} completions for {n} prompts")
    numbered = {choice.get("index", place): choice for place, choice in enumerate(choices)}
    if sorted(numbered) != list(range(n)):
        raise UnusableError("completions that are not numbered one for each prompt")
    return [numbered[place] for place in range(n)]


def _messages(item: Any) -> list[Any]:
    if isinstance(item, Continuation):
        return [_Texts(tuple(item.stem + ending for ending in item.endings))]
    if isinstance(item, str):
        return [_Texts((item,))]
    if not item.temperature:
        return [_Sample(item, None)]
    return [_Sample(item, sample_seed(item.seed, sample)) for sample in range(item.n)]


def _most_tokens(message: _Texts | _Sample) -> int:
    if isinstance(message, _Sample):
        return estimate_tokens(message.prompt.text) + message.prompt.max_tokens
    return sum(estimate_tokens(text) + 1 for text in message.texts)


def _written(message: _Texts | _Sample) -> int:
    return message.prompt.max_tokens if isinstance(message, _Sample) else len(message.texts)


def _check(question: Question, item: Any, which: str) -> None:
    """All inputs are checked before anything is bought."""
    wanted, _ = SCORES[question]
    text = getattr(item, "stem", None) or getattr(item, "text", item)
    if not isinstance(item, wanted) or not isinstance(text, str) or not text.strip():
        raise BadInput(f"{which} is empty or no {wanted.__name__}: leave it out")
    if isinstance(item, Continuation) and not (item.endings and all(ending.strip() for ending in item.endings)):
        raise BadInput(f"{which}: an empty ending cannot be scored")
