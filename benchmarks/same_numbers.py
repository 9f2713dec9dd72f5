"""Do two audit folders hold the same numbers? Run: python benchmarks/same_numbers.py BEFORE AFTER

For changes that must not move a number: effects, intervals, p-values, published values, counts, and the value of every
item are compared by model and id, to 1e-9 relative to the larger of 1 and the number. A folder of schema 1 is read as
well as one of schema 2. Prints what differs and how far; exit code 1 if anything does.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator

from tiltmeter.readings import Audit, Estimate, Reading

CLOSE = 1e-9


def numbers(reading: Reading) -> Iterator[tuple[str, float | None]]:
    """Every number of a reading that has a name of its own."""
    for name in ("effect", "published"):
        estimate: Estimate | None = getattr(reading, name)
        if estimate is not None:
            yield f"{name}.value", estimate.value
            yield f"{name}.p_value", estimate.p_value
            yield f"{name}.p_standard_error", estimate.p_standard_error
            yield f"{name}.low", estimate.ci.low if estimate.ci else None
            yield f"{name}.high", estimate.ci.high if estimate.ci else None
    yield "n_units", reading.n_units
    yield "n_items", reading.n_items


def differences(before: Reading, after: Reading) -> Iterator[str]:
    """What is not the same in two readings of one probe on one model."""
    named = dict(numbers(before)), dict(numbers(after))
    for name in sorted({*named[0], *named[1]}):
        if not same(named[0].get(name), named[1].get(name)):
            yield f"{name}: {named[0].get(name)} -> {named[1].get(name)}"
    values = [sorted(item.value for item in each.items if item.value is not None) for each in (before, after)]
    if len(values[0]) != len(values[1]):
        yield f"items with a value: {len(values[0])} -> {len(values[1])}"
    elif not all(itertools.starmap(same, zip(*values, strict=True))):
        worst = max(abs(one - two) for one, two in zip(*values, strict=True))
        yield f"values of items: apart by up to {worst:.3g}"


def same(one: float | None, two: float | None) -> bool:
    if one is None or two is None:
        return one is two
    return math.isclose(one, two, rel_tol=CLOSE, abs_tol=CLOSE)


def main() -> None:
    before, after = (
        {(reading.model, reading.id): reading for reading in Audit.load(folder).readings} for folder in sys.argv[1:3]
    )
    shared = [key for key in before if key in after]
    changed = [(key, line) for key in shared for line in differences(before[key], after[key])]
    for (model, probe), line in changed:
        print(f"{model}, {probe}: {line}")
    for key in sorted({*before} ^ {*after}):
        print(f"{', '.join(key)}: only {'before' if key in before else 'after'}")
    print(f"{len(shared)} readings compared, {len({key for key, _ in changed})} differ")
    sys.exit(bool(changed) or {*before} != {*after})


if __name__ == "__main__":
    main()
