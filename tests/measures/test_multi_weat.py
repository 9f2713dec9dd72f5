"""WEAT for many groups."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.measures.vectors import AWAY, BAD_VECTORS, TOWARDS, leaning, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import multi_weat, multi_weat_placebo, weat
from tiltmeter.measures.geometry import cosines, draw_words
from tiltmeter.statistics import holm


def test_three_groups_by_hand():
    # With two opposite attributes a word's lean to them is (s/2, -s/2). Groups of scores s:
    # (.1, .3), (-.1, .1), (-.3, -.1): means .2, 0, -.2, grand mean 0
    # between 2 * (.04 + 0 + .04) = .16; total .01 + .09 + .01 + .01 + .09 + .01 = .22; eta = sqrt(.16 / .22)
    groups = [leaning([0.1, 0.3]), leaning([-0.1, 0.1]), leaning([-0.3, -0.1])]
    found = multi_weat(groups, [TOWARDS, AWAY], permutations=999)
    assert found.effect_size == pytest.approx(math.sqrt(0.16 / 0.22))
    # leans to the first set, SD sqrt(.22 / 4 / 5): group 1 has .1
    assert found.associations[0][0] == pytest.approx(0.1 / math.sqrt(0.22 / 4 / 5))
    assert found.associations[2][0] == pytest.approx(-found.associations[0][0])
    assert found.associations[0][1] == pytest.approx(-found.associations[0][0])
    assert found.n == 6


def test_p_is_the_share_of_all_ways_to_group_the_words():
    # (1, 2, 3) (4, 5, 6) (7, 8, 9) in tenths: only the 6 orders of these groups are as extreme,
    # out of 9! / (3!)^3 = 1680: p = .00357. Their spreads are the same, so Welch's form puts them in the same order.
    groups = [leaning(np.array(scores) / 10) for scores in ([1, 2, 3], [4, 5, 6], [7, 8, 9])]
    found = multi_weat(groups, [TOWARDS, AWAY], permutations=20_000)
    assert found.p_value == pytest.approx(6 / 1680, abs=4 * math.sqrt(0.00357 / 20_000))


def test_two_groups_and_two_sets_are_weat():
    sets = [random_rows(n, seed=n) for n in (6, 7, 4, 5)]
    many, two = multi_weat(sets[:2], sets[2:]), weat(*sets, ddof=0)
    # eta is |r| = |d| sqrt(n1 n2) / n
    assert many.effect_size == pytest.approx(abs(two.effect_size) * math.sqrt(6 * 7) / 13)
    assert many.p_value == pytest.approx(two.p_value, abs=4 * math.sqrt(0.25 / 10_000))
    assert len(many.contrasts) == 1
    assert many.contrasts[0].weat.effect_size == pytest.approx(weat(*sets).effect_size)


def test_every_pair_of_groups_on_every_pair_of_sets_is_a_weat():
    groups, sets = [random_rows(4, seed=n) for n in range(3)], [random_rows(3, seed=n + 9) for n in range(3)]
    found = multi_weat(groups, sets, permutations=99)
    assert [(each.targets, each.attributes) for each in found.contrasts] == [
        (pair, poles) for pair in ((0, 1), (0, 2), (1, 2)) for poles in ((0, 1), (0, 2), (1, 2))
    ]
    for each in found.contrasts:
        direct = weat(*(groups[i] for i in each.targets), *(sets[i] for i in each.attributes))
        assert each.weat.effect_size == pytest.approx(direct.effect_size)
    raw = [each.weat.p_value for each in found.contrasts]
    assert [each.p_adjusted for each in found.contrasts] == pytest.approx(holm(raw))


def test_false_alarms_are_as_rare_as_promised():
    # 200 times three groups of the same kind: binomial SD sqrt(.05 * .95 / 200) = .0154
    rng = np.random.default_rng(0)
    alarms = sum(
        multi_weat(
            [leaning(0.1 * rng.normal(size=5)) for _ in range(3)], [TOWARDS, AWAY], permutations=199, seed=seed
        ).p_value
        <= 0.05
        for seed in range(200)
    )
    assert alarms / 200 == pytest.approx(0.05, abs=3.3 * 0.0154)


def test_the_larger_p_counts_of_targets_and_attributes():
    rng = np.random.default_rng(3)
    centres = 3 * rng.normal(size=(3, 40))
    groups = [rng.normal(size=(12, 40)) + centre for centre in centres]
    found = multi_weat(groups, [rng.normal(size=(6, 40)), rng.normal(size=(6, 40))], permutations=999)
    # Groups that really differ lean apart between any two sets of random words, and would between two others.
    assert found.p_targets == 0.001
    assert found.p_value == found.p_attributes > 0.05


def test_one_attribute_in_a_set_says_nothing_of_others():
    found = multi_weat([random_rows(4, seed=n) for n in range(3)], [random_rows(1, seed=7), random_rows(5, seed=8)])
    assert found.p_attributes is None
    assert found.p_value == found.p_targets


def test_three_forms_of_a_word_are_one_observation():
    rng = np.random.default_rng(6)
    words = [rng.normal(size=(n, 50)) for n in (4, 5, 6)]
    groups = [np.repeat(each, 3, axis=0) + 0.01 * rng.normal(size=(3 * len(each), 50)) for each in words]
    found = multi_weat(groups, [rng.normal(size=(8, 50)) for _ in range(2)], permutations=99)
    assert found.families == (4, 5, 6, 8, 8)
    assert found.n == 45


def test_a_planted_group_stands_out():
    rng = np.random.default_rng(1)
    groups = [leaning(0.1 * rng.normal(size=8) + shift) for shift in (0.3, 0.0, 0.0)]
    found = multi_weat(groups, [TOWARDS, AWAY])
    assert found.p_value < 0.01
    assert found.associations[0][0] > max(found.associations[1][0], found.associations[2][0])
    adjusted = [each.p_adjusted for each in found.contrasts]
    assert max(adjusted[:2]) < 0.05 < adjusted[2]


def test_the_seed_decides():
    groups, sets = [random_rows(4, seed=n) for n in range(3)], [random_rows(3, seed=n + 9) for n in range(2)]
    first, again, other = (multi_weat(groups, sets, permutations=999, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.p_targets != other.p_targets


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    good = random_rows(3, 3)
    with pytest.raises(BadInput, match=f"target group 2: .*{message}"):
        multi_weat([good, vectors], [good, good + 1])
    with pytest.raises(BadInput, match=f"attribute set 2: .*{message}"):
        multi_weat([good, good + 1], [good, vectors])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: multi_weat([w], [w, w + 1]), "at least two groups"),
        (lambda w: multi_weat([w, w + 1], [w]), "at least two groups"),
        (lambda w: multi_weat([w, w[:1]], [w, w + 1]), "target group 2: needs a matrix of at least 2"),
        (lambda w: multi_weat([w[[0, 0]], w[[0, 0]]], [w, w + 1]), "the same associations"),
        (lambda w: multi_weat([w, w + 1], [w, w]), "the same associations|the same average"),
        (lambda w: multi_weat([w, w + 1], [w, w + 2], permutations=0), "permutations must be at least 1"),
        (lambda w: multi_weat([w, w + 1], [w, w + 2], seed=-1), "a seed must be"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call(random_rows(3))


def test_families_may_be_named_and_then_count_once():
    rng = np.random.default_rng(4)
    groups, sets = [rng.normal(size=(8, 30)) + shift for shift in (0.0, 0.5, 1.0)], [rng.normal(size=(6, 30))] * 2
    sets = [sets[0], sets[0] + rng.normal(size=(6, 30))]
    pairs, alone = np.repeat(range(4), 2), None
    found = multi_weat(groups, sets, families=[pairs, pairs, pairs, alone, range(6)], permutations=999)
    assert found.families[:3] == (4, 4, 4)
    assert found.families[4] == 6
    each = multi_weat(groups, sets, families=[range(8)] * 3 + [range(6)] * 2, permutations=999)
    assert each.families == (8, 8, 8, 6, 6)
    assert each.effect_size == found.effect_size
    assert found.contrasts[0].weat.crossed.families[:2] == (4, 4)
    with pytest.raises(BadInput, match="3 lists of targets and 2 of attributes, but families of 2"):
        multi_weat(groups, sets, families=[pairs, pairs])


def test_words_of_one_family_are_no_evidence_of_a_difference():
    # Three groups of two families: four copies each of two words. Six families can be dealt to three pairs in 90 ways;
    # taken for 24 words, the groups would differ far more surely.
    rng = np.random.default_rng(5)
    words, sets = rng.normal(size=(6, 40)), [rng.normal(size=(9, 40)) for _ in range(2)]
    groups = [np.repeat(words[2 * i : 2 * i + 2], 4, axis=0) + 1e-6 * rng.normal(size=(8, 40)) for i in range(3)]
    named = [np.repeat(range(2), 4)] * 3 + [range(9)] * 2
    as_families = multi_weat(groups, sets, families=named, permutations=999)
    as_words = multi_weat(groups, sets, families=[range(8)] * 3 + [range(9)] * 2, permutations=999)
    assert as_words.p_targets <= 0.01
    assert as_families.p_targets > 0.05


def test_the_placebo_is_the_effect_between_sets_of_arbitrary_words():
    rng = np.random.default_rng(6)
    groups, neutral = [rng.normal(size=(n, 20)) for n in (4, 5, 6)], rng.normal(size=(60, 20))
    sizes = (3, 4, 2)
    found = multi_weat_placebo(groups, neutral, eta=0.5, sizes=sizes, seed=2)
    drawn = draw_words(len(neutral), sum(sizes), seed=2)
    etas = []
    for places in drawn:
        sets = [neutral[some] for some in np.split(places, np.cumsum(sizes)[:-1])]
        near = np.concatenate([np.stack([cosines(g, s).mean(axis=1) for s in sets], axis=1) for g in groups])
        lean = near - near.mean(axis=1, keepdims=True)
        lean -= lean.mean(axis=0)
        parts = np.split(lean, [4, 9])
        etas.append(math.sqrt(sum(len(part) * (part.mean(axis=0) ** 2).sum() for part in parts) / (lean**2).sum()))
    assert etas[0] == pytest.approx(
        multi_weat(groups, [neutral[some] for some in np.split(drawn[0], (3, 7))], permutations=9).effect_size
    )
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(etas, [0.025, 0.975])))
    assert found.p_value == pytest.approx((np.sum(np.array(etas) >= 0.5) + 1) / 1_001)
