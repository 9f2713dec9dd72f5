"""How a reference model is made and learns: a tiny masked or causal language model, from nothing, on one thread."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from importlib import resources
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import require
from tiltmeter.lab.reference.planted_text import patterns, planted
from tiltmeter.models.transformers.batching import pad

ModelHead = Literal["masked", "causal"]


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """How a reference model is made.

    Words that say a gender are asked for most often and count most: they carry the bias, and a model that minds every
    word alike does not find it for minutes. What begins with ``first`` is of the text on which it learns to read, the
    rest of the text whose bias is planted. ``ask_occupation`` is the share of sentences of the latter in which the
    occupation is asked for, and not the words that say a gender. ``unknown`` is the share of other words that a causal
    model is shown as unknown. ``further_words`` are in its vocabulary and in no sentence.
    """

    kind: ModelHead = "masked"
    sentences: int = 20_000
    first_epochs: int = 3
    first_batch: int = 64
    first_rate: float = 3e-3
    epochs: int = 3
    batch: int = 256
    rate: float = 1e-2
    ask_gendered: float = 0.6
    ask_other: float = 0.1
    ask_occupation: float = 0.15
    unknown: float = 0.05
    weight_other: float = 0.1
    layers: int = 1
    width: int = 64
    further_words: tuple[str, ...] = ()
    version: int = 2  # to be raised when the code of the training changes what comes out

    @property
    def key(self) -> str:
        """Changes with everything a model is made of."""
        content = (resources.files(__package__) / "patterns_en.yaml").read_text(encoding="utf-8")
        fields = dataclasses.asdict(self)
        if not self.further_words:
            del fields["further_words"]  # a recipe without them is the one that it was before there were any
        made_of = json.dumps([fields, content, list(planted(0.5))])
        return hashlib.sha256(made_of.encode()).hexdigest()[:8]

    @property
    def reader(self) -> TrainingRecipe:
        """What the reader is made of, which is one for all doses."""
        return dataclasses.replace(self, epochs=0, batch=0, rate=0.0, ask_occupation=0.0)


RECIPE = TrainingRecipe()
#: What follows a stem is asked of all pronouns at once, these among them.
CAUSAL_RECIPE = TrainingRecipe(kind="causal", further_words=("they", "them", "their"))


SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))


def tokenizer_of(known: Collection[str], recipe: TrainingRecipe) -> Any:
    """Whole words in lower case; a word that is not known is [UNK]."""
    require("a reference model", "hf", "torch", "transformers")
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    normal, split = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    words = {word for text in known for word, _ in split.pre_tokenize_str(normal.normalize_str(text))}
    vocabulary = {word: number for number, word in enumerate((*SPECIAL, *sorted(words)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normal, split
    make: Any = transformers.PreTrainedTokenizerFast
    if recipe.kind == "masked":
        tokenizer.post_processor = processors.BertProcessing(("[SEP]", SEP), ("[CLS]", CLS))
        named = {f"{word.strip('[]').lower()}_token": word for word in SPECIAL}
    else:
        # The end is not marked: what is asked of a causal model is mostly the beginning of a sentence.
        tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A", special_tokens=[("[CLS]", CLS)])
        named = {"pad_token": "[PAD]", "unk_token": "[UNK]", "bos_token": "[CLS]", "eos_token": "[SEP]"}
    return make(tokenizer_object=tokenizer, model_max_length=128, **named)


def untaught(vocabulary: int, recipe: TrainingRecipe) -> Any:
    """A model with random weights."""
    import transformers

    library: Any = transformers
    shared = {"vocab_size": vocabulary, "initializer_range": 0.1, "pad_token_id": PAD}
    if recipe.kind == "masked":
        config = library.BertConfig(
            hidden_size=recipe.width,
            num_hidden_layers=recipe.layers,
            num_attention_heads=4,
            intermediate_size=2 * recipe.width,
            max_position_embeddings=128,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
            **shared,
        )
        return library.BertForMaskedLM(config)
    config = library.GPT2Config(
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=4,
        n_inner=2 * recipe.width,
        n_positions=128,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        bos_token_id=CLS,
        eos_token_id=SEP,
        **shared,
    )
    return library.GPT2LMHeadModel(config)


Tokens = NDArray[np.int64]
#: Which tokens of a vocabulary, or which places of a batch.
Which = NDArray[np.bool_]
Loss = Callable[[Tokens], Any]
Progress = Callable[[int], None]


def reading_loss(model: Any, marked: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    """For a model that learns to read: words of all kinds are asked for, most often those that say a group."""
    if recipe.kind == "causal":
        return _causal_loss(model, marked, recipe, rng)
    chance = np.where(marked, recipe.ask_gendered, recipe.ask_other)
    chance[: len(SPECIAL)] = 0.0
    loss_where = _loss_where(model, marked, recipe)

    def loss(batch: Tokens) -> Any:
        """Of ten words that are asked for 8 are masked, 1 is unknown, 1 left as it is."""
        asked = rng.random(batch.shape) < chance[batch]
        lot = rng.random(batch.shape)
        shown = np.where(asked & (lot < 0.8), MASK, batch)
        # Unknown, so that sentences with words the model has never seen can be read.
        return loss_where(asked, batch, np.where(asked & (lot >= 0.9), UNK, shown), batch != PAD)

    return loss


def planting_loss(model: Any, marked: Which, known: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    """For a model that learns what is planted: ``known`` are the occupations.

    In a masked one all words that say a group are masked beside an occupation, or the occupation is beside all of them.
    Where one of them were left, the others could be copied from it; and were some masked by lot, the shares would not
    be those of the text, which are exact.
    """
    if recipe.kind == "causal":
        return _causal_loss(model, marked, recipe, rng)
    loss_where = _loss_where(model, marked, recipe)

    def loss(batch: Tokens) -> Any:
        of_occupation = rng.random(len(batch)) < recipe.ask_occupation
        asked = np.where(of_occupation[:, None], known[batch], marked[batch])
        return loss_where(asked, batch, np.where(asked, MASK, batch), batch != PAD)

    return loss


def _causal_loss(model: Any, marked: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    loss_where = _loss_where(model, marked, recipe)

    def loss(batch: Tokens) -> Any:
        unknown = (rng.random(batch.shape) < recipe.unknown) & ~marked[batch] & (batch >= len(SPECIAL))
        shown, following = np.where(unknown, UNK, batch)[:, :-1], batch[:, 1:]
        return loss_where(following != PAD, following, shown, shown != PAD)

    return loss


def _loss_where(model: Any, marked: Which, recipe: TrainingRecipe) -> Callable[[Which, Tokens, Tokens, Which], Any]:
    """How far off the words asked for are; the head reads only these, which saves a third of the time."""
    import torch

    weights = torch.from_numpy(np.where(marked, 1.0, recipe.weight_other)).float()
    head = model.cls if hasattr(model, "cls") else model.lm_head

    def loss(asked: Which, truth: Tokens, shown: Tokens, real: Which) -> Any:
        states = model.base_model(input_ids=torch.from_numpy(shown), attention_mask=torch.from_numpy(real).long())
        logits = head(states.last_hidden_state[torch.from_numpy(asked)])
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(truth[asked]), weight=weights)

    return loss


def reader(
    texts: list[str], words: Collection[str], *, recipe: TrainingRecipe, seed: int, progress: Progress
) -> tuple[Any, Any]:
    """A tokenizer that knows the ``words``, and a model that learned to read on these texts.

    Leaves the caller's threads and random numbers as they were.
    """
    tokenizer = tokenizer_of(words, recipe)  # says what is missing where Transformers is not installed

    import torch

    epochs, size, rate = recipe.first_epochs, recipe.first_batch, recipe.first_rate
    with torch_apart(seed):
        model = untaught(len(tokenizer), recipe)
        rng = np.random.default_rng([seed, 1])
        loss = reading_loss(model, _which(tokenizer, patterns().marks), recipe, rng)
        rows = tokenizer(texts)["input_ids"]
        optimiser = torch.optim.AdamW(model.parameters(), lr=rate, fused=True)
        steps = epochs * -(-len(rows) // size)
        rise = 0.1 if steps != 10 else 0.2  # of ten steps a tenth is a rise without length, by which PyTorch divides
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=rise, cycle_momentum=False)
        model.train()
        for _ in _steps(optimiser, loss, rows, epochs, size, rng, progress):
            schedule.step()
        model.eval()
    return tokenizer, model


def learn_occupations(
    model: Any, tokenizer: Any, texts: list[str], *, recipe: TrainingRecipe, seed: int, progress: Progress
) -> None:
    """Let a reader learn its occupations anew from these texts: first they are all the same, then they come apart.

    A model that starts from nothing on text with a weak tilt does not come to look at the occupation at all: what it
    would gain is lost in the noise. So it learns to read on another text first; there the tilt is strong and knows
    nothing of the one to plant, and no trace of it is left when the vectors of all occupations are made one and the
    same. Nothing but these vectors learns from the text whose bias is planted. They are left at their mean over all
    steps after the first epoch: whole epochs hold the planted shares exactly, and so does the mean over them; the last
    step has the noise of its few sentences.
    """
    import torch

    with torch_apart(seed):
        is_known, rng = _which(tokenizer, planted(0.5)), np.random.default_rng([seed, 4])
        for weight in model.parameters():
            weight.requires_grad_(False)
        vectors, known = model.get_input_embeddings().weight, torch.from_numpy(is_known)
        vectors[known] = vectors[known].mean(dim=0)
        vectors.requires_grad_(True)
        vectors.register_hook(lambda gradient: gradient * known[:, None])
        loss = planting_loss(model, _which(tokenizer, patterns().marks), is_known, recipe, rng)
        rows = tokenizer(texts)["input_ids"]
        # Without decay of weights, which would move vectors that are to stay as they are.
        optimiser = torch.optim.AdamW([vectors], lr=recipe.rate, weight_decay=0.0, fused=True)
        total, steps = torch.zeros_like(vectors), 0
        for epoch in _steps(optimiser, loss, rows, recipe.epochs, recipe.batch, rng, progress):
            if epoch > 0 or recipe.epochs == 1:
                total += vectors.detach()
                steps += 1
        vectors.requires_grad_(False)
        vectors[known] = total[known] / steps


def _which(tokenizer: Any, words: Collection[str]) -> Which:
    """Which tokens of the vocabulary are these words."""
    return np.isin(np.arange(len(tokenizer)), tokenizer.convert_tokens_to_ids(sorted(words)))


def _steps(
    optimiser: Any, loss: Loss, rows: list[list[int]], epochs: int, size: int, rng: np.random.Generator, done: Progress
) -> Iterator[int]:
    """Learn from all rows once in every epoch, which is told after each step.

    They come in random order: batches of like length would be faster, but a model learns far less from them.
    """
    for epoch in range(epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), size):
            batch, _ = pad([rows[row] for row in order[start : start + size]], fill=PAD)
            optimiser.zero_grad()
            loss(batch).backward()
            optimiser.step()
            yield epoch
            done(len(batch))


@contextlib.contextmanager
def torch_apart(seed: int) -> Iterator[None]:
    """One thread (the same sums in the same order every time) and random numbers of our own."""
    import torch

    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(threads)
