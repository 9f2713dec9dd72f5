"""What arbitrary words give: drawn by frequency, and along each direction what the measure itself gives."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter import measures
from tiltmeter.measures.geometry import Bands, draw_words, unit
from tiltmeter.measures.placebos import leans_between

RNG = np.random.default_rng(0)
WORDS, NEUTRAL = RNG.normal(size=(30, 20)), RNG.normal(size=(120, 20))


def test_arbitrary_words_are_of_the_band_of_those_they_replace_and_none_is_drawn_twice() -> None:
    arbitrary = np.repeat([1, 2, 3], 40)
    replaced = [3, 1, None, 1, 2, 3]
    drawn = draw_words(120, 6, bands=Bands(arbitrary.tolist(), replaced), draws=300)
    assert all(len(set(row)) == 6 for row in drawn.tolist())
    for place, band in enumerate(replaced):
        found = set(arbitrary[drawn[:, place]].tolist())
        assert found == ({band} if band else {1, 2, 3})
    # All words of a band are drawn about as often.
    assert np.bincount(drawn[:, 1], minlength=40)[:40].min() > 0


def test_a_band_without_enough_words_is_filled_up_from_the_others() -> None:
    drawn = draw_words(10, 4, bands=Bands([1, 1, *8 * [2]], [1, 1, 1, 7]), draws=50)
    assert all(len(set(row)) == 4 for row in drawn.tolist())
    assert set(drawn[:, :2].ravel().tolist()) == {0, 1}
    assert drawn[:, 2:].min() >= 2


def test_the_placebo_of_direct_bias_is_direct_bias_along_pairs_of_arbitrary_words() -> None:
    found = measures.direct_bias_placebo(WORDS, NEUTRAL, value=0.2, n_pairs=4, seed=3)
    drawn = draw_words(len(NEUTRAL), 8, draws=1_000, seed=3)
    sizes = [
        measures.direct_bias(WORDS, measures.bias_direction(NEUTRAL[row[:4]], NEUTRAL[row[4:]])).score for row in drawn
    ]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(sizes, [0.025, 0.975])))
    assert found.p_value == pytest.approx((np.sum(np.array(sizes) >= 0.2) + 1) / 1_001)


def test_the_placebos_of_neighbours_and_clusters_are_those_tests_along_arbitrary_sides() -> None:
    leans = leans_between(WORDS, NEUTRAL, n_pairs=4, seed=3)
    drawn = draw_words(len(NEUTRAL), 8, draws=1_000, seed=3)
    first, second = (unit(NEUTRAL[drawn[5, part]]).mean(axis=0) for part in (slice(4), slice(4, 8)))
    assert leans[:, 5] == pytest.approx(unit(WORDS) @ unit(first - second))
    rs, shares = [], []
    for column in leans.T[:50]:
        dealt = np.stack([column, column[::-1]], axis=1)
        rs.append(measures.neighbour_deal_test(WORDS, dealt, k=6).correlation.r)
        shares.append(measures.cluster_deal_test(WORDS, dealt).accuracy)
    by_neighbours = measures.neighbour_placebo(WORDS, leans[:, :50], value=0.3, k=6)
    by_clusters = measures.cluster_placebo(WORDS, leans[:, :50], value=0.6)
    for placebo, values in ((by_neighbours, rs), (by_clusters, shares)):
        assert (placebo.low, placebo.high) == pytest.approx(tuple(np.quantile(values, [0.025, 0.975])))
    # As far from level as the observed: a share is level at one half.
    assert by_clusters.p_value == pytest.approx((np.sum(np.array(shares) >= 0.6 - 1e-10) + 1) / 51)


def test_the_placebos_of_nearness_are_the_measures_with_arbitrary_attributes() -> None:
    x, y, few = WORDS[:12], WORDS[12:] + 0.5, NEUTRAL[:6]
    families = [np.repeat(range(4), 3), np.repeat(range(6), 3)]
    # Of as many words as are drawn every draw holds the same ones.
    alike = {
        measures.mac(WORDS, [few]).score: measures.mac_placebo(WORDS, few, score=0.9, sizes=(6,)),
        measures.ect(x, y, few).score: measures.ect_placebo(x, y, few, score=0.3, n=6),
        measures.rnd(x, y, few, families=[*families, range(6)], permutations=9).repaired.score: measures.rnd_placebo(
            x, y, few, score=0.2, n=6, families=families
        ),
    }
    for value, placebo in alike.items():
        assert (placebo.low, placebo.high) == pytest.approx((value, value))
    drawn = draw_words(len(NEUTRAL), 6, seed=3)
    found = measures.mac_placebo(WORDS, NEUTRAL, score=0.9, sizes=(4, 2), seed=3)
    scores = [measures.mac(WORDS, [NEUTRAL[row[:4]], NEUTRAL[row[4:]]]).score for row in drawn]
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(scores, [0.025, 0.975])))
    # 1 is level: that far from it, on either side.
    assert found.p_value == pytest.approx((np.sum(np.abs(np.array(scores) - 1) >= 0.1 - 1e-10) + 1) / 1_001)
