"""Validation, comparison and stability of occupation scores."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.stats

from tiltmeter.errors import BadInput
from tiltmeter.measures import (
    cabm,
    compare_scores,
    cross_validated_scores,
    equal_weights,
    pca_forest_weights,
    pca_weights,
    stability,
    validate,
)

RNG = np.random.default_rng(7)
SCORES = RNG.normal(0.1, 0.5, size=39)
LABELS = np.where(SCORES + RNG.normal(0, 0.5, size=39) > 0, 1, 2)


def test_whatever_is_not_defined_is_none_and_the_notes_say_why():
    found = validate([0.3] * 5, labels=[1, 1, 1, None, None])
    assert (found.sd, found.iqr) == pytest.approx((0, 0))
    for name in ("kde", "normality", "by_category", "by_label", "contingency", "unmasking"):
        assert getattr(found, name) is None
        assert any(name in note for note in found.notes), name


def test_the_same_seed_gives_the_same_validation():
    options = {"labels": LABELS, "unmasking": SCORES**3, "others": {"weat": np.sin(SCORES)}, "seed": 3}
    assert validate(SCORES, **options).to_dict() == validate(SCORES, **options).to_dict()


def test_every_two_weightings_are_compared():
    scores = {"pca": SCORES, "shap": SCORES**3, "equal": -SCORES}
    found = {(pair.first, pair.second): pair for pair in compare_scores(scores)}
    assert list(found) == [("pca", "shap"), ("pca", "equal"), ("shap", "equal")]
    assert found["pca", "shap"].pearson.r == pytest.approx(scipy.stats.pearsonr(SCORES, SCORES**3).statistic)
    assert found["pca", "shap"].spearman.r == pytest.approx(1)
    same = (np.abs(SCORES) <= 0.1) | (np.abs(SCORES**3) > 0.1)
    assert found["pca", "shap"].agreement == pytest.approx(same.mean())
    assert found["pca", "equal"].agreement == pytest.approx((np.abs(SCORES) <= 0.1).mean())


def test_stability_is_the_mean_sd_by_occupation_once_every_model_is_on_one_scale():
    models = {"pretrained": [0.2, -0.1, 0.2], "biased": [2.0, -1.0, -2.0]}
    found = stability(models)
    # Both models have sizes in proportion 2:1:2 and so root mean squares of sqrt(3) * .1 and sqrt(3) * 1
    assert found.by_occupation == pytest.approx([0, 0, np.std([2, -2], ddof=1) / np.sqrt(3)])
    assert found.mean_sd == pytest.approx(found.by_occupation.mean())
    assert found.published == pytest.approx(np.std(list(models.values()), axis=0, ddof=1).mean())


def test_a_measure_in_small_units_is_steadier_only_as_published():
    models = {"a": SCORES, "b": SCORES + RNG.normal(0, 0.1, size=39)}
    small = {name: scores / 100 for name, scores in models.items()}
    assert stability(small).published == pytest.approx(stability(models).published / 100)
    assert stability(small).mean_sd == pytest.approx(stability(models).mean_sd)


def test_groups_of_different_spread_are_compared_in_standard_errors():
    # Mann-Whitney's U answers to the spread too: with the small group wide it finds a difference in .14 of these.
    rng = np.random.default_rng(2)
    labels = [1] * 10 + [2] * 40
    runs = [np.concatenate([3 * rng.normal(size=10), rng.normal(size=40)]) for _ in range(300)]
    found = [validate(scores, labels=labels).by_label for scores in runs]
    assert np.mean([each.p_value <= 0.05 for each in found]) > 0.09
    assert 0.02 <= np.mean([each.repaired_p_value <= 0.05 for each in found]) <= 0.08


def test_one_occupation_in_a_group_has_no_repaired_test():
    found = validate([0.5, 0.1, 0.2, 0.3], labels=[1, 2, 2, 2]).by_label
    assert found.repaired_p_value is None
    assert found.p_value > 0


def planted_features(n=30, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % 2 + 1)
    return rng.normal(size=(n, 3)) + np.where(labels == 1, 1.0, -1.0)[:, None] * [1, 0.2, 0], labels


def test_fixed_weights_score_the_same_with_and_without_folds():
    features, labels = planted_features()
    found = cross_validated_scores(features, labels, lambda *_: equal_weights())
    assert found == pytest.approx(cabm(features, equal_weights()).scores)


@pytest.mark.parametrize("scale", [None, "rms"])
def test_no_occupation_has_a_part_in_its_own_weights_or_scale(scale):
    features, labels = planted_features(n=12)
    changed = features.copy()
    changed[5] = [40.0, -3.0, 7.0]
    fit = partial(cross_validated_scores, fit=lambda x, *_: pca_weights(x), folds=4, scale=scale)
    plain, moved = fit(features, labels), fit(changed, labels)
    per_unit = np.linalg.lstsq(np.array([features[5], changed[5]]), [plain[5], moved[5]])[0]
    # The same three factors (weight by scale) turn the old and the new features into the old and new score.
    assert np.array([features[5], changed[5]]) @ per_unit == pytest.approx([plain[5], moved[5]])
    assert plain[np.arange(12) != 5] != pytest.approx(moved[np.arange(12) != 5])


def test_every_fold_is_scored_by_weights_fitted_on_the_labelled_rest():
    features, labels = planted_features(n=20)
    seen = []

    def fit(x, known):
        seen.append((x, known))
        return pca_weights(x)

    scores = cross_validated_scores(features, [*labels[:18], None, None], fit, folds=5, seed=2)
    assert np.isfinite(scores).all()
    assert len(seen) == 5
    for x, known in seen:
        assert set(known.tolist()) == {1, 2}
        assert 14 <= len(x) <= 15
        weights = pca_weights(x).values
        left_out = [i for i, row in enumerate(features[:18]) if not (x == row).all(axis=1).any()]
        assert 3 <= len(left_out) <= 4
        assert scores[left_out] == pytest.approx(features[left_out] @ weights)


def test_cross_validated_forest_scores_still_separate_a_planted_label_and_repeat():
    features, labels = planted_features()
    fit = partial(
        cross_validated_scores, features, labels, partial(pca_forest_weights, seed=0, seeds=2), folds=3, scale="rms"
    )
    scores = fit(seed=0)
    assert validate(scores, labels=labels).by_label.p_value < 0.01
    assert (scores == fit(seed=0)).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: validate([1.0, 2.0]), "at least 3 occupations, found 2"),
        (lambda: validate([1.0, 2.0, np.nan]), "NaN"),
        (lambda: validate(SCORES, labels=[1, 2]), "39 occupations but 2 labels"),
        (lambda: validate(SCORES, unmasking=[0.1]), "unmasking: 1 scores where the others have 39"),
        (lambda: validate(SCORES, others={"weat": [0.1]}), "weat: 1 scores"),
        (lambda: validate(SCORES, threshold=-1), "threshold"),
        (lambda: compare_scores({"a": SCORES}), "at least two scores"),
        (lambda: compare_scores({"a": SCORES, "b": SCORES[:3]}), "b: 3 scores where the others have 39"),
        (lambda: stability({"a": SCORES}), "at least two models"),
        (lambda: cross_validated_scores(np.ones((4, 3)), [1, 2, 1, 2], pca_weights, folds=5), "folds must be from 2"),
        (lambda: cross_validated_scores(np.ones((4, 3)), [None] * 4, pca_weights, folds=2), "no labelled occupation"),
        (
            lambda: cross_validated_scores(*planted_features(n=11), pca_forest_weights),
            "a random forest needs at least 10 occupations",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(call, says):
    with pytest.raises(BadInput, match=says):
        call()
