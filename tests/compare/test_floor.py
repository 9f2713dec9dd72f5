"""The noise floor: what harmless changes move, stored, found again, and held against growth."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.compare.result_folders import LEANS, audit, jitter, leaning, pronouns, without_items, write_results
from tiltmeter.compare import NoiseFloor, Policy, Rule, check, differ, load_noise, measure_noise, save_noise
from tiltmeter.compare.difference import Difference
from tiltmeter.compare.floor import (
    FILE,
    Floor,
    Wobble,
    above_floor,
    find_floor,
    find_wobble,
    set_floor,
    widen,
)
from tiltmeter.compare.sample_floor import ALL, SAMPLES_N, VECTORS
from tiltmeter.errors import BadInput
from tiltmeter.readings import Audit, Reading
from tiltmeter.statistics.differences import Change

ODDS = np.linspace(-1, 2, 30)


def moved(shift: float, noise: float = 0.01, seed: int = 1, **more: str) -> Reading:
    """The usual leans measured again: items disagree by the noise, and all of the first group move alike."""
    return leaning(*jitter(noise, seed, shift=shift), **more)


def odds(shift: float, noise: float = 0.01, seed: int = 1) -> Reading:
    return pronouns(ODDS + shift + noise * np.random.default_rng(seed).normal(size=ODDS.size))


def variants(size: float = 1.0, n: int = 8) -> dict[str, Audit]:
    """Changes of this size: single items move by a hundredth of it, and all of them alike by five times as much."""
    shifts = 0.05 * np.random.default_rng(0).normal(size=n)
    return {
        f"noise {i}": audit([moved(size * shift, 0.01 * size, i), odds(size * shift, 0.01 * size, i)])
        for i, shift in enumerate(shifts)
    }


def difference(old: Reading, new: Reading) -> Difference:
    found = differ(old, new)
    assert isinstance(found, Difference)
    return found


BASE = audit([leaning(), pronouns(ODDS)])


def test_the_floor_is_how_many_times_the_noise_of_its_items_an_effect_moves() -> None:
    noise, made = measure_noise(BASE, variants()), variants()
    for id, number in (("gender-career", 0), ("pronouns", 1)):
        found = [difference(BASE.readings[number], variant.readings[number]) for variant in made.values()]
        own = noise.probes[id]
        assert (own.n, own.source) == (8, "variants")
        if number == 0:
            steps = [each.change.difference / each.change.standard_error for each in found]
            assert own.effect == pytest.approx(math.sqrt(np.mean(np.square(steps))))
            assert own.margins is None
            assert own.effect > 2
        else:
            behind = [each.margins.change for each in found if each.margins]
            steps = [change.difference / change.standard_error for change in behind]
            # The share moves in steps, if at all: it has the floor of its log-odds.
            assert own.effect == own.margins == pytest.approx(math.sqrt(np.mean(np.square(steps))))


def test_it_does_not_depend_on_how_large_the_changes_were() -> None:
    """So a floor measured by rounding to 8 bits holds for 6 bits too."""
    small, large = (measure_noise(BASE, variants(size)).probes for size in (0.02, 1.0))
    for id in ("gender-career", "pronouns"):
        assert small[id].effect == pytest.approx(large[id].effect, rel=0.1)


def test_a_variant_that_is_not_harmless_is_left_out_and_named() -> None:
    changed = variants() | {"coarse": audit([leaning(*jitter(0.5, 1)), pronouns(ODDS[::-1])])}
    noise = measure_noise(BASE, changed)
    assert noise.left_out == ("coarse",)
    assert noise.agreement["coarse"] < 0.95 <= noise.agreement["noise 0"]
    assert noise.probes == measure_noise(BASE, variants()).probes
    with pytest.raises(BadInput, match="only 2 of 2 variants are harmless"):
        measure_noise(BASE, variants(n=2))


def test_no_probe_has_a_smaller_floor_than_those_of_its_kind_together() -> None:
    ids, shifts = ("quiet", "loud"), (0.0, 0.05)
    made = {
        str(i): audit([moved(shift * (-1) ** i, 0.01, i, id=id) for id, shift in zip(ids, shifts, strict=True)])
        for i in range(4)
    }
    base = audit([leaning(id=id) for id in ids])
    alone = {id: measure_noise(audit([leaning(id=id)]), made).probes[id] for id in ids}
    quiet, loud = (measure_noise(base, made).probes[id] for id in ids)
    assert quiet.effect == pytest.approx(math.sqrt((alone["quiet"].effect ** 2 + alone["loud"].effect ** 2) / 2))
    assert (quiet.n, alone["quiet"].n) == (8, 4)
    assert loud == alone["loud"]


def test_other_runs_count_where_they_move_an_effect_further_and_with_each_other() -> None:
    quiet = {str(i): audit([moved(0.0, 0.01, i), odds(0.0, 0.01, i)]) for i in range(8)}
    runs = {
        f"run-{i}": audit([moved(shift, 0.1, 20 + i), odds(0.0, 0.1, 20 + i)])
        for i, shift in enumerate((0.4, -0.4, 0.4))
    }
    noise = measure_noise(BASE, quiet, runs)
    assert noise.runs == ("run-0", "run-1", "run-2")
    own = noise.probes["gender-career"]
    assert (own.source, own.n) == ("runs", 3)
    four = [leaning(), *(run.readings[0] for run in runs.values())]
    steps = [difference(one, two).change for i, one in enumerate(four) for two in four[i + 1 :]]
    squares = [(change.difference / change.standard_error) ** 2 for change in steps]
    assert own.effect == pytest.approx(math.sqrt(np.mean(squares)))
    # A run is another model, however little it agrees; a floor from runs alone is one too.
    assert measure_noise(BASE, {}, runs).probes["gender-career"] == own
    with pytest.raises(BadInput, match="2 other runs say too little"):
        measure_noise(BASE, quiet, dict(list(runs.items())[:2]))


def test_an_api_that_answers_the_same_again_has_no_floor() -> None:
    noise = measure_noise(BASE, {str(i): BASE for i in range(3)})
    assert {own.effect for own in noise.probes.values()} == {0.0}


def test_variances_add_up_and_degrees_of_freedom_are_satterthwaites() -> None:
    found = difference(leaning(), moved(0.05, 0.02))
    items, floor = found.change, set_floor(found, 0.03)
    assert items.df is not None
    a, b = items.standard_error**2, 2 * 0.03**2
    raised = above_floor(found, floor).change
    assert raised.standard_error == pytest.approx(math.sqrt(a + b))
    assert raised.df == pytest.approx((a + b) ** 2 / (a**2 / items.df + b**2 / SAMPLES_N))
    assert raised.p_value(0.5, sided="greater") == pytest.approx(stats.t.sf(0.5 / math.sqrt(a + b), raised.df))


def test_no_floor_changes_nothing_and_where_all_items_agree_it_is_all_the_noise() -> None:
    found = difference(leaning(), moved(0.05, 0.02))
    assert above_floor(found, set_floor(found, 0.0)).change == found.change
    exact = dataclasses.replace(found, change=Change(0.5, 0.0, 11.0, 12))
    alone = above_floor(exact, set_floor(exact, 0.2)).change
    assert (alone.standard_error, alone.df) == (pytest.approx(0.2 * math.sqrt(2)), pytest.approx(SAMPLES_N))
    # Of an interval alone the noise counts as known exactly.
    known = dataclasses.replace(found, change=Change(0.5, 0.3, None, None))
    assert above_floor(known, set_floor(known, 0.0)).change == known.change


def test_items_that_disagree_more_have_a_floor_as_many_times_larger() -> None:
    for noise in (0.01, 0.03):
        found = difference(leaning(), moved(0.05, noise))
        floor = find_floor(found, Wobble(3.0, 0.0, 8, "variants"))
        items = found.change
        assert above_floor(found, floor).change.standard_error == pytest.approx(3 * items.standard_error)
        assert items.df is not None
        assert floor.df == pytest.approx(1 / (1 / 8 + 1 / items.df))
    # Less than the noise of the items alone there cannot be, and eight variants do not prove that there is no more.
    quiet = find_floor(found, Wobble(0.7, 0.0, 8, "variants"))
    assert (quiet.effect, quiet.df) == (0.0, floor.df)


def test_word_vectors_that_disagree_more_than_after_any_harmless_change_have_the_floor_of_those_that_do_not() -> None:
    found = difference(leaning(), moved(0.05, 0.3))
    assert found.agreement is not None
    assert found.agreement == pytest.approx(float(np.corrcoef(*_scores(leaning(), moved(0.05, 0.3)))[0, 1]))
    assert found.agreement < 0.95
    everywhere, within = (find_floor(found, Wobble(3.0, 0.0, 8, "variants", reach)) for reach in (None, 0.95))
    assert within.effect == pytest.approx(everywhere.effect * math.sqrt(0.05 / (1 - found.agreement)))
    near = difference(leaning(), moved(0.05, 0.01))
    floors = [find_floor(near, Wobble(3.0, 0.0, 8, "variants", reach)) for reach in (None, 0.95)]
    assert floors[0] == floors[1]


def _scores(*readings: Reading) -> list[list[float | None]]:
    return [[item.value for item in reading.items] for reading in readings]


def test_growth_by_a_common_shift_fails_against_item_noise_and_not_against_a_floor_as_large() -> None:
    old, new = audit([leaning()]), audit([moved(0.06, 0.005)])
    (bare,) = check(new, old, Policy(probes={"gender-career": Rule(floor=0.0)})).failed
    assert "more than its items' noise: " in bare.why
    (held,) = check(new, old, noise=_noise({"gender-career": 30.0})).probes
    assert held.outcome == "undecided"
    assert "; harmless changes of the model could explain the growth beyond the tolerance of 0.02" in held.why
    assert held.floor is not None
    said = (
        f"changes that disturb its items as much move it by {held.floor.effect:.3f} (SD, by variants of the baseline)"
    )
    assert said in held.why
    (found,) = check(new, old, noise=_noise({"gender-career": 1.2})).failed
    assert "more than its items' noise and harmless changes of the model: " in found.why


def test_the_log_odds_behind_a_share_have_a_floor_of_their_own() -> None:
    found = difference(pronouns(ODDS), odds(0.3, 0.02))
    assert found.margins is not None
    raised = above_floor(found, Floor(0.01, 0.04, 7, 5, "variants"))
    assert raised.margins is not None
    assert raised.margins.change == widen(found.margins.change, 0.04, 5)
    assert raised.change == widen(found.change, 0.01, 7)
    assert raised.p_growth > found.p_growth
    assert raised.p_value > found.p_value
    assert (raised.first, raised.second, raised.growth) == (found.first, found.second, found.growth)


def test_the_words_of_a_share_name_the_floor_of_its_log_odds_too() -> None:
    probes = {"pronouns": {"stimuli": "abc", "source": "runs", "n": 3, "effect": 5.0, "margins": 5.0}}
    noise = NoiseFloor.model_validate(_about(probes))
    (probe,) = check(audit([odds(0.3, 0.02)]), audit([pronouns(ODDS)]), noise=noise).probes
    assert probe.floor is not None
    assert probe.floor.margins > 0
    said = f"move it by {probe.floor.effect:.3f}, the log-odds by {probe.floor.margins:.3f} (SD, by other runs of its"
    assert said in probe.why


def test_a_step_that_disturbs_no_item_is_found_however_much_the_model_wobbles() -> None:
    """He more likely everywhere: all log-odds move alike, which no noise does."""
    probes = {"pronouns": {"stimuli": "abc", "source": "variants", "n": 8, "effect": 30.0, "margins": 30.0}}
    noise = NoiseFloor.model_validate(_about(probes))
    assert check(audit([pronouns(ODDS + 0.25)]), audit([pronouns(ODDS)]), noise=noise).failed
    assert not check(audit([odds(0.25, 0.1)]), audit([pronouns(ODDS)]), noise=noise).failed


def test_every_probe_has_its_own_floor_and_not_that_of_another() -> None:
    ids = ("a", "b")
    old = audit([leaning(id=id) for id in ids])
    new = audit([moved(0.06, 0.005, id=id) for id in ids])
    for quiet, loud in (ids, ids[::-1]):
        found = check(new, old, noise=_noise({quiet: 1.0, loud: 50.0}))
        assert [probe.id for probe in found.failed] == [quiet]
        floors = {probe.id: probe.floor.effect for probe in found.probes if probe.floor}
        assert floors[quiet] == 0 < floors[loud]


def test_a_policy_sets_the_floor_of_a_probe() -> None:
    old, new = (audit([made(id="a"), made(id="b")]) for made in (leaning, lambda id: moved(0.06, 0.005, id=id)))
    policy = Policy(probes={"a": Rule(floor=0.0), "b": Rule(floor=0.5)})
    found = check(new, old, policy, noise=_noise({"a": 50.0, "b": 1.0}))
    assert [probe.id for probe in found.failed] == ["a"]
    # Both sides wobble alike.
    assert f"harmless changes move it by {0.5 * math.sqrt(2):.3f} (SD, by the policy)" in found.probes[-1].why
    share = difference(pronouns(ODDS), odds(0.3, 0.02))
    assert share.margins is not None
    floor, times = set_floor(share, 0.1), 0.1 * math.sqrt(2) / share.change.standard_error
    assert floor.margins == pytest.approx(times * share.margins.change.standard_error)


def test_without_a_floor_of_its_own_a_probe_has_that_of_the_sample_models() -> None:
    assert find_wobble(leaning(), None) == Wobble(*ALL["weat", "d"], SAMPLES_N, "samples")
    assert find_wobble(leaning(), _noise({"another": 3.0})) == find_wobble(leaning(), None)
    # A kind that is not in the table has the largest floor of its scale.
    shares = [floor for (_, scale), floor in ALL.items() if scale == "share"]
    largest = max(effect for effect, _ in shares), max(margins for _, margins in shares)
    assert find_wobble(without_items(0.6, 0.5, 0.7), None) == Wobble(*largest, SAMPLES_N, "samples")
    (probe,) = check(audit([moved(0.06)]), audit([leaning()])).probes
    assert "by the sample models; tiltmeter baseline measures your own" in probe.why


def test_word_vectors_have_the_floor_of_word_vectors() -> None:
    reading = leaning()
    about = dataclasses.replace(reading.provenance.model, settings={"case": "lower"})
    vectors = dataclasses.replace(reading, provenance=dataclasses.replace(reading.provenance, model=about))
    assert VECTORS["weat", "d"][0] < ALL["weat", "d"][0]
    assert find_wobble(vectors, None) == Wobble(*VECTORS["weat", "d"], SAMPLES_N, "samples", 0.95)
    assert find_wobble(vectors, _noise({"gender-career": 3.0})) == Wobble(3.0, 0.0, 8, "variants", 0.95)
    # What was not measured on them is taken from all.
    assert find_wobble(dataclasses.replace(vectors, probe="seat"), None).effect == ALL["seat", "d"][0]
    # No model counts as quieter than word vectors.
    assert all(ALL[kind] >= floor for kind, floor in VECTORS.items())


def test_a_check_reads_the_floor_beside_its_baseline(tmp_path: Path) -> None:
    old = write_results(tmp_path / "old", [leaning()])
    new = write_results(tmp_path / "new", [moved(0.06, 0.005)])
    save_noise(_noise({"gender-career": 1.0}), old)
    assert load_noise(old) == _noise({"gender-career": 1.0})
    assert check(Audit.load(new), Audit.load(old)).failed
    save_noise(_noise({"gender-career": 50.0}), old)
    assert not check(Audit.load(new), Audit.load(old)).failed


def test_a_check_says_where_the_run_is_another_model_rather_than_a_version() -> None:
    old = audit([leaning()])
    (note,) = check(audit([leaning(*jitter(0.5, 1))]), old).notes
    assert note.startswith("the units of model agree with the baseline's to 0.")
    assert "another model rather than a version of one" in note
    assert not check(audit([moved(0.0)]), old).notes


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "broken JSON"),
        ("[]", "should be a"),
        ('{"format": 1}', "format"),
        (json.dumps({"format": 2, "model": "m"}), "is missing"),
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


@pytest.mark.parametrize("times", [0.3, 4.0])
def test_of_models_that_wobble_as_a_whole_few_checks_fail(times: float) -> None:
    """Each version has a shift of its own and item noise, smaller or larger ones than the variants of the floor."""

    def version(rng: np.random.Generator, size: float) -> list[Reading]:
        readings = []
        for i in range(3):
            noise = size * (0.01 * rng.normal(size=(2, 8)) + 0.01 * rng.normal())
            readings.append(leaning(noise[0] + LEANS[0], LEANS[1] - noise[1], id=f"w{i}"))
        return readings

    strict, failed = Policy(tolerance=0.0), {"with": 0, "without": 0}
    no_floor = Policy(tolerance=0.0, probes={"*": Rule(floor=0.0)})
    for seed in range(40):
        rng = np.random.default_rng([seed, int(10 * times)])
        old, new = audit(version(rng, times)), audit(version(rng, times))
        noise = measure_noise(old, {str(i): audit(version(rng, 1.0)) for i in range(8)})
        failed["with"] += bool(check(new, old, strict, noise=noise).failed)
        failed["without"] += bool(check(new, old, no_floor).failed)
    assert failed["with"] <= 6  # of 40 with a chance of .05 each, more come in less than 1 of 200 trials
    assert failed["without"] >= 12


def _noise(floors: dict[str, float], *, stimuli: str = "abc") -> NoiseFloor:
    probes = {
        id: {"stimuli": stimuli, "source": "variants", "n": 8, "effect": times, "margins": None}
        for id, times in floors.items()
    }
    return NoiseFloor.model_validate(_about(probes))


def _about(probes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    about = {"model": "model", "revision": "1", "agreement": {"noise 1": 0.999}, "left_out": [], "runs": []}
    return {**about, "probes": probes}
