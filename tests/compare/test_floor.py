"""The noise floor: what harmless changes move, stored, found again, and held against growth."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.compare.result_folders import LEANS, audit, jitter, leaning, pronouns, without_items, write_results
from tiltmeter.compare import Noise, Policy, Rule, check, differ, load_noise, measure_noise, save_noise
from tiltmeter.compare.difference import Difference
from tiltmeter.compare.floor import FILE, SAMPLES, SAMPLES_DF, Floor, above_floor, find_floor, widen
from tiltmeter.errors import BadInput
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics import effect_size
from tiltmeter.statistics.differences import Change

ODDS = np.linspace(-1, 2, 30)


def shifted(shift: float, **more: str) -> Reading:
    """The usual leans with every word of the first group moved alike: no item disagrees with the others."""
    return leaning([lean + shift for lean in LEANS[0]], **more)


def variants(shifts: tuple[float, ...]) -> dict[str, Audit]:
    return {f"noise {i}": audit([shifted(shift), pronouns(ODDS + shift)]) for i, shift in enumerate(shifts)}


SHIFTS = (-0.02, 0.0, 0.01, 0.03)


def test_the_floor_is_the_sd_over_the_variants_of_the_effect_and_of_the_mean_log_odds() -> None:
    noise = measure_noise(audit([leaning(), pronouns(ODDS)]), variants(SHIFTS))
    effects = [effect_size([lean + shift for lean in LEANS[0]], LEANS[1]) for shift in SHIFTS]
    words, sentences = noise.probes["gender-career"], noise.probes["pronouns"]
    assert words.effect == pytest.approx(np.std(effects, ddof=1))
    assert (words.margins, words.variants) == (None, 4)
    # A shift of all log-odds moves their mean by itself, and their SD not at all.
    assert sentences.margins == pytest.approx(np.std(SHIFTS, ddof=1) / np.std(ODDS, ddof=1))
    assert sentences.effect == pytest.approx(np.std([np.mean(ODDS + shift > 0) for shift in SHIFTS], ddof=1))


def test_a_variant_that_is_not_harmless_is_left_out_and_named() -> None:
    changed = variants(SHIFTS) | {"coarse": audit([leaning(*jitter(0.3, 1)), pronouns(ODDS[::-1])])}
    noise = measure_noise(audit([leaning(), pronouns(ODDS)]), changed)
    assert noise.left_out == ("coarse",)
    assert noise.agreement["coarse"] < 0.99 <= noise.agreement["noise 0"]
    assert noise.probes == measure_noise(audit([leaning(), pronouns(ODDS)]), variants(SHIFTS)).probes
    with pytest.raises(BadInput, match="only 2 of 2 variants are harmless"):
        measure_noise(audit([leaning(), pronouns(ODDS)]), variants(SHIFTS[:2]))


def test_variances_add_up_and_degrees_of_freedom_are_satterthwaites() -> None:
    widened = widen(Change(0.5, 0.3, 10.0, 12), sd=0.2, df=7)
    a, b = 0.3**2, 2 * 0.2**2
    assert widened.standard_error == pytest.approx(math.sqrt(a + b))
    assert widened.df == pytest.approx((a + b) ** 2 / (a**2 / 10 + b**2 / 7))
    assert widened.p_value(0.5, sided="greater") == pytest.approx(stats.t.sf(0.5 / math.sqrt(a + b), widened.df))


def test_an_item_noise_that_is_known_exactly_adds_no_uncertainty_and_no_floor_changes_nothing() -> None:
    known = Change(0.5, 0.3, None, None)
    a, b = 0.3**2, 2 * 0.2**2
    assert widen(known, sd=0.2, df=7).df == pytest.approx((a + b) ** 2 / (b**2 / 7))
    assert widen(known, sd=0.0, df=7) == known
    # Where all items agree, the floor is all the noise there is.
    alone = widen(Change(0.5, 0.0, 11.0, 12), sd=0.2, df=7)
    assert (alone.standard_error, alone.df) == (pytest.approx(0.2 * math.sqrt(2)), pytest.approx(7))


def test_growth_by_a_common_shift_fails_against_item_noise_and_not_against_a_floor_as_large() -> None:
    old, new = audit([leaning()]), audit([shifted(0.06)])
    (bare,) = check(new, old, Policy(probes={"gender-career": Rule(floor=0.0)})).failed
    assert "more than its items' noise: " in bare.why
    noise = _noise({"gender-career": 0.05})
    (held,) = check(new, old, noise=noise).probes
    assert held.outcome == "undecided"
    assert "; harmless changes of the model could explain the growth beyond the tolerance of 0.02" in held.why
    assert "harmless changes move it by 0.050 (SD, by variants of the baseline)" in held.why
    small = _noise({"gender-career": 0.001})
    (found,) = check(new, old, noise=small).failed
    assert "more than its items' noise and harmless changes of the model: " in found.why


def test_the_log_odds_behind_a_share_have_a_floor_of_their_own() -> None:
    rng = np.random.default_rng(0)
    old, new = pronouns(ODDS), pronouns(ODDS + 0.3 + 0.02 * rng.normal(size=ODDS.size))
    found = differ(old, new)
    assert isinstance(found, Difference)
    assert found.margins is not None
    raised = above_floor(found, Floor(0.01, 0.04, 7, "baseline"))
    assert raised.margins is not None
    assert raised.margins.change == widen(found.margins.change, 0.04, 7)
    assert raised.change == widen(found.change, 0.01, 7)
    assert raised.p_growth > found.p_growth
    assert raised.p_value > found.p_value
    assert (raised.first, raised.second, raised.growth) == (found.first, found.second, found.growth)


def test_the_words_of_a_share_name_the_floor_of_its_log_odds_too() -> None:
    probes = {"pronouns": {"stimuli": "abc", "variants": 8, "effect": 0.0, "margins": 0.25}}
    noise = Noise.model_validate(_about(probes))
    (probe,) = check(audit([pronouns(ODDS + 0.3)]), audit([pronouns(ODDS)]), noise=noise).probes
    assert "move it by 0.000, the log-odds by 0.250 (SD, by variants of the baseline)" in probe.why


def test_every_probe_has_its_own_floor_and_not_that_of_another() -> None:
    ids = ("a", "b")
    old = audit([leaning(id=id) for id in ids])
    new = audit([shifted(0.06, id=id) for id in ids])
    for quiet, loud in (ids, ids[::-1]):
        found = check(new, old, noise=_noise({quiet: 0.001, loud: 0.5}))
        assert [probe.id for probe in found.failed] == [quiet]
        assert {probe.id: probe.floor.effect for probe in found.probes if probe.floor} == {quiet: 0.001, loud: 0.5}


def test_a_policy_sets_the_floor_of_a_probe() -> None:
    old, new = audit([leaning(id="a"), leaning(id="b")]), audit([shifted(0.06, id="a"), shifted(0.06, id="b")])
    policy = Policy(probes={"a": Rule(floor=0.0), "b": Rule(floor=0.5)})
    found = check(new, old, policy, noise=_noise({"a": 0.5, "b": 0.0}))
    assert [probe.id for probe in found.failed] == ["a"]
    assert "harmless changes move it by 0.500 (SD, by the policy)" in found.probes[-1].why
    assert Floor(0.02, 0.1, 7, "baseline").scaled_to(0.01) == Floor(0.01, 0.05, 7, "policy")
    assert Floor(0.0, 0.1, 7, "baseline").scaled_to(0.0).margins == 0.0


def test_without_a_floor_of_its_own_a_probe_has_that_of_the_sample_models() -> None:
    effect, margins = SAMPLES["weat", "d"]
    assert find_floor(leaning(), None) == Floor(effect, margins, SAMPLES_DF, "samples")
    assert find_floor(leaning(), _noise({"another": 0.3})) == find_floor(leaning(), None)
    # A kind that is not in the table has the largest floor of its scale.
    shares = [floor for (_, scale), floor in SAMPLES.items() if scale == "share"]
    largest = max(effect for effect, _ in shares), max(margins for _, margins in shares)
    assert find_floor(without_items(0.6, 0.5, 0.7), None) == Floor(*largest, SAMPLES_DF, "samples")
    (probe,) = check(audit([shifted(0.06)]), audit([leaning()])).probes
    assert "by the sample models; tiltmeter baseline measures your own" in probe.why


def test_a_floor_of_eight_variants_has_seven_degrees_of_freedom() -> None:
    assert find_floor(leaning(), _noise({"gender-career": 0.3})) == Floor(0.3, 0.0, 7, "baseline")


def test_a_check_reads_the_floor_beside_its_baseline(tmp_path: Path) -> None:
    old = write_results(tmp_path / "old", [leaning()])
    new = write_results(tmp_path / "new", [shifted(0.06)])
    save_noise(_noise({"gender-career": 0.001}), old)
    assert load_noise(old) == _noise({"gender-career": 0.001})
    assert check(Audit.load(new), Audit.load(old)).failed
    save_noise(_noise({"gender-career": 0.5}), old)
    assert not check(Audit.load(new), Audit.load(old)).failed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "broken JSON"),
        ("[]", "should be a"),
        ('{"format": 2}', "format"),
        (json.dumps({"format": 1, "model": "m"}), "is missing"),
    ],
)
def test_a_damaged_floor_is_one_line_that_says_what_to_do(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / FILE).write_text(content, encoding="utf-8")
    with pytest.raises(BadInput, match=message) as error:
        load_noise(tmp_path)
    assert str(tmp_path) in str(error.value)
    assert "run tiltmeter baseline again, or remove the file" in str(error.value)


def test_a_floor_of_other_weights_or_stimuli_is_refused() -> None:
    noise = _noise({"gender-career": 0.1})
    for other in (noise.model_copy(update={"revision": "2"}), _noise({"gender-career": 0.1}, stimuli="other")):
        with pytest.raises(BadInput, match=r"was measured on other weights or stimuli than gender-career of model"):
            check(audit([leaning()]), audit([leaning()]), noise=other)


def test_of_models_that_wobble_as_a_whole_few_checks_fail() -> None:
    """Each version has a shift of its own and item noise; the floor comes from eight other versions."""

    def version(rng: np.random.Generator) -> list[Reading]:
        readings = []
        for i in range(5):
            noise = 0.01 * rng.normal(size=(2, 8)) + 0.03 * rng.normal()
            readings.append(leaning(noise[0] + LEANS[0], LEANS[1] - noise[1], id=f"w{i}"))
        return readings

    strict, failed = Policy(tolerance=0.0), {"with": 0, "without": 0}
    no_floor = Policy(tolerance=0.0, probes={"*": Rule(floor=0.0)})
    for seed in range(100):
        rng = np.random.default_rng(seed)
        old, new = audit(version(rng)), audit(version(rng))
        noise = measure_noise(old, {str(i): audit(version(rng)) for i in range(8)})
        failed["with"] += bool(check(new, old, strict, noise=noise).failed)
        failed["without"] += bool(check(new, old, no_floor).failed)
    assert failed["with"] <= 11  # of 100 with a chance of .05 each, more come in less than 1 of 200 trials
    assert failed["without"] >= 50


def _noise(floors: dict[str, float], *, stimuli: str = "abc") -> Noise:
    probes = {id: {"stimuli": stimuli, "variants": 8, "effect": sd, "margins": None} for id, sd in floors.items()}
    return Noise.model_validate(_about(probes))


def _about(probes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return {"model": "model", "revision": "1", "agreement": {"noise 1": 0.999}, "left_out": [], "probes": probes}
