"""The gate: what fails a check, and what does not."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

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
from tiltmeter.statistics import Interval
from tiltmeter.views.terminal.comparison import check_table


def test_a_real_growth_fails_and_says_by_how_much() -> None:
    found = check(audit([leaning(*GROWN)]), audit([leaning()]))
    (probe,) = found.failed
    assert probe.grew
    assert probe.grown_by is not None
    assert probe.grown_by > 0
    assert probe.why.startswith(
        "bias really grew beyond the tolerance of 0.02, more than its items' noise and than harmless changes move it: "
        f"effect size d {leaning().effect.value:.2f} → "
    )
    assert found.headline.startswith("Failed: bias really grew in 1 probe")


def test_what_has_not_moved_is_as_far_from_level_as_it_was() -> None:
    (probe,) = check(audit([leaning()]), audit([leaning()])).probes
    value = f"{leaning().effect.value:.2f}"
    assert probe.why.startswith(f"no growth: effect size d {value} → {value}, as far from level, p = ")


def test_noise_and_an_improvement_pass() -> None:
    better = jitter(0.04, 1, shift=-0.4)
    for leans in (jitter(0.04, 2), better):
        found = check(audit([leaning(*leans)]), audit([leaning()]))
        assert not found.failed
        assert found.headline.startswith("Passed")


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
    assert "past the limit: its 95% interval 0.900 to 1.600 lies more than 0.8 from 0" in probe.why
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
        "flowers": "a control: that it leans is no harm",
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
        ([leaning(id="a"), leaning(id="b", stimuli="other")], "b of model was measured otherwise .* stimuli"),
        ([leaning(id="a"), leaning(id="b", seed=7)], r"other settings \(seed: 0 and 7\)"),
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
    assert found.probes[-1].outcome == "ignored"
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
    assert "Failed: bias really grew in 1 probe (2 tested against" in text


def test_a_check_of_folders_is_that_of_their_readings(tmp_path: Path) -> None:
    old = write_results(tmp_path / "old", [leaning(), pronouns(np.linspace(-1, 2, 30))])
    new = write_results(tmp_path / "new", [leaning(*GROWN), pronouns(np.linspace(-1, 2, 30))])
    assert [probe.id for probe in check(Audit.load(new), Audit.load(old)).failed] == ["gender-career"]
