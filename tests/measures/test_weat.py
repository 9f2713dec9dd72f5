"""WEAT: by hand, as published, against its definition, and on planted bias."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st

from tests.measures.vectors import AWAY, BAD_VECTORS, FACTORS, TOWARDS, cos, leaning, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import weat

# Caliskan, Bryson & Narayanan (2017), table 1, GloVe; WEAT8 is Science against Arts.
PUBLISHED = {
    "WEAT1": 1.50,
    "WEAT2": 1.53,
    "WEAT3": 1.41,
    "WEAT4": 1.50,
    "WEAT5": 1.28,
    "WEAT6": 1.81,
    "WEAT7": 1.06,
    "WEAT8": 1.24,
    "WEAT9": 1.38,
    "WEAT10": 1.21,
}
SETS = st.tuples(matrices(st.integers(2, 4)), matrices(st.integers(2, 4)), matrices(2), matrices(3))
E1, E2 = [[1.0, 0.0]], [[0.0, 1.0]]


def measured(*sets, **options):
    """WEAT where it is defined; hypothesis also finds sets where it is not."""
    try:
        return weat(*sets, **options)
    except BadInput:
        reject()


def test_four_words_by_hand():
    # s = x - y of each unit vector: X 1, -.2; Y -1, .2. Means .4 and -.4; S = .8 + .8
    # squares 1 + .04 + 1 + .04 = 2.08 about 0; SD sqrt(2.08 / 3) = .832666; d = .8 / .832666
    x, y = [[1.0, 0.0], [3.0, 4.0]], [[0.0, 2.0], [0.8, 0.6]]
    found = weat(x, y, E1, E2)
    assert found.scores_x == pytest.approx((1.0, -0.2))
    assert found.scores_y == pytest.approx((-1.0, 0.2))
    assert found.score == pytest.approx(1.6)
    assert found.effect_size == pytest.approx(0.9607689, abs=1e-7)
    # SD sqrt(2.08 / 4) = .721110
    assert weat(x, y, E1, E2, ddof=0).effect_size == pytest.approx(1.1094004, abs=1e-7)
    # of the six splits two have a difference as large, in their standard errors too, and two as small
    assert found.published_p_value == pytest.approx(2 / 6)
    assert found.p_value == pytest.approx(4 / 6)
    assert weat(x, y, E1, E2, alternative="greater").p_value == pytest.approx(2 / 6)
    assert weat(x, y, E1, E2, alternative="less").p_value == pytest.approx(5 / 6)
    assert (found.exact, found.n, found.ddof, found.alternative) == (True, 4, 1, "two-sided")


@pytest.fixture(scope="module")
def caliskan(data_folder, read_word2vec):
    folder = data_folder("caliskan_glove")
    tests = json.loads((folder / "tests.json").read_text())
    vectors = read_word2vec(folder / "glove.840B.300d.weat-words.vec")

    def sets(study):
        targets, attributes = tests[study]["target"], tests[study]["attribute"]
        named = [*targets.values(), *attributes.values()]
        if study == "WEAT8":
            named = [targets["Science"], targets["Arts"], *attributes.values()]
        return [[vectors[word] for word in words] for words in named]

    return sets


@pytest.mark.parametrize(("study", "published"), PUBLISHED.items())
def test_the_published_effect_size_to_two_decimals(study, published, caliskan):
    assert round(weat(*caliskan(study)).effect_size, 2) == published


def test_the_p_value_of_weat6_is_one_split_in_all(caliskan):
    found = weat(*caliskan("WEAT6"))
    assert found.published_p_value == pytest.approx(1 / math.comb(16, 8), rel=1e-12)
    # over other names and over other words for career and family it holds too
    assert found.exact
    assert max(found.crossed.by_targets.p_value, found.crossed.by_attributes.p_value) == found.p_value < 0.001


@pytest.mark.parametrize("study", ["WEAT1", "WEAT2"])
def test_flowers_and_instruments_stay_significant_over_both_sides(study, caliskan):
    assert weat(*caliskan(study)).p_value < 0.005


@given(SETS)
def test_d_and_s_are_their_definitions(sets):
    x, y, a, b = sets
    found = measured(x, y, a, b)

    def s(w):
        return np.mean([cos(w, v) for v in a]) - np.mean([cos(w, v) for v in b])

    s_x, s_y = [s(w) for w in x], [s(w) for w in y]
    assume(np.std(s_x + s_y) > 1e-6)
    assert found.score == pytest.approx(sum(s_x) - sum(s_y), abs=1e-10)
    expected = (np.mean(s_x) - np.mean(s_y)) / np.std(s_x + s_y, ddof=1)
    assert found.effect_size == pytest.approx(expected, abs=1e-6)


@given(SETS)
@settings(max_examples=50)
def test_swapping_targets_or_attributes_turns_the_sign(sets):
    x, y, a, b = sets
    found = measured(x, y, a, b)
    for swapped in (measured(y, x, a, b), measured(x, y, b, a)):
        assert swapped.effect_size == pytest.approx(-found.effect_size, abs=1e-9)
        assert swapped.score == pytest.approx(-found.score, abs=1e-9)
        assert swapped.p_value == pytest.approx(found.p_value)


@given(SETS, FACTORS, st.randoms(use_true_random=False))
@settings(max_examples=50)
def test_lengths_and_the_order_of_words_change_nothing(sets, factor, random):
    found = measured(*sets)
    assume(np.std(found.scores_x + found.scores_y) > 1e-6)
    mixed = []
    for vectors in sets:
        order = random.sample(range(len(vectors)), len(vectors))
        lengths = [random.choice([1.0, factor]) for _ in vectors]
        mixed.append((vectors * np.array(lengths)[:, None])[order])
    other = weat(*mixed)
    assert other.effect_size == pytest.approx(found.effect_size, abs=1e-6)
    assert other.p_value == pytest.approx(found.p_value)


@given(SETS)
@settings(max_examples=50)
def test_numbers_are_finite_and_within_their_bounds(sets):
    x, y, *_ = sets
    found = measured(*sets)
    n = len(x) + len(y)
    # r = d sqrt(n / (n - 1)) sqrt(n1 n2) / n is a correlation; for one size this is |d| <= 2 sqrt((n - 1) / n)
    bound = n / math.sqrt(len(x) * len(y)) * math.sqrt((n - 1) / n)
    assert abs(found.effect_size) <= bound + 1e-9
    assert 0 < found.p_value <= 1
    assert math.isfinite(found.ci.low)
    assert found.effect_size in found.ci
    assert all(math.isfinite(score) for score in (*found.scores_x, *found.scores_y, found.score))


def test_a_planted_bias_has_the_right_sign_and_strength():
    noise = np.random.default_rng(0).normal(size=(2, 20))
    noise = 0.1 * (noise - noise.mean(1, keepdims=True)) / noise.std(1, keepdims=True)
    gaps = (-0.3, -0.05, 0.0, 0.05, 0.3)
    found = [weat(leaning(noise[0] + gap / 2), leaning(noise[1] - gap / 2), TOWARDS, AWAY, ddof=0) for gap in gaps]
    # the SD of all scores is sqrt(.1^2 + gap^2 / 4)
    expected = [gap / math.sqrt(0.01 + gap**2 / 4) for gap in gaps]
    assert [each.effect_size for each in found] == pytest.approx(expected, abs=1e-12)
    assert found[0].p_value < 0.001 > found[4].p_value
    assert found[2].p_value > 0.5
    assert found[4].ci.low > 0 > found[0].ci.high
    assert 0.0 in found[2].ci


def test_scores_are_the_planted_leans():
    found = weat(leaning([0.3, -0.1]), leaning([0.0, 0.2]), TOWARDS, AWAY)
    assert found.scores_x + found.scores_y == pytest.approx((0.3, -0.1, 0.0, 0.2))


def test_the_seed_decides_where_chance_is_used():
    sets = [random_rows(n, seed=n) for n in (15, 16, 5, 6)]
    first, again, other = (weat(*sets, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert not first.exact
    assert first.standard_error > 0
    assert first.p_value != other.p_value
    assert first.ci != other.ci


def test_p_is_never_zero():
    found = weat(leaning(np.linspace(0.5, 0.9, 14)), leaning(np.linspace(-0.9, -0.5, 14)), TOWARDS, AWAY)
    assert found.p_value == 1 / 10_001


def test_the_result_is_plain_json():
    found = weat(*[random_rows(3, seed=n) for n in range(4)]).to_dict()
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("position", range(4))
@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(position, vectors, message):
    sets = [random_rows(3, 3, seed=n) for n in range(4)]
    sets[position] = vectors
    with pytest.raises(BadInput, match="wide" if "wide" in message else f"{'XYAB'[position]}: .*{message}"):
        weat(*sets)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: weat(E1, E2 * 2, E1, E2), "X: needs a matrix of at least 2"),
        (lambda: weat(E1 * 2, E2, E1, E2), "Y: needs a matrix of at least 2"),
        (lambda: weat(E1 * 2, E1 * 2, E1, E2), "all scores are the same"),
        (lambda: weat(E1 * 2, E2 * 2, E1, E1), "the same average"),
        (lambda: weat(E1 * 2, E2 * 2, E1, E2, alternative="two_sided"), "did you mean 'two-sided'"),
        (lambda: weat(E1 * 2, E2 * 2, E1, E2, ddof=2), "ddof must be 0 or 1, not 2"),
        (lambda: weat(E1 * 2, E2 * 2, E1, E2, permutations=0), "permutations must be at least 1"),
        (lambda: weat(E1 * 2, E2 * 2, E1, E2, seed=-1), "a seed must be"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_the_detectable_effect_is_found_in_four_of_five():
    # leans between the attributes 1 and -1 of a plane are twice the cosines
    rng, runs, n = np.random.default_rng(21), 300, 8

    def drawn(shift, seed):
        scores = 0.05 * np.concatenate([rng.normal(shift, size=n), rng.normal(size=n)])
        words = np.stack([scores, np.sqrt(1 - scores**2)], axis=1)
        return weat(words[:n], words[n:], [[1.0, 0.0]], [[-1.0, 0.0]], permutations=299, seed=seed)

    d = np.mean([drawn(0.0, seed).power.effect for seed in range(60)])
    found = [drawn(d / math.sqrt(1 - d**2 / 4), seed).p_value <= 0.05 for seed in range(runs)]
    assert np.mean(found) == pytest.approx(0.8, abs=2.5 * math.sqrt(0.8 * 0.2 / runs))


def test_two_words_a_group_can_show_nothing():
    found = weat([[1.0, 0.1], [0.9, 0.0]], [[0.1, 1.0], [0.0, 0.8]], E1, E2)
    assert (found.power.effect, found.power.least_p) == (None, pytest.approx(1 / 3))
