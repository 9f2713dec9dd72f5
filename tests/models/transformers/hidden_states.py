"""Vectors by hand: from the hidden states of a bare forward pass."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

from tiltmeter.models.protocol import Span

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


CLOSE = {"rtol": 0, "atol": 1e-5}


def spans_of(sentence: str) -> list[Span]:
    """The words of a sentence without its punctuation."""
    words = "".join(c if c.isalnum() else " " for c in sentence)
    starts = [i for i, c in enumerate(words) if c != " " and (i == 0 or words[i - 1] == " ")]
    return [Span(sentence, start, start + len(words[start:].split()[0])) for start in starts]


@functools.cache
def plain(folder: Path):
    """Tokenizer and model as Transformers loads them."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    return tokenizer, transformers.AutoModel.from_pretrained(folder).eval()


@functools.cache
def hidden_states(folder: Path, text: str):
    """Token ids, and the hidden states of every layer from a bare forward pass."""
    tokenizer, model = plain(folder)
    ids = tokenizer(text)["input_ids"]
    with torch.no_grad():
        return ids, model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states


def by_hand(folder: Path, span: Span, layer: int) -> np.ndarray:
    """The mean hidden state of a span's tokens, which are found by counting those of the text before it."""
    tokenizer, _ = plain(folder)
    ids, hidden = hidden_states(folder, span.text)
    special = int(ids[0] in tokenizer.all_special_ids)
    before, upto = (
        special + len(tokenizer(span.text[:end].rstrip(), add_special_tokens=False)["input_ids"])
        for end in (span.start, span.end)
    )
    # a token that is nothing but the space before the word holds no character of it
    bare = [i for i in range(before, upto) if tokenizer.convert_ids_to_tokens(ids[i]) not in ("Ġ", "▁")]
    return hidden[layer][0, bare].mean(0).numpy()
