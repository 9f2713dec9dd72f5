"""Tiny random models with tokenizers trained on the spot, one per family whose tokens behave differently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

SENTENCES = [
    "The nurse slept.",
    "An engineer from Zürich repaired the old bridge near the café.",
    "She said that the midwife was kind and the carpenter was not.",
    "He left.",
    "Nobody asked the receptionist, who knew the answer all along!",
    "The receptionist met the nurse and the midwife.",
    "Some people are engineers; others teach mathematics to children.",
]


def _train(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(SENTENCES * 4, trainer)
    return tokenizer


def wordpiece() -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True, strip_accents=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    _train(tokenizer, trainers.WordPieceTrainer(vocab_size=120, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )


def byte_bpe(*, special: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _train(
        tokenizer,
        trainers.BpeTrainer(vocab_size=340, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )


def roberta_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = byte_bpe(special=["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )


def gpt2_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = byte_bpe(special=["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)  # offsets hold the space before a word
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>")


def llama_tokenizer() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>"]
    _train(tokenizer, trainers.BpeTrainer(vocab_size=160, special_tokens=special, show_progress=False))
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


_SMALL = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 32}
_WILD = {"initializer_range": 0.4}  # so that context changes a vector much more than rounding does

FAMILIES: dict[str, tuple[Callable[[], PreTrainedTokenizerFast], str, dict[str, Any]]] = {
    "bert": (wordpiece, "Bert", {**_SMALL, **_WILD, "max_position_embeddings": 40}),
    "roberta": (
        roberta_tokenizer,
        "Roberta",
        {**_SMALL, **_WILD, "max_position_embeddings": 42, "pad_token_id": 1, "type_vocab_size": 1},
    ),
    "gpt2": (gpt2_tokenizer, "GPT2", {**_WILD, "n_embd": 16, "n_layer": 3, "n_head": 2, "n_positions": 64}),
    "llama": (llama_tokenizer, "Llama", {**_SMALL, **_WILD, "max_position_embeddings": 64}),
}


def save_tiny(family: str, folder: Path, **changes: Any) -> Path:
    """A random model of the family, saved the way a user's own model is."""
    make_tokenizer, prefix, settings = FAMILIES[family]
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = getattr(transformers, f"{prefix}Config")(vocab_size=len(tokenizer), **{**settings, **changes})
    model = getattr(transformers, f"{prefix}Model")(config)
    model.save_pretrained(folder)
    return folder
