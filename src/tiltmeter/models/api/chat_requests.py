"""Several prompts at once: the answers in order, and the first failure beside what was bought."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from tiltmeter.models.api.chat_prompt import THINKS, THOUGHT
from tiltmeter.models.api.chat_wire import Reply, Send
from tiltmeter.models.api.requests import Requests

#: Requests under way at once: few, because providers count them and small servers have one machine.
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class Replies:
    """One text per prompt, None where there is none because of ``failure``."""

    texts: list[str | None]
    failure: BaseException | None


class Asking:
    """Open while prompts are asked. A failure of one ends the waiting of the others; what is under way is finished."""

    def __init__(self, requests: Requests, send: Send, *, max_tokens: int, stop: threading.Event) -> None:
        self._requests, self._send, self._max_tokens, self._stop = requests, send, max_tokens, stop

    def __enter__(self) -> Self:
        self._stack = ExitStack()
        self._pool = self._stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        self._stack.callback(self._stop.set)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def ask(self, prompts: Sequence[tuple[str, int]]) -> Replies:
        """Ask prompts, each with the tokens it may cost."""
        futures = [self._pool.submit(self._one, prompt, tokens) for prompt, tokens in prompts]
        failures = [future.exception() for future in futures]
        told = [failure for failure in failures if failure and not isinstance(failure, StoppedError)]
        texts = [None if failure else future.result() for future, failure in zip(futures, failures, strict=True)]
        return Replies(texts, told[0] if told else None)

    def _one(self, prompt: str, tokens: int) -> str:
        if self._stop.is_set():
            raise StoppedError
        try:
            return self._finished(self._requests.buy(lambda: self._send(prompt), tokens=tokens))
        except BaseException:
            self._stop.set()
            raise

    def _finished(self, reply: Reply) -> str:
        text = reply.text.strip()
        if reply.cut and (not text or (text.startswith(THINKS) and THOUGHT not in text)):
            # Not a refusal: the model was stopped in its thoughts, and every answer would be lost that way.
            raise self._requests.failed(
                f"{self._max_tokens} tokens were spent before it answered: a model that thinks needs more max_tokens"
            )
        return text


class StoppedError(Exception):
    """Not asked, or not asked again, because another request failed or nobody waits any more."""
