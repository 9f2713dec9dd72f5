"""Prompts over the chat protocol that OpenAI began and most servers speak: several at once, the answers in order."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

from tiltmeter.models.api.chat_prompt import THINKS, THOUGHT
from tiltmeter.models.api.connection import Post
from tiltmeter.models.api.openai import OPENAI
from tiltmeter.models.api.provider import FaultError, Service, UnusableError
from tiltmeter.models.api.requests import Requests

CHAT = Service(name="chat", variables=OPENAI.variables, address=OPENAI.address, needs_key=False)
#: What an HTTP 400 is called that refuses what the prompt says, not how it was sent.
_FILTERED = ("content_filter", "content_policy_violation")
#: Requests under way at once: few, because providers count them and small servers have one machine.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What the model wrote, nothing where a filter stepped in; ``cut`` where it ran out of tokens."""

    text: str
    cut: bool = False


#: From a prompt to the reply and the tokens billed.
SendPrompt: TypeAlias = Callable[[str], tuple[ChatReply, Any]]


def prompt_sender(post: Post, model: str, limit: dict[str, int]) -> SendPrompt:
    """What asks a model one prompt; ``limit`` names the most tokens it may write."""

    def send(prompt: str) -> tuple[ChatReply, Any]:
        messages = [{"role": "user", "content": prompt}]
        try:
            answer = post("/chat/completions", {"model": model, "messages": messages, "temperature": 0, **limit})
        except FaultError as error:
            if error.fault.status != 400 or error.fault.code not in _FILTERED:
                raise
            return ChatReply(""), None
        return _reply(answer), (answer.get("usage") or {}).get("total_tokens")

    return send


def _reply(answer: Any) -> ChatReply:
    choices = answer.get("choices")
    if not isinstance(choices, list) or not choices:
        raise UnusableError("no message in it")
    content = (choices[0].get("message") or {}).get("content", ...)
    if content is not None and not isinstance(content, str):
        raise UnusableError("a message without text")
    ended = choices[0].get("finish_reason")
    return ChatReply("" if ended == "content_filter" else content or "", cut=ended == "length")


@dataclass(frozen=True, slots=True)
class ChatReplies:
    """One text per prompt, None where there is none because of ``failure``, the first of them."""

    texts: list[str | None]
    failure: BaseException | None


class PromptPool:
    """Open while prompts are asked. A failure of one ends the waiting of the others; what is under way is finished."""

    def __init__(self, requests: Requests, send: SendPrompt, *, max_tokens: int, stop: threading.Event) -> None:
        self._requests, self._send, self._max_tokens, self._stop = requests, send, max_tokens, stop

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._pool = self._stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        self._stack.callback(self._stop.set)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ask(self, prompts: Sequence[tuple[str, int]]) -> ChatReplies:
        """Ask prompts, each with the tokens it may cost."""
        futures = [self._pool.submit(self._one, prompt, tokens) for prompt, tokens in prompts]
        failures = [future.exception() for future in futures]
        causes = [failure for failure in failures if failure and not isinstance(failure, StoppedError)]
        texts = [None if failure else future.result() for future, failure in zip(futures, failures, strict=True)]
        return ChatReplies(texts, causes[0] if causes else None)

    def _one(self, prompt: str, tokens: int) -> str:
        if self._stop.is_set():
            raise StoppedError
        try:
            return self._finished(self._requests.buy(lambda: self._send(prompt), tokens=tokens))
        except BaseException:
            self._stop.set()
            raise

    def _finished(self, reply: ChatReply) -> str:
        text = reply.text.strip()
        if reply.cut and (not text or (text.startswith(THINKS) and THOUGHT not in text)):
            # Not a refusal: the model was stopped in its thoughts, and every answer would be lost that way.
            raise self._requests.failed(
                f"{self._max_tokens} tokens were spent before it answered: a model that thinks needs more max_tokens"
            )
        return text


class StoppedError(Exception):
    """Not asked, or not asked again, because another request failed or nobody waits any more."""
