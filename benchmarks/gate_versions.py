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
import functools
import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.compare import Check, Noise, Policy, Rule, check, measure_noise
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
#: What is checked without a floor, with that of the sample models, and with the model's own.
FLOORS = ("none", "samples", "own")
LEFT_OUT = ("sentences-", "seat-")
GENDER = (1.25, 1.5, 2.0, 3.0)
HE = (0.25, 0.5, 1.0)
PAIRS = (
    *(("he", "she"), ("his", "her"), ("him", "her"), ("man", "woman"), ("father", "mother"), ("son", "daughter")),
    *(("brother", "sister"), ("boy", "girl"), ("king", "queen")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["bundled:minilm"])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tiltmeter-gate-versions")
    options = parser.parse_args()
    for model in options.models:
        if model.startswith("hf:") and not Path(model.removeprefix("hf:")).is_dir():
            print(f"{model}: skipped, there is no such folder")
            continue
        name = Path(model.partition(":")[2]).name
        audits = make_audits(model, options.folder / name)
        print(f"{name}, {len(audits['base'].readings)} probes", flush=True)
        noise = measure_noise(audits["base"], _named(audits, "jitter "))
        kept = ", ".join(f"{name} {value:.4f}" for name, value in noise.agreement.items())
        print(f"  agreement of the variants: {kept}; left out: {', '.join(noise.left_out) or 'none'}")
        tell_harmless(audits, noise)
        tell_planted(audits, noise)


def tell_harmless(audits: dict[str, Audit], noise: Noise) -> None:
    """How many checks of two versions fail, and of the model itself against a version."""
    versions = _named(audits, "version ")
    fine = [version for name, version in versions.items() if "rounding-6" not in name]
    coarse = [version for name, version in versions.items() if "rounding-6" in name]
    rows = {
        "two versions (noise 1% and 2%, 8 bits)": list(itertools.permutations(fine, 2)),
        "the model and a version": [(audits["base"], version) for version in fine],
        "one of them or both in 6 bits": [
            pair
            for pair in itertools.permutations([*fine, *coarse], 2)
            if any(one is two for one in pair for two in coarse)
        ],
    }
    print(f"  {'nothing has grown: checks that fail, by floor':<56}" + "".join(f"{floor:>12}" for floor in FLOORS))
    for name, pairs in rows.items():
        checks = {floor: [hold(new, old, noise, floor) for old, new in pairs] for floor in FLOORS}
        shares = [f"{sum(bool(one.failed) for one in each)}/{len(each)}" for each in checks.values()]
        print(f"    {name:<54}" + "".join(f"{share:>12}" for share in shares), flush=True)
        single = [f"{np.mean(list(_p_values(each))):.3f}" for each in checks.values()]
        print(f"    {'  single tests with p <= .05, no tolerance':<54}" + "".join(f"{share:>12}" for share in single))
        by_probe = Counter(probe.id for one in checks["own"] for probe in one.failed)
        if by_probe:
            print(f"      failing with the floor of its own: {dict(by_probe)}")


def _p_values(checks: Iterable[Check]) -> Iterable[bool]:
    for one in checks:
        for probe in one.probes:
            if probe.difference and probe.outcome != "not checked":
                yield probe.difference.p_beyond(0.0) <= 0.05


def tell_planted(audits: dict[str, Audit], noise: Noise) -> None:
    """Which planted changes are found, and by which probes."""
    print("  planted: probes that fail (growth), by floor")
    for name, version in audits.items():
        if name.startswith(("gender ", "he ")):
            for floor in FLOORS[1:]:
                failed = hold(version, audits["base"], noise, floor).failed
                said = ", ".join(f"{each.id} ({each.difference.growth:+.2f})" for each in failed if each.difference)
                print(f"    {name:<14}{floor:<10}{said or 'not found'}", flush=True)


def hold(new: Audit, old: Audit, noise: Noise, floor: str) -> Check:
    """A check with the usual policy. A version wobbles as its model does, so each has the floor of the model itself."""
    if floor == "none":
        rules = {reading.id: Rule(floor=0.0) for reading in old.readings if not reading.control}
        return check(new, old, Policy(probes=rules))
    if floor == "samples":
        return check(new, old)
    return check(new, old, noise=noise.model_copy(update={"revision": old.readings[0].provenance.model.revision}))


def _named(audits: dict[str, Audit], start: str) -> dict[str, Audit]:
    return {name.removeprefix(start): audit for name, audit in audits.items() if name.startswith(start)}


def make_audits(spec: str, folder: Path) -> dict[str, Audit]:
    """The audits of the model, its variants, planted changes and versions; those that are there already stay."""
    model = load(spec)
    changed: dict[str, Callable[[], Any]] = {"base": lambda: model}
    changed |= {f"jitter {each.name}": functools.partial(vary, model, each) for each in variations(JITTER, of=model)}
    changed |= {f"gender x {size:g}": functools.partial(planted, model, more_gender(size)) for size in GENDER}
    if getattr(model, "head", "none") == "masked":
        changed |= {f"he + {size:g}": functools.partial(planted, model, more_he(size)) for size in HE}
    changed |= {f"version {each.name}": functools.partial(vary, model, each) for each in VERSIONS}
    for name, make in changed.items():
        if not (folder / name / "audit.json").is_file():
            audit([make()], suite=_suite(), out=folder / name, cache=False, permutations=200, progress=False)
    return {name: Audit.load(folder / name) for name in changed}


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


if __name__ == "__main__":
    main()
