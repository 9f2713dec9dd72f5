"""Which reading of a run answers to which of the baseline; anything that is missing is an error, not a pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tiltmeter.errors import BadInput, unknown
from tiltmeter.readings import Reading

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


def check_finished(audit: Audit, what: str) -> None:
    """Refuse an audit in which a model failed: what it did not measure would not be missed."""
    failed = next((each for each in audit.skipped if each.failed), None)
    if failed:
        raise BadInput(
            f"{what} {audit.folder} is not finished: {failed.model} failed on {failed.probe} ({failed.reason}): run "
            "the audit again"
        )


def match(run: Audit, baseline: Audit, models: Mapping[str, str]) -> tuple[list[tuple[Reading, Reading]], list[str]]:
    """Each reading of the baseline with its answer in the run, and what the run has besides.

    ``models`` names for models of the run what the baseline calls them; others go by their name, and one model each is
    a match whatever the names.
    """
    named = _models(run, baseline, models)
    new = {(named.get(each.model), each.id): each for each in run.readings}
    pairs, missing = list[tuple[Reading, Reading]](), list[Reading]()
    for old in baseline.readings:
        answer = new.pop((old.model, old.id), None)
        if answer is None:
            missing.append(old)
        else:
            pairs.append((answer, old))
    if missing:
        raise BadInput(_missing(missing, run, set(named.values())))
    if not pairs:
        raise BadInput(f"the baseline {baseline.folder} holds no readings: run its audit again")
    notes = [f"not checked, because the baseline does not have it: {each.id} of {each.model}" for each in new.values()]
    return pairs, notes


def _models(run: Audit, baseline: Audit, models: Mapping[str, str]) -> dict[str, str]:
    """For each model of the run what the baseline calls it."""
    ours, theirs = (list(dict.fromkeys(r.model for r in each.readings)) for each in (run, baseline))
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
    reasons = [each.reason for each in run.skipped if each.probe == first.id]
    why = f" ({reasons[0]})" if reasons else ""
    return f"the run {run.folder} lacks {first.id} of {first.model}{more}, which the baseline has{why}: measure it too"
