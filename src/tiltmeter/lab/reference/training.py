"""How a reference model learns: a tiny masked or causal language model, from nothing, on one thread."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np

from tiltmeter.lab.reference.losses import Loss, Tokens, Which, planting_loss, reading_loss
from tiltmeter.lab.reference.recipe import TrainingRecipe
from tiltmeter.lab.reference.tiny_models import PAD, tokenizer_of, untaught

Progress = Callable[[int], None]


def reader(
    texts: list[str],
    words: Collection[str],
    marks: Collection[str],
    *,
    recipe: TrainingRecipe,
    seed: int,
    progress: Progress,
) -> tuple[Any, Any]:
    """A tokenizer that knows the ``words``, and a model that learned to read on these texts.

    ``marks`` are the words that say a group. Leaves the caller's threads and random numbers as they were.
    """
    tokenizer = tokenizer_of(words, recipe)
    with torch_apart(seed):
        model = untaught(len(tokenizer), recipe)
        rng, marked = np.random.default_rng([seed, 1]), _which(tokenizer, marks)
        loss = reading_loss(model, marked, recipe, rng)
        rows, weights = tokenizer(texts)["input_ids"], list(model.parameters())
        model.train()
        _train(weights, rows, loss, recipe.first_epochs, recipe.first_rate, recipe.first_batch, rng, progress)
        model.eval()
    return tokenizer, model


def learn_occupations(
    model: Any,
    tokenizer: Any,
    texts: list[str],
    occupations: Collection[str],
    marks: Collection[str],
    *,
    recipe: TrainingRecipe,
    seed: int,
    progress: Progress,
) -> None:
    """Let a reader learn its occupations anew from these texts: first they are all the same, then they come apart.

    A model that starts from nothing on text with a weak tilt does not come to look at the occupation at all: what it
    would gain is lost in the noise. So it learns to read on another text first; there the tilt is strong and knows
    nothing of the one to plant, and no trace of it is left when the vectors of all occupations are made one and the
    same. Nothing but these vectors learns from the text whose bias is planted.
    """
    import torch

    with torch_apart(seed):
        vectors = model.get_input_embeddings().weight
        known, rng, marked = _which(tokenizer, occupations), np.random.default_rng([seed, 4]), _which(tokenizer, marks)
        _forget(model, vectors, torch.from_numpy(known))
        loss = planting_loss(model, marked, known, recipe, rng)
        rows = tokenizer(texts)["input_ids"]
        _settle(vectors, torch.from_numpy(known), rows, loss, recipe, rng, progress)


def _which(tokenizer: Any, words: Collection[str]) -> Which:
    """Which tokens are these words."""
    return np.isin(np.arange(len(tokenizer)), tokenizer.convert_tokens_to_ids(sorted(words)))


def _forget(model: Any, vectors: Any, known: Any) -> None:
    """Make the vectors of these words the same, and let nothing else learn from now on."""
    for weight in model.parameters():
        weight.requires_grad_(False)
    vectors[known] = vectors[known].mean(dim=0)
    vectors.requires_grad_(True)
    vectors.register_hook(lambda gradient: gradient * known[:, None])


def _train(
    weights: list[Any],
    rows: list[list[int]],
    loss_of: Loss,
    epochs: int,
    rate: float,
    size: int,
    rng: np.random.Generator,
    progress: Progress,
) -> None:
    import torch

    optimiser = torch.optim.AdamW(weights, lr=rate, fused=True)
    steps = epochs * -(-len(rows) // size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1, cycle_momentum=False)
    for batch in (batch for _ in range(epochs) for batch in _batches(rows, size, rng)):
        _step(optimiser, loss_of(batch))
        schedule.step()
        progress(len(batch))


def _settle(
    vectors: Any,
    known: Any,
    rows: list[list[int]],
    loss_of: Loss,
    recipe: TrainingRecipe,
    rng: np.random.Generator,
    progress: Progress,
) -> None:
    """Train the vectors of the known words, and leave them at their mean over all steps after the first epoch.

    Whole epochs hold the planted shares exactly, and so does the mean over them; the last step has the noise of its
    few sentences.
    """
    import torch

    # Without decay of weights, which would move vectors that are to stay as they are.
    optimiser = torch.optim.AdamW([vectors], lr=recipe.rate, weight_decay=0.0, fused=True)
    total, steps = torch.zeros_like(vectors), 0
    for epoch in range(recipe.epochs):
        for batch in _batches(rows, recipe.batch, rng):
            _step(optimiser, loss_of(batch))
            if epoch > 0 or recipe.epochs == 1:
                total += vectors.detach()
                steps += 1
            progress(len(batch))
    vectors.requires_grad_(False)
    vectors[known] = total[known] / steps


def _step(optimiser: Any, loss: Any) -> None:
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()


def _batches(rows: list[list[int]], size: int, rng: np.random.Generator) -> Iterator[Tokens]:
    """All rows once, in random order: batches of like length would be faster, but it learns far less from them."""
    order = rng.permutation(len(rows))
    for start in range(0, len(rows), size):
        some = [rows[row] for row in order[start : start + size]]
        longest = max(map(len, some))
        yield np.array([row + [PAD] * (longest - len(row)) for row in some], dtype=np.int64)


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
