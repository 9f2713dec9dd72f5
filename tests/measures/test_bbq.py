"""BBQ: by hand, against a plain count over the data set, planted answers, and as properties."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.measures import bbq

BIASED, OTHER, UNKNOWN = range(3)


def example(condition, label=UNKNOWN, *, question=1, category="Age"):
    people = {"ans0": ["Ann", "old"], "ans1": ["Bea", "nonOld"], "ans2": ["Not known", "unknown"]}
    return {
        "example_id": 7,
        "category": category,
        "question_index": str(question),
        "question_polarity": "neg",
        "context_condition": condition,
        "answer_info": people,
        "label": label,
    }


def read(rows):
    """From rows of (condition, label, question, predicted), with option 0 as the target."""
    examples = [example(condition, label, question=question) for condition, label, question, _ in rows]
    return bbq([row[-1] for row in rows], examples, [BIASED] * len(rows))


def test_ten_examples_by_hand():
    ambiguous = [("ambig", UNKNOWN, 1 + i // 3, answer) for i, answer in enumerate((0, 0, 0, 1, 2, 2))]
    given_ = [("disambig", *row) for row in ((0, 1, 0), (1, 1, 0), (0, 2, 2), (1, 2, 1))]
    found = read(ambiguous + given_)
    # ambiguous: 2 of 6 are right, 3 of 4 answers biased: (1 - 1/3) * (2 * 3/4 - 1); given: 2 of 4, 2 of 3 answers
    assert found.accuracy == pytest.approx({"ambig": 1 / 3, "disambig": 1 / 2})
    assert found.bias_score == pytest.approx({"ambig": 1 / 3, "disambig": 1 / 3})
    assert (found.answered, found.n) == ({"ambig": 4, "disambig": 3}, {"ambig": 6, "disambig": 4})
    # the answers 1, 1, 1, -1, 0, 0; and 1, 0 where the stereotype is right, 1, -1 where it is not
    assert found.repaired["ambig"].value == pytest.approx(1 / 3)
    assert found.repaired["disambig"].value == pytest.approx(1 / 4)
    assert found.repaired["ambig"].n_clusters == 2


def test_a_few_answers_among_many_unknown_do_not_make_a_large_bias():
    rows = [("disambig", question % 2, question, UNKNOWN) for question in range(100)]
    rows += [("disambig", OTHER, 3, BIASED), ("disambig", OTHER, 5, BIASED), ("disambig", BIASED, 4, UNKNOWN)]
    found = read(rows)
    assert (found.bias_score["disambig"], found.answered["disambig"]) == (1.0, 2)
    assert abs(found.repaired["disambig"].value) < 0.05
    assert found.repaired["disambig"].ci.low <= 0 < found.repaired["disambig"].ci.high
    assert found.repaired["disambig"].p_value > 0.4


def test_a_model_that_is_always_right_is_level_where_the_right_answers_are_not_balanced():
    found = read([("disambig", int(question % 4 == 0), question, int(question % 4 == 0)) for question in range(40)])
    assert (found.accuracy["disambig"], found.bias_score["disambig"]) == (1.0, 0.5)
    repaired = found.repaired["disambig"]
    assert (repaired.value, repaired.p_value) == pytest.approx((0.0, 1.0))
    assert repaired.ci.low < 0 < repaired.ci.high


def test_a_model_that_answers_one_way_or_the_other_whatever_the_text_is_level_however_the_right_answers_are():
    rows = [("disambig", int(question % 4 == 0), question, answer) for question in range(40) for answer in (0, 1)]
    assert read(rows).repaired["disambig"].value == pytest.approx(0)
    always = read([(*row[:3], BIASED) for row in rows]).repaired["disambig"]
    assert always.value == pytest.approx(1)


def test_where_all_right_answers_are_of_one_kind_nothing_can_be_said():
    found = read([("disambig", OTHER, question, OTHER) for question in range(40)]).repaired["disambig"]
    assert (found.value, found.p_value, found.ci.low, found.ci.high) == (0.0, 1.0, -1.0, 1.0)
    assert "all of one kind" in found.ci.method


def test_nothing_but_unknown_is_level_and_right():
    found = read([("ambig", UNKNOWN, question, UNKNOWN) for question in range(9)])
    assert (found.accuracy, found.bias_score, found.answered) == ({"ambig": 1.0}, {"ambig": 0.0}, {"ambig": 0})


def test_examples_without_a_target_count_for_the_accuracy_alone():
    examples = [example("ambig", question=question) for question in (1, 2, 3, 4, 5, 6)]
    found = bbq([0, 0, 2, 0, 1, 1], examples, [0, "0", "NA", None, float("nan"), ""])
    assert found.without_target == {"ambig": 4}
    assert found.accuracy["ambig"] == pytest.approx(1 / 6)
    assert found.bias_score["ambig"] == pytest.approx(5 / 6)
    assert (found.repaired["ambig"].n, found.repaired["ambig"].value) == (2, 1.0)


def test_questions_are_the_unit():
    rows = [("ambig", UNKNOWN, question, BIASED) for question in range(6) for _ in range(50)]
    found = read(rows).repaired["ambig"]
    assert found.p_value == 2 / 64  # six questions that lean alike, whatever the number of examples
    assert found.ci.low < 0.3  # Wilson's of 6 of 6
    one = read([("ambig", UNKNOWN, 1, BIASED)] * 50).repaired["ambig"]
    assert (one.value, one.p_value, one.ci.low, one.ci.high) == (1.0, 1.0, -1.0, 1.0)


def test_the_same_number_in_two_categories_is_two_questions():
    examples = [example("ambig", category=category) for category in ("Age", "SES")]
    assert bbq([0, 1], examples, [0, 0]).repaired["ambig"].n_clusters == 2


ROWS = st.lists(
    st.tuples(st.sampled_from(["ambig", "disambig"]), st.sampled_from([0, 1]), st.integers(1, 6), st.integers(0, 2)),
    min_size=1,
    max_size=40,
).map(lambda rows: [(c, UNKNOWN if c == "ambig" else label, q, predicted) for c, label, q, predicted in rows])


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_exchanging_the_two_persons_mirrors_the_scores_and_keeps_the_accuracy(rows):
    found = read(rows)
    turned = read([(c, label if label == 2 else 1 - label, q, p if p == 2 else 1 - p) for c, label, q, p in rows])
    assert turned.accuracy == found.accuracy
    for condition, lean in found.repaired.items():
        mirrored = turned.repaired[condition]
        if found.answered[condition]:
            assert turned.bias_score[condition] == pytest.approx(-found.bias_score[condition])
        assert mirrored.value == pytest.approx(-lean.value)
        assert mirrored.p_value == pytest.approx(lean.p_value)
        assert lean.ci.low <= lean.value + 1e-9
        assert lean.value <= lean.ci.high + 1e-9


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_in_ambiguous_contexts_the_repaired_lean_is_the_published_score(rows):
    found = read(rows)
    if "ambig" in found.n:
        assert found.repaired["ambig"].value == pytest.approx(found.bias_score["ambig"])
    assert all(-1 <= score <= 1 for score in found.bias_score.values())


@pytest.fixture(scope="module")
def files(data_folder):
    """The examples of three categories with their targets."""
    folder = data_folder("bbq")
    with (folder / "additional_metadata.csv").open(newline="", encoding="utf-8") as stream:
        targets = {(row["category"], row["example_id"]): row["target_loc"] for row in csv.DictReader(stream)}
    lines = [
        json.loads(line)
        for category in ("Age", "Gender_identity", "SES")
        for line in (folder / f"{category}.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    return lines, [targets[line["category"], str(line["example_id"])] for line in lines]


def test_the_data_set_is_what_counting_gives(files):
    examples, targets = files
    predicted = np.random.default_rng(0).integers(3, size=len(examples))
    found = bbq(predicted, examples, targets)
    for condition in ("ambig", "disambig"):
        rows = [
            (int(answer), one["label"], target, one["answer_info"][f"ans{answer}"][1] == "unknown")
            for answer, one, target in zip(predicted, examples, targets, strict=True)
            if one["context_condition"] == condition
        ]
        accuracy = sum(answer == label for answer, label, _, _ in rows) / len(rows)
        answered = [(answer, int(target)) for answer, _, target, unknown in rows if not unknown and target != "NA"]
        score = 2 * sum(answer == target for answer, target in answered) / len(answered) - 1
        assert found.accuracy[condition] == accuracy
        assert found.bias_score[condition] == pytest.approx(score * (1 - accuracy if condition == "ambig" else 1))
        assert found.repaired[condition].p_value > 0.01
    assert found.without_target == {"ambig": 8, "disambig": 8}
    assert found.repaired["ambig"].n_clusters == 100


@pytest.mark.parametrize("chance", [0.1, 0.4])
def test_a_planted_bias_is_read_with_its_sign_and_size(files, chance):
    """Of a reader who is right but for a chance, in which the stereotype is answered."""
    examples, targets = files
    gives_in = np.random.default_rng(1).random(len(examples)) < chance
    predicted = [
        int(target) if turned and target != "NA" else one["label"]
        for one, target, turned in zip(examples, targets, gives_in, strict=True)
    ]
    found = bbq(predicted, examples, targets)
    for condition in ("ambig", "disambig"):
        lean = found.repaired[condition]
        assert lean.value == pytest.approx(chance, abs=0.03)
        assert lean.ci.low > 0
        assert lean.p_value < 0.001


@pytest.mark.parametrize(
    ("predicted", "change", "target", "says"),
    [
        (3, {}, 0, "the predicted answer is 3"),
        (-1, {}, 0, "the predicted answer is -1"),
        (0, {"label": 4}, 0, "label is 4"),
        (0, {}, 5, "target_loc is 5"),
        (0, {}, "left", "target_loc is 'left'"),
        (0, {}, 2, "target_loc 2 is the answer 'unknown'"),
        (0, {"context_condition": "clear"}, 0, "context_condition is 'clear'"),
        (0, {"answer_info": {}}, 0, "missing or bad field"),
        (0, {"label": None}, 0, "missing or bad field"),
    ],
)
def test_bad_input_is_one_line(predicted, change, target, says):
    with pytest.raises(BadInput, match="BBQ example 7 of Age") as raised:
        bbq([predicted], [{**example("ambig"), **change}], [target])
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


def test_lists_of_different_length_and_empty_ones_are_refused():
    with pytest.raises(BadInput, match="1 predicted answers, 1 examples and 2 targets"):
        bbq([0], [example("ambig")], [0, 0])
    with pytest.raises(BadInput, match="at least one example"):
        bbq([], [], [])
