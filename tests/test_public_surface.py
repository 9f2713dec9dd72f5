from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys

import numpy as np
import pytest

import tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter import measures, mitigation, statistics

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))
RNG = np.random.default_rng(0)
X, Y, A, B = (RNG.normal(size=(6, 5)) for _ in range(4))
P = np.array([0.1, 0.5, 0.3, 0.2, 0.4, 0.6])
CALLS = {
    "amplification": lambda: measures.amplification(["cook", "fix"], [1, 2]),
    "cabm": lambda: measures.cabm(A[:, :3], measures.equal_weights(), scale="rms"),
    "equal_weights": measures.equal_weights,
    "given_weights": lambda: measures.given_weights([1, 2, 3]),
    "local_linear_weights": lambda: measures.local_linear_weights(np.vander(np.arange(10.0), 3), [1, 2] * 5, seeds=2),
    "pca_forest_weights": lambda: measures.pca_forest_weights(np.vander(np.arange(10.0), 3), [1, 2] * 5, seeds=2),
    "pca_weights": lambda: measures.pca_weights(A[:, :3]),
    "pmi_bias": lambda: measures.pmi_bias([1, 0], [2, 3]),
    "pronoun_pmi_bias": lambda: measures.pronoun_pmi_bias([[1, 0], [2, 3]], [[2], [3]]),
    "neutral_offset": lambda: measures.neutral_offset(P, P[::-1]),
    "stability": lambda: measures.stability({"a": P, "b": P[::-1]}),
    "validate": lambda: measures.validate(
        P - 0.3, labels=[1, 2, 1, None, 2, 1], unmasking=P - 0.2, others={"weat": P[::-1]}
    ),
    "with_intervals": lambda: measures.with_intervals(A[:, :3], [1, 1, 1], [A[:, :3], B[:, :3]]),
    "ceat": lambda: measures.ceat(*([rows[:3], rows[3:]] for rows in (X, Y, A, B)), draws=20),
    "cloze": lambda: measures.cloze(P, P[::-1], P / 2, P / 3, labels=[1, 2, 1, None, 2, 1]),
    "cloze_combined": lambda: measures.cloze_combined([P, P], [P[::-1], P]),
    "crows_pairs": lambda: measures.crows_pairs(-P, -P[::-1], kinds=list("aabbcc")),
    "lpbs": lambda: measures.lpbs(-(X**2), -(Y**2), -(A**2), -(B**2), groups=list("aaabbb")),
    "preference": lambda: measures.preference(-P, -P[::-1], clusters=list("aabbcc")),
    "pronoun_gap": lambda: measures.pronoun_gap(
        P, P[::-1], units=list("abcdef"), shares=dict(zip("abcdef", X[:, 0], strict=True))
    ),
    "bold": lambda: measures.bold(P, P[::-1] / 2),
    "counterfactual": lambda: measures.counterfactual(P, P[::-1] / 2, scenarios=list("aabbcc"), names=list("xyxyxy")),
    "honest": lambda: measures.honest(P, groups=["f", "m"] * 3, templates=list("aabbcc"), between=("f", "m")),
    "bbq": lambda: measures.bbq(
        [0, 2],
        [
            {
                "category": "Age",
                "question_index": "1",
                "context_condition": condition,
                "label": label,
                "answer_info": {"ans0": ["Ann", "old"], "ans1": ["Bea", "nonOld"], "ans2": ["Not known", "unknown"]},
            }
            for condition, label in (("ambig", 2), ("disambig", 1))
        ],
        [0, None],
    ),
    "stereoset": lambda: measures.stereoset(
        {"s": -1.0, "a": -2.0, "u": -3.0},
        [
            {
                "target": "nurse",
                "bias_type": "gender",
                "sentences": [
                    {"id": "s", "gold_label": "stereotype"},
                    {"id": "a", "gold_label": "anti-stereotype"},
                    {"id": "u", "gold_label": "unrelated"},
                ],
            }
        ],
    ),
    "clustered_mean": lambda: statistics.clustered_mean(P),
    "clustered_share": lambda: statistics.clustered_share([1, 0, 0.5], ["a", "b", "b"]),
    "share": lambda: statistics.share(3, 4),
    "sign_flip_test": lambda: statistics.sign_flip_test(P),
    "association": lambda: measures.association(X, Y, A, B),
    "cluster_bias": lambda: measures.cluster_bias(X, Y),
    "cluster_deal_test": lambda: measures.cluster_deal_test(X, measures.dealt_leans(X, A, B)),
    "direct_bias": lambda: measures.direct_bias(X, A[0]),
    "ect": lambda: measures.ect(X, Y, A),
    "mac": lambda: measures.mac(X, [A, B]),
    "multi_weat": lambda: measures.multi_weat([X, Y], [A, B], permutations=99),
    "nas": lambda: measures.nas(X, A, B),
    "neighbour_bias": lambda: measures.neighbour_bias(X, np.arange(6.0), A, B, k=3),
    "neighbour_deal_test": lambda: measures.neighbour_deal_test(X, measures.dealt_leans(X, A, B), k=3),
    "ripa": lambda: measures.ripa(X, A, B),
    "rnd": lambda: measures.rnd(X, Y, A),
    "rnsb": lambda: measures.rnsb(X, A, B, permutations=5, resamples=5),
    "same": lambda: measures.same(X, [A, B]),
    "semaxis": lambda: measures.semaxis(X, A, B),
    "weat": lambda: measures.weat(X, Y, A, B),
    "axis_placebo": lambda: measures.axis_placebo(X, np.vstack([A, B]), value=0.1, sizes=(2, 2)),
    "cluster_placebo": lambda: measures.cluster_placebo(X, X[:, :3], value=0.8),
    "direct_bias_placebo": lambda: measures.direct_bias_placebo(X, np.vstack([A, B]), value=0.1, n_pairs=2),
    "ect_placebo": lambda: measures.ect_placebo(X, Y, np.vstack([A, B]), score=0.5, n=4),
    "mac_placebo": lambda: measures.mac_placebo(X, np.vstack([A, B]), score=0.5, sizes=(2, 2)),
    "rnd_placebo": lambda: measures.rnd_placebo(X, Y, np.vstack([A, B]), score=0.5, n=4),
    "multi_weat_placebo": lambda: measures.multi_weat_placebo([X, Y], np.vstack([A, B]), eta=0.5, sizes=(2, 2)),
    "neighbour_placebo": lambda: measures.neighbour_placebo(X, X[:, :3], value=0.8, k=2),
    "ripa_placebo": lambda: measures.ripa_placebo(X, np.vstack([A, B]), value=0.1, n_pairs=2),
    "wefat_placebo": lambda: measures.wefat_placebo(X, np.vstack([A, B]), range(6), r=0.1, sizes=(2, 2)),
    "weat_placebo": lambda: measures.weat_placebo(X, Y, np.vstack([A, B]), d=1.0, sizes=(2, 2)),
    "wefat": lambda: measures.wefat(X, A, B, property=range(6)),
    "bootstrap_interval": lambda: statistics.bootstrap_interval([1.0, 2.0, 4.0]),
    "crossed_test": lambda: statistics.crossed_test(
        X @ A.T, Y @ A.T, n_a=3, kin=statistics.Kin(range(6), range(6), range(3), range(len(A) - 3))
    ),
    "matched_test": lambda: statistics.matched_test(np.arange(1.0, 7.0)),
    "welch_test": lambda: statistics.welch_test(np.arange(5.0), np.arange(5.0) + 1),
    "correlation": lambda: statistics.correlation([1, 2, 3, 5], [1, 2, 4, 3]),
    "permutation_test": lambda: statistics.permutation_test(
        statistics.by_unit([1.0, 2.0]), statistics.by_unit([3.0, 4.0])
    ),
    "random_effects": lambda: statistics.random_effects([0.1, 0.3], [0.01, 0.02]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_every_result_is_frozen_and_turns_into_plain_json(call):
    result = call()
    assert dataclasses.is_dataclass(result)
    field = dataclasses.fields(result)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(result, field, None)
    values = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert set(values) == {each.name for each in dataclasses.fields(result)}


def test_every_measure_is_called_above_or_is_a_plain_number():
    functions = {name for name in measures.__all__ if inspect.isfunction(getattr(measures, name))}
    assert functions - set(CALLS) == {
        *("bias_direction", "dealt_leans", "indirect_bias", "leans_between", "mean_probability"),
        *("attributions", "context_shift", "cosine_bias", "cross_validated_scores", "signed_shift"),
        "published_labels",
        # A result of several pairs, and one that needs an extra.
        *("compare_scores", "shap_weights"),
        *("aul", "changed_tokens", "meade", "nangia", "shared_tokens"),
        "draw_contexts",
    }


@pytest.mark.parametrize("module", [measures, mitigation, statistics])
def test_options_are_keyword_only(module):
    for name in module.__all__:
        function = getattr(module, name)
        if inspect.isfunction(function):
            for parameter in inspect.signature(function).parameters.values():
                if parameter.default is not inspect.Parameter.empty and parameter.name not in ("units", "statistic"):
                    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY, f"{name}({parameter.name})"


def test_the_names_of_the_contract_are_there():
    assert callable(tiltmeter.load)
    assert callable(tiltmeter.audit)
    assert callable(tiltmeter.probe)
    for name in ("check", "cloze", "compare", "debias", "mitigate", "unmask"):
        assert callable(getattr(tiltmeter, name))
    assert dataclasses.is_dataclass(tiltmeter.Reading)
    assert callable(tiltmeter.Audit.report)
    assert callable(tiltmeter.Audit.to_frame)
    assert tiltmeter.measures.weat is measures.weat
    assert tiltmeter.statistics.random_effects is statistics.random_effects
    assert set(tiltmeter.__all__) <= set(dir(tiltmeter))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tiltmeter' has no attribute 'audits_'"):
        tiltmeter.audits_  # noqa: B018


def test_the_readme_path_works_from_vectors_to_the_report(tmp_path):
    found = tiltmeter.audit([words(LEANS)], suite="measures", cache=False, permutations=99)
    assert found.to_frame().loc[0, "id"] == "weat"
    report = found.report(tmp_path / "audit.html")
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert found.report(tmp_path) == report
    reading = tiltmeter.probe("weat", words(LEANS), targets=TERMS, attributes=CAREER_FAMILY, cache=False)
    assert isinstance(reading, tiltmeter.Reading)
    assert json.loads(json.dumps(reading.to_dict(), allow_nan=False))["effect"]["value"] == reading.effect.value


def test_a_reading_and_an_audit_cannot_be_changed():
    found = tiltmeter.audit(words(LEANS), suite="measures", cache=False, permutations=99)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.readings = ()
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.readings[0].title = "level"


def test_the_module_of_audits_does_not_hide_the_function():
    script = (
        "from tiltmeter.readings import Audit\nimport tiltmeter, tiltmeter.probes, tiltmeter.models.registry\n"
        "assert callable(tiltmeter.audit) and callable(tiltmeter.probe) and callable(tiltmeter.load)\n"
        "assert tiltmeter.Audit is Audit"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
