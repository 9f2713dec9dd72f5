"""Rankings of models over many tests, against hand-computed ranks, scipy and pandas."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.command import environment, tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import audit
from tiltmeter.compare import rank
from tiltmeter.compare.ranking import _concordance, _correlations, _ranks
from tiltmeter.errors import BadInput
from tiltmeter.stimuli import group

FAMILY = list(group(CAREER_FAMILY[1]).texts)
SUITE = {
    "name": "queries",
    "probes": [
        {"id": "career", "probe": "weat", "targets": list(TERMS), "attributes": list(CAREER_FAMILY)},
        {"id": "family", "probe": "weat", "targets": list(TERMS), "attributes": [FAMILY[::2], FAMILY[1::2]]},
        {"id": "same", "probe": "weat", "targets": list(TERMS), "attributes": list(CAREER_FAMILY), "control": True},
    ],
}


def model(tilt: float) -> dict[str, object]:
    return words(dict(zip([*TERMS, *CAREER_FAMILY], [0.4 * tilt, -0.4 * tilt, tilt, -tilt], strict=True)))


def test_the_more_a_model_was_tilted_the_later_it_comes():
    from tiltmeter import load

    models = [load(model(tilt), name=f"tilt {tilt}") for tilt in (0.9, 0.02, 0.4)]
    found = rank(audit(models, suite={**SUITE, "probes": SUITE["probes"][::2]}, cache=False))
    assert [one.model for one in found.models] == ["tilt 0.02", "tilt 0.4", "tilt 0.9"]
    assert found.tests == ("career",), "controls do not count"
    assert [one.mean_rank for one in found.models] == [1, 2, 3]
    assert all(1 <= one.low <= one.mean_rank <= one.high <= 3 for one in found.models)
    frame = found.to_frame()
    assert frame.index.tolist() == ["tilt 0.02", "tilt 0.4", "tilt 0.9"]
    assert frame["career"].is_monotonic_increasing
    assert "mean over 1 tests of a model's rank" in found.how


def test_equal_models_share_a_rank_and_their_interval_is_wide():
    found = rank(audit([model(0.4), model(0.4)], suite=SUITE, cache=False))
    assert [one.mean_rank for one in found.models] == [1.5, 1.5]
    assert found.models[0].low < 1.5 < found.models[0].high
    assert found.concordance is None, "two models have no order to agree on"


def test_correlations_and_concordance_are_scipys():
    rng = np.random.default_rng(0)
    distances = rng.random((6, 4)).round(1)  # with ties
    ranks = _ranks(distances)
    found = _correlations(["a", "b", "c", "d"], ranks)
    assert found["a"]["c"] == pytest.approx(stats.spearmanr(distances[:, 0], distances[:, 2]).statistic)
    # W and Friedman's statistic are one number: chi² = m (n - 1) W.
    chi = stats.friedmanchisquare(*distances).statistic
    assert _concordance(ranks) == pytest.approx(chi / (4 * 5))


def test_concordance_is_one_where_all_agree_by_hand():
    agree = np.array([[1.0, 1], [2, 2], [3, 3]])
    assert _concordance(agree) == pytest.approx(1)
    assert _concordance(np.array([[1.0, 3], [2, 2], [3, 1]])) == pytest.approx(0)


def test_a_test_that_one_model_did_not_take_is_left_out_and_named():
    few = {word: row for word, row in model(0.4).items() if word not in set(group(CAREER_FAMILY[0]).texts)}
    found = rank(audit([model(0.2), few], suite=SUITE, cache=False))
    assert "career" in found.left_out
    assert "not measured on own:dict (2)" in found.left_out["career"]
    with pytest.raises(BadInput, match="a ranking needs at least two"):
        rank(audit([model(0.2)], suite=SUITE, cache=False))


def test_the_command_prints_the_order_the_agreement_and_how_it_was_made(tmp_path):
    from tiltmeter import load

    models = [load(model(tilt), name=f"tilt {tilt}") for tilt in (0.9, 0.02, 0.4)]
    order = [one.model for one in rank(audit(models, suite=SUITE, cache=False, out=tmp_path / "results")).models]
    done = tiltmeter("rank", tmp_path / "results", env=environment(tmp_path / "cache"))
    assert done.code == 0, done.stderr
    assert sorted(order, key=done.stdout.index) == order
    assert "Kendall's W" in done.stdout + done.stderr
    assert "mean over 2 tests" in done.stdout + done.stderr
