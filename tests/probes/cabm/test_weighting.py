"""How the features of an occupation are weighed into a score."""

from __future__ import annotations

import importlib.util
import re

import pytest

from tests.probes.cabm.planted_vectors import (
    LEANS,
    PlantedVectors,
    by_word,
    leaning,
    probe,
    reading,
    unlabelled,
)
from tiltmeter.errors import BadInput, MissingExtra
from tiltmeter.statistics import correlation


def test_weights_by_shap_say_which_extra_they_need():
    pytest.importorskip("sklearn")
    try:
        import shap  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtra, match="explain"):
            reading(PlantedVectors(leaning(LEANS), noise=0.05), method="shap_rf")
    else:
        found = reading(PlantedVectors(leaning(LEANS), noise=0.05), method="shap_rf")
        assert found.details.repaired.method.startswith("shap")


def labels_in(tmp_path, *lines: str) -> str:
    file = tmp_path / "labels.csv"
    file.write_text("\n".join(["occupation,label", *lines]), encoding="utf-8")
    return str(file)


def test_labels_of_the_users_own_are_what_forests_learn(tmp_path):
    words = sorted(LEANS)
    file = labels_in(tmp_path, *(f"{word},{'men' if LEANS[word] > 0 else 'women'}" for word in words))
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), labels=file)
    assert found.details.labels_from == "labels.csv"
    labels = by_word(found, "known_label")
    assert labels == {word: "men" if LEANS[word] > 0 else "women" for word in labels}
    moved = [item.get("moved_cosine") + item.get("moved_context") for item in found.items]
    assert correlation([item.value for item in found.items], moved, method="spearman").r > 0.8


def test_the_published_forests_run_and_the_explained_one_is_shown_first():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05)).details.published
    assert not found.not_weighed
    explained = "shap" if importlib.util.find_spec("shap") else "local-linear"
    assert found.method == f"{explained}+forest"
    assert {"pca", "pca_rf", "equal"} < set(found.weights)


def test_labels_of_the_users_own_are_learned_in_the_published_form_too_and_a_missing_class_is_said(tmp_path):
    file = labels_in(tmp_path, *(f"{word},men" for word in LEANS))
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), labels=file).details.published
    assert f"name {len(LEANS)} occupation(s) of the first group, 0 of the second" in found.not_weighed["pca_rf"]
    assert found.method == "pca"


def test_another_threshold_moves_the_categories_and_nothing_else():
    usual, wide = (
        reading(PlantedVectors(leaning(LEANS), noise=0.05), threshold=threshold) for threshold in (None, 0.5)
    )
    assert by_word(usual, "value") == by_word(wide, "value")
    assert wide.details.threshold == 0.5
    for item in wide.items:
        inside = max(abs(item.get("low")), abs(item.get("high"))) <= 0.5
        assert (item.group == "neutral") == inside, item.label
    with pytest.raises(BadInput, match="is from 0 to 1"):
        probe(threshold=-1.0)


def test_weights_of_the_users_own_are_those_of_the_headline_and_say_so():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled, method="0.5,0.3,0.2")
    assert found.details.repaired.method == found.details.published.method == "given"
    assert found.details.repaired.weights["given"].values == pytest.approx((0.5, 0.3, 0.2))
    assert found.details.repaired.scores["given"] == tuple(by_word(found, "value").values())
    halved = reading(PlantedVectors(leaning(LEANS), noise=0.05), change=unlabelled, method="1,0.6,0.4")
    assert halved.details.repaired.method == "given (divided by their sum, 2)"
    assert by_word(halved, "value") == pytest.approx(by_word(found, "value"))
    # As published the weights stay as they are, whatever they add up to.
    assert halved.details.published.method == "given"
    assert halved.details.published.weights["given"].values == pytest.approx((1, 0.6, 0.4))
    assert halved.details.published.scores["given"] == pytest.approx(
        [2 * x for x in found.details.published.scores["given"]]
    )


def test_a_label_file_that_is_not_there_is_said_and_the_rest_is_scored():
    found = reading(PlantedVectors(leaning(LEANS), noise=0.05), labels="nowhere.csv")
    (line,) = [each for each in found.left_out if "nowhere.csv" in each.what]
    assert "there is no such file" in line.reason
    assert found.details.labels_from != "nowhere.csv"
    assert len(found.items) == len(LEANS)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (("nurse,robots",), "row 2: 'robots' is not a label: write men, women or neither"),
        (("nurse,men", "nurse,women"), "row 3: 'nurse' has two different labels"),
        (("nurse,",), "no occupation has a label"),
    ],
)
def test_a_label_file_with_a_mistake_is_one_clear_line(tmp_path, lines, says):
    with pytest.raises(BadInput, match=re.escape(says)):
        probe(labels=labels_in(tmp_path, *lines))
