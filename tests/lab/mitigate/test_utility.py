from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tiltmeter.lab.mitigate.utility import _solved, _spearman, mean_kept, texts_utility, words_utility
from tiltmeter.models import CachedModel
from tiltmeter.models.objects import WordMap
from tiltmeter.readings.mitigation import Utility
from tiltmeter.statistics import Interval
from tiltmeter.stimuli.datasets import word_tasks


def test_ranks_agree_with_scipy():
    x, y = np.random.default_rng(0).normal(size=(2, 3, 50)).round(1)
    assert _spearman(x, y) == pytest.approx([spearmanr(*pair).statistic for pair in zip(x, y, strict=True)])


def test_an_analogy_is_solved_by_the_fourth_word_and_none_of_the_three():
    #            man         king        woman       queen       apple
    matrix = np.array([[1, 0, 0], [1, 0, 1], [-1, 0, 0.2], [-1, 0, 1.2], [0, 1, 0]], dtype=np.float32)
    assert _solved(matrix, np.array([[0, 1, 2, 3], [0, 1, 2, 4]])).tolist() == [1.0, 0.0]


class Words:
    """Vectors of the words of SimLex whose similarities are what people say, but for some noise."""

    def __init__(self, noise: float) -> None:
        rng = np.random.default_rng(0)
        rated = word_tasks.similar_words("SimLex-999")
        names = list(dict.fromkeys(word for pair in rated for word in pair[:2]))
        self.vectors = dict(zip(names, rng.normal(size=(len(names), 300)), strict=True))
        for one, two, rating in rated:
            self.vectors[two] = self.vectors[two] + 0.1 * rating * self.vectors[one]
        self.vectors = {name: row + noise * rng.normal(size=300) for name, row in self.vectors.items()}


def test_vectors_as_they_were_keep_everything_and_noise_costs():
    before = CachedModel(WordMap(Words(0.0).vectors))
    same, left = words_utility(before, before, vocabulary=2_000, seed=0)
    simlex = same[0]
    assert (simlex.name, simlex.kept, simlex.ci.low, simlex.ci.high) == ("SimLex-999", 1.0, 1.0, 1.0)
    assert simlex.n == 999
    assert any("SemBias" in reason or "TILTMETER_DATA" in reason for reason in left)
    worse, _ = words_utility(before, CachedModel(WordMap(Words(3.0).vectors)), vocabulary=2_000, seed=0)
    assert worse[0].kept < worse[0].ci.high < 0.9


class Texts:
    def __init__(self, change: float) -> None:
        self.change = change

    def embed_texts(self, texts):
        rows = np.random.default_rng(0).normal(size=(len(texts), 30))
        return rows + self.change * np.random.default_rng(1).normal(size=rows.shape)


def test_texts_that_stay_where_they_are_keep_their_neighbours():
    texts, before = [f"text {number}" for number in range(90)], CachedModel(Texts(0.0))
    ranks, nearest = texts_utility(before, before, texts, seed=0)
    assert [ranks.kept, nearest.kept] == pytest.approx([1.0, 1.0])
    ranks, nearest = texts_utility(before, CachedModel(Texts(1.0)), texts, seed=0)
    assert 0.2 < ranks.kept < 0.8
    assert nearest.ci.low < nearest.kept < nearest.ci.high < 0.9


def test_the_mean_share_has_the_reach_of_independent_scores():
    scores = [Utility(name, "", 1.0, 1.0, kept, Interval(kept - 0.03, kept + 0.03, 0.95, "b"), 9) for name, kept in
              (("a", 1.0), ("b", 0.9), ("c", 0.8))]  # fmt: skip
    mean = mean_kept(scores)
    assert mean.value == pytest.approx(0.9)
    assert mean.ci.high - mean.value == pytest.approx(0.03 / np.sqrt(3))
    assert mean_kept([]) is None
