"""Does the gate keep quiet on equal models and speak up on worse ones?

    python benchmarks/gate.py [--quick] [--only equal|worse|outcomes|versions] [--checks 500] [--seed 0]

One simulated model answers every probe of the default suite, with as many words, sentences and occupations as the
suite has. A second model is the same one measured again: every unit and every item gets noise of its own, so much that
the scores of units agree between the two with the correlation printed (benchmarks/agreement.py measures how well
versions of real models do). A worse model has in one probe an effect that is larger by d = .5; where the effect is no
d, by what corresponds to it: the log-odds behind a share and a mean move by half an SD between units, correlations and
eta by Cohen's conversions. All of that is about the noise of items alone, without a floor.

What is said of single probes is counted next: of equal models, and of models that have grown by what matters (d = .2)
and by what the probe says it could have found. "Passed" where d has grown by .2 is wrong, and at most 5% may be.

Then the noise that items cannot show: each version of a model shifts all items of a probe alike, the more the more it
disturbs them. The floor is estimated from eight variants, and put to use in several ways.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from scipy import stats

from simulated_readings import SUITE, Floats, Probe, draw_truth, measure
from tiltmeter.compare import Difference, Policy, ProbeCheck, Rule, check, differ
from tiltmeter.compare.gate import OUTCOMES
from tiltmeter.readings import Audit, Reading

AGREEMENTS = (0.99, 0.98, 0.97, 0.95, 0.90)
WORSE = 0.5
TESTS = sum(not probe.control for probe in SUITE)
NO_FLOOR = {probe.id: Rule(floor=0.0) for probe in SUITE if not probe.control}
#: The SD of a version's own shift, in SDs of the mean of its items; units of a probe, and variants of a floor.
WOBBLES = (0.0, 0.5, 1.0, 2.0, 5.0)
UNITS, VARIANTS = 40, 8


def audit_of(readings: Sequence[Reading]) -> Audit:
    return Audit("simulated", ("simulated",), tuple(readings), (), 0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    parser.add_argument("--only", choices=tuple(_PARTS), help="one of the tables")
    parser.add_argument("--checks", type=int, help="checks of equal models; the other tables go by it")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    start = time.perf_counter()
    checks = options.checks or (50 if options.quick else 500)
    for place, part in enumerate([options.only] if options.only else _PARTS):
        print("\n" if place else "", end="")
        _PARTS[part](checks, options.seed)
    print(f"\nseed {options.seed}, {time.perf_counter() - start:.0f} s")


def print_equal_models(checks: int, seed: int) -> None:
    print(f"Equal models: share of {checks:,} checks of {TESTS} tests that fail, with no tolerance (.05 at most)")
    found = {agreement: equal_models(checks, agreement, seed) for agreement in (AGREEMENTS[0], AGREEMENTS[-1])}
    for agreement, (failed, _) in found.items():
        print(f"  agreement {agreement:.2f}: {failed:.4f}")
    print(f"  single tests, p <= .05 and p <= .05 / {TESTS} = {0.05 / TESTS:g}:")
    for place, probe in enumerate(probe for probe in SUITE if not probe.control):
        cells = (f"{np.mean(p[:, place] <= level):.4f}" for _, p in found.values() for level in (0.05, 0.05 / TESTS))
        print(f"  {probe.id:<26}" + "".join(f"{cell:>9}" for cell in cells))


def print_worse_models(checks: int, seed: int) -> None:
    trials = checks // 5
    print(f"One probe worse by d = {WORSE}: share of {trials} checks (usual tolerance) that find it, by agreement")
    print(f"  {'':<26}{'units':>10}" + "".join(f"{agreement:>8.2f}" for agreement in AGREEMENTS))
    every = []
    for probe, rates in worse_models(trials, seed):
        units = "+".join(map(str, probe.units)) if len(probe.units) < 3 else f"{len(probe.units)} x {probe.units[0]}"
        print(f"  {probe.id:<26}{units:>10}" + "".join(f"{rate:8.2f}" for rate in rates), flush=True)
        every.append(rates)
    print(f"  {'all probes alike':<36}" + "".join(f"{rate:8.2f}" for rate in np.mean(every, axis=0)))


def print_outcomes(checks: int, seed: int) -> None:
    trials = checks * 4 // 5
    print(f"Outcomes of single probes, {trials} checks each: failed / undecided / passed, by growth of d")
    print(f"  {'':<18}{'units':>8}{'agreement':>11}" + "".join(f"{name:>22}" for name in ("0", "0.2", "could find")))
    for probe, agreement, could_find, said in outcomes(trials, seed):
        cells = "".join(f"{' / '.join(f'{share:.2f}' for share in row):>22}" for row in said)
        print(f"  {probe.id:<18}{probe.units[0]:>4}+{probe.units[1]:<3}{agreement:>11.2f}{cells} ({could_find:.2f})")


def print_versions(checks: int, seed: int) -> None:
    print(f"Versions that shift all items alike: share of {100 * checks:,} checks that fail, by the shift's size")
    print(f"  {'noise that counts':<52}" + "".join(f"{wobble:>8.1f}" for wobble in WOBBLES))
    for name, shares in wobbling_models(100 * checks, seed).items():
        print(f"  {name:<52}" + "".join(f"{share:8.3f}" for share in shares))


def equal_models(simulations: int, agreement: float, seed: int) -> tuple[float, Floats]:
    """Of two measurements of one model the share of checks that fail, and the p-values of growth, probe by probe.

    With a tolerance both can only be less.
    """
    rng = np.random.default_rng([1, round(1000 * agreement), *_extra(seed)])
    tested = [probe.id for probe in SUITE if not probe.control]
    failed, p_values = 0, np.ones((simulations, len(tested)))
    for row in range(simulations):
        truths = [draw_truth(probe, rng) for probe in SUITE]
        old, new = ([measure(truth, truth.probe.effect, agreement, rng) for truth in truths] for _ in range(2))
        checked = check(audit_of(new), audit_of(old), Policy(tolerance=0.0, probes=NO_FLOOR))
        failed += bool(checked.failed)
        growth = {probe.id: probe.difference.p_growth for probe in checked.probes if probe.difference}
        p_values[row] = [growth[name] for name in tested]
    return failed / simulations, p_values


def _extra(seed: int) -> list[int]:
    """What another seed adds to that of a table."""
    return [seed] if seed else []


def worse_models(simulations: int, seed: int) -> Iterator[tuple[Probe, list[float]]]:
    """For each probe that is checked the share of worse models that are found, by agreement."""
    for place, probe in enumerate(SUITE):
        if not probe.control:
            yield probe, [_caught(place, simulations, agreement, seed) for agreement in AGREEMENTS]


def _caught(place: int, simulations: int, agreement: float, seed: int) -> float:
    """Found alone among the tests of the suite: at the level that Holm's method gives to the clearest of them."""
    rng = np.random.default_rng([2, place, round(1000 * agreement), *_extra(seed)])
    found, usual = 0, Policy()
    for _ in range(simulations):
        truth = draw_truth(SUITE[place], rng)
        old, new = (
            measure(truth, effect, agreement, rng) for effect in (truth.probe.effect, truth.probe.effect + WORSE)
        )
        difference = differ(old, new)
        assert isinstance(difference, Difference)  # the simulated readings are all alike
        found += difference.method == "paired" and difference.p_beyond(usual.tolerance) <= usual.alpha / TESTS
    return found / simulations


def outcomes(simulations: int, seed: int) -> Iterator[tuple[Probe, float, float, list[list[float]]]]:
    """For probes of few and many words how often each outcome is said, by how far d has grown."""
    for place, probe in enumerate(SUITE):
        if probe.id not in ("gender-career", "race-names", "age-terms"):
            continue
        for agreement in (0.99, 0.95, 0.90):
            rng = np.random.default_rng([4, place, round(1000 * agreement), *_extra(seed)])
            equal = [_single(probe, 0.0, agreement, rng) for _ in range(simulations)]
            could_find = float(np.median([one.could_find or np.nan for one in equal]))
            grown = [[_single(probe, by, agreement, rng) for _ in range(simulations)] for by in (0.2, could_find)]
            shares = [
                [sum(one.outcome == outcome for one in checks) / simulations for outcome in OUTCOMES[:3]]
                for checks in (equal, *grown)
            ]
            yield probe, agreement, could_find, shares


def _single(probe: Probe, growth: float, agreement: float, rng: np.random.Generator) -> ProbeCheck:
    """A check of one probe whose d has grown, by the noise of its items alone."""
    truth = draw_truth(probe, rng)
    old, new = (audit_of([measure(truth, probe.effect + by, agreement, rng)]) for by in (0.0, growth))
    return check(new, old, Policy(probes={probe.id: Rule(floor=0.0)})).probes[0]


def wobbling_models(simulations: int, seed: int) -> dict[str, list[float]]:
    """For each way to count the floor the share of checks that fail, by how far a version shifts all items.

    Two versions differ by the noise of their items and by a shift each; both are as large as those of the variants, or
    three times as large. What is known is estimated: the variance of the items' noise from the units, and how far a
    version moves, shift and items together, from eight variants.
    """
    rng, df = np.random.default_rng([3, *_extra(seed)]), UNITS - 2
    shape = simulations, TESTS
    shares: dict[str, list[float]] = {}
    for wobble in WOBBLES:
        moves = 1.0 + wobble**2  # the variance of a variant's effect, that of its items being 1
        variants = moves * rng.chisquare(1, (VARIANTS, *shape))
        floor, times = variants.mean(axis=0), (variants / (rng.chisquare(df, variants.shape) / df)).mean(axis=0)
        for size in (1, 3):
            growth = rng.normal(scale=size * np.sqrt(2 * moves), size=shape)
            items = 2 * size**2 * rng.chisquare(df, shape) / df
            wobbly, both = items * np.maximum(times, 1.0), 1 / (1 / df + 1 / VARIANTS)
            spread = items**2 / df + (2 * floor) ** 2 / VARIANTS
            for name, variance, degrees in (
                ("items", items, df),
                ("items + 2 x variance of the variants", items + 2 * floor, (items + 2 * floor) ** 2 / spread),
                ("items x wobble, as if known exactly", wobbly, df),
                ("items x wobble, both estimated (used)", wobbly, both),
            ):
                p = stats.t.sf(growth / np.sqrt(variance), degrees)
                row = shares.setdefault(f"{name}{'' if size == 1 else ', 3 x as large'}", [])
                row.append(float(np.mean(np.min(p, axis=1) <= 0.05 / TESTS)))
    return shares


_PARTS: dict[str, Callable[[int, int], None]] = {
    "equal": print_equal_models,
    "worse": print_worse_models,
    "outcomes": print_outcomes,
    "versions": print_versions,
}

if __name__ == "__main__":
    main()
