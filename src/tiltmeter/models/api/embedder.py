"""An embedding API as a model: vectors of texts, bought batch by batch."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.api.budget import Budget, Cost, estimate_tokens
from tiltmeter.models.api.connection import Post, UnusableError
from tiltmeter.models.api.provider import COHERE, OPENAI, VOYAGE, Limits, checked_url
from tiltmeter.models.api.requests import Requests, batches
from tiltmeter.models.protocol import Batch, Identity, Question, gather

PROVIDERS = {provider.name: provider for provider in (OPENAI, COHERE, VOYAGE)}
#: Servers people run themselves are smaller: some refuse more inputs in one request.
_SELF_HOSTED_INPUTS = 32


class ApiEmbedder:
    """Vectors of texts from OpenAI, Cohere or Voyage, or from a server that speaks one of their protocols.

    The key is read from the environment (OPENAI_API_KEY; COHERE_API_KEY or CO_API_KEY; VOYAGE_API_KEY) when
    the first request is made. It goes to the provider alone; one for another ``base_url`` is named in TILTMETER_KEYS,
    and an OpenAI-compatible server may need none. ``timeout`` is for a whole answer.

    ``input_type`` is "clustering" at Cohere unless given (one type for all texts, made for comparing them
    with each other) and none at Voyage (the text alone, without a retrieval prompt). OpenAI has none.

    >>> model = ApiEmbedder("openai", "text-embedding-3-small", dimensions=256)
    >>> model.identity.name, dict(model.identity.settings)
    ('openai:text-embedding-3-small', {'dimensions': '256'})
    >>> model.estimate(["The nurse slept.", "The doctor slept."])
    Cost(requests=1, tokens=14, dollars=2.8e-07)
    """

    #: A word is sent as a text of its own, so the two share stored answers.
    words_are_texts = True

    def __init__(
        self,
        provider: Literal["openai", "cohere", "voyage"],
        model: str,
        *,
        base_url: str | None = None,
        dimensions: int | None = None,
        input_type: str | None = None,
        budget: Budget | None = None,
        timeout: float = 60.0,
        max_tries: int = 6,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if provider not in PROVIDERS:
            raise unknown("embedding API", provider, PROVIDERS)
        self._provider = PROVIDERS[provider]
        if not model.strip():
            raise BadInput(f"no model named: write e.g. '{provider}:MODEL'")
        if input_type is not None and not self._provider.input_types:
            raise BadInput(f"{provider} has no input_type: leave it out")
        if input_type is not None and input_type not in self._provider.input_types:
            raise unknown(f"{provider} input_type", input_type, self._provider.input_types)
        if (dimensions is not None and dimensions < 1) or timeout <= 0 or max_tries < 1:
            raise BadInput("dimensions, timeout and max_tries must be positive")
        url = None if base_url is None else checked_url(base_url)
        self._requests = Requests(self._provider, model, url, budget or Budget(), timeout, max_tries, sleep)
        self._dimensions = dimensions
        self._input_type = input_type or self._provider.input_type
        #: What every vector must measure; where it was not asked for, the first answer sets it.
        self._width = dimensions

    @property
    def identity(self) -> Identity:
        settings = {"dimensions": self._dimensions, "input_type": self._input_type}
        return self._requests.identity({name: str(value) for name, value in settings.items() if value is not None})

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text."""
        rows = gather(self.stream(Question.TEXTS, texts), len(texts))
        return np.stack(rows) if rows else np.empty((0, 0), np.float32)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One row per word: the bare word, sent as a text."""
        return self.embed_texts(words)

    def stream(self, question: Question, inputs: Sequence[str], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """One batch per request, so that each answer can be saved before the next is bought.

        A text that stands several times among the inputs is bought once.
        """
        if question not in (Question.TEXTS, Question.WORDS):
            raise BadInput(f"{self.identity.name} embeds texts and bare words, not words in context")
        return self._buy(self._places(inputs, known))

    def estimate(self, texts: Sequence[str]) -> Cost:
        """What these texts cost at most, without a request."""
        places = list(self._places(texts))
        tokens = sum(map(estimate_tokens, places))
        return Cost(len(list(batches(places, self._limits))), tokens, self._requests.dollars(tokens))

    def _buy(self, places: dict[str, list[int]]) -> Iterator[Batch]:
        if not places:
            return
        with self._requests.connected() as post:
            for texts in batches(list(places), self._limits):
                positions = [place for text in texts for place in places[text]]
                yield positions, self._rows(post, texts).repeat([len(places[text]) for text in texts], axis=0)

    def _rows(self, post: Post, texts: Sequence[str]) -> NDArray[np.float32]:
        provider = self._provider
        body = provider.body(self._requests.model, texts, self._dimensions, self._input_type)

        def ask() -> tuple[list[NDArray[np.float32]], Any]:
            numbered, billed = provider.read(post(provider.path, body))
            vectors = dict(numbered)
            if len(numbered) != len(texts):
                raise UnusableError(f"{len(numbered)} vectors for {len(texts)} texts")
            if sorted(vectors) != list(range(len(texts))):
                raise UnusableError("the vectors are not numbered one for each text")
            return [_numbers(vectors[i]) for i in range(len(texts))], billed

        vectors = self._requests.buy(ask, tokens=sum(map(estimate_tokens, texts)), inputs=len(texts))
        widths = sorted({len(vector) for vector in vectors})
        if len(widths) > 1:
            sizes = ", ".join(map(str, widths))
            raise self._requests.failed(f"vectors of different lengths ({sizes}) in one answer: check the server")
        if widths != [self._width or widths[0]]:
            raise self._requests.failed(
                f"vectors of {widths[0]} numbers where {self._width} were expected: check the model and its dimensions"
            )
        self._width = widths[0]
        return np.stack(vectors)

    def _places(self, texts: Sequence[str], known: Collection[int] = ()) -> dict[str, list[int]]:
        """Where each different text stands; all are checked before anything is bought."""
        if isinstance(texts, str):
            raise BadInput("one text was given where a list of texts is expected: put it in a list")
        longest = self._limits.tokens_each
        places: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                raise BadInput(f"text {position + 1} of {len(texts)} is empty or no text: leave it out")
            # Refused here only where hardly any tokenizer could fit it; nearer the limit the provider judges,
            # and it is told not to cut a text short.
            if len(text) > 4 * longest:
                raise BadInput(
                    f"text {position + 1} of {len(texts)} ('{text[:40]}…', {len(text):,} characters) is over "
                    f"the {longest:,} tokens that {self.identity.name} takes: shorten it"
                )
            if position not in known:
                places.setdefault(text, []).append(position)
        return places

    @property
    def _limits(self) -> Limits:
        limits = self._provider.limits(self._requests.model)
        self_hosted = self._requests.base_url is not None
        return replace(limits, inputs=min(limits.inputs, _SELF_HOSTED_INPUTS)) if self_hosted else limits

    def __repr__(self) -> str:
        return f"ApiEmbedder({self.identity.name!r})"


def _numbers(vector: Sequence[float] | str) -> NDArray[np.float32]:
    if isinstance(vector, str):
        numbers = np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4").astype(np.float32)
    elif isinstance(vector, list) and set(map(type, vector)) <= {int, float}:
        numbers = np.asarray(vector, dtype=np.float32)
    else:  # NumPy would make numbers of texts and of true and false
        raise UnusableError("a vector that is not numbers")
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise UnusableError("a vector that is not finite numbers")
    if not numbers.any():
        raise UnusableError("a vector of zeros")
    return numbers
