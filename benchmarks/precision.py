"""How far fewer bits move a reading: every probe of a suite, in float16, bfloat16, 8 and 4 bits, against float32.

    python benchmarks/precision.py                       # the sample models, the default suite
    python benchmarks/precision.py hf:./my-model --types bfloat16 8bit

8 and 4 bits need bitsandbytes, which also runs on a CPU; without it they are left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib.util import find_spec

from tiltmeter import audit
from tiltmeter.errors import TiltmeterError
from tiltmeter.models.registry import SAMPLES
from tiltmeter.readings import Reading

TYPES = ("float16", "bfloat16", "8bit", "4bit")


def sample_specs() -> dict[str, str]:
    """The sample models that have weights, as specs that take options, and their names."""
    kinds = {"minilm": "hf", "smollm2": "gguf"}
    folders = {name: SAMPLES[name].folder() for name in kinds}
    return {f"{kinds[name]}:{folder / SAMPLES[name].path}": name for name, folder in folders.items() if folder}


def readings(spec: str, option: str, suite: str) -> dict[str, Reading]:
    """Readings of a model by probe, with weights held as an option says."""
    made = audit([f"{spec}{'&' if '?' in spec else '?'}{option}"], suite=suite, progress=False)
    return {reading.id: reading for reading in made.readings}


def main(specs: Sequence[str], types: Sequence[str], suite: str) -> None:
    print("How far each effect moves, and what part of the width of its interval that is.\n")
    print("| model | probe | float32 | " + " | ".join(types) + " |")
    print("| --- | --- | --- | " + " | ".join("---" for _ in types) + " |")
    for spec in specs:
        base = readings(spec, "dtype=float32", suite)
        others = {}
        for name in types:
            option = f"quantize={name}" if name.endswith("bit") else f"dtype={name}"
            try:
                others[name] = readings(spec, option, suite)
            except TiltmeterError as error:
                print(f"{spec}, {name}: {error}")
        for id, one in base.items():
            cells = [_moved(one, others[name].get(id)) if name in others else "-" for name in types]
            title = sample_specs().get(spec) or spec.rpartition("/")[2]
            print(
                f"| {title} | {id} | {one.effect.value:.3f} ({one.verdict.state}) | {' | '.join(cells)} |", flush=True
            )


def _moved(one: Reading, other: Reading | None) -> str:
    """How far an effect moved, in its own units and in parts of the width of its interval."""
    if other is None:
        return "-"
    moved = other.effect.value - one.effect.value
    ci = one.effect.ci
    width = f", {abs(moved) / (ci.high - ci.low):.0%}" if ci is not None and ci.high > ci.low else ""
    verdict = "" if other.verdict.state == one.verdict.state else f", now {other.verdict.state}"
    return f"{moved:+.4f}{width}{verdict}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("specs", nargs="*", default=list(sample_specs()))
    quantised = find_spec("bitsandbytes") is not None
    parser.add_argument("--types", nargs="+", default=[name for name in TYPES if quantised or not name.endswith("bit")])
    parser.add_argument("--suite", default="default")
    chosen = parser.parse_args()
    main(chosen.specs, chosen.types, chosen.suite)
