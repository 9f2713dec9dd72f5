"""One probe on two models: how far its effect has moved, and whether that is more than noise."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, TypeAlias

import numpy as np

from tiltmeter.compare.weighted import FORMS, MARGINS, UnitTable, WeightedForm, make_table
from tiltmeter.readings import ALPHA, Poles, Reading, p_text
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.differences import Change, independent_change, paired_change

#: Two readings are paired on what they share, if it is at least this share of what either has.
_SHARED = 0.8
#: An effect at its bound would be infinitely far out.
_NEARLY_ALL = 1 - 1e-9
#: A statistic counts as the effect of a reading if it agrees with it to six digits.
_CLOSE = 1e-6
Method: TypeAlias = Literal["paired", "independent"]

DifferenceState: TypeAlias = Literal["clear", "suggestive", "undecided", "level"]
#: What may be said of a difference, from what changed to what did not; the states of a reading's verdict.
STATES: tuple[DifferenceState, ...] = ("clear", "suggestive", "undecided", "level")


@dataclasses.dataclass(frozen=True, slots=True)
class Margins(Result):
    """What lies behind a share or a mean of chances: the mean log-odds of its items, in SDs between units."""

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
    ``p_holm`` is the former, corrected for the ``n_tests`` of its family: the bias tests of the two models, or their
    controls. ``matters`` is the smallest difference that matters on its scale, ``lowest`` the least value there is;
    ``poles`` are what lies at the two ends, in words. ``most`` is how far from level the effect can be at all, where
    there is such a bound, and ``agreement`` how well the scores of paired units correlate.
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
    method: Method
    how: str
    n_units: int
    change: Change
    margins: Margins | None = None
    control: bool = False
    matters: float | None = None
    lowest: float | None = None
    poles: Poles | None = None
    most: float | None = None
    agreement: float | None = None
    p_holm: float | None = None
    n_tests: int = 1

    def __repr__(self) -> str:
        interval = f"[{self.ci.low:.{self.digits}f}, {self.ci.high:.{self.digits}f}]"
        return f"<Difference {self.id} {self.difference:+.{self.digits}f} {interval}, {self.state}>"

    @property
    def digits(self) -> int:
        """Digits after the point that its numbers need."""
        return 2 if max(abs(self.difference), abs(self.first - self.level)) >= 0.1 else 3

    @property
    def still(self) -> bool:
        """Whether its growth is too small to show in the digits that are printed."""
        return not float(f"{self.growth:.{self.digits}f}")

    @property
    def where(self) -> str:
        """Which way from level the second lies of the first."""
        return "as far from level" if self.still else f"{'further from' if self.growth > 0 else 'nearer to'} level"

    @property
    def state(self) -> DifferenceState:
        """What may be said of it, by the rules of a reading's verdict."""
        within = max(-self.ci.low, self.ci.high)
        # Absence is shown by the interval, so what is measurable but smaller than what matters is level too.
        if self.matters is not None and within <= self.matters + 1e-12:
            return "level"
        corrected = self.p_value if self.p_holm is None else self.p_holm
        return "clear" if corrected <= ALPHA else "suggestive" if self.p_value <= ALPHA else "undecided"

    @property
    def sentence(self) -> str:
        """The state, and what it rests on."""
        family = f"correction for this pair's {self.n_tests} {'controls' if self.control else 'bias tests'}"
        match self.state:
            case "clear":
                after = f" after {family}" if self.n_tests > 1 else ""
                return f"Clear: {p_text(self.p_value if self.p_holm is None else self.p_holm)}{after}."
            case "suggestive":
                return f"Suggestive: {p_text(self.p_value)} on its own, but not significant after {family}."
            case "level":
                return f"Level: the whole interval lies within ±{self.matters:g}, the smallest difference that matters."
            case _:
                return f"Undecided: noise could explain it ({p_text(self.p_value)}). {self._findable_words()}"

    def _findable_words(self) -> str:
        least = self.change.findable(ALPHA / (2 if self.margins is None else 4))
        if least is None:
            return f"With {self.n_units} units no difference could be significant: use longer lists."
        return (
            f"Only a difference of {least:.2g} or more would be found reliably (8 times in 10), so this does not "
            "show that they are alike."
        )

    def p_differs(self) -> float:
        """How often noise alone would set the two so far apart, either way."""
        by_effect = self.change.p_value(self.change.difference)
        if self.margins is None:
            return by_effect
        moved = self.margins.change
        same_way = self.change.difference * moved.difference > 0
        return min(1.0, 2 * (min(by_effect, moved.p_value(moved.difference)) if same_way else by_effect))

    def p_beyond(self, tolerance: float) -> float:
        """How often noise alone would make bias seem to grow by so much more than the tolerance.

        Of a share the log-odds behind it have to grow, and the share by more than the tolerance.
        """
        by_effect = self.change.p_value(self._stretched(self.growth) - self._stretched(tolerance), sided="greater")
        # The log-odds say more than their signs, but what the share itself does not show is not counted.
        if self.margins is None or self.growth <= tolerance:
            return by_effect
        by_margins = self.margins.change.p_value(self.margins.growth, sided="greater")
        return min(1.0, 2 * min(by_effect, by_margins))

    def lower_bound(self, alpha: float) -> float:
        """What the effect has grown by at least, but for a chance of error alpha."""
        return self._as_growth(self._stretched(self.growth) - self.change.reach(alpha))

    def upper_bound(self, alpha: float) -> float:
        """What the effect has grown by at most, but for a chance of error alpha."""
        return self._as_growth(self._stretched(self.growth) + self.change.reach(alpha))

    def _stretched(self, growth: float) -> float:
        """How long a growth is on a scale on which the effect has no bound.

        An effect that is divided by the spread of the scores (d, r, eta) grows only up to a bound: the larger a change,
        the less of it shows, while units disagree the more. So growth is measured as that of a correlation is, by
        Fisher's z = artanh, with the bound for 1; at the first effect a step is as long on both scales.
        """
        if self.most is None:
            return growth
        return (self._z(self._from_level + growth) - self._z(self._from_level)) * self._per_z

    def _as_growth(self, stretched: float) -> float:
        """The growth that is so long on the scale without a bound."""
        if self.most is None:
            return stretched
        return self.most * math.tanh(self._z(self._from_level) + stretched / self._per_z) - self._from_level

    @property
    def _from_level(self) -> float:
        return abs(self.first - self.level)

    @property
    def _per_z(self) -> float:
        """What a small step of z is of the effect, at the first one."""
        most = self.most or math.inf
        return most * (1 - min(self._from_level / most, _NEARLY_ALL) ** 2)

    def _z(self, distance: float) -> float:
        return math.atanh(min(distance / (self.most or math.inf), _NEARLY_ALL))

    def findable_growth(self, alpha: float, tolerance: float) -> float | None:
        """The smallest growth that the test of growth beyond a tolerance finds 8 times in 10; None where it finds none.

        Of a share it is what the share itself would show: the log-odds behind it may show less.
        """
        beyond = self.change.findable(alpha if self.margins is None else alpha / 2)
        return None if beyond is None else self._as_growth(self._stretched(tolerance) + beyond)


@dataclasses.dataclass(frozen=True, slots=True)
class Pairing:
    """The scores of the same units on two models, and the statistic that is made of them.

    ``most`` is how many units the reading with more of them has.
    """

    form: WeightedForm
    first: UnitTable
    second: UnitTable
    most: int

    @property
    def n_units(self) -> int:
        return len(self.first.unit_strata)

    @property
    def values(self) -> tuple[float, float]:
        return self.form.value(self.first), self.form.value(self.second)

    @property
    def bound(self) -> float | None:
        """The largest value that the statistic can have; None where there is no such."""
        return self.form.most(self.first) if self.form.most else None

    @property
    def agreement(self) -> float:
        """How well the scores of the units correlate."""
        scores = self.first.means(), self.second.means()
        varies = all(np.ptp(values) > 0 for values in scores)
        return float(np.corrcoef(*scores)[0, 1]) if varies else float(np.array_equal(*scores))

    def change(self) -> Change | None:
        """How far the statistic has moved; None where it does not exist for one of the two."""
        with np.errstate(all="ignore"):
            return paired_change(
                self.form.weigh(self.first),
                self.form.weigh(self.second),
                strata=self.first.unit_strata,
                aligned=self.form.aligned(self.second, self.first),
                leverage=self.form.leverage(self.first),
            )


def pair_units(first: Reading, second: Reading, *, margins: bool = False) -> Pairing | None:
    """The units that both readings have; None where the effect does not follow from items, or they share too few.

    With ``margins`` the log-odds behind it are taken, instead of the effect.
    """
    scores = [_scores(reading, margins) for reading in (first, second)]
    if scores[0] is None or scores[1] is None:
        return None
    (form, one), (_, two) = scores[0], scores[1]
    theirs = set(two.keys)
    keys = [key for key in one.keys if key in theirs]
    if len(keys) < _SHARED * max(len(one.keys), len(two.keys)):
        return None
    return Pairing(form, one.at(keys), two.at(keys), max(len(one.unit_strata), len(two.unit_strata)))


def _scores(reading: Reading, margins: bool) -> tuple[WeightedForm, UnitTable] | None:
    """How the effect follows from the items, and their scores.

    What a reading says of its statistic is checked: a probe that is wrong about it gets a comparison without pairing,
    never a wrong one.
    """
    statistic = reading.statistic
    if statistic is None or (margins and statistic.margins is None):
        return None
    columns = (*statistic.of, statistic.margins) if margins and statistic.margins else statistic.of
    strata = statistic.between
    if statistic.name == "eta":
        strata = strata or tuple(sorted({item.group for item in reading.items}))
    table = make_table(reading.items, columns, strata=strata, n_units=reading.n_units)
    if table is None:
        return None
    if margins:
        return MARGINS, dataclasses.replace(table, scores=table.scores[:, len(statistic.of) :])
    if statistic.absolute:
        table = dataclasses.replace(table, scores=np.abs(table.scores))
    form, effect = FORMS[statistic.name], reading.effect.value
    close = abs(form.value(table) - effect) <= _CLOSE * max(1.0, abs(effect))
    return (form, table) if close else None


def differ(first: Reading, second: Reading) -> Difference | str:
    """The difference between two readings of one probe, or why there is none to tell."""
    reason = incomparable(first, second)
    if reason:
        return reason
    pairing = pair_units(first, second)
    change = pairing.change() if pairing else None
    method: Method = "paired" if pairing and change else "independent"
    margins: Margins | None = None
    if pairing and change:
        values, units = pairing.values, pairing.n_units
        partly = "" if units == pairing.most else f", of {pairing.most}"
        how = f"paired: the same {units} units{partly} measured on both"
        behind = pair_units(first, second, margins=True)
        moved = behind.change() if behind else None
        if behind and moved:
            margins = Margins(*behind.values, moved, moved.interval())
            how += "; tested twice, as it is and by the log-odds of its items"
    else:
        one, two = first.effect, second.effect
        if one.ci is None or two.ci is None:
            return "it has no interval, and its effect does not follow from its items"
        values, units = (one.value, two.value), min(first.n_units, second.n_units)
        change = independent_change((one.value, one.ci), (two.value, two.ci))
        how = (
            "as two independent measurements, from their intervals: the effect does not follow from items that both "
            "have; the noise is overstated rather than understated"
        )
    effect = second.effect
    difference = Difference(
        id=second.id,
        probe=second.probe,
        title=second.title,
        statistic=effect.name,
        level=effect.level,
        better=effect.better,
        first=values[0],
        second=values[1],
        difference=change.difference,
        ci=change.interval(),
        growth=abs(values[1] - effect.level) - abs(values[0] - effect.level),
        p_value=1.0,
        p_growth=1.0,
        method=method,
        how=how,
        n_units=units,
        change=change,
        margins=margins,
        control=second.control,
        matters=effect.scale.matters,
        lowest=effect.scale.low,
        poles=second.poles,
        most=pairing.bound if method == "paired" and pairing else None,
        agreement=pairing.agreement if method == "paired" and pairing else None,
    )
    return dataclasses.replace(difference, p_value=difference.p_differs(), p_growth=difference.p_beyond(0.0))


def incomparable(first: Reading, second: Reading) -> str:
    """Why two readings do not measure the same thing; empty where they do.

    What two models were shown must be the same, and so must everything that was set.
    """
    one, two = first.provenance, second.provenance
    if one.stimuli != two.stimuli:
        return f"different stimuli ({one.stimuli} and {two.stimuli})"
    for name in sorted({*one.settings, *two.settings}):
        values = one.settings.get(name), two.settings.get(name)
        if values[0] != values[1]:
            return f"different settings ({name}: {values[0]} and {values[1]})"
    if one.vectors != two.vectors:
        names = [vectors.name if vectors else "none" for vectors in (one.vectors, two.vectors)]
        return f"other word vectors beside the model ({names[0]} and {names[1]}, or another revision)"
    # Not by the name of the effect: an earlier version may have called the same number otherwise.
    statistics = {(each.name, each.absolute) for each in (first.statistic, second.statistic) if each}
    if first.effect.scale != second.effect.scale or len(statistics) > 1:
        return f"different statistics ({first.effect.name} and {second.effect.name})"
    return ""
