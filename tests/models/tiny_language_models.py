"""Tiny random language models, one per family whose tokens or head behave differently, with tokenizers trained here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import PreTrainedTokenizerFast

TEXT = [
    "The nurse slept in the chair while he and she waited for the doctor to come back.",
    "An engineer from Zürich repaired the old bridge near the café, and nobody thanked her for it.",
    "She said that the midwife was kind and the carpenter was not; he said nothing at all.",
    "Nobody asked the receptionist, who knew the answer all along, whether it was his or hers!",
    "Some people are engineers; others teach mathematics to children in small towns.",
    "The bread was baked by him. The letters were written by her. The roof was mended by them.",
    "He is a nurse and she is a plumber, he left early, she stayed until the lights went out.",
    "Die Ärztin grüßte den Pfleger, der müde war, und ging über die Straße nach Hause.",
    "Le médecin a parlé à l'infirmière; elle a répondu qu'il était déjà très tard.",
    "彼は医者です。彼女は看護師です。彼女は毎日病院で働いています。",
    "তিনি একজন শিক্ষক এবং তিনি প্রতিদিন স্কুলে যান।",
    "Was it made by a woman or by a man? It was made by a man, as far as we know.",
    "The mechanic told the teacher that the car was ready, so the teacher paid and drove away.",
    "A cook, a baker and a hairdresser met in the market on Monday to talk about the weather.",
]


def _trained(tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    tokenizer.train_from_iterator(TEXT * 3, trainer)
    return tokenizer


def _around(tokenizer: Tokenizer, template: str, *marks: str) -> None:
    tokenizer.post_processor = processors.TemplateProcessing(
        single=template, special_tokens=[(mark, tokenizer.token_to_id(mark)) for mark in marks]
    )


def wordpiece(*, lower: bool) -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    _trained(tokenizer, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False))
    _around(tokenizer, "[CLS] $A [SEP]", "[CLS]", "[SEP]")
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **dict(zip(names, special, strict=True)))


def byte_level(*, special: list[str], prefix: bool = False) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _trained(
        tokenizer,
        trainers.BpeTrainer(vocab_size=420, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )


def roberta(*, prefix: bool) -> PreTrainedTokenizerFast:
    tokenizer = byte_level(special=["<s>", "<pad>", "</s>", "<unk>", "<mask>"], prefix=prefix)
    tokenizer.post_processor = processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 0), trim_offsets=True, add_prefix_space=prefix
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token=AddedToken("<mask>", lstrip=True),
    )


def unigram(*, special: list[str], template: str, mask: str) -> PreTrainedTokenizerFast:
    """Like SentencePiece: spaces are part of the tokens, as ▁. The first three marks are padding, start and end."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=330, special_tokens=[*special, "<unk>", mask], unk_token="<unk>", show_progress=False
    )
    _trained(tokenizer, trainer)
    pad, start, end = special
    _around(tokenizer, template, start, end)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=pad,
        bos_token=start,
        cls_token=start,
        sep_token=end,
        eos_token=end,
        unk_token="<unk>",
        mask_token=AddedToken(mask, lstrip=True),
    )


def xlm_roberta() -> PreTrainedTokenizerFast:
    return unigram(special=["<pad>", "<s>", "</s>"], template="<s> $A </s>", mask="<mask>")


def albert() -> PreTrainedTokenizerFast:
    return unigram(special=["<pad>", "[CLS]", "[SEP]"], template="[CLS] $A [SEP]", mask="[MASK]")


def modernbert() -> PreTrainedTokenizerFast:
    tokenizer = byte_level(special=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    _around(tokenizer, "[CLS] $A [SEP]", "[CLS]", "[SEP]")
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token=AddedToken("[MASK]", lstrip=True),
    )


def bare_bytes(*, prefix: bool = False, pad: bool = False) -> PreTrainedTokenizerFast:
    """Nothing before a text, and mostly no padding either, as in GPT-2."""
    tokenizer = byte_level(special=["<|endoftext|>"], prefix=prefix)
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)  # offsets hold the space before a word
    more = {"pad_token": "<|endoftext|>"} if pad else {}
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<|endoftext|>", eos_token="<|endoftext|>", **more
    )


def llama() -> PreTrainedTokenizerFast:
    """A start mark before every text, and bytes for what the vocabulary lacks."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace()
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    _trained(tokenizer, trainers.BpeTrainer(vocab_size=600, special_tokens=special, show_progress=False))
    _around(tokenizer, "<s> $A", "<s>")
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def openai_gpt() -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<unk>"], end_of_word_suffix="</w>", show_progress=False
    )
    _trained(tokenizer, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>")


LIMIT = 96
_WILD = {"initializer_range": 0.4}  # so that context changes a log-probability much more than rounding does
_SMALL = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": LIMIT,
    **_WILD,
}
_SHIFTED = {"max_position_embeddings": LIMIT + 2, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
_GPT = {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": LIMIT, **_WILD}
_NO_MARKS = {"bos_token_id": 0, "eos_token_id": 0}

Family = tuple[Callable[[], PreTrainedTokenizerFast], str, dict[str, Any]]

MASKED: dict[str, Family] = {
    "bert": (lambda: wordpiece(lower=True), "BertForMaskedLM", _SMALL),
    "bert-cased": (lambda: wordpiece(lower=False), "BertForMaskedLM", _SMALL),
    "distilbert": (
        lambda: wordpiece(lower=True),
        "DistilBertForMaskedLM",
        {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": LIMIT, **_WILD},
    ),
    "electra": (lambda: wordpiece(lower=True), "ElectraForMaskedLM", {**_SMALL, "embedding_size": 12}),
    "roberta": (lambda: roberta(prefix=False), "RobertaForMaskedLM", {**_SMALL, **_SHIFTED, "type_vocab_size": 1}),
    "roberta-prefix": (
        lambda: roberta(prefix=True),
        "RobertaForMaskedLM",
        {**_SMALL, **_SHIFTED, "type_vocab_size": 1},
    ),
    "xlm-roberta": (
        xlm_roberta,
        "XLMRobertaForMaskedLM",
        {**_SMALL, "max_position_embeddings": LIMIT + 1, "pad_token_id": 0, "type_vocab_size": 1},
    ),
    "albert": (albert, "AlbertForMaskedLM", {**_SMALL, "embedding_size": 12, "pad_token_id": 0}),
    "deberta-v2": (
        albert,
        "DebertaV2ForMaskedLM",
        {**_SMALL, "relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False},
    ),
    "modernbert": (
        modernbert,
        "ModernBertForMaskedLM",
        {**_SMALL, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3, "local_attention": 8}
        | {"bos_token_id": 2, "eos_token_id": 3},
    ),
}
CAUSAL: dict[str, Family] = {
    "gpt2": (bare_bytes, "GPT2LMHeadModel", {**_GPT, **_NO_MARKS}),
    "gpt2-prefix": (lambda: bare_bytes(prefix=True), "GPT2LMHeadModel", {**_GPT, **_NO_MARKS}),
    "gpt-neox": (bare_bytes, "GPTNeoXForCausalLM", {**_SMALL, **_NO_MARKS}),
    "llama": (llama, "LlamaForCausalLM", _SMALL),
    "qwen2": (lambda: bare_bytes(pad=True), "Qwen2ForCausalLM", {**_SMALL, **_NO_MARKS, "num_key_value_heads": 1}),
    "openai-gpt": (openai_gpt, "OpenAIGPTLMHeadModel", _GPT),
}
FAMILIES = MASKED | CAUSAL


def save_tiny(family: str, folder: Path, **changes: Any) -> Path:
    """A random language model of the family, saved the way a user's own model is."""
    make_tokenizer, name, settings = FAMILIES[family]
    tokenizer = make_tokenizer()
    tokenizer.save_pretrained(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # DeBERTa's module uses a part of torch that is going away
        kind = getattr(transformers, name)
    torch.manual_seed(0)
    model = kind(kind.config_class(vocab_size=len(tokenizer), **{**settings, **changes}))
    for parameter in model.parameters():  # biases start at zero, where a lost one would not show
        if parameter.ndim == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    return folder
