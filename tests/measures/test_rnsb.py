"""Relative negative sentiment bias."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from sklearn.linear_model import LogisticRegression

from tests.measures.vectors import BAD_VECTORS, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import rnsb

FEW = {"permutations": 19, "resamples": 20}


def sentiment(seed=0, n=12, width=6, gap=2.0):
    """Positive and negative words that differ along the first axis."""
    rng = np.random.default_rng(seed)
    axis = gap * np.eye(width)[0]
    return rng.normal(size=(n, width)) + axis, rng.normal(size=(n, width)) - axis


def test_shares_are_those_of_sklearns_probabilities_and_the_score_scipys_divergence():
    good, bad = sentiment()
    targets = random_rows(5, 6, seed=3)
    found = rnsb(targets, good, bad, **FEW)
    classifier = LogisticRegression(max_iter=1000, tol=1e-10)
    classifier.fit(np.concatenate([good, bad]), [0] * 12 + [1] * 12)
    negative = classifier.predict_proba(targets)[:, 1]
    assert found.shares == pytest.approx(negative / negative.sum(), rel=1e-3)
    assert found.score == pytest.approx(scipy.stats.entropy(found.shares, [0.2] * 5))
    assert found.n == 5


def test_equal_targets_have_equal_shares_and_no_divergence():
    found = rnsb([[0.3] * 6] * 4, *sentiment(), **FEW)
    assert found.shares == pytest.approx((0.25,) * 4)
    assert found.score == pytest.approx(0.0, abs=1e-12)


def test_the_classifier_is_checked_on_words_it_has_not_seen():
    assert rnsb(random_rows(2, 6), *sentiment(gap=3.0), **FEW).accuracy == pytest.approx(1.0)
    accuracies = [rnsb(random_rows(2, 6), *sentiment(seed, gap=0.0), **FEW).accuracy for seed in range(5)]
    assert np.mean(accuracies) == pytest.approx(0.5, abs=0.15)


def test_a_planted_target_takes_the_largest_share_and_more_of_it_more():
    good, bad = sentiment()
    axis = np.eye(6)[0]

    def planted(push):
        targets = 0.1 * random_rows(5, 6, seed=3)
        targets[2] -= push * axis
        return rnsb(targets, good, bad, permutations=99, resamples=20)

    none, some, much = (planted(push) for push in (0.0, 0.3, 1.0))
    assert none.score < some.score < much.score
    assert max(range(5), key=much.shares.__getitem__) == 2
    assert much.p_value == pytest.approx(0.01)
    assert much.score in much.ci


def test_the_seed_decides():
    good, bad = sentiment()
    targets = random_rows(3, 6)
    first, again, other = (rnsb(targets, good, bad, **FEW, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.score == other.score
    assert first.ci != other.ci


def test_targets_far_from_the_boundary_give_numbers_not_nan():
    # probabilities this small underflow to 0; their shares and the divergence must not
    found = rnsb(1e3 * random_rows(4, 6), *sentiment(), **FEW)
    assert np.isfinite([found.score, found.ci.low, found.ci.high, *found.shares]).all()
    assert sum(found.shares) == pytest.approx(1.0)
    good, bad = sentiment()
    all_positive = rnsb(1e4 * np.array([[1.0] + [0.0] * 5, [2.0] + [0.0] * 5]), good, bad, **FEW)
    assert all_positive.shares == pytest.approx((1.0, 0.0))
    assert all_positive.score == pytest.approx(np.log(2))


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    padded = vectors if len(vectors) < 4 or "ragged" in message else [*vectors, [1.0] * len(vectors[0])]
    with pytest.raises(BadInput, match=message):
        rnsb(random_rows(3, 3), random_rows(5, 3), padded, **FEW)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: rnsb(w[:1], w, w + 1), "targets: needs a matrix of at least 2"),
        (lambda w: rnsb(w, w[:4], w + 1), "positive: needs a matrix of at least 5"),
        (lambda w: rnsb(w, w, w[:4]), "negative: needs a matrix of at least 5"),
        (lambda w: rnsb(w, w, w + 1, permutations=0), "at least 1 permutation"),
        (lambda w: rnsb(w, w, w + 1, resamples=1), "2 resamples"),
        (lambda w: rnsb(w, w, w + 1, seed=-1), "a seed must be"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call(random_rows(6))


def test_forms_of_a_sentiment_word_are_dealt_together():
    # Five words a side in five forms: any deal of the ten words tells the targets apart about as well as the one that
    # was called negative, and twenty-five words a side that are dealt one by one hardly ever do.
    rng, found = np.random.default_rng(4), []
    few = {"permutations": 19, "resamples": 2}
    for run in range(20):
        good, bad = (np.repeat(rng.normal(size=(5, 30)), 5, axis=0) + 0.05 * rng.normal(size=(25, 30)) for _ in "ab")
        targets = rng.normal(size=(6, 30))
        named = rnsb(targets, good, bad, families=[np.repeat(range(5), 5)] * 2, **few)
        alone = rnsb(targets, good, bad, families=[range(25)] * 2, **few)
        if run == 0:
            assert named.families == (5, 5)
            assert named.score == alone.score
            assert rnsb(targets, good, bad, **few) == named  # the vectors say so too
        found.append((named.p_value, alone.p_value))
    by_family, by_word = np.mean(np.array(found) <= 0.1, axis=0)
    assert by_word >= 0.4
    assert by_family <= 0.1 + 2 * np.sqrt(0.1 * 0.9 / 20)
