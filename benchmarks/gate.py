"""Does the gate keep quiet on equal models and speak up on worse ones? Run: python benchmarks/gate.py [--quick]

One simulated model answers every probe of the default suite, with as many words, sentences and occupations as the
suite has. A second model is the same one measured again: every unit and every item gets noise of its own, so much that
the scores of units agree between the two with the correlation printed (benchmarks/agreement.py measures how well
versions of real models do). A worse model has in one probe an effect that is larger by d = .5; where the effect is no
d, by what corresponds to it: the log-odds behind a share and a mean move by half an SD between units, correlations and
eta by Cohen's conversions.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence

import numpy as np

from simulated_readings import SUITE, Probe, draw_truth, measure
from tiltmeter.compare import Difference, Policy, check, differ
from tiltmeter.readings import Audit, Reading

AGREEMENTS = (0.99, 0.98, 0.97, 0.95, 0.90)
WORSE = 0.5
TESTS = sum(not probe.control for probe in SUITE)


def audit_of(readings: Sequence[Reading]) -> Audit:
    return Audit("simulated", ("simulated",), tuple(readings), (), 0, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    share = 10 if parser.parse_args().quick else 1
    start = time.perf_counter()
    checks, trials = 500 // share, 100 // share
    print(f"Equal models: share of {checks} checks of {TESTS} tests that fail, with no tolerance (.05 at most)")
    for agreement in (AGREEMENTS[0], AGREEMENTS[-1]):
        print(f"  agreement {agreement:.2f}: {equal_models(checks, agreement):.3f}", flush=True)
    print(f"\nOne probe worse by d = {WORSE}: share of {trials} checks (usual tolerance) that find it, by agreement")
    print(f"  {'':<26}{'units':>10}" + "".join(f"{agreement:>8.2f}" for agreement in AGREEMENTS))
    every = []
    for probe, rates in worse_models(trials):
        units = "+".join(map(str, probe.units)) if len(probe.units) < 3 else f"{len(probe.units)} x {probe.units[0]}"
        print(f"  {probe.id:<26}{units:>10}" + "".join(f"{rate:8.2f}" for rate in rates), flush=True)
        every.append(rates)
    print(f"  {'all probes alike':<36}" + "".join(f"{rate:8.2f}" for rate in np.mean(every, axis=0)))
    print(f"\n{time.perf_counter() - start:.0f} s")


def equal_models(simulations: int, agreement: float) -> float:
    """The share of checks of two measurements of one model that fail; with a tolerance it can only be less."""
    rng = np.random.default_rng([1, round(1000 * agreement)])
    failed = 0
    for _ in range(simulations):
        truths = [draw_truth(probe, rng) for probe in SUITE]
        old, new = ([measure(truth, truth.probe.effect, agreement, rng) for truth in truths] for _ in range(2))
        failed += bool(check(audit_of(new), audit_of(old), Policy(tolerance=0.0)).failed)
    return failed / simulations


def worse_models(simulations: int) -> Iterator[tuple[Probe, list[float]]]:
    """For each probe that is checked the share of worse models that are found, by agreement."""
    for place, probe in enumerate(SUITE):
        if not probe.control:
            yield probe, [_caught(place, simulations, agreement) for agreement in AGREEMENTS]


def _caught(place: int, simulations: int, agreement: float) -> float:
    """Found alone among the tests of the suite: at the level that Holm's method gives to the clearest of them."""
    rng = np.random.default_rng([2, place, round(1000 * agreement)])
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


if __name__ == "__main__":
    main()
