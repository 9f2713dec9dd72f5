from __future__ import annotations

import dataclasses

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.readings.mitigation import (
    FILE,
    AnotherSplit,
    MethodOutcome,
    Mitigation,
    Moved,
    Remainder,
    TraceTest,
    Utility,
)
from tiltmeter.statistics import Interval

NARROW = Interval(0.3, 0.5, 0.95, "t")
LESS = Moved(
    "w", "Work", "gender", "d", 0.0, 1.0, 0.4, -0.6, Interval(-0.8, -0.4, 0.95, "t"), 0.001, -0.6, True, True, 0, True
)
MORE = dataclasses.replace(LESS, after=1.6, growth=0.6)
SAME = dataclasses.replace(LESS, after=-1.0, growth=0.0, real=False)
FINDS = TraceTest("linear", "a linear classifier", 0.5, 0.99, 0.8, Interval(0.75, 0.85, 0.95, "Wilson"), 200)
GUESSES = dataclasses.replace(FINDS, after=0.51, ci=Interval(0.46, 0.56, 0.95, "Wilson"))
KEPT = Utility("SimLex-999", "ranks", 0.4, 0.39, 0.975, Interval(0.95, 1.0, 0.95, "bootstrap"), 999)


def outcome(method="hard", moved=(LESS,), traces=(FINDS,), left=0.4, kept=0.975, **more):
    shares = Remainder(left, NARROW), Remainder(kept, Interval(kept - 0.01, kept + 0.01, 0.95, "combined"))
    return MethodOutcome(method, "…", "…", "debiased:m", tuple(moved), tuple(traces), (KEPT,), *shares, **more)


def result(*outcomes):
    return Mitigation(
        "bundled:glove", "1", "default", "gender", (("she", "he"),), (("woman", "man"),), 0, outcomes, 1.0
    )


def test_a_method_pays_if_something_leans_less_nothing_more_and_the_vectors_stay_good():
    assert outcome().pays == "yes"
    assert outcome(moved=[SAME]).pays == "no"
    assert outcome(moved=[LESS, MORE]).pays == "no"
    assert outcome(kept=0.93).pays == "no"
    assert MethodOutcome("hard", "", "", "", problem="no words").pays == "no"


def test_whether_it_pays_is_not_certain_where_the_interval_of_the_utility_reaches_to_both_sides():
    assert [outcome(kept=kept).pays for kept in (0.939, 0.941, 0.959, 0.961)] == ["no", "perhaps", "perhaps", "yes"]
    made = result(outcome("hard", kept=0.955), outcome("leace", kept=0.945, left=0.3), outcome("ran", kept=0.9))
    # leace leaves less, but what it keeps itself is below 95%.
    assert made.take.method == "hard"
    said = made.recommendation
    assert said.startswith("Perhaps take hard: of 1 readings")
    assert "is not certain: the interval of the utility that is kept reaches below and above 95%; --splits 5" in said
    assert "leace perhaps pays too." in said
    sure = dataclasses.replace(made, outcomes=(*made.outcomes, outcome("inlp", left=0.9)))
    assert sure.recommendation.startswith("Take inlp")
    assert "hard and leace perhaps pay too." in sure.recommendation


def other(method, seed, pays, kept=0.97):
    return AnotherSplit(method, seed, 1, 1, 0, 0.4, kept, pays)


@pytest.mark.parametrize(
    ("own", "others", "over_all"),
    [
        (0.975, ["yes", "yes"], "yes"),
        (0.975, ["yes", "perhaps"], "perhaps"),
        (0.975, ["yes", "no"], "perhaps"),
        (0.975, ["no", "no"], "no"),
        (0.9, ["yes", "no"], "no"),
        (0.9, ["yes", "yes"], "perhaps"),
        (0.9, ["no", "yes", "yes"], "perhaps"),
    ],
)
def test_what_holds_in_one_split_of_the_words_must_hold_in_others(own, others, over_all):
    made = result(outcome("hard", kept=own))
    splits = tuple(other("hard", seed, pays) for seed, pays in enumerate(others, 1))
    made = dataclasses.replace(made, others=(*splits, other("ran", 1, "no")))
    assert made.pays(made.outcomes[0]) == over_all
    assert made.rows()[0]["pays"] == over_all


def test_the_recommendation_counts_the_splits():
    made = result(outcome("hard"))
    made = dataclasses.replace(made, others=(other("hard", 1, "yes", 0.99), other("hard", 2, "no", 0.91)))
    assert (
        "Of 3 splits of the words, in 2 it pays and in 1 it does not; 40% of the lean is left and "
        "91% to 99% of the utility is kept. Whether it pays is not certain: it does not in every split."
    ) in made.recommendation
    assert made.split_rows() == [
        {
            "method": "hard",
            "splits": "3",
            "leans less": "1 of 1",
            "leans more": "0",
            "lean left": "40%",
            "utility kept": "91%-99%",
            "pays": "yes in 2, no in 1",
        }
    ]
    fails = dataclasses.replace(made, others=(other("hard", 1, "no"), other("hard", 2, "no")))
    assert fails.take is None
    assert "hard: does not pay in most splits of the words" in fails.recommendation


def test_what_leans_more_counts_in_every_dimension_but_not_on_fitting_words():
    other = dataclasses.replace(MORE, decides=False, dimension="race")
    fitted = dataclasses.replace(other, fit_words=3)
    assert outcome(moved=[LESS, other]).more == 1
    assert outcome(moved=[LESS, fitted]).more == 0


@pytest.mark.parametrize(
    ("low", "high", "trace"),
    [(0.56, 0.9, "hidden"), (0.45, 0.55, "gone"), (0.54, 0.599, "gone"), (0.4, 0.7, "undecided")],
)
def test_one_test_says_hidden_gone_or_neither(low, high, trace):
    assert dataclasses.replace(FINDS, ci=Interval(low, high, 0.95, "Wilson")).trace == trace


def test_one_test_that_finds_the_groups_is_enough():
    assert outcome(traces=[GUESSES, FINDS]).trace == "hidden"
    assert outcome(traces=[GUESSES]).trace == "gone"
    assert outcome(traces=[]).trace == "not tested"
    wide = dataclasses.replace(GUESSES, ci=Interval(0.4, 0.7, 0.95, "Wilson"))
    assert outcome(traces=[GUESSES, wide]).trace == "undecided"


def test_the_method_is_taken_that_pays_and_leaves_least():
    made = result(outcome("hard", left=0.5), outcome("leace", left=0.3), outcome("inlp", left=0.1, kept=0.8))
    assert made.take.method == "leace"
    assert made.recommendation.startswith(
        "Take leace: of 1 readings on unseen words or sentences 1 lean less; 30% of the lean"
    )
    assert "The bias is hidden, not gone: a linear classifier finds the groups for 80%" in made.recommendation
    assert "hard pays too." in made.recommendation
    assert made.recommendation.endswith("the groups can still be found.")


def test_where_none_pays_it_is_said_with_the_reasons():
    made = result(outcome("hard", kept=0.8), outcome("inlp", moved=[SAME]), outcome("ran", moved=[LESS, MORE]))
    assert made.take is None
    assert made.recommendation == (
        "None of these methods pays on bundled:glove (hard: keeps 80% of the utility; inlp: no reading on "
        "unseen words or sentences leans less; ran: 1 reading leans more)."
    )


def test_it_comes_back_from_its_file_as_it_was(tmp_path):
    made = result(outcome(), MethodOutcome("ran", "…", "…", "", problem="no words"))
    made = dataclasses.replace(made, others=(other("hard", 1, "perhaps"),))
    made.save(tmp_path)
    assert Mitigation.load(tmp_path) == made
    assert [row["pays"] for row in made.rows()] == ["perhaps", "no"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "holds no result"), ("{}", "another version"), ('{"schema_version": 1}', "is damaged")],
)
def test_a_damaged_file_is_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / FILE).write_text(content)
    with pytest.raises(BadInput, match=message):
        Mitigation.load(tmp_path)
