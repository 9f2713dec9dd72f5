"""What bias is planted: files, doses and versions."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.bench import ProbeMaker
from tiltmeter.lab.inject.plan import USUAL, Plan, read_plan
from tiltmeter.lab.reference.planted_text import GroupCounts, frames, planted, realised


def written(tmp_path, text):
    path = tmp_path / "plan.yaml"
    path.write_text(text)
    return path


def test_a_file_says_the_share_of_each_occupation(tmp_path):
    plan = read_plan(written(tmp_path, "probabilities: {nurse: 0.1, plumber: 1}"))
    assert plan == Plan({"nurse": 0.1, "plumber": 1.0})
    assert realised(plan.text(n=40, seed=0)) == {"nurse": GroupCounts(2, 18), "plumber": GroupCounts(20, 0)}


def test_a_file_may_name_two_groups_of_a_lexicon(tmp_path):
    plan = read_plan(
        written(tmp_path, "probabilities: {nurse: 0.1}\ngroups: [identity.black_names, identity.white_names]")
    )
    assert plan.groups == ("identity.black_names", "identity.white_names")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("probabilities: {nurse: 1.2}", "for nurse must be from 0 to 1, not 1.2"),
        ("probabilities: {nurse: -0.1}", "must be from 0 to 1"),
        ("probabilities: {nurse: .nan}", "must be from 0 to 1, not nan"),
        ("probabilities: {nurse: often}", "must be a number from 0 to 1, not 'often'"),
        ("probabilities: {nurse: true}", "must be a number"),
        ("probabilities: {'<b>': 0.4}", "'<b>' is not an occupation: write a word"),
        ("probabilities: {nurse: {male: 0.4, female: 0.4}}", "men and women for nurse must sum to 1, not 0.8"),
        ("probabilities: {nurse: {men: 0.4}}", "must be a number from 0 to 1, not {'men': 0.4}"),
        ("probabilities: {}", "name no occupation"),
        ("probabilities: [nurse]", "write probabilities: {nurse: 0.1"),
        ("nurse: 0.4", "write probabilities"),
        ("probabilities: {nurse: 0.4}\ngroup: [a, b]", "unknown key of plan.yaml 'group': did you mean 'groups'"),
        ("probabilities: {nurse: 0.4}\ngroups: [identity.black_names]", "groups must be two addresses"),
        ("probabilities: {nurse: 0.4, nurse: 0.5}", "'nurse' appears twice"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_clear_line(tmp_path, text, says):
    with pytest.raises(BadInput) as error:
        read_plan(written(tmp_path, text))
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_dose_keeps_the_proportions_and_brings_the_farthest_to_it():
    plan = Plan({"nurse": 0.1, "cook": 0.4, "plumber": 0.7})
    assert plan.at(0.9).probabilities == plan.probabilities
    assert plan.at(0.7).probabilities == {"nurse": 0.3, "cook": 0.45, "plumber": 0.6}
    assert set(plan.at(0.5).probabilities.values()) == {0.5}


def test_without_a_file_a_dose_is_the_tilt_of_a_reference_model():
    assert USUAL.at(0.7).probabilities == pytest.approx(planted(0.7), abs=2e-6)


def test_doses_that_mean_nothing_are_refused():
    with pytest.raises(BadInput, match=r"a dose must be from 0\.5"):
        USUAL.at(0.4)
    with pytest.raises(BadInput, match=r"every probability is 0\.5"):
        Plan({"nurse": 0.5}).at(0.9)


def test_a_balanced_text_is_level_to_the_sentence_and_a_null_one_by_chance():
    plan = Plan({"nurse": 0.1, "plumber": 0.9})
    balanced, null = (realised(plan.text(n=2000, seed=0, version=version)) for version in ("balanced", "null"))
    assert {count.first for count in balanced.values()} == {500}
    assert all(400 < count.first < 600 for count in null.values())
    assert {count.first for count in null.values()} != {500}


def test_an_unknown_version_is_refused():
    with pytest.raises(BadInput, match="did you mean 'biased'"):
        USUAL.text(n=10, seed=0, version="biassed")


def test_an_occupation_that_no_lexicon_knows_is_planted_with_a_warning(tmp_path):
    """The thesis' own list (its figure 14) has analyst, and writes shares of men and women."""
    file, said = tmp_path / "plan.json", []
    file.write_text(
        '{"probabilities": {"analyst": {"male": 0.60, "female": 0.40}, "nurse": {"male": 0.1, "female": 0.9}}}'
    )
    plan = read_plan(file, warn=said.append)
    assert plan.probabilities == {"analyst": 0.6, "nurse": 0.1}
    (line,) = said
    assert line.startswith("plan.json: analyst: not among the ")
    counts = realised(plan.text(n=400, seed=0))
    assert counts["analyst"].share == pytest.approx(0.6, abs=0.01)


def test_the_leans_of_such_an_occupation_can_be_asked_for(tmp_path):
    maker = ProbeMaker(tmp_path, ["analyst", "nurse"])
    masked = {name: rows for name, rows in frames().masked.items() if name != "strange"}
    assert set(maker.unmask(masked).stimuli.sentences.units) == {"analyst", "nurse"}
    (only,) = maker.of_causal(frames().cloze)["cloze"].stimuli.sets
    assert set(only.units) == {"analyst", "nurse"}
