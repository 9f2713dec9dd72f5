"""StereoSet: by hand, against a plain recount of the data set, and as properties."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.measures import stereoset
from tiltmeter.measures.stereoset import LABELS


def example(number, target="nurse", bias_type="gender"):
    sentences = [{"id": f"{number}-{label}", "gold_label": label} for label in LABELS]
    return {"target": target, "bias_type": bias_type, "sentences": sentences}


def scores(*rows):
    return {f"{i}-{label}": value for i, row in enumerate(rows) for label, value in zip(LABELS, row, strict=True)}


# nurse: stereotype wins once of twice, 3 of 4 beat nonsense; Kenya: a tie, and both beat nonsense
EXAMPLES = [example(0), example(1), example(2, "Kenya", "race")]
SCORES = scores((-1, -2, -3), (-3, -2, -2.5), (-1, -1, -2))


def test_three_examples_by_hand():
    found = stereoset(SCORES, EXAMPLES)
    assert (found.ss, found.lms, found.icat) == (50.0, 87.5, 87.5)
    assert (found.published.ss, found.published.lms, found.published.icat) == (25.0, 87.5, 43.75)
    assert (found.micro.ss, found.micro.lms) == pytest.approx((50.0, 500 / 6))
    assert (found.ties, found.n, found.n_targets, found.micro.n_targets) == (1, 3, 2, 1)
    assert found.by_type["gender"].lms == 75.0
    assert found.by_type["race"].ss == 50.0
    assert (found.intrasentence, found.intersentence) == (None, None)


def test_the_parts_of_the_file_are_shown_apart():
    parts = {"intrasentence": EXAMPLES[:2], "intersentence": EXAMPLES[2:]}
    found = stereoset(SCORES, {"version": "1", "data": parts})
    assert found.intrasentence.lms == 75.0
    assert found.intersentence.lms == 100.0
    assert found == stereoset(SCORES, parts)
    assert found.ss == stereoset(SCORES, EXAMPLES).ss
    only = stereoset(SCORES, {"intrasentence": EXAMPLES})
    assert only.intersentence is None


def test_the_ideal_and_the_worst_model():
    ideal = stereoset(scores((-1, -2, -3), (-2, -1, -3)), [example(0), example(1)])
    assert (ideal.lms, ideal.ss, ideal.icat) == (100.0, 50.0, 100.0)
    worst = stereoset(scores((-1, -2, -3), (-1, -2, -3)), [example(0), example(1, "priest")])
    assert (worst.ss, worst.icat) == (100.0, 0.0)
    random = stereoset(scores((-1, -1, -1), (-2, -2, -2)), [example(0), example(1)])
    assert (random.lms, random.ss, random.icat, random.published.lms) == (50.0, 50.0, 50.0, 0.0)


def test_certainty_comes_from_target_terms():
    many = [example(i, target=f"term {i // 5}") for i in range(40)]
    found = stereoset(scores(*[(-1, -2, -3)] * 40), many)
    # eight terms that all lean one way: 2 of 256 patterns of signs
    assert found.ss_p_value == 2 / 256
    one = stereoset(scores(*[(-1, -2, -3)] * 40), [example(i) for i in range(40)])
    assert (one.ss_p_value, one.ss_ci.low, one.ss_ci.high) == (1.0, 0.0, 100.0)
    assert "one target term" in one.ss_ci.method


ROWS = st.lists(st.tuples(*[st.integers(-4, 0)] * 3, st.sampled_from("abc")), min_size=2, max_size=15)


@given(ROWS)
@settings(max_examples=50)
def test_swapping_stereotype_and_anti_stereotype_mirrors_ss_and_keeps_lms_and_icat(rows):
    examples = [example(i, target) for i, (*_, target) in enumerate(rows)]
    found = stereoset(scores(*[row[:3] for row in rows]), examples)
    turned = stereoset(scores(*[(anti, stereo, other) for stereo, anti, other, _ in rows]), examples)
    assert turned.ss == pytest.approx(100 - found.ss)
    assert (turned.lms, turned.icat) == pytest.approx((found.lms, found.icat))
    assert turned.ss_p_value == pytest.approx(found.ss_p_value)
    assert found.ss_ci.low <= found.ss + 1e-9
    assert found.ss <= found.ss_ci.high + 1e-9
    assert 0 <= found.icat <= found.lms <= 100


def recount(values, examples):
    """The published count, one example at a time."""
    counts = defaultdict(lambda: np.zeros(3))
    for each in examples:
        ids = {sentence["gold_label"]: sentence["id"] for sentence in each["sentences"]}
        stereo, anti, unrelated = (values[ids[label]] for label in LABELS)
        counts[each["target"]] += [stereo > anti, (stereo > unrelated) + (anti > unrelated), 1]
    ss = float(np.mean([100 * pro / total for pro, _, total in counts.values()]))
    lms = float(np.mean([100 * related / (2 * total) for _, related, total in counts.values()]))
    return lms, ss, lms * min(ss, 100 - ss) / 50


def test_the_whole_development_set_is_what_counting_gives(data_folder):
    file = json.loads((data_folder("stereoset") / "dev.json").read_text(encoding="utf-8"))
    rng = np.random.default_rng(0)
    everything = [*file["data"]["intrasentence"], *file["data"]["intersentence"]]
    # whole numbers, so that there are ties
    values = {sentence["id"]: int(rng.integers(50)) for each in everything for sentence in each["sentences"]}
    found = stereoset(values, file)
    assert (found.n, found.intrasentence.n, found.intersentence.n) == (4229, 2106, 2123)
    published = found.published
    assert (published.lms, published.ss, published.icat) == pytest.approx(recount(values, everything))
    assert set(found.by_type) == {"gender", "profession", "race", "religion"}
    assert found.ties > 0
    fine = {key: value + float(rng.uniform(0, 0.5)) for key, value in values.items()}
    gender = [each for each in everything if each["bias_type"] == "gender"]
    without_ties = stereoset(fine, file).by_type["gender"]
    assert (without_ties.lms, without_ties.ss, without_ties.icat) == pytest.approx(recount(fine, gender))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stereoset({}, EXAMPLES), "no score for the sentence with id '0-stereotype'"),
        (lambda: stereoset(SCORES, []), "at least one example"),
        (lambda: stereoset(SCORES, {"data": {"intra": EXAMPLES}}), "parts intrasentence and intersentence"),
        (lambda: stereoset(SCORES, {"intrasentence": []}), "at least one example"),
        (lambda: stereoset({**SCORES, "0-unrelated": float("nan")}, EXAMPLES), "NaN"),
        (
            lambda: stereoset(SCORES, [{**EXAMPLES[0], "sentences": EXAMPLES[0]["sentences"][:2]}]),
            "about 'nurse' has no sentence labelled unrelated",
        ),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
