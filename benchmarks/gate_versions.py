"""Does the gate keep quiet on harmless versions of real models and on runs of one training, and speak up otherwise?

Run: python benchmarks/gate_versions.py [MODEL ...] [--folder DIR] [--no-runs]

The models are those of the samples that can be changed, unless others are named; add hf:FOLDER of a masked model.
Versions are the model with noise on its weights or with weights in fewer bits. Every ordered pair of them is a check in
which nothing has grown. The floor of the check is what tiltmeter baseline --jitter 8 stores for the model itself, from
variants with other seeds than the versions; beside it stand the floor of the sample models and no floor at all.
Planted are a larger share of the gender direction in the word vectors or input embeddings, and a larger output bias of
he, him and his. Of every check it is asked, too, whether its exit code and its words agree. Then reference models,
trained by one recipe from many seeds: every ordered pair of equal dose is a check in which nothing has grown, and a
larger dose is to be found. The floor comes from variants of one of them, or from four other runs (tiltmeter baseline
--run). Audits are kept in the folder, so that a run that was stopped continues.
"""

from __future__ import annotations

import argparse
import copy
import dataclasses
import functools
import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.compare import Check, NoiseFloor, Policy, Rule, check, measure_noise
from tiltmeter.compare.floor import HARMLESS, agreement_of_audits
from tiltmeter.lab.calibrate.selftest import SMALL
from tiltmeter.lab.reference.planted_text import Reference
from tiltmeter.lab.reference.reference import reference_folder
from tiltmeter.models import load
from tiltmeter.models.variants import Variation, variations, vary
from tiltmeter.readings import Audit
from tiltmeter.run.audit import audit
from tiltmeter.run.suite import Suite, load_suite

#: None of these seeds was used to choose the variants of a baseline (those have 1 to 8) or how the floor is reckoned.
VERSIONS = [
    Variation("noise", 0.01, 301),
    *(Variation("noise", 0.02, seed) for seed in (302, 303)),
    *(Variation("rounding", 8, seed) for seed in (304, 305)),
    *(Variation("rounding", 6, seed) for seed in (306, 307)),
    *(Variation("matrix-rounding", 8, seed) for seed in (308, 309)),
]
JITTER = 8
#: Of how many checks the exit code and the words agree (True), or do not.
_SAID: Counter[bool] = Counter()
#: What is checked without a floor, with that of the sample models, and with the model's own.
FLOORS = ("none", "samples", "own")
#: The runs of a training: the one with variants, those of the floor, and those that are checked.
FIRST, OTHERS, CHECKED = 100, range(101, 105), range(105, 113)
DOSES = (0.5, 0.9)
#: Two of three sets of sentences: they take longest, and are alike.
LEFT_OUT = ("sentences-leadership", "sentences-intelligence")
GENDER = (1.25, 1.5, 2.0, 3.0)
HE = (0.25, 0.5, 1.0)
PAIRS = (
    *(("he", "she"), ("his", "her"), ("him", "her"), ("man", "woman"), ("father", "mother"), ("son", "daughter")),
    *(("brother", "sister"), ("boy", "girl"), ("king", "queen")),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", default=["bundled:glove", "bundled:word2vec", "bundled:minilm"])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "tiltmeter-gate-versions")
    parser.add_argument("--no-runs", action="store_true", help="leave out the runs of one training")
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
    if not options.no_runs:
        tell_runs(options.folder / "runs")
    print(f"exit codes and words agree in {_SAID[True]} of {_SAID.total()} checks")


def tell_harmless(audits: dict[str, Audit], noise: NoiseFloor) -> None:
    """How many checks of two versions fail, and of the model itself against a version."""
    versions = _named(audits, "version ")
    near = {name: agreement_of_audits(audits["base"], version) for name, version in versions.items()}
    print(f"  agreement of the versions: {', '.join(f'{name} {value:.4f}' for name, value in near.items())}")
    fine = [version for name, version in versions.items() if not name.startswith(("rounding-6", "matrix-"))]
    six = [version for name, version in versions.items() if name.startswith("rounding-6")]
    grid = [version for name, version in versions.items() if name.startswith("matrix-")]
    beyond = [version for name, version in versions.items() if near[name] < HARMLESS]
    rows = {
        "two versions (noise 1% and 2%, 8 bits)": list(itertools.permutations(fine, 2)),
        "one of them or both in 6 bits": _with(six, [*fine, *six]),
        "the model and a version": [(audits["base"], version) for version in (*fine, *six, *grid)],
        "one of them or both in 8 bits, one grid per matrix": _with(grid, [*fine, *six, *grid]),
    }
    within = [
        pair for pairs in rows.values() for pair in pairs if not any(one is far for one in pair for far in beyond)
    ]
    rows[f"all of them within the bound of {HARMLESS:g}"] = within
    print_rows(rows, {floor: functools.partial(hold, noise=noise, floor=floor) for floor in FLOORS})


def print_rows(
    rows: Mapping[str, list[tuple[Audit, Audit]]], floors: Mapping[str, Callable[[Audit, Audit], Check]]
) -> None:
    """How many checks of (old, new) fail, by floor."""
    print(f"  {'nothing has grown: checks that fail, by floor':<56}" + "".join(f"{floor:>12}" for floor in floors))
    for name, pairs in ((name, pairs) for name, pairs in rows.items() if pairs):
        checks = {floor: [run(new, old) for old, new in pairs] for floor, run in floors.items()}
        shares = [f"{sum(bool(one.failed) for one in each)}/{len(each)}" for each in checks.values()]
        print(f"    {name:<54}" + "".join(f"{share:>12}" for share in shares), flush=True)
        single = [f"{np.mean(list(_p_values(each)) or 0):.3f}" for each in checks.values()]
        print(f"    {'  single tests with p <= .05, no tolerance':<54}" + "".join(f"{share:>12}" for share in single))
        by_probe = Counter(probe.id for one in checks[list(floors)[-1]] for probe in one.failed)
        if by_probe:
            print(f"      failing with the last floor: {dict(by_probe)}")


def _with(some: list[Audit], all_of_them: list[Audit]) -> list[tuple[Audit, Audit]]:
    """The ordered pairs that have one of some."""
    pairs = itertools.permutations(all_of_them, 2)
    return [pair for pair in pairs if any(one is two for one in pair for two in some)]


def _p_values(checks: Iterable[Check]) -> Iterable[bool]:
    for one in checks:
        for probe in one.probes:
            if probe.difference and probe.outcome != "not checked":
                yield probe.difference.p_beyond(0.0) <= 0.05


def tell_planted(audits: dict[str, Audit], noise: NoiseFloor) -> None:
    """Which planted changes are found, and by which probes."""
    print("  planted: probes that fail (growth), by floor")
    for name, version in audits.items():
        if name.startswith(("gender ", "he ")):
            for floor in FLOORS[1:]:
                failed = hold(version, audits["base"], noise, floor).failed
                said = ", ".join(f"{each.id} ({each.difference.growth:+.2f})" for each in failed if each.difference)
                print(f"    {name:<14}{floor:<10}{said or 'not found'}", flush=True)


def tell_runs(folder: Path) -> None:
    """Runs of one training: how many checks of equal dose fail, and how many of a larger dose."""
    runs: dict[float, list[Audit]] = {}
    floors: dict[float, dict[str, Callable[[Audit, Audit], Check]]] = {}
    for dose in DOSES:
        seeds, first = (FIRST, *OTHERS, *CHECKED), run_of(dose, FIRST)
        made: dict[str, Callable[[], Any]] = {f"{dose} {seed}": functools.partial(run_of, dose, seed) for seed in seeds}
        variants = variations(JITTER, of=first)
        made |= {f"{dose} jitter {each.name}": functools.partial(vary, first, each) for each in variants}
        audits = _shared(_audited(made, folder))
        base, runs[dose] = audits[f"{dose} {FIRST}"], [audits[f"{dose} {seed}"] for seed in CHECKED]
        own = measure_noise(base, _named(audits, f"{dose} jitter "))
        others = measure_noise(base, {}, {str(seed): audits[f"{dose} {seed}"] for seed in OTHERS})
        floors[dose] = {floor: functools.partial(hold, noise=own, floor=floor) for floor in FLOORS}
        floors[dose]["runs"] = functools.partial(hold, noise=others, floor="own")
        print(f"runs of one training, dose {dose:g}, {len(base.readings)} probes", flush=True)
        print_rows({"two runs": list(itertools.permutations(runs[dose], 2))}, floors[dose])
    level, strong = DOSES
    pairs = list(itertools.product(runs[level], runs[strong]))
    grew = [sum(bool(run(new, old).failed) for old, new in pairs) for run in floors[level].values()]
    print(f"  a dose of {strong:g} after one of {level:g}: checks that fail, as they should")
    print(f"    {'two runs':<54}" + "".join(f"{f'{n}/{len(pairs)}':>12}" for n in grew))


def _shared(audits: dict[str, Audit]) -> dict[str, Audit]:
    """Audits with the probes that all of them have: a small vocabulary leaves some without words to measure."""
    ids = set.intersection(*({reading.id for reading in audit.readings} for audit in audits.values()))
    return {
        name: dataclasses.replace(audit, readings=tuple(each for each in audit.readings if each.id in ids))
        for name, audit in audits.items()
    }


def run_of(dose: float, seed: int) -> Any:
    """A reference model of the small recipe, which the self-test has too."""
    return load(f"hf:{reference_folder(Reference(dose, 'masked', seed).name, recipe=SMALL[0])}")


def hold(new: Audit, old: Audit, noise: NoiseFloor, floor: str) -> Check:
    """A check with the usual policy, of which is noted whether its exit code and its words agree."""
    found = _held(new, old, noise, floor)
    said = found.headline.startswith("Failed") and "bias grew in" in found.headline
    reasons = all(probe.why.startswith("bias grew") == (probe.outcome == "failed") for probe in found.probes)
    _SAID[found.fails == said and reasons] += 1  # tiltmeter check ends with code 1 where it fails
    return found


def _held(new: Audit, old: Audit, noise: NoiseFloor, floor: str) -> Check:
    """A version wobbles as its model does, so each has the floor of the model itself."""
    if floor == "none":
        rules = {reading.id: Rule(floor=0.0) for reading in old.readings if not reading.control}
        return check(new, old, Policy(probes=rules))
    if floor == "samples":
        return check(new, old)
    about = {"model": old.readings[0].model, "revision": old.readings[0].provenance.model.revision}
    return check(new, old, noise=noise.model_copy(update=about))


def _named(audits: dict[str, Audit], start: str) -> dict[str, Audit]:
    return {name.removeprefix(start): audit for name, audit in audits.items() if name.startswith(start)}


def make_audits(spec: str, folder: Path) -> dict[str, Audit]:
    """The audits of the model, its variants, planted changes and versions; those that are there already stay."""
    model = load(spec)
    changed: dict[str, Callable[[], Any]] = {"base": lambda: model}
    changed |= {f"jitter {each.name}": functools.partial(vary, model, each) for each in variations(JITTER, of=model)}
    static = not hasattr(model, "edit")
    for size in GENDER:
        of_weights = functools.partial(planted, model, more_gender(size))
        changed[f"gender x {size:g}"] = functools.partial(MoreGender, model, size) if static else of_weights
    if getattr(model, "head", "none") == "masked":
        changed |= {f"he + {size:g}": functools.partial(planted, model, more_he(size)) for size in HE}
    fitting = [each for each in VERSIONS if not (static and each.kind == "matrix-rounding")]
    changed |= {f"version {each.name}": functools.partial(vary, model, each) for each in fitting}
    return _audited(changed, folder)


def _audited(models: dict[str, Callable[[], Any]], folder: Path) -> dict[str, Audit]:
    for name, make in models.items():
        if not (folder / name / "audit.json").is_file():
            audit([make()], suite=_suite(), out=folder / name, cache=False, permutations=200, progress=False)
    return {name: Audit.load(folder / name) for name in models}


def _suite() -> Suite:
    suite = load_suite("default")
    return dataclasses.replace(suite, probes=tuple(each for each in suite.probes if not each.id.startswith(LEFT_OUT)))


class MoreGender:
    """Word vectors whose part in the gender direction is so many times as long."""

    def __init__(self, model: Any, size: float) -> None:
        self._model, self._size, self.identity = model, size, model.identity
        he, she = (np.array(model.embed_words([pair[side] for pair in PAIRS]), dtype=np.float64) for side in (0, 1))
        self._direction = np.linalg.svd(he - she, full_matrices=False)[2][0]

    def embed_words(self, words: Sequence[str]) -> list[Any]:
        rows = self._model.embed_words(words)
        return [
            None if row is None else row + (self._size - 1) * (row @ self._direction) * self._direction for row in rows
        ]


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
