"""What a check allows, read from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tiltmeter.compare import Policy, Rule, load_policy
from tiltmeter.errors import BadInput


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tolerence: 0.1", "policy.yaml: unknown key 'tolerence': did you mean 'tolerance'?"),
        ("probes: {x: {limits: 1}}", "policy.yaml: probes: x: unknown key 'limits': did you mean 'limit'?"),
        ("alpha: 2", "policy.yaml: alpha: input should be less than 0.5"),
        ("tolerance: -1", "policy.yaml: tolerance: input should be greater than or equal to 0"),
        ("tolerance: much", "policy.yaml: tolerance: input should be a valid number"),
        ("- 1", "policy.yaml: a policy should be a mapping of keys"),
        ("probes: {x: 1}", "policy.yaml: probes: x: should be a mapping of keys"),
        ("a: [", "policy.yaml: line 2: broken YAML"),
        ("alpha: 0.1\nalpha: 0.2", "policy.yaml: line 2: broken YAML: 'alpha' appears twice"),
    ],
)
def test_a_policy_is_read_strictly(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput) as error:
        load_policy(tmp_path / "policy.yaml")
    assert str(error.value).startswith(message)


def test_a_rule_of_its_own_goes_before_a_pattern_and_one_that_fits_nothing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text(
        "tolerance: 0.1\nprobes:\n  'gender-*': {tolerance: 0.3}\n  gender-math: {limit: 1}\n", encoding="utf-8"
    )
    policy = load_policy(tmp_path / "policy.yaml")
    assert policy.tolerance_of(policy.rule("gender-career")) == 0.3
    assert (policy.tolerance_of(policy.rule("gender-math")), policy.rule("gender-math").limit) == (0.1, 1)
    assert policy.tolerance_of(policy.rule("other")) == 0.1
    with pytest.raises(BadInput, match="unknown probe in the policy 'gender-math': did you mean 'gender-maths'"):
        policy.check_names(["gender-maths", "gender-career"])


def test_a_control_is_left_out_unless_the_policy_names_it() -> None:
    assert Policy().rule("flowers", control=True).ignore
    assert not Policy(probes={"flow*": Rule()}).rule("flowers", control=True).ignore
    assert not Policy().rule("control-flowers").ignore  # what it is called decides nothing
