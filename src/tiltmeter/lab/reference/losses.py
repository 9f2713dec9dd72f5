"""What a reference model is asked in training, and how far off its answers are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.lab.reference.recipe import TrainingRecipe
from tiltmeter.lab.reference.tiny_models import MASK, PAD, SPECIAL, UNK

Tokens = NDArray[np.int64]
#: Which tokens of a vocabulary, or which places of a batch.
Which = NDArray[np.bool_]
Loss = Callable[[Tokens], Any]


def reading_loss(model: Any, marked: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    """For a model that learns to read: words of all kinds are asked for, most often those that say a group."""
    return (_masked_loss if recipe.kind == "masked" else _causal_loss)(model, marked, recipe, rng)


def planting_loss(model: Any, marked: Which, known: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    """For a model that learns what is planted: ``known`` are the occupations.

    In a masked one all words that say a group are masked beside an occupation, or the occupation is beside all of them.
    Where one of them were left, the others could be copied from it; and were some masked by lot, the shares would not
    be those of the text, which are exact.
    """
    if recipe.kind == "causal":
        return _causal_loss(model, marked, recipe, rng)
    weights = _weights(marked, recipe)

    def loss(batch: Tokens) -> Any:
        of_occupation = rng.random(len(batch)) < recipe.ask_occupation
        asked = np.where(of_occupation[:, None], known[batch], marked[batch])
        return _asked_loss(model, batch, np.where(asked, MASK, batch), asked, weights)

    return loss


def _masked_loss(model: Any, marked: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    chance = np.where(marked, recipe.ask_gendered, recipe.ask_other)
    chance[: len(SPECIAL)] = 0.0
    weights = _weights(marked, recipe)
    return lambda batch: _asked_loss(model, batch, *_corrupted(batch, chance, rng), weights)


def _corrupted(batch: Tokens, chance: NDArray[np.float64], rng: np.random.Generator) -> tuple[Tokens, Which]:
    """The batch as it is shown, and which words are asked for: of ten 8 are masked, 1 is unknown, 1 left as it is."""
    asked = rng.random(batch.shape) < chance[batch]
    lot = rng.random(batch.shape)
    shown = np.where(asked & (lot < 0.8), MASK, batch)
    # Unknown, so that sentences with words the model has never seen can be read.
    return np.where(asked & (lot >= 0.9), UNK, shown), asked


def _asked_loss(model: Any, batch: Tokens, shown: Tokens, asked: Which, weights: Any) -> Any:
    import torch

    real = torch.from_numpy(batch != PAD).long()
    hidden = model.bert(input_ids=torch.from_numpy(shown), attention_mask=real).last_hidden_state
    # The head reads only the words that are asked for, which saves a third of the time.
    logits = model.cls(hidden[torch.from_numpy(asked)])
    return torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch[asked]), weight=weights)


def _causal_loss(model: Any, marked: Which, recipe: TrainingRecipe, rng: np.random.Generator) -> Loss:
    import torch

    weights = _weights(marked, recipe)

    def loss(batch: Tokens) -> Any:
        unknown = (rng.random(batch.shape) < recipe.unknown) & ~marked[batch] & (batch >= len(SPECIAL))
        shown, following = np.where(unknown, UNK, batch)[:, :-1], batch[:, 1:]
        asked = following != PAD
        real = torch.from_numpy(shown != PAD).long()
        hidden = model.transformer(input_ids=torch.from_numpy(shown), attention_mask=real).last_hidden_state
        logits = model.lm_head(hidden[torch.from_numpy(asked)])
        return torch.nn.functional.cross_entropy(logits, torch.from_numpy(following[asked]), weight=weights)

    return loss


def _weights(marked: Which, recipe: TrainingRecipe) -> Any:
    import torch

    return torch.from_numpy(np.where(marked, 1.0, recipe.weight_other)).float()
