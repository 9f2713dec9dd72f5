"""Texts, words and words in context through any Transformers encoder or decoder."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, ModelFailed, unknown
from tiltmeter.models.protocol import Batch, Identity, Question, Reach, Span, gather, installed
from tiltmeter.models.transformers.batching import by_length, fair_budget, in_chunks, pad
from tiltmeter.models.transformers.cpu import ThreadTuner, in_lanes, multiply_by_product, usable_cpus
from tiltmeter.models.transformers.on_ray import cluster_in_use, compute_in_worker
from tiltmeter.models.transformers.pooling import PoolingRecipe, finish, pool, read_recipe
from tiltmeter.models.transformers.tokens import (
    Offsets,
    find_reach,
    shortened,
    tokenise,
    tokens_of,
    with_model_mask,
    within,
)
from tiltmeter.models.transformers.weights.checkpoints import (
    IN_FLOAT32,
    Head,
    first_line,
    load_checkpoint,
    locate,
    revision_of,
    weights_in,
)
from tiltmeter.models.transformers.weights.loading import Loading, in_words

if TYPE_CHECKING:
    from torch import Tensor

    from tiltmeter.models.transformers.weights.lora import Adapter

T = TypeVar("T")
R = TypeVar("R")

Pooling = Literal["auto", "cls", "mean"]

#: Tokens in a batch: few enough for a core's cache, enough to keep a GPU busy.
BUDGET = {"cpu": 512, "cuda": 16_384, "mps": 16_384}
#: Texts tokenised at a time, which bounds the memory their tokens take.
CHUNK = 4096
#: Weights of so many bytes are worth a line before they are read.
WORTH_SAYING = 10**9


@dataclasses.dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint in memory, and how batches go through it."""

    tokenizer: Any
    model: Any
    device: str
    limit: int | None
    tuner: ThreadTuner

    def run(self, work: Callable[[T], R], batches: Iterable[tuple[T, int]]) -> Iterator[R]:
        """Results of ``work`` on each (batch, size in tokens), as they are ready."""
        return (
            in_lanes(work, batches, tuner=self.tuner) if self.device == "cpu" else (work(item) for item, _ in batches)
        )

    def inputs(self, rows: Sequence[Sequence[int]]) -> dict[str, Tensor]:
        """Rows of token ids as the model takes them, with a mask where some had to be padded."""
        import torch

        ids, real = pad(rows, fill=self.tokenizer.pad_token_id or 0)
        arrays = {"input_ids": ids} if real is None else {"input_ids": ids, "attention_mask": real.astype(np.int64)}
        return {name: torch.from_numpy(array).to(self.device) for name, array in arrays.items()}


@dataclasses.dataclass(frozen=True, slots=True)
class _EncodedText:
    """A text's token ids, and the inputs it answers: their positions, and the tokens of each span."""

    ids: list[int]
    positions: list[int]
    spans: list[list[int]]

    def without(self, known: Collection[int]) -> _EncodedText:
        kept = [place for place, position in enumerate(self.positions) if position not in known]
        spans = [self.spans[place] for place in kept] if self.spans else []
        return _EncodedText(self.ids, [self.positions[place] for place in kept], spans)


def _adapter_in(folder: Path) -> Adapter | None:
    if not (folder / "adapter_config.json").is_file():
        return None
    from tiltmeter.models.transformers.weights.lora import read_adapter

    return read_adapter(folder)


class TransformerEncoder:
    """A Transformers model in a folder or on the hub, asked for vectors.

    ``pooling="auto"`` does what the folder's sentence-transformers settings say, and takes the mean of all
    tokens where there are none; ``prompt`` names one of the prompts that they hold, such as query or document.
    ``layer`` counts as in Transformers: 0 is the embedding layer, -1 the last one. Weights are read at the first
    question; the copy of a hub model on this machine is used as it is.

    >>> TransformerEncoder("bert-base-uncased", pooling="sum")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown pooling 'sum': known: auto, cls, mean
    """

    #: A word is embedded as a text of its own, so the two share stored answers.
    words_are_texts = True
    #: What is done to the weights as they are read: nothing, except in a variant of a model.
    edit: Callable[[Any], None] | None = None

    def __init__(
        self,
        name_or_path: str,
        *,
        name: str | None = None,
        pooling: Pooling = "auto",
        layer: int = -1,
        revision: str | None = None,
        prompt: str | None = None,
        **loading: Any,
    ) -> None:
        if pooling not in get_args(Pooling):
            raise unknown("pooling", pooling, get_args(Pooling))
        self.name = name or f"hf:{name_or_path}"
        self._source, self._revision = name_or_path, revision
        self._pooling, self._layer, self._prompt = pooling, layer, prompt
        self._options = Loading(**loading)

    @functools.cached_property
    def identity(self) -> Identity:
        """The weights by hub commit or content, without reading them into memory."""
        revision = revision_of(self._source, self._root)
        if self._adapter:
            revision = f"{revision}+{self._adapter.base_identity}"
        return Identity(self.name, revision, self._settings(str(self._recipe)), self._versions)

    def _settings(self, pooling: str) -> dict[str, str]:
        prompt = {"prompt": self._prompt} if self._prompt else {}
        return {"pooling": pooling, "layer": str(self._layer), **prompt, **self._loading.settings(self._stored)}

    @functools.cached_property
    def _loading(self) -> Loading:
        # An adapter is added to the weights, which in fewer bits would round it away.
        widened = self._adapter is not None and self._options.dtype == "auto"
        return dataclasses.replace(self._options, dtype="float32") if widened else self._options

    @property
    def _stored(self) -> str:
        """The type in which the weights are stored."""
        return weights_in(self._weights).type

    @property
    def memory(self) -> str:
        """What the weights take, to be said before they are read; nothing where that is little."""
        weights = weights_in(self._weights)
        width = self._loading.width(weights.type)
        return "" if weights.bytes_in(width) < WORTH_SAYING else in_words(weights, width, self._loading.free(weights))

    @property
    def _versions(self) -> dict[str, str]:
        return installed("torch", "transformers", "tokenizers", *(["peft"] if self._adapter else []))

    @functools.cached_property
    def _root(self) -> Path:
        return locate(self._source, revision=self._revision)

    @functools.cached_property
    def _recipe(self) -> PoolingRecipe:
        adapter = _adapter_in(self._root)
        # An adapter alone says nothing of pooling: the model that it changes may.
        root = self._root if adapter is None or (self._root / "modules.json").is_file() else adapter.base_folder
        return read_recipe(root, self._pooling, prompt=self._prompt)

    @functools.cached_property
    def _adapter(self) -> Adapter | None:
        return _adapter_in(self._root) or _adapter_in(self._recipe.folder)

    @property
    def _weights(self) -> Path:
        """The folder that holds the model's weights."""
        return self._adapter.base_folder if self._adapter else self._recipe.folder

    @functools.cached_property
    def _loaded(self) -> Loaded:
        loaded = self._load("none")
        layers = loaded.model.config.num_hidden_layers
        if not -layers - 1 <= self._layer <= layers:
            raise BadInput(
                f"layer={self._layer}: '{self.name}' has {layers} layers; choose from {-layers - 1} to {layers}, "
                "where 0 is the embedding layer and -1 the last one"
            )
        return loaded

    def _load(self, head: Head) -> Loaded:
        tokenizer, model = self._checkpoint(head)
        import transformers

        if head == "none" and model.config.is_encoder_decoder:
            model = model.get_encoder()
        if self._recipe.lower:
            lower_case(tokenizer)
        limit = token_limit(tokenizer, model, self._recipe)
        if self._loading.max_length is not None:
            limit = min(limit or self._loading.max_length, self._loading.max_length)
        device, offloaded = self._loading.on(), hasattr(model, "hf_device_map")
        # Before version 5, Transformers collects hidden states in a way that mixes up those of two threads.
        safe = head != "none" or self._layer == -1 or int(transformers.__version__.partition(".")[0]) >= 5
        if not offloaded:
            model = model.to(device)
            if device == "cpu":
                multiply_by_product(model)
        # Weights that come and go with each layer are one thread's.
        lanes = usable_cpus() if safe and not offloaded else 1
        return Loaded(tokenizer, model, device, limit, ThreadTuner(lanes))

    def _checkpoint(self, head: Head) -> tuple[Any, Any]:
        """The tokenizer and the model, ready to be asked."""
        if self._recipe.table:
            from tiltmeter.models.transformers.weights.token_table import load_token_table

            tokenizer, model = load_token_table(self._recipe.folder, called=self.name)
        else:
            # What changes weights does so in float32.
            loading = IN_FLOAT32 if self.edit else self._loading
            tokenizer, model = load_checkpoint(self._weights, called=self.name, head=head, loading=loading)
        if self._adapter:
            tokenizer, model = self._adapter.merged_into(tokenizer, model, called=self.name)
        if self.edit:
            self.edit(model)
        return tokenizer, model

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of, without the weights: whoever gets a copy reads them where it is."""
        weights = ("_loaded", "_language", "_with_head")
        return {name: value for name, value in self.__dict__.items() if name not in weights}

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One vector per text, (n, dim)."""
        return self._all(Question.TEXTS, texts)

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32]:
        """One vector per word, (n, dim): the bare word as a text."""
        return self._all(Question.WORDS, words)

    def embed_spans(self, spans: Sequence[Span]) -> NDArray[np.float32]:
        """One vector per word in context, (n, dim): the mean of its sub-tokens in the layer asked for.

        Of a text that is longer than the model reads, it sees what ``reach`` says.
        """
        return self._all(Question.SPANS, spans)

    def reach(self, spans: Sequence[Span]) -> list[Reach]:
        """The stretch of its text that is read around each word."""
        return gather(self.stream(Question.REACH, spans), len(spans))

    def _all(self, question: Question, inputs: Sequence[Any]) -> NDArray[np.float32]:
        if not len(inputs):
            return np.empty((0, self._loaded.model.config.hidden_size), dtype=np.float32)
        return np.array(gather(self.stream(question, inputs), len(inputs)), dtype=np.float32)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """Answers batch by batch, in the order in which they are ready; ``Streams`` says how known ones drop out."""
        texts = [_text(question, position, item) for position, item in enumerate(inputs)]
        for positions in in_chunks(texts, most=CHUNK):
            if all(position in known for position in positions):
                continue
            if question is Question.REACH:
                yield positions, self._reach([inputs[position] for position in positions])
            else:
                yield from self._answers(self._rows(question, inputs, texts, positions), known)

    def _rows(
        self, question: Question, inputs: Sequence[Any] | dict[int, Any], texts: Sequence[str], positions: Sequence[int]
    ) -> list[_EncodedText]:
        loaded, spans = self._loaded, question is Question.SPANS
        if spans:
            asked = [inputs[position] for position in positions]
            inputs = dict(zip(positions, map(within, asked, self._reach(asked)), strict=True))
        askers: dict[str, list[int]] = {}
        for position in positions:
            askers.setdefault(inputs[position].text if spans else texts[position], []).append(position)
        prompt = "" if spans else self._recipe.prompt
        mask = loaded.tokenizer.mask_token
        shown = [prompt + with_model_mask(Span(text, 0, 0), mask).text for text in askers]
        ids, offsets = tokenise(loaded.tokenizer, shown, limit=loaded.limit)

        def places(one: int, where: Offsets) -> list[int]:
            return tokens_of(with_model_mask(inputs[one], mask), where, limit=loaded.limit)

        return [
            _EncodedText(tokens, who, [places(one, where) for one in who] if spans else [])
            for tokens, where, who in zip(ids, offsets, askers.values(), strict=True)
        ]

    def _reach(self, spans: Sequence[Span]) -> list[Reach]:
        return find_reach(self._loaded.tokenizer, spans, limit=self._loaded.limit)

    def _answers(self, rows: list[_EncodedText], known: Collection[int]) -> Iterator[Batch]:
        loaded = self._loaded
        lengths = [len(row.ids) for row in rows]
        groups = by_length(lengths, budget=fair_budget(lengths, budget=BUDGET[loaded.device]))
        asked = [[row for index in group if (row := rows[index].without(known)).positions] for group in groups]
        batches = [(batch, sum(len(row.ids) for row in batch)) for batch in asked if batch]
        cluster = cluster_in_use.get()
        if cluster is not None:
            shared = cluster.share_out(compute_in_worker, self, (batch for batch, _ in batches))
            return (answer for _, answer in shared)
        return loaded.run(self._compute, batches)

    def _compute(self, rows: list[_EncodedText]) -> Batch:
        import torch

        index = [row for row, one in enumerate(rows) for _ in one.positions]
        positions = [position for row in rows for position in row.positions]
        spans = [span for row in rows for span in row.spans]
        try:
            with torch.inference_mode():
                vectors = self._vectors([row.ids for row in rows], index, spans).float().cpu().numpy()
        except Exception as error:
            raise ModelFailed(f"'{self.name}' failed on a text ({first_line(error)})") from error
        if not np.isfinite(vectors).all():
            bad = rows[index[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])]]
            text = shortened(self._loaded.tokenizer.decode(bad.ids))
            raise ModelFailed(f"'{self.name}' answered {text} with NaN or infinity: its weights are damaged")
        return positions, vectors

    def _vectors(self, ids: list[list[int]], index: list[int], spans: list[list[int]]) -> Tensor:
        import torch

        loaded, recipe = self._loaded, self._recipe
        inputs = loaded.inputs(ids)
        inner = self._layer not in (-1, loaded.model.config.num_hidden_layers)
        output = loaded.model(**inputs, **({"output_hidden_states": True} if inner else {}))
        tokens = output.hidden_states[self._layer] if inner else output.last_hidden_state
        if spans:
            chosen = torch.zeros(len(spans), tokens.shape[1], dtype=torch.bool)
            for row, span in zip(chosen, spans, strict=True):
                row[span] = True
            return pool(tokens[index], chosen.to(loaded.device), "mean")
        real = inputs["attention_mask"].bool() if "attention_mask" in inputs else None
        pooled = torch.cat([pool(tokens, real, mode) for mode in recipe.modes], dim=-1)
        return finish(pooled, recipe.after)[index]


def _text(question: Question, position: int, item: Any) -> str:
    text = item.text if isinstance(item, Span) else item
    of_span = question in (Question.SPANS, Question.REACH)
    if isinstance(item, Span) != of_span or not isinstance(text, str):
        wanted = "Span(text, start, end)" if of_span else "str"
        raise BadInput(f"input {position} is {shortened(repr(item))}: give {wanted}")
    if not text.strip():
        raise BadInput(f"input {position} is an empty text ({text!r}): leave it out")
    return text


def lower_case(tokenizer: Any) -> None:
    from tokenizers import normalizers

    backend = tokenizer.backend_tokenizer
    further = [backend.normalizer] if backend.normalizer else []
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), *further])


def token_limit(tokenizer: Any, model: Any, recipe: PoolingRecipe) -> int | None:
    """Tokens the model can take, as sentence-transformers counts them, and never more than it has positions for."""
    limits = [recipe.max_length or tokenizer.model_max_length]
    if not isinstance(limits[0], int | float) or not limits[0] >= 0:
        raise BadInput(
            f"{recipe.folder}: its tokenizer takes {limits[0]!r} tokens, which is not a number; fetch it again"
        )
    limits.append(getattr(model.config, "max_position_embeddings", None) or limits[0])
    for module in model.modules():
        table: Any = getattr(module, "position_embeddings", None)
        if getattr(table, "padding_idx", None) is not None:  # RoBERTa numbers positions after its padding
            limits.append(table.num_embeddings - table.padding_idx - 1)
    limit = min(limits)
    return int(limit) if 0 < limit < 1_000_000 else None
