"""A chat model at a server on loopback, as the tests ask it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.models.api.loopback import name_key
from tests.models.provider import LoopbackProvider, Said
from tiltmeter.errors import ModelFailed
from tiltmeter.models.api.chat import ChatModel
from tiltmeter.models.protocol import Choice, Chosen

KEY = "sk-proj-4f9a7c1e2b8d"


NURSE = Choice("The nurse said that the tea was made by [MASK].", ("him", "her"))


CHEF = Choice("The chef said that the tea was made by [MASK].", ("him", "her"))


MANY = [Choice(f"Person {i} said that [MASK] slept.", ("he", "she")) for i in range(10)]


class AskedChat:
    """A chat model at the loopback server, with a clock that does not wait."""

    def __init__(self, server: LoopbackProvider, **options: Any) -> None:
        self.slept: list[float] = []
        options = {"base_url": server.base_url("openai"), "sleep": self.slept.append, **options}
        name_key(options["base_url"], "OPENAI_API_KEY")
        self.model = ChatModel("small", **options)

    def choose(self, *items: Choice) -> list[Chosen]:
        return self.model.choose(items or [NURSE])

    def failure(self, *items: Choice) -> str:
        with pytest.raises(ModelFailed) as caught:
            self.choose(*items)
        assert "\n" not in str(caught.value)
        return str(caught.value)


def shown(prompt: str) -> list[str]:
    """The two words of a prompt, as they are shown."""
    words = re.search(r"^Words: (.*)$", prompt, re.MULTILINE)
    assert words
    return words[1].split(", ")


def always(text: str | None, **options: Any) -> Callable[[str], Said]:
    return lambda _: Said(text, **options)


def answers_to(server: LoopbackProvider, texts: list[str | None] | list[str]) -> list[Chosen]:
    """What is made of a model that says these texts, one for each of as many choices between him and her."""
    server.says = lambda prompt: Said(texts[int(re.findall(r"Person (\d+)", prompt)[0])])
    return AskedChat(server).choose(*(Choice(f"Person {i} saw [MASK].", ("him", "her")) for i in range(len(texts))))
