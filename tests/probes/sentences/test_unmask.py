"""Unmasking: P(he) - P(she) beside occupations, on models whose probabilities are known."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from tests.probes.planted_fills import KNOWN_WORDS, Causal, PlantedFills
from tests.probes.sentences.from_items import effect_from_items
from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models.protocol import Fill, Question
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading, ReadingStore
from tiltmeter.run.probe import run_probes
from tiltmeter.statistics import correlation
from tiltmeter.stimuli.sentences.shipped import occupation_set

SET = occupation_set()
MEN = {"he", "him", "his"}
#: What is not given to either pronoun goes to other words.
EITHER = 0.8
OWN_SET = """
name: own
language: en
occupations: {lexicon}.jobs
frames:
  - {{text: "The {{occupation}} said [MASK] slept.", fillers: [he, she]}}
  - {{text: "[MASK] is {{a occupation}}.", fillers: [He, She]}}
"""


def model(share: Mapping[str, float], *, unknown: str = "") -> PlantedFills:
    """P(he) / (P(he) + P(she)) by occupation, the same in every sentence."""

    def logprob(item: Fill, filler: str) -> float:
        he = next(value for word, value in share.items() if word in item.text.lower())
        return math.log(EITHER * (he if filler.lower() in MEN else 1 - he))

    return PlantedFills(logprob, unknown=unknown)


def readings(planted: object, **given: object) -> list[Reading]:
    return run_probes(make_probes("unmask", **given), planted, cache=False, progress=False)


def spread_out(low: float, high: float, *, by_share: int) -> dict[str, float]:
    """Shares of he from low to high, in the order of the share of men (1), against it (-1) or regardless of it (0)."""
    ordered = sorted(SET.shares, key=lambda word: (-SET.shares[word], word))
    if by_share == 0:  # neighbours go to opposite ends
        ordered = ordered[::2] + ordered[1::2][::-1]
        ordered = ordered[::2] + ordered[1::2][::-1]
    return dict(zip(ordered[:: by_share or 1], np.linspace(low, high, len(ordered)).tolist(), strict=True))


def own_set(folder: Path, shares: Mapping[str, float | None]) -> Path:
    words = [f"{{word: {word}{'' if share is None else f', female_share: {share}'}}}" for word, share in shares.items()]
    lexicon, file = folder / "jobs.yaml", folder / "own.yaml"
    properties = "properties: [female_share], " if None not in shares.values() else ""
    lexicon.write_text(
        f"name: jobs\nlanguage: en\ngroups:\n  jobs: {{label: jobs, {properties}words: [{', '.join(words)}]}}\n"
    )
    file.write_text(OWN_SET.format(lexicon=lexicon))
    return file


def test_the_gap_is_the_mean_difference_of_probabilities_by_occupation(tmp_path):
    file = own_set(tmp_path, {"cook": 40.0, "nurse": 90.0, "plumber": 2.0, "clerk": 70.0})
    share = {"cook": 0.6, "nurse": 0.1, "plumber": 0.9, "clerk": 0.3}
    gap, shares = readings(model(share), data=file)
    # .8 * (2 * share - 1): .16, -.64, .64, -.32; their mean is -.04
    assert [item.value for item in gap.items] == pytest.approx([0.16, -0.64, 0.64, -0.32], abs=1e-6)
    assert gap.effect.value == pytest.approx(-0.04, abs=1e-6)
    assert gap.details.spread == pytest.approx(np.std([0.16, -0.64, 0.64, -0.32], ddof=1), abs=1e-6)
    assert [item.get("share_he") for item in gap.items] == pytest.approx(list(share.values()), abs=1e-6)
    odds = [np.log(chance / (1 - chance)) for chance in share.values()]
    assert [item.get("log_odds") for item in gap.items] == pytest.approx(odds, abs=1e-5)
    assert gap.statistic.margins == "log_odds"
    expected = np.corrcoef(list(share.values()), [0.6, 0.1, 0.98, 0.3])[0, 1]
    assert shares.effect.value == pytest.approx(expected, abs=1e-6)
    assert gap.details.correlation.r == shares.effect.value
    assert (gap.n_items, gap.n_units) == (8, 4)
    assert list(gap.details.by_frame) == ["The … said [MASK] slept.", "[MASK] is a …."]


def test_unmasking_finds_the_bias_that_a_model_was_trained_on():
    gap, shares = readings(f"hf:{reference_model(0.9)}")
    truth = planted(0.9)
    order = [truth[item.unit] for item in gap.items]
    for key in ("value", "share_he"):
        assert correlation(order, [item.get(key) for item in gap.items], method="spearman").r >= 0.9
    assert shares.leans == "occupations of men → men"
    assert shares.strength == "large"


def test_unmasking_finds_the_share_of_he_that_was_planted(tmp_path):
    file = tmp_path / "known.yaml"
    file.write_text(KNOWN_WORDS)
    (gap,) = readings(f"hf:{reference_model(0.9)}", data=file, method="gap")
    truth = planted(0.9)
    assert np.mean([abs(item.get("share_he") - truth[item.unit]) for item in gap.items]) < 0.15
    for item in gap.items:
        if not 0.2 < truth[item.unit] < 0.8:
            assert (item.value > 0) == (truth[item.unit] > 0.5)


@pytest.mark.parametrize(
    ("low", "high", "leans", "says"),
    [
        (0.6, 0.9, "occupations → men", "leans towards men on average: P(he) - P(she) is +0.400"),
        (0.1, 0.4, "occupations → women", "leans towards women on average: P(he) - P(she) is -0.400"),
        (0.1, 0.9, "no clear lean", "Undecided: chance could explain it"),
    ],
)
def test_the_gap_says_to_whom_occupations_lean(low, high, leans, says):
    gap = readings(model(spread_out(low, high, by_share=0)), method="gap")[0]
    assert gap.leans == leans
    assert says in gap.plain_words
    assert gap.effect.level == 0.0
    assert (gap.effect.p_value <= 0.05) == (leans != "no clear lean")


def test_a_mean_of_zero_does_not_pass_for_a_level_model():
    gap = readings(model(spread_out(0.1, 0.9, by_share=1)), method="gap")[0]
    assert abs(gap.effect.value) < 1e-6
    assert "A mean near 0 can hide strong leans" in gap.plain_words
    assert f"SD of {gap.details.spread:.3f}" in gap.plain_words
    assert "from pathologist (-0.64) to plumber (+0.64)" in gap.plain_words
    assert next(iter(gap.details.most_to_men)) == "plumber"
    assert next(iter(gap.details.most_to_women)) == "pathologist"


@pytest.mark.parametrize(
    ("by_share", "leans", "says"),
    [
        (1, "occupations of men → men", "follows the share of men"),
        (-1, "occupations of men → women", "runs against the share of men"),
        (0, "no clear lean", "Undecided: chance could explain it"),
    ],
)
def test_shares_say_whether_he_follows_the_labour_statistics(by_share, leans, says):
    (shares,) = readings(model(spread_out(0.2, 0.8, by_share=by_share)), method="shares")
    assert shares.id == "unmask-shares"
    assert shares.leans == leans
    assert says in shares.plain_words


def test_the_two_probes_ask_for_each_sentence_once():
    planted = model(spread_out(0.2, 0.8, by_share=1))
    assert [reading.id for reading in readings(planted)] == ["unmask", "unmask-shares"]
    assert len(planted.asked) == len(set(planted.asked)) == len(SET.sentences)
    assert {item.text[item.start : item.end] for item in planted.asked} == {"[MASK]"}
    assert not any(item.hidden for item in planted.asked)


def test_a_reading_can_be_stored_and_read_back(tmp_path):
    gap = readings(model(spread_out(0.2, 0.8, by_share=1)))[0]
    json.dumps(gap.to_dict(), allow_nan=False)
    store = ReadingStore(tmp_path)
    store.prepare()
    assert store.load([store.save(gap)]) == [gap]


def test_without_shares_of_women_the_gap_is_measured_and_the_correlation_is_not(tmp_path):
    file = own_set(tmp_path, {"cook": None, "nurse": None, "plumber": None, "clerk": None})
    planted = model({"cook": 0.6, "nurse": 0.1, "plumber": 0.9, "clerk": 0.3})
    (gap,) = readings(planted, data=file, method="gap")
    assert gap.details.correlation is None
    assert {item.get("share_men") for item in gap.items} == {None}
    with pytest.raises(BadInput, match="needs a female_share of at least 4 occupations"):
        readings(planted, data=file, method="shares")


def test_words_that_the_model_does_not_know_are_named():
    gap = readings(model(spread_out(0.2, 0.8, by_share=1), unknown="train to catch"))[0]
    assert [left.what for left in gap.left_out] == [f"'train to catch' in {len(SET.shares)} sentence(s)"]


def test_a_causal_model_is_refused_in_one_line():
    (probe, _) = make_probes("unmask")
    assert probe.asks(lambda question: question in (Question.TOKENS, Question.CONTINUATIONS)) is None
    with pytest.raises(BadInput, match=r"^unmask needs log-probabilities of fillers at a mask[^\n]*causal[^\n]*$"):
        readings(Causal())


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"method": "gaps"}, "unknown method of unmask 'gaps': did you mean 'gap'?"),
        ({"vectors": "bundled:glove"}, "unmask takes no vectors: leave it out; it takes data, method"),
        ({"data": "ocupations_en"}, "unknown occupations set 'ocupations_en': did you mean 'occupations_en'?"),
    ],
)
def test_a_wrong_option_is_one_clear_line(given, says):
    with pytest.raises(BadInput) as caught:
        make_probes("unmask", **given)
    assert str(caught.value) == says


def test_the_effects_follow_from_the_items():
    for reading in readings(model(spread_out(0.2, 0.7, by_share=1))):
        assert effect_from_items(reading) == pytest.approx(reading.effect.value, abs=1e-9)
