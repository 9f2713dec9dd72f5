"""One probe on two models: how far its effect has moved, and whether that is more than noise."""

from __future__ import annotations

import dataclasses

import numpy as np

from tiltmeter.compare.recipes import Recipe, find_recipe
from tiltmeter.compare.unit_tables import Table
from tiltmeter.readings import Estimate, Reading
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.differences import Change, independent_change, paired_change

#: Two readings are paired on what they share, if it is at least this share of what either has.
_SHARED = 0.8
PAIRED, INDEPENDENT = "paired", "independent"


@dataclasses.dataclass(frozen=True, slots=True)
class Margins(Result):
    """What a share counts the signs of: the mean log-odds of its items, in SDs between units."""

    first: float
    second: float
    change: Change
    ci: Interval

    @property
    def growth(self) -> float:
        return abs(self.second) - abs(self.first)


@dataclasses.dataclass(frozen=True, slots=True)
class Difference(Result):
    """One effect on two models. ``difference`` is second minus first, ``growth`` how much further from ``level``.

    ``p_value`` asks whether the two differ at all, ``p_growth`` whether the second lies further from level;
    ``p_holm`` is the former, corrected for all tests it was made with.
    """

    id: str
    probe: str
    title: str
    statistic: str
    level: float
    better: str
    first: float
    second: float
    difference: float
    ci: Interval
    growth: float
    p_value: float
    p_growth: float
    method: str
    how: str
    n_units: int
    change: Change
    margins: Margins | None = None
    p_holm: float | None = None

    @property
    def digits(self) -> int:
        """Digits after the point that its numbers need."""
        return 2 if max(abs(self.difference), abs(self.first - self.level)) >= 0.1 else 3

    def is_real(self, alpha: float = 0.05) -> bool:
        """Whether the two differ by more than noise explains, among all the tests."""
        return self.p_holm is not None and self.p_holm <= alpha

    def p_beyond(self, tolerance: float) -> float:
        """How often noise alone would make bias seem to grow by so much more than the tolerance.

        Of a share the log-odds behind it have to grow, and the share by more than the tolerance.
        """
        own = self.change.p_value(self.growth - tolerance, sided="greater")
        # The log-odds say more than their signs, but what the share itself does not show is not counted.
        if self.margins is None or self.growth <= tolerance:
            return own
        behind = self.margins.change.p_value(self.margins.growth, sided="greater")
        return min(1.0, 2 * min(own, behind))

    def lower_bound(self, alpha: float) -> float:
        """What the effect has grown by at least, but for a chance of error alpha."""
        return self.growth - self.change.reach(alpha)


def differ(first: Reading, second: Reading) -> Difference | str:
    """The difference between two readings of one probe, or why there is none to tell."""
    reason = incomparable(first, second)
    if reason:
        return reason
    found = _paired(first, second)
    if found is not None:
        return found
    effects = first.effect, second.effect
    if effects[0].ci is None or effects[1].ci is None:
        return "it has no interval, and its effect does not follow from its items"
    change = independent_change((effects[0].value, effects[0].ci), (effects[1].value, effects[1].ci))
    how = (
        "as two independent measurements, from their intervals: the effect does not follow from items that both have; "
        "the noise is overstated rather than understated"
    )
    units = min(first.n_units, second.n_units)
    return _difference(second, (effects[0].value, effects[1].value), change, None, (INDEPENDENT, how), units)


def incomparable(first: Reading, second: Reading) -> str:
    """Why two readings do not measure the same thing; empty where they do.

    What two models were shown must be the same, and so must everything that was set.
    """
    one, two = first.provenance, second.provenance
    if one.get("stimuli") != two.get("stimuli"):
        return f"other stimuli ({one.get('stimuli')} and {two.get('stimuli')})"
    settings = [each.get("settings", {}) for each in (one, two)]
    for name in sorted({*settings[0], *settings[1]}):
        values = [each.get(name) for each in settings]
        if values[0] != values[1]:
            return f"other settings ({name}: {values[0]} and {values[1]})"
    besides = [each.get("beside") for each in (one, two)]
    if besides[0] != besides[1]:
        names = [each["name"] if each else "none" for each in besides]
        return f"other word vectors beside the model ({names[0]} and {names[1]}, or another revision)"
    if (first.effect.name, first.effect.level) != (second.effect.name, second.effect.level):
        return f"other statistics ({first.effect.name} and {second.effect.name})"
    return ""


def _paired(first: Reading, second: Reading) -> Difference | None:
    found = find_recipe(first, second)
    tables = _shared(found[1], found[2]) if found else None
    if found is None or tables is None:
        return None
    recipe = found[0]
    change = _change(recipe, *tables)
    if change is None:
        return None
    units, most = len(tables[0].unit_strata), max(len(each.unit_strata) for each in found[1:])
    partly = "" if units == most else f", of {most}"
    how = f"paired: the same {units} units{partly} measured on both"
    margins = _margins(recipe.margins, first, second) if recipe.margins else None
    if margins:
        how += "; tested twice, as a share and by the log-odds of its items, of which the share counts the signs"
    values = recipe.value(tables[0]), recipe.value(tables[1])
    return _difference(second, values, change, margins, (PAIRED, how), units)


def _shared(first: Table, second: Table) -> tuple[Table, Table] | None:
    """The rows that both tables have, in one order; None where they are too few."""
    theirs = set(second.keys)
    keys = [key for key in first.keys if key in theirs]
    if len(keys) < _SHARED * max(len(first.keys), len(second.keys)):
        return None
    return first.at(keys), second.at(keys)


def _change(recipe: Recipe, first: Table, second: Table) -> Change | None:
    with np.errstate(all="ignore"):
        return paired_change(
            recipe.statistic(first),
            recipe.statistic(second),
            strata=first.unit_strata,
            aligned=recipe.aligned(second, first),
            leverage=recipe.leverage(first),
        )


def _margins(recipe: Recipe, first: Reading, second: Reading) -> Margins | None:
    read = recipe.read(first), recipe.read(second)
    tables = None if read[0] is None or read[1] is None else _shared(read[0], read[1])
    change = _change(recipe, *tables) if tables else None
    if tables is None or change is None:
        return None
    return Margins(recipe.value(tables[0]), recipe.value(tables[1]), change, change.interval())


def _difference(
    reading: Reading,
    values: tuple[float, float],
    change: Change,
    margins: Margins | None,
    method: tuple[str, str],
    units: int,
) -> Difference:
    effect = reading.effect
    found = Difference(
        id=reading.id,
        probe=reading.probe,
        title=reading.title,
        statistic=effect.name,
        level=effect.level,
        better=effect.better,
        first=values[0],
        second=values[1],
        difference=change.difference,
        ci=change.interval(),
        growth=_distance(values[1], effect) - _distance(values[0], effect),
        p_value=_p_value(change, margins),
        p_growth=1.0,
        method=method[0],
        how=method[1],
        n_units=units,
        change=change,
        margins=margins,
    )
    return dataclasses.replace(found, p_growth=found.p_beyond(0.0))


def _distance(value: float, effect: Estimate) -> float:
    return abs(value - effect.level)


def _p_value(change: Change, margins: Margins | None) -> float:
    own = change.p_value(change.difference)
    if margins is None:
        return own
    behind = margins.change.p_value(margins.change.difference)
    same_way = change.difference * margins.change.difference > 0
    return min(1.0, 2 * (min(own, behind) if same_way else own))
