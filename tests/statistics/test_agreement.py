"""Agreement beyond chance: by hand, against three packages, and what must hold for any labels."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss

from tiltmeter.errors import BadInput
from tiltmeter.statistics import cohen_kappa, fleiss_kappa, krippendorff_alpha

#: Three people, eight sentences; what follows from them is worked out below.
ANN, BEN, CEM = "MMMMWWWW", "MMMWWWWM", "MMWWWWMM"
ROWS = list(zip(ANN, BEN, CEM, strict=True))
TABLES = st.integers(2, 5).flatmap(
    lambda people: st.lists(st.lists(st.sampled_from("MWE"), min_size=people, max_size=people), min_size=3, max_size=25)
)


def test_cohen_by_hand() -> None:
    # Ann and Ben agree on 6 of 8, both say M four times of eight: chance 1/2.
    assert cohen_kappa(ANN, BEN).value == pytest.approx((6 / 8 - 1 / 2) / (1 / 2))
    # Ann and Cem agree on 4 of 8: no more than chance.
    assert cohen_kappa(ANN, CEM).value == pytest.approx(0)
    assert cohen_kappa(BEN, CEM).value == pytest.approx(0.5)


def test_fleiss_and_alpha_by_hand() -> None:
    # Items 1, 2, 5, 6 are unanimous, of the other four two of three agree: 1/3 of pairs each. M and W: 12 of 24.
    observed = (4 * 1 + 4 / 3) / 8
    fleiss = fleiss_kappa(ROWS)
    assert fleiss.observed == pytest.approx(observed)
    assert fleiss.expected == pytest.approx(0.5)
    assert fleiss.value == pytest.approx(1 / 3)
    # The same pairs differ, and 24 labels of 12 and 12 without replacement differ by 2 * 12 * 12 / (24 * 23).
    alpha = krippendorff_alpha(ROWS)
    assert alpha.value == pytest.approx(1 - (1 - observed) / (288 / 552))
    assert (alpha.items, alpha.ratings, alpha.raters) == (8, 24, 3)


def test_alpha_of_krippendorffs_own_example() -> None:
    """Computing Krippendorff's alpha-reliability (2011), part C: twelve units, four observers, labels missing."""
    published = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    rows = list(zip(*published, strict=True))
    found = krippendorff_alpha(rows)
    assert round(found.value or 0, 3) == 0.743
    assert found.items == 11


@settings(max_examples=60, deadline=None)
@given(TABLES)
def test_the_peers_give_the_same(rows: list[list[str]]) -> None:
    krippendorff = pytest.importorskip("krippendorff", reason="the package krippendorff is not installed")
    one, two = [row[0] for row in rows], [row[1] for row in rows]
    kappa, fleiss, alpha = cohen_kappa(one, two, resamples=2), fleiss_kappa(rows, resamples=2), krippendorff_alpha(rows)
    if kappa.value is not None:
        assert kappa.value == pytest.approx(cohen_kappa_score(one, two))
    if fleiss.value is not None:
        table, _ = aggregate_raters(np.array(rows))
        assert fleiss.value == pytest.approx(statsmodels_fleiss(table))
    if alpha.value is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            codes = np.array([[ord(label) for label in row] for row in rows], dtype=float).T
            theirs = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
        assert alpha.value == pytest.approx(theirs)


@settings(max_examples=40, deadline=None)
@given(TABLES, st.integers(0, 10_000))
def test_what_must_hold_for_any_labels(rows: list[list[str]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    others = [[rows[i][j] for j in rng.permutation(len(rows[0]))] for i in rng.permutation(len(rows))]
    renamed = [[{"M": 1, "W": 2, "E": 3}[label] for label in row] for row in rows]
    for measure in (fleiss_kappa, krippendorff_alpha):
        found = measure(rows, resamples=50)
        assert _value(measure(others, resamples=2)) == pytest.approx(_value(found), nan_ok=True)
        assert _value(measure(renamed, resamples=2)) == pytest.approx(_value(found), nan_ok=True)
        if found.value is not None:
            assert found.value <= 1 + 1e-12
            if found.ci:
                assert found.value in found.ci
        alike = [[row[0]] * len(row) for row in rows]
        assert measure(alike, resamples=2).value in (None, pytest.approx(1))
    one, two = [row[0] for row in rows], [row[1] for row in rows]
    assert _value(cohen_kappa(one, two)) == pytest.approx(_value(cohen_kappa(two, one)), nan_ok=True)


def _value(found: Any) -> float:
    return float("nan") if found.value is None else found.value


def test_missing_labels_are_left_out_and_counted() -> None:
    holes = [*ROWS, ("M", None, None), (None, None, None), ("M", "M", None)]
    assert fleiss_kappa(holes).items == 8
    alpha = krippendorff_alpha(holes)
    assert (alpha.items, alpha.ratings) == (9, 26)
    assert cohen_kappa([*ANN, "M"], [*BEN, None]).value == pytest.approx(0.5)


def test_one_label_for_everything_shows_nothing() -> None:
    assert krippendorff_alpha(["MM", "MM"]).value is None
    assert fleiss_kappa(["MM", "MM"]).ci is None
    assert cohen_kappa("MM", "MM").to_dict()["value"] is None


def test_perfect_agreement_is_not_perfectly_sure() -> None:
    found = cohen_kappa("MWMWMWMWMW", "MWMWMWMWMW")
    assert found.value == 1
    # Wilson's lower end of 10 of 10 is .7225; chance is .5.
    assert found.ci is not None
    assert found.ci.low == pytest.approx((0.72246 - 0.5) / 0.5, abs=1e-4)


def test_the_interval_covers_the_truth_nearly_as_often_as_it_says() -> None:
    """Two people who each see the truth with probability .9: kappa is (.82 - .5) / .5 = .64."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(200):
        truth = rng.integers(2, size=100)
        one, two = (np.where(rng.random(100) < 0.9, truth, 1 - truth) for _ in range(2))
        ci = cohen_kappa(one.tolist(), two.tolist(), resamples=400).ci
        covered += ci is not None and 0.64 in ci
    assert 0.9 <= covered / 200 <= 0.99


def test_items_about_one_word_are_resampled_together() -> None:
    """Ten copies of every item tell no more than one: without clusters the interval would be a third as wide."""
    one, two = ANN * 10, BEN * 10
    words = [str(place) for place in range(8)] * 10
    plain, clustered, single = (
        cohen_kappa(one, two).ci, cohen_kappa(one, two, clusters=words).ci, cohen_kappa(ANN, BEN).ci
    )  # fmt: skip
    assert plain is not None
    assert clustered is not None
    assert single is not None
    assert clustered.high - clustered.low == pytest.approx(single.high - single.low)
    assert plain.high - plain.low < 0.5 * (clustered.high - clustered.low)


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: cohen_kappa("MW", "M"), "one label of each person per item"),
        (lambda: cohen_kappa(["M", None], [None, "W"]), "items that they share"),
        (lambda: fleiss_kappa(["MW", "M"]), "as many for every item"),
        (lambda: krippendorff_alpha([]), "at least two people"),
        (lambda: krippendorff_alpha(["MM"], level=2), "between 0 and 1"),
    ],
)
def test_bad_input_is_one_clear_line(call: Any, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        call()
