"""Reference models: tiny masked language models trained on the spot on text whose bias is known.

They are the calibration weights of this instrument: which way a measure should lean on them is known beforehand. They
learn a strong tilt (.9) almost in full, a weak one (.6) in part: the order comes out, the strength falls short.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.lab.text import patterns, planted, sentences
from tiltmeter.models.checkpoints import first_line, quiet
from tiltmeter.models.store import cache_folder
from tiltmeter.progress import progress_bar

Tokens = NDArray[np.int64]
Progress = Callable[[int], None]

_NAME = re.compile(r"tilt-(0\.\d{1,2})")
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_PAD, _UNK, _CLS, _SEP, _MASK = range(len(_SPECIAL))


@dataclasses.dataclass(frozen=True, slots=True)
class Recipe:
    """How a reference model is made.

    Words that say a gender are asked for most often and count most: they carry the bias, and a model that minds every
    word alike does not find it for minutes.
    """

    sentences: int = 20_000
    epochs: int = 4
    batch: int = 64
    rate: float = 3e-3
    ask_gendered: float = 0.6
    ask_other: float = 0.2
    weight_other: float = 0.1
    layers: int = 2
    width: int = 64
    version: int = 1  # to be raised when the code below changes what comes out

    @property
    def key(self) -> str:
        """Changes with everything a model is made of."""
        content = (resources.files(__package__) / "patterns_en.yaml").read_text(encoding="utf-8")
        made_of = json.dumps([dataclasses.asdict(self), content, list(planted(0.5))])
        return hashlib.sha256(made_of.encode()).hexdigest()[:8]


RECIPE = Recipe()


def reference_folder(name: str) -> Path:
    """The folder of a reference model such as ``tilt-0.9``, in the cache; trained there at the first use.

    >>> reference_folder("tilt-9")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown reference model 'tilt-9': write tilt-0.5 (no bias) to tilt-0.99, e.g. tilt-0.9
    """
    tilt, seed = _tilt(name), 0
    folder = cache_folder() / "reference" / f"tilt-{tilt:.2f}-{RECIPE.key}-{seed}"
    if not folder.is_dir():
        total = RECIPE.sentences * RECIPE.epochs
        with progress_bar(f"training reference:{name} (once)", total) as advance:
            _make(tilt, folder, seed, advance, RECIPE)
    return folder


def planted_truth(name: str) -> Mapping[str, float]:
    """P(he) by occupation in the text that a reference model learned from.

    >>> planted_truth("tilt-0.9")["plumber"]
    0.9
    """
    return planted(_tilt(name))


def train_reference(
    tilt: float,
    *,
    folder: Path,
    seed: int = 0,
    progress: Progress | None = None,
    recipe: Recipe = RECIPE,
) -> None:
    """Train a tiny ``BertForMaskedLM`` on text with this tilt and save it with its tokenizer and ``planted.json``.

    The folder appears at the end and complete; where another process was faster, its folder stays. ``progress`` is
    called with the number of sentences learned from, ``recipe.sentences * recipe.epochs`` in all. Uses one thread of
    torch, and leaves the caller's settings and random numbers as they were.
    """
    if folder.exists():
        raise BadInput(f"{folder} exists: give a folder that does not")
    _make(tilt, folder, seed, progress or (lambda _: None), recipe)


def _make(tilt: float, folder: Path, seed: int, progress: Progress, recipe: Recipe) -> None:
    truth = planted(tilt)
    texts = [sentence.text for sentence in sentences(truth, n=recipe.sentences, seed=seed)]
    tokenizer = _tokenizer(texts)
    with _torch_apart(seed):
        model = _model(len(tokenizer), recipe)
        _train(model, tokenizer, texts, recipe, np.random.default_rng([seed, 1]), progress)
    about = {"tilt": tilt, "seed": seed, "recipe": dataclasses.asdict(recipe), "probability_of_he": truth}
    with _appearing(folder) as draft, quiet():
        tokenizer.save_pretrained(draft)
        model.save_pretrained(draft)
        (draft / "planted.json").write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _tilt(name: str) -> float:
    found = _NAME.fullmatch(name)
    if not found or not 0.5 <= float(found[1]) <= 0.99:
        raise BadInput(f"unknown reference model {name!r}: write tilt-0.5 (no bias) to tilt-0.99, e.g. tilt-0.9")
    return float(found[1])


def _tokenizer(texts: list[str]) -> Any:
    """Whole words in lower case; a word that is not in the texts is [UNK]."""
    try:
        import transformers
        from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    except ImportError as error:
        raise MissingExtra("a reference model", "hf") from error
    normal, split = normalizers.BertNormalizer(lowercase=True), pre_tokenizers.BertPreTokenizer()
    words = {word for text in texts for word, _ in split.pre_tokenize_str(normal.normalize_str(text))}
    vocabulary = {word: number for number, word in enumerate((*_SPECIAL, *sorted(words)))}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normal, split
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", _SEP), ("[CLS]", _CLS))
    named = {f"{word.strip('[]').lower()}_token": word for word in _SPECIAL}
    make: Any = transformers.PreTrainedTokenizerFast
    return make(tokenizer_object=tokenizer, model_max_length=128, **named)


def _model(vocabulary: int, recipe: Recipe) -> Any:
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
        pad_token_id=_PAD,
    )
    return library.BertForMaskedLM(config)


def _train(
    model: Any, tokenizer: Any, texts: list[str], recipe: Recipe, rng: np.random.Generator, progress: Progress
) -> None:
    import torch

    rows: list[list[int]] = tokenizer(texts)["input_ids"]
    gendered = tokenizer.convert_tokens_to_ids(sorted(patterns().gendered_words))
    chance = np.full(len(tokenizer), recipe.ask_other)
    chance[gendered] = recipe.ask_gendered
    chance[: len(_SPECIAL)] = 0.0
    weights = torch.full((len(tokenizer),), recipe.weight_other)
    weights[gendered] = 1.0
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, steps, pct_start=0.1, cycle_momentum=False)
    model.train()
    for batch in (batch for _ in range(recipe.epochs) for batch in _batches(rows, recipe.batch, rng)):
        shown, asked = _corrupted(batch, chance, rng)
        real = torch.from_numpy(batch != _PAD).long()
        hidden = model.bert(input_ids=torch.from_numpy(shown), attention_mask=real).last_hidden_state
        # The head reads only the words that are asked for, which saves a third of the time.
        logits = model.cls(hidden[torch.from_numpy(asked)])
        loss: Any = torch.nn.functional.cross_entropy(logits, torch.from_numpy(batch[asked]), weight=weights)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        progress(len(batch))
    model.eval()


def _batches(rows: list[list[int]], size: int, rng: np.random.Generator) -> Iterator[Tokens]:
    """All rows once, in random order: batches of like length would be faster, but it learns far less from them."""
    order = rng.permutation(len(rows))
    for start in range(0, len(rows), size):
        some = [rows[row] for row in order[start : start + size]]
        longest = max(map(len, some))
        yield np.array([row + [_PAD] * (longest - len(row)) for row in some], dtype=np.int64)


def _corrupted(
    batch: Tokens, chance: NDArray[np.float64], rng: np.random.Generator
) -> tuple[Tokens, NDArray[np.bool_]]:
    """The batch as it is shown, and which words are asked for: of ten 8 are masked, 1 is unknown, 1 left as it is."""
    asked = rng.random(batch.shape) < chance[batch]
    lot = rng.random(batch.shape)
    shown = np.where(asked & (lot < 0.8), _MASK, batch)
    # Unknown, so that sentences with words the model has never seen can be read.
    return np.where(asked & (lot >= 0.9), _UNK, shown), asked


@contextlib.contextmanager
def _torch_apart(seed: int) -> Iterator[None]:
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


@contextlib.contextmanager
def _appearing(folder: Path) -> Iterator[Path]:
    """A folder to write into that takes its name when all is written, and is gone when anything fails."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=folder.parent) as place:
            draft = Path(place, folder.name)
            draft.mkdir()
            yield draft
            draft.rename(folder)
    except Exception as error:  # each library that writes here has a kind of error of its own
        if not folder.is_dir():  # if it is there, another process was faster
            raise BadInput(
                f"cannot save a model in {folder.parent} ({first_line(error)}): free some space or "
                "make it writable, or choose another folder (TILTMETER_CACHE for the cache)"
            ) from error
