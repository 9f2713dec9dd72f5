"""The verdict on a reading, and the evidence it rests on: what may be said of it, in every output and in the gate."""

from __future__ import annotations

import dataclasses
import math
from typing import Literal, TypeAlias

from tiltmeter.readings.scale import ALPHA, CORRELATION, SHARE, D, Estimate, Scale, p_text
from tiltmeter.statistics import Power
from tiltmeter.statistics.families import Placebo

State: TypeAlias = Literal["clear", "suggestive", "undecided", "level", "untested", "works", "does not work"]

#: The states of a bias test from the one that says most to the one that says least, and what each means.
STATES: dict[State, str] = {
    "clear": "statistically significant after Holm's correction for the bias tests of this model",
    "suggestive": "p is at most .05 on its own, but not after the correction",
    "undecided": "chance could explain it, but so few words could also miss a lean",
    "level": "the whole interval lies within the smallest effect that matters: shown to be level",
    "untested": "a number without a test",
}
#: How far a control leans where it works: flowers and insects, instruments and weapons give d = 1.50 and 1.53 (Caliskan
#: et al. 2017). A test that could not have found that much cannot say that a control fails.
_CONTROL_LEANS = {D.name: 1.5}
#: What counts for each scale as an effect, in words.
_EFFECTS = {D.name: "a tilt", CORRELATION.name: "a correlation"}


@dataclasses.dataclass(frozen=True, slots=True)
class Correction:
    """A p-value after Holm's correction for the tests of its family, and how many these are."""

    p_value: float
    n_tests: int


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of a reading, and why; ``p_corrected`` is None where there is no test."""

    state: State
    sentence: str
    p_corrected: float | None
    n_tests: int

    @property
    def clear(self) -> bool:
        """Whether its lean may be named; of a control, that it works."""
        return self.state in ("clear", "works")

    @property
    def directed(self) -> bool:
        """Whether it may be said which way the reading leans, clearly or not."""
        return self.state in ("clear", "suggestive", "works")

    def __str__(self) -> str:
        return self.state


def judge(effect: Estimate, *, control: bool, correction: Correction | None, power: Power | None) -> Verdict:
    """The verdict on an effect; without a correction it is the only test of its family.

    >>> from tiltmeter.statistics import Interval
    >>> tilt = Estimate("effect size d", 0.7, D, Interval(0.2, 1.2, 0.95, "bootstrap"), 0.011)
    >>> judge(tilt, control=False, correction=None, power=None).sentence
    'Clear: p = 0.011.'
    >>> judge(tilt, control=False, correction=Correction(0.13, 14), power=None).sentence
    "Suggestive: p = 0.011 on its own, but not significant after correction for this model's 14 bias tests."
    """
    p = effect.p_value
    if p is None:
        return Verdict("untested", "", None, 0)
    corrected = correction or Correction(p, 1)
    state = _state(effect, corrected.p_value, control=control, power=power)
    sentence = _sentence(state, effect, corrected, power, control=control)
    return Verdict(state, sentence, corrected.p_value, corrected.n_tests)


def _state(effect: Estimate, p_corrected: float, *, control: bool, power: Power | None) -> State:
    significant = p_corrected <= ALPHA
    if control:
        if significant:
            return "works" if effect.value > effect.level else "does not work"
        return "undecided" if _too_weak_for_a_control(effect.scale, power) else "does not work"
    # Absence is shown by the interval, so a lean that is measurable but smaller than what matters is level too. Units
    # too few for any result to be significant are too few for an interval from them, which ends at the outermost.
    if is_level(effect) and (power is None or power.effect is not None):
        return "level"
    assert effect.p_value is not None  # nothing else is judged
    return "clear" if significant else "suggestive" if effect.p_value <= ALPHA else "undecided"


def _too_weak_for_a_control(scale: Scale, power: Power | None) -> bool:
    """Whether so few words could have hidden even what a control shows where it works."""
    return power is not None and (power.effect is None or power.effect > _CONTROL_LEANS.get(scale.name, math.inf))


def is_level(effect: Estimate) -> bool:
    """Whether the whole interval lies within the smallest effect that matters on this scale: an equivalence test.

    >>> from tiltmeter.statistics import Interval
    >>> is_level(Estimate("share", 0.51, SHARE, Interval(0.46, 0.55, 0.95, "Wilson")))
    True
    """
    matters = effect.scale.matters
    if effect.ci is None or matters is None:
        return False
    tolerance = 1e-12  # .55 - .5 is a little more than .05
    return max(effect.level - effect.ci.low, effect.ci.high - effect.level) <= matters + tolerance


def _sentence(state: State, effect: Estimate, corrected: Correction, power: Power | None, *, control: bool) -> str:
    assert effect.p_value is not None
    alone, n = p_text(effect.p_value), corrected.n_tests
    tests = f"correction for this model's {n} bias tests"
    # The test asks whether the words could be split anyhow, the interval what other words would give.
    doubt = ", though the interval reaches level" if effect.ci and effect.level in effect.ci else ""
    match state:
        case "clear":
            return f"Clear: {p_text(corrected.p_value)}{f' after {tests}' if n > 1 else ''}{doubt}."
        case "suggestive":
            return f"Suggestive: {alone} on its own, but not significant after {tests}{doubt}."
        case "level":
            return f"Level: the whole interval lies within {_within(effect.scale)}, the smallest effect that matters."
        case "works":
            return f"The control works: it leans as it should ({p_text(corrected.p_value)})."
        case "does not work":
            return (
                f"The control does not work: it should lean clearly and does not ({p_text(corrected.p_value)}). The "
                "other verdicts on this model mean little."
            )
        case _ if control:
            return f"The control is undecided: chance could explain it ({alone}). {_missed(effect.scale, power)}."
        case _:
            return f"Undecided: chance could explain it ({alone}). {_found(effect.scale, power)}"


def _within(scale: Scale) -> str:
    assert scale.matters is not None  # it is level
    if scale == SHARE:
        return f"{scale.level - scale.matters:.0%} to {scale.level + scale.matters:.0%}"
    return f"±{scale.matters:g}"


def _found(scale: Scale, power: Power | None) -> str:
    """What the test could have found, and that its silence does not mean balance."""
    if power is None:
        return "That does not show balance."
    return (
        f"{_missed(scale, power)}{': use longer lists' if power.effect is None else ', so this does not show balance'}."
    )


def _missed(scale: Scale, power: Power | None) -> str:
    """What the test could have found, which says how little its silence means."""
    assert power is not None  # without it, nothing is known of that
    if power.effect is None:
        return (
            f"No result could be significant with so few {'sentences' if scale == SHARE else 'words'} (the smallest "
            f"possible p is {power.least_p:.2g})"
        )
    if scale == SHARE:
        low, high = (f"{scale.level + sign * power.effect:.0%}" for sign in (-1, 1))
        least = f"Only a share below {low} or above {high}"
    else:
        least = f"Only {_EFFECTS.get(scale.name, 'a lean')} of {power.effect:.2g} or more"
    return f"{least} would be found reliably (8 times in 10)"


@dataclasses.dataclass(frozen=True, slots=True)
class Evidence:
    """What the p-value of an effect rests on: it is no smaller than any of ``p_values``, by what else could be chosen.

    ``independent`` says of each list how many independent words it is worth, ``n_pairs`` how many matched pairs were
    tested as pairs.
    """

    p_values: tuple[tuple[str, float], ...]
    independent: tuple[tuple[str, int], ...]
    n_pairs: int = 0
    placebo: Placebo | None = None

    def in_words(self) -> list[str]:
        """One sentence per fact.

        >>> chances = (("other targets", 0.012), ("other attributes", 0.2))
        >>> Evidence(chances, (("male terms", 9),), n_pairs=12).in_words()[0]
        'Chance of a lean this large with other targets: p = 0.012 (12 matched pairs); with other attributes: p = 0.20.'
        """
        pairs = f" ({self.n_pairs} matched pairs)" if self.n_pairs else ""
        parts = [f"with {what}: {p_text(p)}" for what, p in self.p_values]
        said = [f"Chance of a lean this large {'; '.join([parts[0] + pairs, *parts[1:]])}."] if parts else []
        if self.independent:
            worth = ", ".join(f"{label} {n}" for label, n in self.independent)
            said.append(f"Independent words, families counted once: {worth}.")
        if self.placebo:
            low, high = f"{self.placebo.low:.2f}", f"{self.placebo.high:.2f}"
            said.append(
                f"95% of arbitrary word lists in place of the attributes give {low} to {high}; chance of one as far "
                f"from level as this: {p_text(self.placebo.p_value)}.{_frequency(self.placebo)}"
            )
            larger = max((p for _, p in self.p_values), default=self.placebo.p_value)
            if (larger <= ALPHA) != (self.placebo.p_value <= ALPHA):
                said.append(
                    "The two disagree: the lean holds for other words like these, but arbitrary words lean as much."
                    if larger <= ALPHA
                    else "The two disagree: arbitrary words seldom lean so much, but other words like these may not."
                )
        return said


def _frequency(placebo: Placebo) -> str:
    """Whether arbitrary words were as frequent as those whose places they took."""
    known, words = placebo.n_matched, placebo.n_words
    if known == words:
        return " They are as frequent as the attributes." if words else ""
    if not known:
        return " Their frequency is not matched: that of these attributes is not known."
    return f" {known} of {words} are matched in frequency; that of the other attributes is not known."
