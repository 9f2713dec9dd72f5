"""The tiny language models that become reference models: their tokenizers, and their weights before they learn."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tiltmeter.errors import MissingExtra
from tiltmeter.lab.reference.recipe import TrainingRecipe

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PAD, UNK, CLS, SEP, MASK = range(len(SPECIAL))


def tokenizer_of(known: Collection[str], recipe: TrainingRecipe) -> Any:
    """Whole words in lower case; a word that is not known is [UNK]."""
    try:
        import transformers
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    except ImportError as error:
        raise MissingExtra("a reference model", "hf") from error
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
    return (_masked if recipe.kind == "masked" else _causal)(vocabulary, recipe)


def _masked(vocabulary: int, recipe: TrainingRecipe) -> Any:
    import transformers

    library: Any = transformers
    config = library.BertConfig(
        vocab_size=vocabulary,
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=4,
        intermediate_size=2 * recipe.width,
        max_position_embeddings=128,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=0.1,
        pad_token_id=PAD,
    )
    return library.BertForMaskedLM(config)


def _causal(vocabulary: int, recipe: TrainingRecipe) -> Any:
    import transformers

    library: Any = transformers
    config = library.GPT2Config(
        vocab_size=vocabulary,
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=4,
        n_inner=2 * recipe.width,
        n_positions=128,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        initializer_range=0.1,
        pad_token_id=PAD,
        bos_token_id=CLS,
        eos_token_id=SEP,
    )
    return library.GPT2LMHeadModel(config)
