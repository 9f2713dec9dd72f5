"""Does the gate keep quiet on harmless versions of real models, and speak up where bias was planted?

Run: python benchmarks/gate_versions.py [MODEL ...] [--folder DIR]   (bundled:minilm; add hf:FOLDER of a masked model)

Versions are the model with noise on its weights or with weights in fewer bits. Every ordered pair of them is a check in
which nothing has grown. The floor of the check is what tiltmeter baseline --jitter 8 stores for the model itself, from
variants with other seeds than the versions; beside it stand the floor of the sample models and no floor at all.
Planted are a larger share of the gender direction in the input embeddings, and a larger output bias of he, him and his.
Audits are kept in the folder, so that a run that was stopped continues. The suite is the default one without
its slowest probes (sentences, SEAT), which ask the same of a model as its words.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiltmeter.models import load
from tiltmeter.models.variants import Variation, variations, vary
from tiltmeter.readings import Audit
from tiltmeter.run.audit import audit
from tiltmeter.run.suite import Suite, load_suite

#: None of these seeds was used to choose what the variants of a baseline are: those have 1 to 8.
VERSIONS = [
    *(Variation("noise", 0.01, seed) for seed in (101, 102)),
    *(Variation("noise", 0.02, seed) for seed in (103, 104, 105)),
    *(Variation("rounding", 8, seed) for seed in (106, 107, 108)),
    *(Variation("rounding", 6, seed) for seed in (109, 110)),
]
JITTER = 8
LEFT_OUT = ("sentences-", "seat-")
GENDER = (1.25, 1.5, 2.0, 3.0)
HE = (0.25, 0.5, 1.0)
PAIRS = (
    *(("he", "she"), ("his", "her"), ("him", "her"), ("man", "woman"), ("father", "mother"), ("son", "daughter")),
    *(("brother", "sister"), ("boy", "girl"), ("king", "queen")),
)


def make_audits(spec: str, folder: Path) -> None:
    """Audit the model, its variants, its versions and the planted changes; those that are there already stay."""
    model = load(spec)
    changed: dict[str, Callable[[], Any]] = {"base": lambda: model}
    changed |= {f"jitter {each.name}": lambda each=each: vary(model, each) for each in variations(JITTER, of=model)}
    changed |= {f"gender x {size:g}": lambda size=size: planted(model, more_gender(size)) for size in GENDER}
    if getattr(model, "head", "none") == "masked":
        changed |= {f"he + {size:g}": lambda size=size: planted(model, more_he(size)) for size in HE}
    changed |= {f"version {each.name}": lambda each=each: vary(model, each) for each in VERSIONS}
    for name, make in changed.items():
        if not (folder / name / "audit.json").is_file():
            audit([make()], suite=_suite(), out=folder / name, cache=False, permutations=200, progress=False)
            print(f"  audited: {name}", flush=True)


def _suite() -> Suite:
    suite = load_suite("default")
    return dataclasses.replace(suite, probes=tuple(each for each in suite.probes if not each.id.startswith(LEFT_OUT)))


def planted(model: Any, edit: Callable[[Any, Any], None]) -> Any:
    """A copy of the model in which its weights are edited as they are read."""
    from transformers import AutoTokenizer

    changed = copy.copy(model)
    tokenizer = AutoTokenizer.from_pretrained(model._recipe.folder)
    changed.edit = lambda module: edit(module, tokenizer)
    return changed


def more_gender(size: float) -> Callable[[Any, Any], None]:
    """The part of every input embedding that lies in the gender direction, so many times as long."""

    def edit(module: Any, tokenizer: Any) -> None:
        import torch

        with torch.no_grad():
            weights = module.get_input_embeddings().weight
            ids = [tokenizer.convert_tokens_to_ids(list(pair)) for pair in PAIRS]
            steps = torch.stack([weights[he] - weights[she] for he, she in ids])
            direction = torch.linalg.svd(steps, full_matrices=False)[2][0]
            weights += (size - 1) * torch.outer(weights @ direction, direction)

    return edit


def more_he(size: float) -> Callable[[Any, Any], None]:
    """The logits of he, him and his raised everywhere by so much."""

    def edit(module: Any, tokenizer: Any) -> None:
        import torch

        with torch.no_grad():
            head = module.get_output_embeddings()
            if head is not None:
                head.bias[tokenizer.convert_tokens_to_ids(["he", "him", "his"])] += size

    return edit
