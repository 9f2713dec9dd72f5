"""One prompt and its answer over the chat protocol that OpenAI began and most servers speak."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from tiltmeter.models.api.openai import OPENAI, open_client
from tiltmeter.models.api.provider import Service, Target, load_sdk
from tiltmeter.models.api.requests import UnusableError

CHAT = Service(name="chat", variables=OPENAI.variables, fault=OPENAI.fault)
#: What an HTTP 400 is called that refuses what the prompt says, not how it was sent.
_FILTERED = ("content_filter", "content_policy_violation")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model wrote, nothing where a filter stepped in; ``cut`` where it ran out of tokens."""

    text: str
    cut: bool = False


#: From a prompt to the reply and the tokens billed.
Send: TypeAlias = Callable[[str], tuple[Reply, int | None]]


@contextmanager
def connect(target: Target, *, max_tokens: int) -> Iterator[Send]:
    """A client for one model, which may be used by several threads."""
    # OpenAI's newer models refuse the old name, and many other servers do not know the new one.
    limit = {"max_completion_tokens" if target.base_url is None else "max_tokens": max_tokens}
    filtered = load_sdk("openai").BadRequestError
    with open_client(target) as client:
        # Looked up here, once: the SDK loads the rest of itself at the first use, with its loggers.
        create = client.chat.completions.create

        def send(prompt: str) -> tuple[Reply, int | None]:
            messages = [{"role": "user", "content": prompt}]
            try:
                response = create(model=target.model, messages=messages, temperature=0, **limit)
            except filtered as error:
                if error.code not in _FILTERED:
                    raise
                return Reply(""), None
            tokens = getattr(getattr(response, "usage", None), "total_tokens", None)
            return _reply(response), tokens

        yield send


def _reply(response: Any) -> Reply:
    choices = getattr(response, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise UnusableError("no message in it")
    content = getattr(getattr(choices[0], "message", None), "content", ...)
    if content is not None and not isinstance(content, str):
        raise UnusableError("a message without text")
    ended = getattr(choices[0], "finish_reason", None)
    return Reply("" if ended == "content_filter" else content or "", cut=ended == "length")
