"""Simulated readings of the default suite: what a model without noise would give, and noisy measurements of it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models import Identity
from tiltmeter.readings import (
    CORRELATION,
    DIFFERENCE,
    ETA,
    SHARE,
    About,
    D,
    Estimate,
    Item,
    Provenance,
    Reading,
    Scale,
    Statistic,
)
from tiltmeter.statistics import Interval

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class Probe:
    """A probe of the default suite: units by group, items a unit, and what the bundled models make of it.

    ``effect`` is in d, ``spread`` how much items of one unit differ, in SDs between units.
    """

    id: str
    kind: str
    units: tuple[int, ...]
    each: int = 1
    effect: float = 0.5
    spread: float = 0.0
    control: bool = False


class Simulated(NamedTuple):
    """Items, the effect that they have, and how it follows from them."""

    items: list[Item]
    value: float
    scale: Scale
    statistic: Statistic


SUITE = (
    Probe("control-flowers-insects", "d", (25, 25), effect=1.2, control=True),
    Probe("gender-career", "d", (20, 20)),
    Probe("gender-leadership", "d", (20, 20), effect=0.95),
    Probe("gender-intelligence", "d", (20, 20), effect=0.8),
    Probe("gender-math", "d", (20, 20)),
    Probe("gender-science", "d", (20, 20), effect=0.8),
    Probe("occupations-labour", "r", (60,), effect=1.2),
    Probe("race-names", "d", (16, 16), effect=0.6),
    Probe("age-terms", "d", (10, 10), effect=0.55),
    Probe("religion", "eta", (10,) * 5, effect=1.3),
    Probe("disability", "d", (10, 10), effect=0.95),
    Probe("sentences-career", "d", (11, 11), each=90, effect=0.15, spread=4.3),
    Probe("sentences-leadership", "d", (11, 11), each=90, effect=0.3, spread=3.0),
    Probe("sentences-intelligence", "d", (11, 11), each=90, effect=0.4, spread=4.7),
    Probe("seat-race-names", "d", (16, 16), each=10, effect=0.8, spread=1.1),
    Probe("cloze", "share", (73,), effect=0.1),
    Probe("pairs", "share", (53,), effect=0.4),
    Probe("pronouns", "share", (47,), each=8, effect=0.6, spread=3.3),
    Probe("unmask", "mean", (60,), effect=0.1),
    Probe("unmask-shares", "r", (60,), effect=1.2),
    Probe("lpbs", "d", (24, 23), effect=0.8),
)


@dataclasses.dataclass(frozen=True, slots=True)
class Truth:
    """What a probe would find without noise: a score for every item of every unit, around the effect.

    ``at`` gives the scores with an effect of d; units differ among each other by one SD.
    """

    probe: Probe
    units: Floats
    items: Floats
    fact: Floats

    def at(self, effect: float) -> Floats:
        probe, group = self.probe, np.repeat(np.arange(len(self.probe.units)), self.probe.units)
        spread: Floats = self.units[:, None] + self.items
        moved = np.full(self.units.size, effect)
        if probe.kind == "d":
            w = probe.units[0] * probe.units[1] / self.units.size**2
            moved = effect * math.sqrt(float((spread**2).mean()) / (1 - effect**2 * w)) * (group == 0)
        elif probe.kind == "eta":
            places = np.linspace(-1, 1, len(probe.units))
            moved = effect / 2 * (places / places.std())[group]
        elif probe.kind == "r":
            moved = effect / 2 * self.fact
        scores: Floats = spread + moved[:, None]
        return scores


def draw_truth(probe: Probe, rng: np.random.Generator) -> Truth:
    """Units that have exactly the effect: centred by group, of SD 1, unrelated to the fact."""
    n = sum(probe.units)
    group = np.repeat(np.arange(len(probe.units)), probe.units)
    fact = rng.normal(size=n)
    fact = (fact - fact.mean()) / fact.std()
    units = rng.normal(size=n)
    for each in range(len(probe.units)):
        units[group == each] -= units[group == each].mean()
    if probe.kind == "r":
        units -= (units @ fact) / n * fact
    items = probe.spread * rng.normal(size=(n, probe.each))
    return Truth(probe, units / units.std(), items - items.mean(axis=1, keepdims=True), fact)


def measure(truth: Truth, effect: float, agreement: float, rng: np.random.Generator) -> Reading:
    """One measurement: noise on every unit and every item, so that two of them agree as said."""
    noise = math.sqrt((1 - agreement) / agreement)
    scores = truth.at(effect)
    scores = scores + noise * (rng.normal(size=(len(scores), 1)) + truth.probe.spread * rng.normal(size=scores.shape))
    items, value, scale, statistic = READERS[truth.probe.kind](truth, scores)
    return Reading(
        id=truth.probe.id,
        probe=truth.probe.kind,
        title=truth.probe.id,
        model="simulated",
        dimension="",
        control=truth.probe.control,
        family="control" if truth.probe.control else "bias",
        effect=Estimate(truth.probe.kind, value, scale, Interval(value, value, 0.95, "not needed")),
        published=None,
        repair="",
        poles=None,
        finding="",
        n_items=len(items),
        n_units=truth.units.size,
        items=tuple(items),
        item_meaning=None,
        statistic=statistic,
        left_out=(),
        notes=(),
        about=About("", "", "", ()),
        provenance=Provenance(Identity("simulated", ""), "", {}, {}),
    )


def _names(truth: Truth) -> Iterator[tuple[int, int, str]]:
    """Row, column and group of every item."""
    group = np.repeat(np.arange(len(truth.probe.units)), truth.probe.units)
    for i in range(truth.units.size):
        for j in range(truth.probe.each):
            yield i, j, f"group {group[i]}"


def _as_d(truth: Truth, scores: Floats) -> Simulated:
    first = truth.probe.units[0]
    gap = scores[:first].mean() - scores[first:].mean()
    items = [Item(f"{i}/{j}", f"word {i}", g, float(scores[i, j])) for i, j, g in _names(truth)]
    centre = scores.mean(axis=1).mean()
    n = scores.size
    d = float(gap / math.sqrt(((scores - centre) ** 2).mean() * n / (n - 1)))
    return Simulated(items, d, D, Statistic("d of rows", between=("group 0", "group 1")))


def _as_eta(truth: Truth, scores: Floats) -> Simulated:
    items = [
        Item(f"word {i}", f"word {i}", g, float(scores[i, 0]), {"other": -float(scores[i, 0])})
        for i, _, g in _names(truth)
    ]
    centred = scores[:, 0] - scores.mean()
    parts = np.split(centred, np.cumsum(truth.probe.units)[:-1])
    between = sum(part.size * part.mean() ** 2 for part in parts)
    eta = float(math.sqrt(between / (centred**2).sum()))
    return Simulated(items, eta, ETA, Statistic("eta", of=("value", "other")))


def _as_r(truth: Truth, scores: Floats) -> Simulated:
    items = [
        Item(f"word {i}", f"word {i}", "", float(scores[i, 0]), {"share": float(truth.fact[i])})
        for i, _, _ in _names(truth)
    ]
    r = float(np.corrcoef(scores[:, 0], truth.fact)[0, 1])
    return Simulated(items, r, CORRELATION, Statistic("pearson", of=("value", "share")))


def _as_mean(truth: Truth, scores: Floats) -> Simulated:
    items = [Item(f"word {i}", f"word {i}", "", float(scores[i, 0])) for i, _, _ in _names(truth)]
    return Simulated(items, float(scores.mean()), DIFFERENCE, Statistic("mean of units"))


def _as_share(truth: Truth, scores: Floats) -> Simulated:
    items = [
        Item(f"{i}/{j}", f"word {i}", "", float(scores[i, j]), {"won": float(scores[i, j] > 0)})
        for i, j, _ in _names(truth)
    ]
    return Simulated(items, float((scores > 0).mean()), SHARE, Statistic("mean", of=("won",), margins="value"))


READERS: dict[str, Callable[[Truth, Floats], Simulated]] = {
    "d": _as_d,
    "eta": _as_eta,
    "r": _as_r,
    "mean": _as_mean,
    "share": _as_share,
}
