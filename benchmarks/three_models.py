"""Memory: three models in one audit against the largest alone. Run: python benchmarks/three_models.py

An audit lets go of a model before it loads the next, so the three may peak at 1.3 times the largest of them. Each audit
runs in a process of its own, and its peak is what the system counted. Exit code 1 above the limit.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

#: Layers of the three models, which all have the same words.
LAYERS = (12, 11, 10)
LIMIT = 1.3
_AUDIT = """
import resource, sys
from tiltmeter import audit
suite = {"name": "memory", "probes": [{"probe": "weat", "targets": ["gender.male_terms", "gender.female_terms"],
                                       "attributes": ["attributes.career", "attributes.family"]}]}
audit([f"hf:{folder}" for folder in sys.argv[1:]], suite=suite, cache=False, progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as root:
        folders = [save(Path(root, str(layers)), layers) for layers in LAYERS]
        alone, together = peak(folders[:1]), peak(folders)
    ratio = together / alone
    print(f"largest alone {alone:,.0f} MB, three in one audit {together:,.0f} MB: {ratio:.2f} x (at most {LIMIT})")
    if ratio > LIMIT:
        sys.exit(1)


def save(folder: Path, layers: int) -> Path:
    """A random BERT of some hundred MB that knows single letters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
    from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast
    from transformers.utils import logging

    bars: Any = logging
    bars.disable_progress_bar()
    make: Any = PreTrainedTokenizerFast
    letters = {sign: place for place, sign in enumerate(["[PAD]", "[UNK]", "[MASK]", *map(chr, range(33, 127))])}
    tokenizer = Tokenizer(models.WordLevel(letters, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    make(tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]").save_pretrained(folder)
    torch.manual_seed(layers)
    config = BertConfig(vocab_size=len(letters), num_hidden_layers=layers)
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


def peak(folders: list[Path]) -> float:
    """The most memory of an audit of these models, in MB."""
    done = subprocess.run([sys.executable, "-c", _AUDIT, *map(str, folders)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return float(json.loads(done.stdout.split()[-1])) / 1024


if __name__ == "__main__":
    main()
