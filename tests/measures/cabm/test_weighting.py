"""Weights of the CABM features."""

from __future__ import annotations

import math
from functools import partial
from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.measures import (
    attributions,
    cabm,
    equal_weights,
    given_weights,
    local_linear_weights,
    pca_forest_weights,
    pca_weights,
    pronoun_pmi_bias,
    published_labels,
    shap_weights,
)
from tiltmeter.measures.cabm.weighting import local_linear_parts, shap_parts

needs_shap = pytest.mark.skipif(find_spec("shap") is None, reason="shap (extra explain) is not installed")
EXPLAINED = [
    pytest.param(partial(local_linear_weights, seeds=2), id="local-linear"),
    pytest.param(partial(shap_weights, seeds=2), id="shap", marks=needs_shap),
]
FORESTS = [pytest.param(partial(pca_forest_weights, seeds=2), id="pca+forest"), *EXPLAINED]


def pca(features, *_):
    return pca_weights(features)


def planted(n: int = 30, informative: int = 1, seed: int = 0):
    """Features of which one alone tells the labels."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2 + 1
    features = rng.normal(size=(n, 3))
    features[:, informative] += np.where(labels == 1, 3.0, -3.0)
    return features, labels


def assert_are_weights(found):
    assert found.values.shape == found.spread.shape == (3,)
    assert found.values.min() >= 0
    assert found.values.sum() == pytest.approx(1, abs=1e-12)
    assert found.spread.min() >= 0


def test_pca_weights_are_the_normalised_loadings_of_sklearns_first_component():
    features = np.random.default_rng(1).normal(size=(39, 3)) @ [[1, 0.5, 0], [0, 1, 0.3], [0, 0, 5]]
    loadings = np.abs(PCA().fit(StandardScaler().fit_transform(features)).components_[0])
    found = pca_weights(features)
    assert found.values == pytest.approx(loadings / loadings.sum(), abs=1e-12)
    assert found.method == "pca"
    assert found.spread.tolist() == [0, 0, 0]


def test_pca_forest_weights_are_sklearns_importances_mapped_back_through_the_loadings():
    features, labels = planted()
    z = StandardScaler().fit_transform(features)
    components = PCA().fit(z).components_
    starts = np.random.default_rng([3, 1]).integers(2**31, size=2)
    one_by_one = []
    for start in starts:
        forest = RandomForestClassifier(100, random_state=int(start)).fit(z @ components.T, labels)
        mapped = forest.feature_importances_ @ np.abs(components)
        one_by_one.append(mapped / mapped.sum())
    found = pca_forest_weights(features, labels, seed=3, seeds=2)
    # The signs of components are free, and a forest splits a mirrored axis a little differently.
    assert found.values == pytest.approx(np.mean(one_by_one, axis=0), abs=0.03)
    assert found.spread.max() < 0.05


def test_the_local_linear_parts_are_those_of_sklearns_weighted_ridge_regression():
    features, labels = planted()
    z = StandardScaler().fit_transform(features)
    forest = RandomForestClassifier(20, random_state=4).fit(z, labels)
    cloud = np.random.default_rng(4).normal(size=(2000, 3))
    target = forest.predict_proba(cloud) @ [1, -1]
    parts = local_linear_parts(forest, z)
    for i in (0, 7):
        near = np.exp(-((cloud - z[i]) ** 2).sum(axis=1) / (2 * (0.75 * np.sqrt(3)) ** 2))
        assert parts[i] == pytest.approx(z[i] * Ridge(1.0).fit(cloud, target, sample_weight=near).coef_, abs=1e-9)


@pytest.mark.parametrize("fit", EXPLAINED)
@pytest.mark.parametrize("informative", [0, 1, 2])
def test_the_feature_that_tells_the_labels_gets_most_of_the_weight(fit, informative):
    found = fit(*planted(informative=informative), seed=0)
    assert_are_weights(found)
    assert found.values[informative] > 0.7
    assert 0 < found.spread.max() < 0.1


@pytest.mark.parametrize("informative", [0, 1, 2])
def test_mapping_back_from_components_shares_that_weight_out(informative):
    found = pca_forest_weights(*planted(informative=informative), seeds=2)
    assert_are_weights(found)
    assert found.values[informative] < 0.5


@pytest.mark.parametrize("fit", FORESTS)
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(fit):
    features, labels = planted(n=12)
    assert fit(features, labels, seed=5).to_dict() == fit(features, labels, seed=5).to_dict()
    assert fit(features, labels, seed=5).to_dict() != fit(features, labels, seed=6).to_dict()


@given(st.integers(0, 10_000))
def test_pca_weights_sum_to_one_and_do_not_depend_on_the_sign_of_the_features(seed):
    features = np.random.default_rng(seed).normal(size=(12, 3)) * [100, 1, 0.01]
    found = pca_weights(features)
    assert_are_weights(found)
    assert found.values == pytest.approx(pca_weights(-features).values, abs=1e-9)


@settings(max_examples=3, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([pca_forest_weights, local_linear_weights]))
def test_forest_weights_sum_to_one_even_for_labels_that_nothing_tells(seed, fit):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(12) % 3)
    assert_are_weights(fit(rng.normal(size=(12, 3)), labels, seed=seed, seeds=2))


@pytest.mark.parametrize("fit", [pca, *FORESTS])
def test_a_constant_feature_gets_no_weight_and_the_rest_share_it(fit):
    features, labels = planted(n=12)
    features[:, 2] = 0.7
    found = fit(features, labels)
    assert_are_weights(found)
    assert found.values[2] == found.spread[2] == 0
    assert found.values[:2].min() > 0


@pytest.mark.parametrize("fit", [pca, *FORESTS])
def test_features_that_are_all_constant_are_refused(fit):
    with pytest.raises(BadInput, match="no feature varies"):
        fit(np.ones((12, 3)), np.arange(12) % 2 + 1)


def test_published_labels_lie_on_both_sides_though_the_context_is_a_distance():
    """By hand: three features that rise together have the same z-scores, each weighs a third, and .1 is the cut."""
    features = [[1.0, 0.1, 9.1], [-1.0, -0.1, 8.9], [0.0, 0.0, 9.0], [2.0, 0.2, 9.2], [-2.0, -0.2, 8.8]]
    assert published_labels(features) == [1, 2, 0, 1, 2]
    assert published_labels(features, threshold=1.0) == [0, 0, 0, 1, 2]
    # Cut from the raw features, as before, every one would be of the first group.
    assert (cabm(features, pca_weights(features)).scores > 0.1).all()


def test_weights_stay_as_given_where_that_is_asked():
    printed = [0.58, 0.28, 0.19]
    assert given_weights(printed, as_given=True).values.tolist() == printed
    features = [[0.5, 0.3, 0.9]]
    assert cabm(features, given_weights(printed, as_given=True)).scores[0] == pytest.approx(0.545)
    assert cabm(features, given_weights(printed)).scores[0] == pytest.approx(0.545 / 1.05)


@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_pmi_by_pronoun_is_the_mean_over_the_pronouns_of_each_group(smoothing):
    """log2 p(w,o) / (p(w) p(o)) of every pair, written out."""
    one, two = np.array([[4, 2, 1], [1, 3, 5]]) + smoothing, np.array([[2, 6], [8, 1]]) + smoothing
    total = one.sum() + two.sum()
    of = (one.sum(axis=1) + two.sum(axis=1)) / total
    means = [
        [np.mean([math.log2(side[o, w] / total / (side[:, w].sum() / total * of[o])) for w in range(side.shape[1])])
         for o in (0, 1)]
        for side in (one, two)
    ]  # fmt: skip
    found = pronoun_pmi_bias(one - smoothing, two - smoothing, smoothing=smoothing)
    assert found.values == pytest.approx(np.array(means[0]) - means[1])


def test_counts_of_pronouns_that_make_no_table_are_one_clear_line():
    with pytest.raises(BadInput, match="a row for each occupation and a column for each pronoun"):
        pronoun_pmi_bias([[1, 2]], [[1], [2]])
    with pytest.raises(BadInput, match="smoothing must be above 0 where one is 0"):
        pronoun_pmi_bias([[0, 2]], [[1, 1]], smoothing=0)


@pytest.mark.parametrize("fit", [pca_forest_weights, local_linear_weights, shap_weights])
def test_fewer_than_ten_labelled_occupations_are_refused_by_the_forests(fit):
    features, labels = planted(n=12)
    with pytest.raises(BadInput, match="at least 10 occupations with a label, found 9"):
        fit(features[:9], labels[:9])
    with pytest.raises(BadInput, match="at least 10 occupations with a label, found 9"):
        fit(features, [*labels[:9], None, None, None])
    with pytest.raises(BadInput, match=r"12 occupation.s. of the first group, 0 of the second and 0 of neither"):
        fit(features, [1] * 12)
    with pytest.raises(BadInput, match="12 occupations but 11 labels"):
        fit(features, labels[:11])
    with pytest.raises(BadInput, match="a label is 1 or 2"):
        fit(features, ["male", "female"] * 6)


def test_occupations_without_a_label_take_no_part_in_the_weights():
    features, labels = planted(n=14)
    wild = np.concatenate([features, [[1e3, -1e3, 50.0]]])
    found = local_linear_weights(wild, [*labels, None], seeds=2)
    assert found.to_dict() == local_linear_weights(features, labels, seeds=2).to_dict()


def test_a_spread_needs_two_seeds():
    with pytest.raises(BadInput, match="at least 2 seeds, not 1"):
        pca_forest_weights(*planted(), seeds=1)


def test_equal_and_given_weights_are_what_they_say():
    assert equal_weights().values.tolist() == [1 / 3] * 3
    assert given_weights([0.5, 0.3, 0.2]).method == "given"
    thesis = given_weights([0.583, 0.154, 0.262])
    assert_are_weights(thesis)
    assert thesis.method == "given (divided by their sum, 0.999)"


@pytest.mark.parametrize("bad", [[0.5, 0.5], [0.5, 0.6, -0.1], [0, 0, 0]])
def test_weights_that_cannot_be_are_refused(bad):
    with pytest.raises(BadInput, match="give three weights"):
        given_weights(bad)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ([[1.0, 2.0]] * 4, "three columns"),
        ([1.0, 2.0, 3.0], "three columns"),
        ([["a", "b", "c"]], "must be numbers"),
        ([[1.0, 2.0, 3.0]] * 2, "at least 3 occupations, found 2"),
        ([[1.0, 2.0, 3.0], [1.0, float("nan"), 3.0], [1.0, 2.0, 3.0]], "occupation 1 hold NaN"),
    ],
)
def test_bad_features_are_refused_in_one_line(bad, says):
    with pytest.raises(BadInput, match=says):
        pca_weights(bad)


def test_attributions_have_the_sign_of_the_feature_that_decides():
    features, labels = planted(informative=0)
    found = attributions(features, [*labels[:-1], None], explainer="local-linear", seeds=2)
    assert found.shape == features.shape
    assert (np.sign(found[:, 0]) == np.where(labels == 1, 1, -1)).mean() > 0.9
    with pytest.raises(BadInput, match="unknown explainer 'lime': known"):
        attributions(features, labels, explainer="lime")


@needs_shap
def test_shap_attributions_and_the_mean_prediction_add_up_to_each_prediction():
    features, labels = planted(informative=0)
    z = StandardScaler().fit_transform(features)
    forest = RandomForestClassifier(50, random_state=0).fit(z, labels)
    predicted = forest.predict_proba(z) @ [1, -1]
    rest = predicted - shap_parts(forest, z).sum(axis=1)
    assert rest == pytest.approx([rest[0]] * len(rest), abs=1e-9)


@pytest.mark.skipif(find_spec("shap") is not None, reason="shap is installed")
def test_without_shap_one_line_names_the_extra():
    with pytest.raises(MissingExtra, match=r"SHAP needs the extra 'explain': pip install"):
        shap_weights(*planted())
