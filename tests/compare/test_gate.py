"""The gate: what fails a check, and what does not."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compare.result_folders import (
    GROWN,
    LEANS,
    audit,
    changed,
    jitter,
    leaning,
    pronouns,
    without_items,
    write_results,
)
from tiltmeter.compare import Policy, Rule, check
from tiltmeter.errors import BadInput
from tiltmeter.readings import Audit, Reading, Skipped
from tiltmeter.statistics import Interval, effect_size
from tiltmeter.statistics.differences import Change
from tiltmeter.views.terminal.comparison import check_table


def of_size(d: float, seed: int) -> tuple[list[float], list[float]]:
    """Leans of six words a group that are drawn anew, and moved to have this d."""
    x, y = np.random.default_rng(seed).normal(size=(2, 6))
    low, high = -10.0, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if effect_size(x + middle, y) < d else (low, middle)
    return (x + low).tolist(), y.tolist()


OF_48, OF_148 = of_size(0.48, 1), of_size(1.48, 3)


def test_a_real_growth_fails_and_says_by_how_much() -> None:
    found = check(audit([leaning(*GROWN)]), audit([leaning()]))
    (probe,) = found.failed
    assert probe.grew
    assert probe.grown_by is not None
    assert probe.grown_by > 0
    assert probe.why.startswith(
        "bias grew beyond the tolerance of 0.02, by more than its items' noise and harmless changes of the model: "
        f"effect size d {leaning().effect.value:.2f} → "
    )
    assert found.headline.startswith("Failed: bias grew in 1 probe")


def test_what_has_not_moved_is_as_far_from_level_as_it_was() -> None:
    (probe,) = check(audit([leaning()]), audit([leaning()])).probes
    value = f"{leaning().effect.value:.2f}"
    assert probe.why.startswith(f"no growth: effect size d {value} → {value}, as far from level, p = ")


def test_noise_and_an_improvement_pass() -> None:
    better = jitter(0.04, 1, shift=-0.4)
    for leans in (jitter(0.04, 2), better):
        found = check(audit([leaning(*leans)]), audit([leaning()]))
        assert not found.failed
        assert found.headline.startswith("Passed: no growth that matters in 1 probe (1 tested against the baseline)")


def test_growth_that_noise_could_explain_and_that_would_matter_is_undecided_and_fails_only_if_asked() -> None:
    # d grows from .48 to 1.48, but single words disagree so much between the two models that it could be noise.
    old, new = audit([leaning(*OF_48)]), audit([leaning(*OF_148)])
    usual = check(new, old)
    (probe,) = usual.probes
    assert probe.difference is not None
    assert (round(probe.difference.first, 2), round(probe.difference.second, 2)) == (0.48, 1.48)
    assert (probe.outcome, usual.outcome, usual.fails) == ("undecided", "undecided", False)
    assert probe.at_most == probe.difference.upper_bound(0.025) > 1.0
    assert probe.why.startswith(f"growth of up to {probe.at_most:.2g} cannot be ruled out (0.2 matters); ")
    assert usual.headline.startswith("Undecided: 1 probe undecided, which may hide growth that matters (1 tested")
    for strict in (check(new, old, fail_on="undecided"), check(new, old, {"fail_on": "undecided"})):
        assert strict.fails
        assert strict.headline.startswith("Failed, because undecided fails here: 1 probe undecided")


def test_every_probe_that_did_not_fail_says_which_growth_it_could_have_found() -> None:
    for new in (jitter(0.04, 2), OF_148):
        (probe,) = check(audit([leaning(*new)]), audit([leaning()])).probes
        assert probe.could_find is not None
        assert f"growth of {probe.could_find:.2g} or more would be found reliably (8 times in 10)" in probe.why


def test_growth_as_large_as_is_said_to_be_found_is_found_8_times_in_10() -> None:
    change = Change(0.0, 0.1, 14.0, 16)
    probe = check(audit([leaning(*jitter(0.04, 2))]), audit([leaning()])).probes[0].difference
    assert probe is not None
    assert probe.most is not None
    rng, n = np.random.default_rng(4), 4000
    probe = dataclasses.replace(probe, change=change, margins=None)
    planted = probe.findable_growth(0.01, 0.02)
    assert planted is not None
    # The second effect, measured with noise of the same size on Fisher's scale, where d has no bound.
    from_level, sd = abs(probe.first) / probe.most, 0.1 / probe.most / (1 - (probe.first / probe.most) ** 2)
    z = np.arctanh(from_level + planted / probe.most) + sd * rng.normal(size=n)
    grown = probe.most * (np.tanh(z) - from_level)
    errors = 0.1 * np.sqrt(rng.chisquare(14.0, n) / 14.0)
    p = [
        dataclasses.replace(probe, growth=g, change=Change(g, float(error), 14.0, 16)).p_beyond(0.02)
        for g, error in zip(grown.tolist(), errors, strict=True)
    ]
    assert np.mean(np.array(p) <= 0.01) == pytest.approx(0.8, abs=0.02)  # three standard errors


@pytest.mark.parametrize(("matters", "outcome"), [(None, "passed"), (0.001, "undecided")])
def test_a_policy_can_say_what_growth_matters(matters: float | None, outcome: str) -> None:
    policy = Policy(tolerance=0.0, probes={"*": Rule(matters=matters)})
    assert check(audit([leaning(*jitter(0.04, 2))]), audit([leaning()]), policy).outcome == outcome


def test_what_is_tolerated_does_not_matter() -> None:
    (probe,) = check(audit([leaning(*OF_148)]), audit([leaning(*OF_48)]), Policy(tolerance=9.0)).probes
    assert (probe.matters, probe.outcome) == (9.0, "passed")


def test_an_interval_that_reaches_beyond_a_limit_is_undecided() -> None:
    near = leaning(ci=Interval(0.7, 1.6, 0.95, ""))
    (probe,) = check(audit([near]), audit([near]), Policy(probes={"gender-*": Rule(limit=0.8)})).probes
    assert probe.outcome == "undecided"
    assert "not clearly within the limit: its 95% interval 0.700 to 1.600 reaches more than 0.8 from 0" in probe.why
    inside = leaning(ci=Interval(0.1, 0.7, 0.95, ""))
    assert check(audit([inside]), audit([inside]), Policy(probes={"gender-*": Rule(limit=0.8)})).outcome == "passed"


def test_a_check_of_which_nothing_was_checked_does_not_pass() -> None:
    control = [leaning(control=True)]
    found = check(audit(control), audit(control))
    assert (found.outcome, found.fails) == ("not checked", False)
    assert check(audit(control), audit(control), fail_on="undecided").fails
    with pytest.raises(BadInput, match="unknown outcome to fail on 'nothing'"):
        check(audit(control), audit(control), fail_on="nothing")


@given(shift=st.floats(-1, 2), noise=st.floats(0.01, 1), seed=st.integers(0, 99), tolerance=st.floats(0, 0.5))
@settings(max_examples=40, deadline=None)
def test_the_outcome_never_contradicts_its_bounds(shift: float, noise: float, seed: int, tolerance: float) -> None:
    new = audit([leaning(*jitter(noise, seed, shift=shift))])
    (probe,) = check(new, audit([leaning()]), Policy(tolerance=tolerance)).probes
    assert probe.grown_by is not None
    assert probe.at_most is not None
    assert probe.matters == max(0.2, tolerance)
    assert probe.grown_by <= probe.at_most
    expected = "failed" if probe.grew else "undecided" if probe.at_most > probe.matters else "passed"
    assert probe.outcome == expected
    assert probe.grew == (probe.grown_by >= tolerance)


def test_a_growth_too_small_to_matter_is_let_go_unless_the_policy_is_strict() -> None:
    old, new = audit([leaning()]), audit([leaning(*jitter(0.0005, 1, shift=0.01))])
    strict = Rule(floor=0.0)
    assert not check(new, old, Policy(probes={"*": strict})).failed
    assert check(new, old, Policy(tolerance=0.0, probes={"*": strict})).failed


def test_a_growth_the_other_way_counts_too() -> None:
    grown = audit([leaning(GROWN[1], GROWN[0])])
    assert check(grown, audit([leaning(LEANS[1], LEANS[0])])).failed


def test_a_probe_fails_exactly_where_its_lower_bound_is_above_the_tolerance() -> None:
    found = check(audit([leaning(*GROWN)]), audit([leaning()])).probes[0]
    assert found.difference is not None
    bound = found.difference.lower_bound(0.05)
    for tolerance, fails in ((bound - 0.01, True), (bound + 0.01, False)):
        assert bool(check(audit([leaning(*GROWN)]), audit([leaning()]), Policy(tolerance=tolerance)).failed) is fails


def test_among_more_tests_more_is_asked_for() -> None:
    def failed(n: int) -> bool:
        old = [leaning(id="grown"), *(leaning(id=f"same {i}") for i in range(n))]
        new = [leaning(*jitter(0.1, 1, shift=0.4), id="grown"), *old[1:]]
        return bool(check(audit(new), audit(old), Policy(probes={"*": Rule(floor=0.0)})).failed)

    assert failed(0)
    assert not failed(400)


def test_a_limit_is_passed_by_the_whole_interval_not_by_the_value() -> None:
    far, near = (leaning(ci=Interval(low, 1.6, 0.95, "")) for low in (0.9, 0.7))
    policy = Policy(probes={"gender-*": Rule(limit=0.8)})
    (probe,) = check(audit([far]), audit([far]), policy).failed
    assert probe.over_limit
    assert not probe.grew
    assert "beyond the limit: its 95% interval 0.900 to 1.600 lies more than 0.8 from 0" in probe.why
    assert not check(audit([near]), audit([near]), policy).failed


def test_a_limit_counts_from_the_level_on_either_side() -> None:
    policy = Policy(probes={"clusters": Rule(limit=0.2)})
    for low, high, fails in ((0.75, 0.9, True), (0.1, 0.25, True), (0.4, 0.8, False)):
        one = without_items((low + high) / 2, low, high)
        assert bool(check(audit([one]), audit([one]), policy).failed) is fails


def test_controls_and_probes_that_the_policy_leaves_out_do_not_fail() -> None:
    old = [leaning(id="flowers", control=True), leaning(id="x")]
    new = [leaning(*GROWN, id="flowers", control=True), leaning(*GROWN, id="x")]
    assert [probe.id for probe in check(audit(new), audit(old)).failed] == ["x"]
    left = check(audit(new), audit(old), Policy(probes={"x": Rule(ignore=True)}))
    assert not left.failed
    assert {probe.id: probe.why for probe in left.probes} == {
        "flowers": "a control: it is meant to lean",
        "x": "left out by the policy",
    }
    assert [probe.id for probe in check(audit(new), audit(old), Policy(probes={"flow*": Rule()})).failed] == [
        "flowers",
        "x",
    ]


def test_one_model_each_is_a_match_and_others_go_by_name_or_by_the_policy() -> None:
    old, new = leaning(model="v1"), leaning(*GROWN, model="v2")
    assert check(audit([new]), audit([old])).failed
    both = [leaning(model="a"), leaning(model="b")]
    swapped = audit([leaning(*GROWN, model="a2"), leaning(model="b")])
    with pytest.raises(BadInput, match="lacks the baseline's model a: audit it too"):
        check(swapped, audit(both))
    (probe,) = check(swapped, audit(both), Policy(models={"a2": "a"})).failed
    assert (probe.model, probe.baseline_model) == ("a2", "a")


def test_a_policy_for_models_that_are_not_there_is_an_error() -> None:
    for models, named in (({"x": "model"}, "run in the policy 'x'"), ({"model": "y"}, "baseline in the policy 'y'")):
        with pytest.raises(BadInput, match=named):
            check(audit([leaning()]), audit([leaning()]), Policy(models=models))


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ([leaning(id="a")], "lacks b of model, which the baseline has"),
        ([leaning(id="a"), leaning(id="b", stimuli="other")], "b of model was measured differently .* stimuli"),
        ([leaning(id="a"), leaning(id="b", seed=7)], r"different settings \(seed: 0 and 7\)"),
    ],
)
def test_what_is_missing_or_measured_otherwise_is_an_error(new: list[Reading], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        check(audit(new), audit([leaning(id="a"), leaning(id="b")]))


def test_a_model_that_failed_is_an_error_on_either_side() -> None:
    broken = audit([leaning()], skipped=[Skipped("other", "x", "out of memory", failed=True)])
    for run, baseline in ((broken, audit([leaning()])), (audit([leaning()]), broken)):
        with pytest.raises(BadInput, match=r"is not finished: other failed on x \(out of memory\)"):
            check(run, baseline)


def test_what_the_baseline_lacks_is_noted_and_not_tested() -> None:
    found = check(audit([leaning(id="a"), leaning(id="b")]), audit([leaning(id="a")]))
    assert found.notes == ("not checked, because the baseline does not have it: b of model",)
    assert found.tests == 1


def test_a_growth_that_cannot_be_tested_is_said_and_does_not_pass_for_tested() -> None:
    bare = changed(leaning(ci=None), items=())
    found = check(audit([bare, leaning(id="x")]), audit([bare, leaning(id="x")]))
    assert found.probes[-1].outcome == "not checked"
    assert "growth cannot be tested: it has no interval" in found.probes[-1].why
    with pytest.raises(BadInput, match="has no interval, so no limit can be held against it"):
        check(audit([bare]), audit([bare]), Policy(probes={"gender-career": Rule(limit=1.0)}))


def test_of_equal_models_few_checks_fail() -> None:
    """The long simulation is benchmarks/gate.py; this one is short, and allows for its own chance."""
    failed = 0
    for seed in range(100):
        runs = []
        for part in (0, 1):
            rng = np.random.default_rng([seed, part])
            odds = np.linspace(-1, 2, 40) + 0.3 * rng.normal(size=40)
            words = [leaning(*jitter(0.1, 1000 * part + 10 * seed + i), id=f"w{i}") for i in range(4)]
            runs.append(audit([*words, pronouns(odds)]))
        failed += bool(check(*runs, Policy(tolerance=0.0)).failed)
    assert failed <= 11  # of 100 with a chance of .05 each, more come in less than 1 of 200 trials


def test_the_table_shows_failures_first() -> None:
    from rich.console import Console

    old = [leaning(id="quiet"), leaning(id="[loud]")]
    found = check(audit([leaning(id="quiet"), leaning(*GROWN, id="[loud]")]), audit(old))
    console = Console(width=160, record=True, file=io.StringIO())
    console.print(check_table(found))
    text = console.export_text()
    assert text.index("Title of [loud]") < text.index("Title of quiet")
    assert "Failed: bias grew in 1 probe; " in text


def test_a_check_of_folders_is_that_of_their_readings(tmp_path: Path) -> None:
    old = write_results(tmp_path / "old", [leaning(), pronouns(np.linspace(-1, 2, 30))])
    new = write_results(tmp_path / "new", [leaning(*GROWN), pronouns(np.linspace(-1, 2, 30))])
    assert [probe.id for probe in check(Audit.load(new), Audit.load(old)).failed] == ["gender-career"]


def test_without_a_baseline_the_limits_alone_are_checked() -> None:
    run = audit(
        [
            leaning(id="in", ci=Interval(0.1, 0.7, 0.95, "")),
            leaning(id="near", ci=Interval(0.7, 1.6, 0.95, "")),
            leaning(id="beyond", ci=Interval(0.9, 1.6, 0.95, "")),
            leaning(id="free", ci=Interval(0.9, 1.6, 0.95, "")),
        ]
    )
    limits = {"probes": {name: {"limit": 0.8} for name in ("in", "near", "beyond")}}
    result = check(run, policy=limits)
    assert {probe.id: probe.outcome for probe in result.probes} == {
        "beyond": "failed",
        "near": "undecided",
        "in": "passed",
        "free": "not checked",
    }
    assert result.headline == (
        "Failed: 1 probe beyond a limit; 1 probe undecided, which may lie beyond a limit; 1 probe within a limit; "
        "1 probe not checked (limits alone, no baseline)."
    )
    inside = next(probe for probe in result.probes if probe.id == "in")
    assert inside.why == "within the limit: its 95% interval 0.100 to 0.700 lies within 0.8 of 0"
    assert inside.difference is None
    with pytest.raises(
        BadInput, match="without a baseline there is nothing to check: name one, or a policy with limits"
    ):
        check(run, policy={"tolerance": 0.1})
    with pytest.raises(BadInput, match="unknown probe in the policy 'inn': did you mean 'in'"):
        check(run, policy={"probes": {"inn": {"limit": 0.8}}})
