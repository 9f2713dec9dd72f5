"""The gate: has bias really grown since a baseline, or passed a limit?

It fails only where that is more than noise: that of the items, and what harmless changes of the model move all of them
by (the floor). Of equal models at most a share ``alpha`` of whole checks fail, however many probes a check has (Holm).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tiltmeter.compare.difference import Difference, differ, incomparable
from tiltmeter.compare.floor import (
    HARMLESS,
    Floor,
    Noise,
    above_floor,
    agreement,
    find_floor,
    find_wobble,
    load_noise,
    set_floor,
)
from tiltmeter.compare.policy import Policy, Rule
from tiltmeter.errors import BadInput, unknown
from tiltmeter.readings import Audit, Reading, p_text
from tiltmeter.statistics import Result, holm
from tiltmeter.statistics.differences import holm_bounds

PASSED, FAILED, IGNORED = "passed", "failed", "ignored"


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeCheck(Result):
    """One probe on one model: passed, failed or ignored, and why. ``grown_by`` is the least that it has grown by.

    ``difference`` has the noise of the items and of the ``floor``.
    """

    model: str
    baseline_model: str
    id: str
    title: str
    outcome: str
    why: str
    difference: Difference | None
    floor: Floor | None
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
    probes: tuple[ProbeCheck, ...]
    notes: tuple[str, ...]

    @property
    def failed(self) -> tuple[ProbeCheck, ...]:
        return tuple(probe for probe in self.probes if probe.outcome == FAILED)

    @property
    def headline(self) -> str:
        """The result of the check in one line."""
        grew, over = sum(probe.grew for probe in self.failed), sum(probe.over_limit for probe in self.failed)
        tested = f"({self.tests} tested against {self.baseline})"
        if not self.failed:
            return f"Passed: no bias has really grown {tested}."
        said = [f"bias really grew in {_probes(grew)}"] if grew else []
        said += [f"{_probes(over)} passed a limit"] if over else []
        return f"Failed: {' and '.join(said)} {tested}."


def _probes(count: int) -> str:
    return f"{count} {'probe' if count == 1 else 'probes'}"


def check(run: Audit, baseline: Audit, policy: Policy | None = None, *, noise: Noise | None = None) -> Check:
    """Hold every reading of a baseline against the same one of a new run.

    Without a policy, growth by more than the usual tolerance fails; without ``noise``, the floor stored beside the
    baseline counts. Raises BadInput where anything that the baseline measured is missing, unfinished or was measured
    otherwise.
    """
    policy = policy or Policy()
    _check_finished(run, "the run")
    _check_finished(baseline, "the baseline")
    pairs, notes = _match(run, baseline, policy.models)
    notes += _other_models(pairs)
    policy.check_names(old.id for _, old in pairs)
    rules = [policy.rule(new.id, control=new.control) for new, _ in pairs]
    noise = noise or load_noise(baseline.folder)
    moved = [_moved(new, old, rule, noise) for (new, old), rule in zip(pairs, rules, strict=True)]
    tests = _tests(rules, moved, policy)
    checked = zip(pairs, rules, moved, tests, strict=True)
    probes = [_check_probe(*pair, rule, one, test, policy) for pair, rule, one, test in checked]
    order = (FAILED, PASSED, IGNORED)
    probes.sort(key=lambda probe: (order.index(probe.outcome), 1.0 if probe.p_grown is None else probe.p_grown))
    n_tests = sum(test is not None for test in tests)
    return Check(str(run.folder), str(baseline.folder), policy.alpha, n_tests, tuple(probes), tuple(notes))


def _check_finished(audit: Audit, what: str) -> None:
    """Refuse an audit in which a model failed: what it did not measure would not be missed."""
    failed = next((skipped for skipped in audit.skipped if skipped.failed), None)
    if failed:
        raise BadInput(
            f"{what} {audit.folder} is not finished: {failed.model} failed on {failed.probe} ({failed.reason}): run "
            "the audit again"
        )


def _match(run: Audit, baseline: Audit, models: Mapping[str, str]) -> tuple[list[tuple[Reading, Reading]], list[str]]:
    """Each reading of the baseline with its answer in the run, and notes on what the run has besides.

    ``models`` names for models of the run what the baseline calls them; others go by their name, and one model each is
    a match whatever the names.
    """
    named = _models(run, baseline, models)
    new = {(named.get(reading.model), reading.id): reading for reading in run.readings}
    known = {(reading.model, reading.id): reading for reading in baseline.readings}
    missing = [old for key, old in known.items() if key not in new]
    if missing:
        raise BadInput(_missing(missing, run, set(named.values())))
    if not known:
        raise BadInput(f"the baseline {baseline.folder} holds no readings: run its audit again")
    extras = [f"{extra.id} of {extra.model}" for key, extra in new.items() if key not in known]
    notes = [f"not checked, because the baseline does not have it: {extra}" for extra in extras]
    return [(new[key], old) for key, old in known.items()], notes


def _other_models(pairs: Sequence[tuple[Reading, Reading]]) -> list[str]:
    """A note on every model that is more than a harmless change away from its baseline."""
    by_model: dict[str, list[tuple[Reading, Reading]]] = {}
    for new, old in pairs:
        by_model.setdefault(new.model, []).append((old, new))
    return [
        f"the units of {model} agree with the baseline's to {value:.2f} in the median probe, and to {HARMLESS:g} and "
        "more after harmless changes: this is another model rather than a version of one, and has to differ by more to "
        "fail (tiltmeter baseline --run measures how far runs of one training differ)"
        for model, its in by_model.items()
        if (value := agreement(its)) < HARMLESS
    ]


def _models(run: Audit, baseline: Audit, models: Mapping[str, str]) -> dict[str, str]:
    """For each model of the run what the baseline calls it."""
    ours, theirs = (list(dict.fromkeys(r.model for r in audit.readings)) for audit in (run, baseline))
    for name, old in models.items():
        if name not in ours:
            raise unknown("model of the run in the policy", name, ours)
        if old not in theirs:
            raise unknown("model of the baseline in the policy", old, theirs)
    if len(set(models.values())) < len(models):
        raise BadInput("the policy gives two models of the run the same model of the baseline: give each its own")
    if not models and len(ours) == len(theirs) == 1:
        return {ours[0]: theirs[0]}
    taken = set(models.values())
    return {name: models.get(name, name) for name in ours if name in models or (name in theirs and name not in taken)}


def _missing(missing: list[Reading], run: Audit, answered: set[str]) -> str:
    first = missing[0]
    more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
    if first.model not in answered:
        return (
            f"the run {run.folder} lacks the baseline's model {first.model}: audit it too, or say under 'models' in a "
            "policy what it is called now"
        )
    reasons = [skipped.reason for skipped in run.skipped if skipped.probe == first.id]
    why = f" ({reasons[0]})" if reasons else ""
    return f"the run {run.folder} lacks {first.id} of {first.model}{more}, which the baseline has{why}: measure it too"


class _Moved(NamedTuple):
    """A difference by the noise of its items alone, and by that and the floor."""

    by_items: Difference
    above_floor: Difference
    floor: Floor


def _moved(new: Reading, old: Reading, rule: Rule, noise: Noise | None) -> _Moved | str:
    """How far a reading has moved, or why that cannot be told."""
    reason = incomparable(old, new)
    if reason:
        raise BadInput(
            f"{new.id} of {new.model} was measured otherwise in the baseline, with {reason}: run the audit of the "
            "baseline again with what is used now"
        )
    difference = differ(old, new)
    if isinstance(difference, str):
        return difference
    wobble = find_wobble(old, noise)
    floor = find_floor(difference, wobble) if rule.floor is None else set_floor(difference, rule.floor)
    return _Moved(difference, above_floor(difference, floor), floor)


class _Test(NamedTuple):
    """A p-value of growth, the same corrected for all tests, and the largest that is taken for growth."""

    p: float
    p_holm: float
    allowed: float


def _tests(rules: Sequence[Rule], moved: Sequence[_Moved | str], policy: Policy) -> list[_Test | None]:
    """One test of growth for each difference that the policy does not leave out."""
    p_values = [
        None if isinstance(one, str) or rule.ignore else one.above_floor.p_beyond(policy.tolerance_of(rule))
        for rule, one in zip(rules, moved, strict=True)
    ]
    tested = np.array([p for p in p_values if p is not None])
    corrected = zip(holm(tested).tolist(), holm_bounds(tested, policy.alpha).tolist(), strict=True)
    return [None if p is None else _Test(p, *next(corrected)) for p in p_values]


def _check_probe(
    new: Reading, old: Reading, rule: Rule, moved: _Moved | str, test: _Test | None, policy: Policy
) -> ProbeCheck:
    tolerance = policy.tolerance_of(rule)
    grew = test is not None and test.p <= test.allowed
    over = "" if rule.ignore or rule.limit is None else _over(new, rule.limit)
    if rule.ignore:
        why = "left out by the policy" if policy.names(new.id) else "a control: that it leans is no harm"
    elif isinstance(moved, str) or test is None:
        why = f"growth cannot be tested: {moved}"
    else:
        by_floor = not grew and moved.by_items.p_beyond(tolerance) <= test.allowed
        why = in_words(moved.above_floor, test.p_holm, tolerance, moved.floor, grew=grew, by_floor=by_floor)
    difference, floor = (None, None) if isinstance(moved, str) else (moved.above_floor, moved.floor)
    checked = not rule.ignore and (test is not None or rule.limit is not None)
    return ProbeCheck(
        model=new.model,
        baseline_model=old.model,
        id=new.id,
        title=new.title,
        outcome=FAILED if grew or over else PASSED if checked else IGNORED,
        why=over + why,
        difference=difference,
        floor=floor,
        tolerance=tolerance,
        limit=rule.limit,
        grown_by=difference.lower_bound(test.allowed) if difference and test else None,
        p_grown=test.p_holm if test else None,
        grew=grew,
        over_limit=bool(over),
    )


def _over(reading: Reading, limit: float) -> str:
    """What to say where the whole interval lies further from level than the limit; empty where it does not."""
    ci, level = reading.effect.ci, reading.effect.level
    if ci is None:
        raise BadInput(f"{reading.id} has no interval, so no limit can be held against it: take the limit out")
    if not (ci.low - level > limit or level - ci.high > limit):
        return ""
    return f"past the limit: its 95% interval {ci.low:.3f} to {ci.high:.3f} lies more than {limit:g} from {level:g}; "


_SOURCES = {
    "variants": "variants of the baseline",
    "runs": "other runs of its training",
    "samples": "the sample models; tiltmeter baseline measures your own",
    "policy": "the policy",
}


def in_words(
    difference: Difference, p: float, tolerance: float, floor: Floor, *, grew: bool, by_floor: bool = False
) -> str:
    """Why a probe passed or failed, with its numbers; ``by_floor`` where the noise of its items alone did not explain
    the growth, but the floor does.
    """
    digits = difference.digits
    moved = f"{difference.statistic} {difference.first:.{digits}f} → {difference.second:.{digits}f}"
    step = f"{abs(difference.growth):.{digits}f}"
    way = "further from" if difference.growth > 0 else "nearer to"
    where = f"{way} level by {step}" if float(step) else "as far from level"
    margins = difference.margins
    behind = f"; mean log-odds behind it {margins.first:+.2f} → {margins.second:+.2f} SD" if margins else ""
    beyond = f" beyond the tolerance of {tolerance:g}" if tolerance else ""
    floored = floor.effect or (margins and floor.margins)
    if grew:
        said = f"bias really grew{beyond}, more than its items' noise"
        said += " and than harmless changes move it" if floored else ""
    elif difference.growth > 0:
        noise = "harmless changes of the model" if by_floor else "its items' noise"
        said = f"{noise} could explain the growth{beyond}"
    else:
        said = "no growth"
    sizes = f"{floor.effect:.3f}" + (f", the log-odds by {floor.margins:.3f}" if margins else "")
    moving = "changes that disturb its items as much" if floor.source != "policy" else "harmless changes"
    known = f"; {moving} move it by {sizes} (SD, by {_SOURCES[floor.source]})" if floored else ""
    return f"{said}: {moved}, {where}, {p_text(p)} corrected{behind}{known}"
