"""CEAT: by hand, against a loop over its own draws, on planted arrays with and without bias."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from tests.measures.vectors import AWAY, TOWARDS, cos, leaning, matrices
from tiltmeter.errors import BadInput
from tiltmeter.measures import ceat, draw_contexts, weat

E1, E2 = [[[1.0, 0.0]]], [[[0.0, 1.0]]]


SETS = st.tuples(*(st.lists(matrices(st.integers(1, 3)), min_size=2, max_size=4) for _ in range(4)))


def planted(words, contexts, lean, rng, *, spread=0.1, noise=0.2):
    """Words that lean by an amount of their own around ``lean``, and contexts that lean around their word."""
    own = lean + spread * rng.normal(size=words)
    return [leaning(np.clip(each + noise * rng.normal(size=contexts), -1.9, 1.9)) for each in own]


def poles():
    return [TOWARDS], [AWAY]


def measured(*sets, **options):
    try:
        return ceat(*sets, **options)
    except BadInput:  # hypothesis also finds sets that all score the same
        reject()


def by_loop(x, y, a, b, picks):
    """The published definition word by word, draw by draw: combined effect, tau2, standard error, p."""
    effects, variances = [], []
    for pick in picks:
        chosen = iter(pick)
        drawn = [[word[next(chosen)] for word in each] for each in (x, y, a, b)]
        s_x, s_y = (
            [np.mean([cos(w, v) for v in drawn[2]]) - np.mean([cos(w, v) for v in drawn[3]]) for w in each]
            for each in drawn[:2]
        )
        sd = np.std(s_x + s_y, ddof=1)
        effects.append((np.mean(s_x) - np.mean(s_y)) / sd)
        variances.append(sd**2)
    es, w = np.array(effects), 1 / np.array(variances)
    q = (w * es**2).sum() - (w * es).sum() ** 2 / w.sum()
    c = w.sum() - (w**2).sum() / w.sum()
    tau2 = max(0.0, (q - (len(es) - 1)) / c) if len(es) > 1 else 0.0
    v = 1 / (1 / w + tau2)
    combined, error = (v * es).sum() / v.sum(), math.sqrt(1 / v.sum())
    return combined, tau2, error, 2 * norm.sf(abs(combined / error))


def random_sets(rng, counts=((3, 1, 5, 2), (4, 2, 6), (2, 3), (5, 1, 2)), dim=6, shift=0.0):
    return [[rng.normal(size=(count, dim)) + shift for count in group] for group in counts]


def test_one_context_a_word_is_weat():
    # The four words of the WEAT test by hand: s = 1, -.2 and -1, .2; SD sqrt(2.08 / 3); d = .8 / .832666 in every draw.
    x, y = [[[1.0, 0.0]], [[3.0, 4.0]]], [[[0.0, 2.0]], [[0.8, 0.6]]]
    found = ceat(x, y, E1, E2, draws=7)
    assert found.effect_size == pytest.approx(0.9607689, abs=1e-6)
    assert found.tau2 == 0.0
    # V = 2.08 / 3 in all draws, so SE = sqrt(V / 7) and z = .9607689 / .3147183
    assert found.standard_error == pytest.approx(math.sqrt(2.08 / 3 / 7), abs=1e-6)
    assert found.p_value == pytest.approx(2 * norm.sf(3.0528), abs=1e-5)
    assert found.repaired.effect_size == pytest.approx(0.9607689, abs=1e-6)
    # Of the six splits of two words a side two have a difference as large, in standard errors, and two as small.
    assert found.repaired.p_value == pytest.approx(4 / 6)
    assert found.repaired.scores_x == pytest.approx((1.0, -0.2))
    assert found.repaired.score == pytest.approx(0.8)
    assert (found.repaired.exact, found.n, found.n_contexts, found.draws) == (True, 4, 4, 7)


def test_a_word_counts_with_the_mean_over_its_contexts():
    x = [[[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [[3.0, 4.0]]]  # s = 1, -1, 1: mean 1/3
    found = ceat(x, [[[0.0, 2.0]], [[0.8, 0.6]]], E1, E2, draws=50)
    assert found.repaired.scores_x == pytest.approx((1 / 3, -0.2))


@pytest.mark.parametrize("sampling", ["random", "fixed"])
@pytest.mark.parametrize("shift", [0.0, 30.0])  # far from the origin all vectors point nearly the same way
def test_as_published_it_equals_a_direct_loop_over_the_same_draws(sampling, shift):
    sets = random_sets(np.random.default_rng(1), shift=shift)
    picks = draw_contexts([len(word) for group in sets for word in group], draws=300, sampling=sampling, seed=5)
    found = ceat(*sets, draws=300, sampling=sampling, seed=5)
    combined, tau2, error, p_value = by_loop(*sets, picks)
    assert found.effect_size == pytest.approx(combined, abs=1e-6)
    assert found.tau2 == pytest.approx(tau2, abs=1e-6)
    assert found.standard_error == pytest.approx(error, abs=1e-6)
    assert found.p_value == pytest.approx(p_value, abs=1e-6)


def test_one_draw_returns_its_own_effect():
    sets = random_sets(np.random.default_rng(2))
    (pick,) = draw_contexts([len(word) for group in sets for word in group], draws=1, seed=3)
    chosen = iter(pick)
    single = [np.array([word[next(chosen)] for word in group]) for group in sets]
    found = ceat(*sets, draws=1, seed=3)
    assert found.effect_size == pytest.approx(weat(*single).effect_size, abs=1e-6)
    assert found.repaired.effect_size == pytest.approx(found.effect_size)
    assert (found.tau2, found.effects.sd) == (0.0, 0.0)


def test_pooling_is_corrected_by_the_sampling_variance_of_d():
    # 4 + 3 words, two draws: var(d) = 7/12 + d²/14 outweighs what is between the draws, so tau2 is 0.
    sets = random_sets(np.random.default_rng(4))
    picks = draw_contexts([len(word) for group in sets for word in group], draws=2)
    first, second = (by_loop(*sets, [pick])[0] for pick in picks)
    v = [1 / (7 / 12 + d**2 / 14) for d in (first, second)]
    found = ceat(*sets, draws=2).repaired
    assert found.effect_size == pytest.approx((v[0] * first + v[1] * second) / sum(v), abs=1e-6)
    assert found.tau2 == 0.0


def test_the_same_seed_gives_the_same_result():
    sets = random_sets(np.random.default_rng(3))
    assert ceat(*sets, draws=50, seed=2) == ceat(*sets, draws=50, seed=2)
    assert ceat(*sets, draws=50, seed=2).effect_size != ceat(*sets, draws=50, seed=3).effect_size


@settings(max_examples=30)
@given(SETS)
def test_swapping_the_targets_or_the_attributes_turns_the_sign(sets):
    x, y, a, b = sets
    one = [[word[:1] for word in group] for group in sets]  # one context each, so that draws cannot differ
    found = measured(*one, draws=3)
    for other in (ceat(one[1], one[0], one[2], one[3], draws=3), ceat(one[0], one[1], one[3], one[2], draws=3)):
        assert other.effect_size == pytest.approx(-found.effect_size, abs=1e-4)
        assert other.repaired.score == pytest.approx(-found.repaired.score, abs=1e-9)
        assert other.repaired.p_value == pytest.approx(found.repaired.p_value)
    many, swapped = measured(x, y, a, b, draws=3), measured(x, y, b, a, draws=3)
    assert swapped.repaired.p_value == pytest.approx(many.repaired.p_value)


@settings(max_examples=30)
@given(SETS, st.randoms(use_true_random=False))
def test_the_order_of_words_and_contexts_does_not_matter(sets, random):
    found = measured(*sets, draws=3)
    mixed = [[word[random.sample(range(len(word)), len(word))] for word in group] for group in sets]
    for group in mixed:
        random.shuffle(group)
    other = measured(*mixed, draws=3)
    assert sorted(other.repaired.scores_x) == pytest.approx(sorted(found.repaired.scores_x), abs=1e-9)
    assert other.repaired.p_value == pytest.approx(found.repaired.p_value)


def test_the_published_p_shrinks_with_the_draws_and_the_corrected_one_does_not():
    rng = np.random.default_rng(7)
    few, many = list[float](), list[float]()
    for _ in range(40):
        x, y = (planted(6, 8, 0.0, rng) for _ in range(2))
        one, other = (ceat(x, y, *poles(), draws=draws) for draws in (20, 5_000))
        assert other.repaired.p_value == one.repaired.p_value
        few.append(one.p_value)
        many.append(other.p_value)
    assert np.mean(np.array(many) < np.array(few)) > 0.8
    assert np.mean(np.array(many) <= 0.05) > np.mean(np.array(few) <= 0.05) + 0.2


def test_with_no_bias_planted_the_corrected_p_is_uniform_and_the_published_one_is_not():
    rng = np.random.default_rng(8)
    published, corrected, covered = [], [], 0
    for _ in range(400):
        x, y = (planted(5, 4, 0.0, rng) for _ in range(2))
        found = ceat(x, y, *poles(), draws=400, permutations=200)
        published.append(found.p_value)
        corrected.append(found.repaired.p_value)
        covered += 0.0 in found.repaired.ci
    # Of 252 splits p takes 126 values from 1/126 on; half a step below it is uniform.
    assert kstest(np.array(corrected) - 1 / 252, "uniform").pvalue > 0.01
    assert np.mean(np.array(corrected) <= 0.05) == pytest.approx(0.05, abs=3 * math.sqrt(0.05 * 0.95 / 400))
    assert np.mean(np.array(published) <= 0.05) > 0.5
    assert covered / 400 > 0.93


def test_the_interval_holds_the_planted_effect():
    # In the population d = 2 lean / SD of all contexts; the SD has words, contexts and the difference itself in it.
    rng, lean = np.random.default_rng(9), 0.1
    truth = 2 * lean / math.sqrt(0.1**2 + 0.2**2 + lean**2)
    held, strong = 0, 0
    for _ in range(150):
        x, y = planted(12, 6, lean, rng), planted(12, 6, -lean, rng)
        found = ceat(x, y, *poles(), draws=200, permutations=500).repaired
        held += truth in found.ci
        strong += found.p_value <= 0.05
    assert held / 150 > 0.92
    assert strong / 150 > 0.9


def test_few_contexts_of_the_attributes_widen_the_interval():
    rng = np.random.default_rng(10)
    x, y = planted(8, 5, 0.1, rng, noise=0.0), planted(8, 5, -0.1, rng, noise=0.0)
    tilted = [np.array([[1.0, 0.0, 0.0], [0.2, 0.0, 1.0]])]
    still = [np.array([[1.2, 0.0, 1.0], [1.2, 0.0, 1.0]])]
    x = [word + rng.normal(scale=0.3, size=3) for word in x]
    y = [word + rng.normal(scale=0.3, size=3) for word in y]
    wide, narrow = (ceat(x, y, pole, [AWAY], draws=100).repaired.ci for pole in (tilted, still))
    assert wide.high - wide.low > narrow.high - narrow.low


def test_it_turns_into_json():
    found = ceat(*random_sets(np.random.default_rng(5)), draws=30)
    values = json.loads(json.dumps(found.to_dict()))
    assert values["repaired"]["ci"]["method"] == "two-level bootstrap (word, context), Fisher z"
    assert values["effects"]["low"] <= values["effects"]["median"] <= values["effects"]["high"]


GOOD = [[[1.0, 2.0]], [[2.0, 1.0]]]


@pytest.mark.parametrize(
    ("place", "bad", "said"),
    [
        (0, [], "X: needs at least 2 word(s)"),
        (1, GOOD[:1], "Y: needs at least 2 word(s)"),
        (2, [], "A: needs at least 1 word(s)"),
        (0, [[], [[1.0, 2.0]]], "X, word 0: needs a matrix of at least 1 vector(s), found none"),
        (3, [[[1.0, math.nan]]], "B, word 0: vector 0 holds NaN"),
        (1, [[[1.0, 2.0]], [[1.0, 2.0], [0.0, 0.0]]], "Y, word 1: vector 1 is all zeros"),
        (2, [[[1.0, 2.0, 3.0]]], "A, word 0: vectors are 3 wide, the others 2"),
        (1, [[[1.0, 2.0]], [[1.0, 2.0, 3.0]]], "Y, word 1: vectors are 3 wide, the others 2"),
        (0, 3, "X: give a list with one (contexts x dim) array a word"),
        (0, [[1.0, 2.0], [2.0, 1.0]], "X, word 0: needs a matrix"),
        (0, [[["a"]], [["b"]]], "X, word 0: the vectors are ragged or not numbers"),
    ],
)
def test_bad_input_is_said_in_one_line(place, bad, said):
    sets = [GOOD, [[[1.0, 3.0]], [[3.0, 1.0]]], E1, E2]
    sets[place] = bad
    with pytest.raises(BadInput) as error:
        ceat(*sets)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sampling": "fix"}, "unknown sampling 'fix': did you mean 'fixed'?"),
        ({"draws": 0}, "draws must be a whole number from 1 on"),
        ({"draws": 2.5}, "draws must be a whole number"),
        ({"permutations": 0}, "permutations must be at least 1"),
        ({"alternative": "both"}, "unknown alternative 'both'"),
        ({"seed": -1}, "a seed must be a whole number"),
    ],
)
def test_bad_options_are_said_in_one_line(options, said):
    with pytest.raises(BadInput, match=said.replace("?", r"\?")):
        ceat(GOOD, [[[1.0, 3.0]], [[3.0, 1.0]]], E1, E2, **options)


def test_words_that_score_the_same_have_no_effect_size():
    same = [[[1.0, 1.0]], [[2.0, 2.0]]]
    with pytest.raises(BadInput, match="all scores are the same"):
        ceat(same, same, E1, E2)
    with pytest.raises(BadInput, match="same average"):
        ceat(GOOD, same, E1, E1)
    # Overall they differ, but there is a draw in which they do not.
    twice = [[[1.0, 1.0], [1.0, 0.0]], [[1.0, 1.0], [0.0, 1.0]]]
    with pytest.raises(BadInput, match=r"draw \d+: all words of X and Y score the same"):
        ceat(twice, twice, E1, E2, draws=200)
