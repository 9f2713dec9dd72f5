"""How well do versions of one model agree, word by word? Run: python benchmarks/agreement.py

The gate tells a change from noise by how far single words and sentences disagree between two models. benchmarks/gate.py
simulates that noise; here it is measured: weights stored in fewer bits, and weights trained on for a while (on natural
sentences out of BUG, in the folder that TILTMETER_DATA names; the reference model on new text of its own kind). Printed
is the correlation of the scores of units after the effect itself is taken out, as the simulation plants it; and which
probes a check with the usual policy would fail.
"""

from __future__ import annotations

import csv
import dataclasses
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoModelForCausalLM, AutoModelForMaskedLM, AutoTokenizer, logging

from tiltmeter.compare import ProbeCheck, check
from tiltmeter.compare.difference import pair_units
from tiltmeter.files import fingerprint
from tiltmeter.lab.reference.planted_text import planted, sentences
from tiltmeter.lab.reference.reference import reference_folder
from tiltmeter.models.registry import SAMPLES
from tiltmeter.models.transformers.gguf import unpacked
from tiltmeter.readings import Audit, Reading
from tiltmeter.run.audit import audit
from tiltmeter.run.suite import load_suite

BITS = (16, 8, 6)
STEPS, BATCH, RATE, TEMPERATURE = 40, 8, 2e-5, 0.05
#: Their words have ninety sentences each, and are found at any agreement.
LEFT_OUT = ("control-", "sentences-")

Loss = Callable[[Any, Any, dict[str, Any]], Any]


def main() -> None:
    logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    for name, folder, text, head, loss in models():
        with tempfile.TemporaryDirectory() as place:
            versions = {f"{bits} bits": rounded(folder, Path(place) / f"{bits}", bits) for bits in BITS}
            if text:
                versions["trained on"] = trained_on(folder, Path(place) / "trained", text, head, loss)
            first = readings(folder)
            columns = {version: readings(changed) for version, changed in versions.items()}
        print(f"{name:<28}" + "".join(f"{version:>12}" for version in columns), flush=True)
        table = []
        for id, reading in first.items():
            row = [agreement(reading, column[id]) if id in column else None for column in columns.values()]
            table.append([np.nan if each is None else each for each in row])
            print(f"  {id:<26}" + "".join(f"{'-' if each is None else f'{each:.3f}':>12}" for each in row), flush=True)
        print(f"  {'median':<26}" + "".join(f"{each:12.3f}" for each in np.nanmedian(table, axis=0)), flush=True)
        for version, changed in columns.items():
            failed = [f"{each.id} ({each.why})" for each in checked(first, changed)]
            print(f"  check of {version}: {'; '.join(failed) or 'passed'}", flush=True)


def models() -> Iterator[tuple[str, Path, list[str], Any, Loss]]:
    """Name, folder, text to train on, what to train, and how."""
    natural = _natural()
    minilm = SAMPLES["minilm"].folder()
    smollm2 = SAMPLES["smollm2"].folder()
    if minilm:
        yield "bundled:minilm", minilm / SAMPLES["minilm"].path, natural, AutoModel, _contrast
    own = [each.text for each in sentences(planted(0.9), n=2_000, seed=1)]
    yield "reference:tilt-0.9", reference_folder("tilt-0.9"), own, AutoModelForMaskedLM, _fill
    if smollm2:
        path = smollm2 / SAMPLES["smollm2"].path
        folder = unpacked(path, fingerprint(path), called="bundled:smollm2")
        yield "bundled:smollm2", folder, natural, AutoModelForCausalLM, _continue


def readings(folder: Path) -> dict[str, Reading]:
    suite = load_suite("default")
    asked = tuple(probe for probe in suite.probes if not probe.id.startswith(LEFT_OUT))
    found = audit(f"hf:{folder}", suite=dataclasses.replace(suite, probes=asked), cache=False, progress=False)
    return {reading.id: reading for reading in found.readings}


def checked(first: dict[str, Reading], second: dict[str, Reading]) -> tuple[ProbeCheck, ...]:
    """What a check finds to have grown, among the probes that both have."""
    shared = [id for id in first if id in second]
    old, new = (
        Audit("default", ("model",), tuple(dataclasses.replace(each[id], model="model") for id in shared), (), 0, 0)
        for each in (first, second)
    )
    return check(new, old).failed


def agreement(first: Reading, second: Reading) -> float | None:
    """The correlation of the units' scores, without what the effect is about; None where they cannot be paired."""
    pairing = pair_units(first, second, margins=True) or pair_units(first, second)
    if pairing is None:
        return None
    left = []
    for table in (pairing.first, pairing.second):
        design = pairing.form.design(table) if pairing.form.design else np.ones((len(table.scores), 1))
        _, firsts = np.unique(table.index, return_index=True)
        scores = table.means()
        fit, *_ = np.linalg.lstsq(design[firsts], scores, rcond=None)
        left.append(scores - design[firsts] @ fit)
    return float(np.corrcoef(left[0], left[1])[0, 1])


def rounded(folder: Path, target: Path, bits: int) -> Path:
    """The same model with every matrix in so many bits, an even grid for each of its rows."""
    shutil.copytree(folder, target)
    weights = load_file(target / "model.safetensors")
    for name, values in weights.items():
        if values.ndim == 2 and values.is_floating_point():
            exact = values.float()
            step = exact.abs().amax(dim=1, keepdim=True).clamp_min(1e-12) / (2 ** (bits - 1) - 1)
            weights[name] = ((exact / step).round() * step).to(values.dtype)
    save_file(weights, target / "model.safetensors", metadata={"format": "pt"})
    return target


def trained_on(folder: Path, target: Path, text: list[str], head: Any, loss: Loss) -> Path:
    """The same model after some further training on more text of no particular lean."""
    torch.manual_seed(0)
    shutil.copytree(folder, target)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), head.from_pretrained(folder, dtype=torch.float32).train()
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE)
    order = random.Random(0).sample(text, min(len(text), STEPS * BATCH))
    for start in range(0, len(order), BATCH):
        batch = tokenizer(
            order[start : start + BATCH], return_tensors="pt", padding=True, truncation=True, max_length=48
        )
        optimiser.zero_grad()
        loss(model, tokenizer, dict(batch)).backward()
        optimiser.step()
    model.save_pretrained(target)
    return target


def _contrast(model: Any, _tokenizer: Any, batch: dict[str, Any]) -> Any:
    """A sentence is nearer to itself under another dropout than to the others (SimCSE)."""
    mask = batch["attention_mask"][:, :, None]
    one, two = ((model(**batch).last_hidden_state * mask).sum(1) / mask.sum(1) for _ in range(2))
    near = torch.nn.functional.cosine_similarity(one[:, None], two[None], dim=2) / TEMPERATURE
    return torch.nn.functional.cross_entropy(near, torch.arange(len(near)))


def _fill(model: Any, tokenizer: Any, batch: dict[str, Any]) -> Any:
    hidden = (torch.rand(batch["input_ids"].shape) < 0.2) & (batch["attention_mask"] == 1)
    labels = torch.where(hidden, batch["input_ids"], -100)
    return model(
        **{**batch, "input_ids": torch.where(hidden, tokenizer.mask_token_id, batch["input_ids"])}, labels=labels
    ).loss


def _continue(model: Any, _tokenizer: Any, batch: dict[str, Any]) -> Any:
    return model(**batch, labels=torch.where(batch["attention_mask"] == 1, batch["input_ids"], -100)).loss


def _natural() -> list[str]:
    folder = Path(os.environ.get("TILTMETER_DATA", "")) / "bug"
    path = next(iter(sorted(folder.glob("balanced*.csv"))), None)
    if path is None:
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [row["sentence_text"] for row in csv.DictReader(file)]


if __name__ == "__main__":
    main()
