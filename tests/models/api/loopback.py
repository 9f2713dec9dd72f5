"""An embedding API at a server on loopback, as the tests ask it."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from tests.models import provider as wire
from tests.models.provider import LoopbackProvider, vector_of
from tiltmeter.errors import ModelFailed
from tiltmeter.models.api import ApiEmbedder
from tiltmeter.models.api.keys import host_of

PROVIDERS = ["openai", "cohere", "voyage"]


KEYS = {
    "openai": ("OPENAI_API_KEY", "sk-proj-4f9a7c1e2b8d"),
    "cohere": ("COHERE_API_KEY", "Kx7TzQ2mW9pL4vN8"),
    "voyage": ("VOYAGE_API_KEY", "pa-Zq81LmXc0RtYv5"),
}


TEXTS = ["The nurse slept.", "The doctor slept.", "He is a nurse."]


MANY = [f"w{i:02}" for i in range(70)]  # 3 requests to a server of one's own: 32 + 32 + 6


def name_key(base_url: str | None, variable: str) -> None:
    """Name the key of a server; after a test the environment is as it was before."""
    os.environ["TILTMETER_KEYS"] = f"{host_of(base_url)}={variable}" if base_url else ""


class AskedApi:
    """A model at the loopback server, for which the provider's key is named, with a clock that does not wait."""

    def __init__(self, server: LoopbackProvider, name: str = "openai", **options: Any) -> None:
        self.slept: list[float] = []
        options = {"base_url": server.base_url(name), "sleep": self.slept.append, **options}
        name_key(options["base_url"], KEYS[name][0])
        self.model = ApiEmbedder(name, options.pop("model", "small"), **options)  # type: ignore[arg-type]

    def embed(self, texts: list[str] = TEXTS) -> np.ndarray:
        return self.model.embed_texts(texts)

    def failure(self, texts: list[str] = TEXTS) -> str:
        with pytest.raises(ModelFailed) as caught:
            self.embed(texts)
        assert "\n" not in str(caught.value)
        return str(caught.value)


def planted(texts: list[str], dimension: int = wire.DIMENSION) -> np.ndarray:
    return np.stack([vector_of(text, dimension) for text in texts])
