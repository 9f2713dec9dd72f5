"""The gate: has bias grown since a baseline, or passed a limit?

It fails only where that is more than noise: that of the items, and what harmless changes of the model move all of them
by (the floor). Of equal models at most a share ``alpha`` of whole checks fail, however many probes a check has (Holm).
A probe passes only where growth that matters can be ruled out; one that could hide it is undecided.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tiltmeter.compare.comparison import SomeAudit, find_audit
from tiltmeter.compare.difference import Difference, differ, incomparable
from tiltmeter.compare.floor import (
    HARMLESS,
    Floor,
    NoiseFloor,
    above_floor,
    agreement_of_units,
    find_floor,
    find_wobble,
    load_noise,
    set_floor,
)
from tiltmeter.compare.gate_words import growth_in_words, what_is_ruled_out
from tiltmeter.compare.policy import FailOn, Policy, Rule, SomePolicy, load_policy
from tiltmeter.errors import BadInput, unknown
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics import Result, holm
from tiltmeter.statistics.differences import holm_bounds

Outcome: TypeAlias = Literal["failed", "undecided", "passed", "not checked"]
#: What can become of a probe, in the order in which it is looked at.
OUTCOMES: tuple[Outcome, ...] = ("failed", "undecided", "passed", "not checked")


@dataclasses.dataclass(frozen=True, slots=True)
class ProbeCheck(Result):
    """One probe on one model: what became of it, and why.

    It has grown by at least ``grown_by`` and by at most ``at_most``; from ``matters`` on that would matter, and from
    ``could_find`` on growth is found 8 times in 10. ``difference`` has the noise of the items and of the ``floor``.
    """

    model: str
    baseline_model: str
    id: str
    title: str
    outcome: Outcome
    why: str
    difference: Difference | None
    floor: Floor | None
    tolerance: float
    limit: float | None
    grown_by: float | None
    at_most: float | None
    matters: float | None
    could_find: float | None
    p_grown: float | None
    grew: bool
    over_limit: bool

    def __repr__(self) -> str:
        return f"<ProbeCheck {self.id} [{self.model}] {self.outcome}: {self.why}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Check(Result):
    """A whole check, what changed first. ``alpha`` is the share of checks of equal models that may fail."""

    run: str
    baseline: str
    alpha: float
    fail_on: FailOn
    tests: int
    probes: tuple[ProbeCheck, ...]
    notes: tuple[str, ...]

    def with_outcome(self, outcome: Outcome) -> tuple[ProbeCheck, ...]:
        """The probes of which this became."""
        return tuple(probe for probe in self.probes if probe.outcome == outcome)

    @property
    def failed(self) -> tuple[ProbeCheck, ...]:
        return self.with_outcome("failed")

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of a probe."""
        return min((probe.outcome for probe in self.probes), key=OUTCOMES.index, default="not checked")

    @property
    def fails(self) -> bool:
        """Whether the whole check fails: the exit code is 1 then."""
        return self.outcome == "failed" or (self.fail_on == "undecided" and self.outcome != "passed")

    @property
    def headline(self) -> str:
        """The result of the check in one line."""
        counts = Counter(probe.outcome for probe in self.probes)
        hidden, passed = "which may hide growth that matters", "no growth that matters in {}"
        against = f"{self.tests} tested against {self.baseline}"
        if not self.baseline:
            hidden, passed, against = "which may lie beyond a limit", "{} within a limit", "limits alone, no baseline"
        parts = (
            (sum(probe.grew for probe in self.failed), "bias grew in {}"),
            (sum(probe.over_limit for probe in self.failed), "{} beyond a limit"),
            (counts["undecided"], f"{{}} undecided, {hidden}"),
            (counts["passed"], passed),
            (counts["not checked"], "{} not checked"),
        )
        said = [text.format(f"{n} {'probe' if n == 1 else 'probes'}") for n, text in parts if n]
        asked = self.fails and not self.failed
        state = f"Failed, because {self.outcome} fails here" if asked else self.outcome.capitalize()
        return f"{state}: {'; '.join(said)} ({against})."

    def __repr__(self) -> str:
        return f"<Check {self.headline}>"

    def _repr_html_(self) -> str:
        # As a reading finds its chart: views read checks, so a check asks for its view by name.
        html: str = importlib.import_module("tiltmeter.views.notebook").check_html(self)
        return html


def check(
    run: SomeAudit,
    baseline: SomeAudit | None = None,
    policy: SomePolicy | None = None,
    *,
    fail_on: str | None = None,
    noise: NoiseFloor | None = None,
) -> Check:
    """Hold every reading of a baseline against the same one of a new run.

    Raises BadInput where anything that the baseline measured is missing, unfinished or was measured otherwise.

    Args:
        run: the new results: a folder, an audit or a list of readings.
        baseline: what to hold them against, likewise; without one, the limits of the policy alone are checked.
        policy: a YAML file, what stands in one, or a ``Policy``; by default growth by more than the usual tolerance
            fails.
        fail_on: "failed", or "undecided" for a check that also fails on probes that could hide growth that matters.
        noise: how far harmless changes move the baseline; by default what is stored beside it.

    >>> import tiltmeter
    >>> tiltmeter.check("results", "results-main", {"tolerance": 0.1}).fails  # doctest: +SKIP
    False
    """
    run, policy = find_audit(run), load_policy(policy, fail_on=fail_on)
    _check_finished(run, "the run")
    if baseline is None:
        return _check_limits(run, policy)
    baseline = find_audit(baseline)
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
    probes.sort(key=lambda probe: (OUTCOMES.index(probe.outcome), 1.0 if probe.p_grown is None else probe.p_grown))
    return Check(
        run=str(run.folder or "the run"),
        baseline=str(baseline.folder or "the baseline"),
        alpha=policy.alpha,
        fail_on=policy.fail_on,
        tests=sum(test is not None for test in tests),
        probes=tuple(probes),
        notes=tuple(notes),
    )


def _check_limits(run: Audit, policy: Policy) -> Check:
    """Hold a run to the limits of a policy, where there is no baseline that it could have grown from."""
    policy.check_names(reading.id for reading in run.readings)
    rules = [policy.rule(reading.id, control=reading.control) for reading in run.readings]
    if all(rule.limit is None for rule in rules):
        raise BadInput("without a baseline there is nothing to check: name one, or a policy with limits")
    both = zip(run.readings, rules, strict=True)
    probes = [_check_probe(reading, reading, rule, None, None, policy) for reading, rule in both]
    probes.sort(key=lambda probe: OUTCOMES.index(probe.outcome))
    return Check(str(run.folder or "the run"), "", policy.alpha, policy.fail_on, 0, tuple(probes), ())


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
        if (value := agreement_of_units(its)) < HARMLESS
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


def _moved(new: Reading, old: Reading, rule: Rule, noise: NoiseFloor | None) -> _Moved | str:
    """How far a reading has moved, or why that cannot be told."""
    reason = incomparable(old, new)
    if reason:
        raise BadInput(
            f"{new.id} of {new.model} was measured differently in the baseline, with {reason}: run the audit of the "
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
    new: Reading, old: Reading, rule: Rule, moved: _Moved | str | None, test: _Test | None, policy: Policy
) -> ProbeCheck:
    tolerance, matters = policy.tolerance_of(rule), None
    grew = test is not None and test.p <= test.allowed
    limited, why = ("", "") if rule.ignore or rule.limit is None else _held_to(rule.limit, new)
    at_most = could_find = None
    hides = limited == "reaches"
    if rule.ignore:
        why += "left out by the policy" if policy.names(new.id) else "a control: it is meant to lean"
    elif moved is None:
        why = why.removesuffix("; ") or "growth cannot be tested: there is no baseline"
    elif isinstance(moved, str) or test is None:
        why += f"growth cannot be tested: {moved}"
    else:
        by_floor = not grew and moved.by_items.p_beyond(tolerance) <= test.allowed
        # The upper end of the interval, as absence is shown of a reading: the one-sided bound would be wrong too often
        # where units agree badly, because the noise is read under "nothing has changed".
        at_most, matters = moved.above_floor.upper_bound(policy.alpha / 2), _matters(new, rule, tolerance)
        could_find = moved.above_floor.findable_growth(test.allowed, tolerance)
        could_hide = could_find is None if matters is None else at_most > matters
        hides = hides or could_hide
        if not grew and matters is not None and could_hide:
            why += f"growth of up to {at_most:.2g} cannot be ruled out ({matters:g} matters); "
        why += growth_in_words(moved.above_floor, test.p_holm, tolerance, moved.floor, grew=grew, by_floor=by_floor)
        if not grew:
            why += what_is_ruled_out(at_most, could_find, could_hide=could_hide)
    difference, floor = (None, None) if moved is None or isinstance(moved, str) else (moved.above_floor, moved.floor)
    checked = not rule.ignore and (test is not None or rule.limit is not None)
    failed = grew or limited == "beyond"
    return ProbeCheck(
        model=new.model,
        baseline_model=old.model,
        id=new.id,
        title=new.title,
        outcome="failed" if failed else "not checked" if not checked else "undecided" if hides else "passed",
        why=why,
        difference=difference,
        floor=floor,
        tolerance=tolerance,
        limit=rule.limit,
        grown_by=difference.lower_bound(test.allowed) if difference and test else None,
        at_most=at_most,
        matters=matters,
        could_find=could_find,
        p_grown=test.p_holm if test else None,
        grew=grew,
        over_limit=limited == "beyond",
    )


def _matters(reading: Reading, rule: Rule, tolerance: float) -> float | None:
    """The smallest growth that matters, which is never what the policy tolerates; None where nothing says so."""
    scale = reading.effect.scale
    usual = scale.bands[0] if scale.matters is None and scale.bands else scale.matters
    matters = usual if rule.matters is None else rule.matters
    return None if matters is None else max(matters, tolerance)


def _held_to(limit: float, reading: Reading) -> tuple[Literal["", "reaches", "beyond"], str]:
    """Whether the interval lies beyond a limit as a whole, or reaches beyond it, and what to say of that."""
    ci, level = reading.effect.ci, reading.effect.level
    if ci is None:
        raise BadInput(f"{reading.id} has no interval, so no limit can be held against it: take the limit out")
    said = f"its 95% interval {ci.low:.3f} to {ci.high:.3f}"
    if ci.low - level > limit or level - ci.high > limit:
        return "beyond", f"beyond the limit: {said} lies more than {limit:g} from {level:g}; "
    if max(ci.high - level, level - ci.low) > limit:
        return "reaches", f"not clearly within the limit: {said} reaches more than {limit:g} from {level:g}; "
    return "", f"within the limit: {said} lies within {limit:g} of {level:g}; "
