"""The gate: has bias really grown since a baseline, or passed a limit?

It fails only where that is more than noise. Of equal models at most a share ``alpha`` of whole checks fail, however
many probes a check has (Holm).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tiltmeter.compare import Difference, differ
from tiltmeter.compare.difference import incomparable
from tiltmeter.compare.matching import check_finished, match
from tiltmeter.compare.policy import Policy
from tiltmeter.errors import BadInput
from tiltmeter.probes.wording import p_text
from tiltmeter.readings import Reading
from tiltmeter.statistics import Result, holm
from tiltmeter.statistics.differences import holm_bounds

if TYPE_CHECKING:
    from tiltmeter.readings import Audit

PASSED, FAILED, IGNORED = "passed", "failed", "ignored"


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict(Result):
    """One probe on one model: passed, failed or ignored, and why. ``grown_by`` is the least that it has grown by."""

    model: str
    baseline_model: str
    id: str
    title: str
    outcome: str
    why: str
    difference: Difference | None
    tolerance: float
    limit: float | None
    grown_by: float | None
    p_grown: float | None
    grew: bool
    over_limit: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Check(Result):
    """A whole check. ``alpha`` is the share of checks of equal models that may fail."""

    run: str
    baseline: str
    alpha: float
    tests: int
    verdicts: tuple[Verdict, ...]
    notes: tuple[str, ...]

    @property
    def failed(self) -> tuple[Verdict, ...]:
        return tuple(each for each in self.verdicts if each.outcome == FAILED)

    @property
    def headline(self) -> str:
        """The result of the check in one line."""
        grew, over = sum(each.grew for each in self.failed), sum(each.over_limit for each in self.failed)
        tested = f"({self.tests} tested against {self.baseline})"
        if not self.failed:
            return f"Passed: no bias has really grown {tested}."
        said = [f"bias really grew in {_probes(grew)}"] if grew else []
        said += [f"{_probes(over)} passed a limit"] if over else []
        return f"Failed: {' and '.join(said)} {tested}."


def _probes(count: int) -> str:
    return f"{count} {'probe' if count == 1 else 'probes'}"


class _Test(NamedTuple):
    """A p-value of growth, the same corrected for all tests, and the largest that is taken for growth."""

    p: float
    p_holm: float
    allowed: float


def check(run: Audit, baseline: Audit, policy: Policy | None = None) -> Check:
    """Hold every reading of a baseline against the same one of a new run.

    Raises BadInput where anything that the baseline measured is missing, unfinished or was measured otherwise.
    """
    policy = policy or Policy()
    check_finished(run, "the run")
    check_finished(baseline, "the baseline")
    readings, notes = match(run, baseline, policy.models)
    policy.check_names(old.id for _, old in readings)
    found = [_found(new, old) for new, old in readings]
    tests = _tests([(new.id, each) for (new, _), each in zip(readings, found, strict=True)], policy)
    verdicts = [_verdict(*pair, each, test, policy) for pair, each, test in zip(readings, found, tests, strict=True)]
    order = {FAILED: 0, PASSED: 1, IGNORED: 2}
    verdicts.sort(key=lambda each: (order[each.outcome], 1.0 if each.p_grown is None else each.p_grown))
    made = sum(test is not None for test in tests)
    return Check(str(run.folder), str(baseline.folder), policy.alpha, made, tuple(verdicts), tuple(notes))


def _found(new: Reading, old: Reading) -> Difference | str:
    reason = incomparable(old, new)
    if reason:
        raise BadInput(
            f"{new.id} of {new.model} was measured otherwise in the baseline, with {reason}: run the audit of the "
            "baseline again with what is used now"
        )
    return differ(old, new)


def _tests(found: Sequence[tuple[str, Difference | str]], policy: Policy) -> list[_Test | None]:
    """One test of growth for each difference that the policy does not leave out."""
    p_values = [
        None if isinstance(each, str) or policy.rule(name).ignore else each.p_beyond(policy.tolerance_of(name))
        for name, each in found
    ]
    tested = np.array([p for p in p_values if p is not None])
    corrected = zip(holm(tested).tolist(), holm_bounds(tested, policy.alpha).tolist(), strict=True)
    return [None if p is None else _Test(p, *next(corrected)) for p in p_values]


def _verdict(new: Reading, old: Reading, found: Difference | str, test: _Test | None, policy: Policy) -> Verdict:
    rule, tolerance = policy.rule(new.id), policy.tolerance_of(new.id)
    grew = test is not None and test.p <= test.allowed
    over = not rule.ignore and rule.limit is not None and _is_beyond(new, rule.limit)
    if rule.ignore:
        why = "left out by the policy" if policy.names(new.id) else "a control: that it leans is no harm"
    elif isinstance(found, str) or test is None:
        why = f"growth cannot be tested: {found}"
    else:
        why = in_words(found, test.p_holm, tolerance, grew=grew)
    if over and rule.limit is not None:
        why = f"{_over(new, rule.limit)}; {why}"
    checked = not rule.ignore and (test is not None or rule.limit is not None)
    return Verdict(
        model=new.model,
        baseline_model=old.model,
        id=new.id,
        title=new.title,
        outcome=FAILED if grew or over else PASSED if checked else IGNORED,
        why=why,
        difference=None if isinstance(found, str) else found,
        tolerance=tolerance,
        limit=rule.limit,
        grown_by=None if isinstance(found, str) or test is None else found.lower_bound(test.allowed),
        p_grown=test.p_holm if test else None,
        grew=grew,
        over_limit=over,
    )


def _is_beyond(reading: Reading, limit: float) -> bool:
    """Whether the whole interval lies further from level than the limit."""
    effect = reading.effect
    if effect.ci is None:
        raise BadInput(f"{reading.id} has no interval, so no limit can be held against it: take the limit out")
    return effect.ci.low - effect.level > limit or effect.level - effect.ci.high > limit


def _over(reading: Reading, limit: float) -> str:
    ci, level = reading.effect.ci, reading.effect.level
    assert ci is not None  # the limit was held against it
    return f"past the limit: its 95% interval {ci.low:.3f} to {ci.high:.3f} lies more than {limit:g} from {level:g}"


def in_words(found: Difference, p: float, tolerance: float, *, grew: bool) -> str:
    """Why a probe passed or failed, with its numbers."""
    digits = found.digits
    moved = f"{found.statistic} {found.first:.{digits}f} → {found.second:.{digits}f}"
    step = f"{abs(found.growth):.{digits}f}"
    way = "further from" if found.growth > 0 else "nearer to"
    where = f"{way} level by {step}" if float(step) else "as far from level"
    margins = found.margins
    behind = f"; mean log-odds behind it {margins.first:+.2f} → {margins.second:+.2f} SD" if margins else ""
    if grew:
        said = f"bias really grew by more than the tolerance of {tolerance:g}" if tolerance else "bias really grew"
    elif found.growth > 0:
        said = "noise could explain the growth" + (f" beyond the tolerance of {tolerance:g}" if tolerance else "")
    else:
        said = "no growth"
    return f"{said}: {moved}, {where}, {p_text(p)} corrected{behind}"
