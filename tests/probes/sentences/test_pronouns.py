"""Pronouns beside occupations, on models whose preferences are known."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from tests.models.tiny_language_models import save_tiny
from tests.probes.natural_model import by_hand, natural_model
from tests.probes.planted_fills import KNOWN_WORDS, PlantedFills
from tests.probes.sentences.from_items import effect_from_items
from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Fill, Question
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import make_probes
from tiltmeter.probes.sentences.pronoun_sets import Pronouns, load_pronouns
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli.sentences.sentence import SentenceSet, pronoun_sentence

MEN = {"he", "him", "his", "man"}
LINES = [
    ("The cook said he slept.", "he", ("he", "she"), "cook", "women"),
    ("The pilot saw him.", "him", ("him", "her"), "pilot", "men"),
    ("The nurse took her bag.", "her", ("his", "her"), "nurse", "women"),
    ("The clerk said she ran.", "she", ("he", "she"), "clerk", None),
]


def sentences(lines: Sequence[tuple[str, str, tuple[str, str], str, str | None]] = LINES) -> SentenceSet:
    rows = []
    for number, (text, word, forms, occupation, expected) in enumerate(lines):
        start = text.index(f" {word} ") + 1 if f" {word} " in text else text.rindex(word)
        place = (start, start + len(word))
        tags = {"expected": expected, "kind": "test", "id": str(number)}
        rows.append(pronoun_sentence(text, place, forms, occupation, **tags))
    shares = {"cook": 0.7, "pilot": 0.1, "nurse": 0.9, "clerk": 0.5}
    return SentenceSet("test", tuple(rows), groups=("men", "women"), shares=shares)


def read(model: object, stimuli: Pronouns) -> Reading:
    (whole,) = make_probes("pronouns")
    return run_probes([dataclasses.replace(whole, stimuli=stimuli)], model, cache=False, progress=False)[0]


def planted(log_odds_men: dict[str, float], *, unknown: str = "") -> PlantedFills:
    def logprob(item: Fill, filler: str) -> float:
        lean = next(value for word, value in log_odds_men.items() if word in item.text.lower())
        return -3.0 + (lean if filler.lower() in MEN else 0.0)

    return PlantedFills(logprob, unknown=unknown)


def test_the_share_counts_sentences_with_an_expectation_and_the_gap_is_the_mean_log_odds_towards_it():
    reading = read(planted({"cook": 0.5, "pilot": 2.0, "nurse": -1.0, "clerk": 1.0}), Pronouns(sentences()))
    # cook leans to men where women are expected; pilot and nurse as expected; nothing is expected of clerk.
    assert reading.effect.value == pytest.approx(2 / 3)
    assert reading.effect.level == 0.5
    assert reading.details.gap.value == pytest.approx((-0.5 + 2.0 + 1.0) / 3)
    assert reading.details.share_masculine == pytest.approx(3 / 4)
    assert {name: share.value for name, share in reading.details.by_expected.items()} == {"women": 0.5, "men": 1.0}
    assert (reading.n_items, reading.n_units) == (4, 3)
    shares, leans = [0.7, 0.1, 0.9, 0.5], [-0.5, -2.0, 1.0, -1.0]
    assert reading.details.correlation.r == pytest.approx(np.corrcoef(shares, leans)[0, 1])
    first = reading.items[0]
    assert first.label == "The cook said he/she slept."
    assert (first.group, first.get("prefers")) == ("women", "men")
    assert first.get("log_odds_men") == pytest.approx(0.5)
    assert (reading.items[3].get("expected"), reading.items[3].get("won")) == (None, None)


def test_the_sentence_is_masked_at_the_pronoun_whatever_form_it_has():
    model = planted({"cook": 0, "pilot": 0, "nurse": 0, "clerk": 0}, unknown="bag")
    reading = read(model, Pronouns(sentences()))
    assert Fill("The nurse took [MASK] bag.", 15, 21, ("his", "her")) in model.asked
    assert reading.effect.value == 0.5  # all ties
    assert {item.get("prefers") for item in reading.items} == {"neither"}
    assert [left.what for left in reading.left_out] == ["'bag' in 1 sentence(s)"]


def test_the_shipped_sentences_ask_the_very_same_as_unmasking():
    answers = {Question.FILLS}.__contains__
    (ours,), (theirs, *_) = (make_probes(name) for name in ("pronouns", "unmask"))
    assert ours.asks(answers) == theirs.asks(answers)
    expected = Counter(sentence.tags.get("expected") for sentence in ours.stimuli.sentences.sentences)
    assert expected == {"men": 24 * 8, "women": 23 * 8, None: 13 * 8}


def test_a_model_with_a_planted_bias_prefers_the_stereotype(tmp_path):
    own = tmp_path / "known.yaml"
    own.write_text(KNOWN_WORDS, encoding="utf-8")
    (probe,) = make_probes("pronouns", data=own)
    reading = run_probes([probe], TransformerModel(str(reference_model(0.9))), cache=False, progress=False)[0]
    assert reading.effect.value > 0.8
    assert reading.effect.p_value < 0.001
    assert reading.leans == "occupations → stereotype"
    assert reading.details.correlation.r > 0.8
    assert "follows the share of women employed" in reading.plain_words


def test_a_causal_model_is_asked_for_whole_sentences(tmp_path):
    model = TransformerModel(str(save_tiny("gpt2", tmp_path / "gpt2")))
    lines = [*LINES, ("He is a nurse.", "He", ("He", "She"), "nurse", "women")]
    reading = read(model, Pronouns(sentences(lines)))
    for item, row in zip(reading.items, sentences(lines).sentences, strict=True):
        one, two = model.score([row.version("pronoun", group).text for group in (1, 2)])
        assert item.get("log_odds_men") == pytest.approx(one.total - two.total, abs=1e-4)
    assert [left.what for left in reading.left_out] == ["the pronoun itself in 1 sentences that begin with it"]


def test_in_winogender_the_holder_of_the_occupation_is_expected_to_be_of_the_larger_group(data_folder):
    path = data_folder("winogender")
    found = load_pronouns(path)
    assert found == load_pronouns("winogender")
    assert found.by_share
    rows = found.sentences.sentences
    assert Counter((row.tags["kind"], row.tags.get("expected")) for row in rows) == {
        ("participant", None): 120,  # somebody else is meant
        ("occupation", "men"): 58,
        ("occupation", "women"): 62,
    }
    nurse = next(row for row in rows if row.unit == "nurse" and row.tags["kind"] == "occupation")
    assert nurse.tags["expected"] == "women"
    reading = read(planted({"": 1.0}), found)
    assert reading.effect.value == pytest.approx(58 / 120)
    assert "fewer than half of those employed" in reading.plain_words
    assert reading.details.by_kind["participant"] is None


def test_a_natural_model_is_read_as_a_plain_forward_pass_reads_it(data_folder):
    path = data_folder("winobias")
    model, plain = natural_model(), by_hand()
    found = load_pronouns(path)
    few = Pronouns(dataclasses.replace(found.sentences, sentences=found.sentences.sentences[:40]))
    reading = read(model, few)
    for item, row in zip(reading.items[:4], few.sentences.sentences, strict=False):
        scores = []
        for form in (1, 2):
            ids = plain.ids(row.version("pronoun", form).text)
            place = len(plain.ids(row.around("pronoun")[0])) - 1
            scores += plain.masked_in_turn(ids, [place])
        assert item.get("log_odds_men") == pytest.approx(scores[0] - scores[1], abs=1e-4)
    assert Reading.from_dict(json.loads(json.dumps(reading.to_dict(), allow_nan=False))) == reading


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"data": "winobia"}, "unknown data of pronouns 'winobia': did you mean 'winobias'?"),
        ({"data": "no-such-file.tsv"}, "no-such-file.tsv"),
        ({"method": "nangia"}, "pronouns takes no method: leave it out; it takes data"),
        ({"vectors": "bundled:glove"}, "pronouns takes no vectors: leave it out; it takes data"),
    ],
)
def test_a_wrong_option_is_one_line(given, says):
    with pytest.raises(BadInput) as error:
        make_probes("pronouns", **given)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_set_that_expects_nothing_or_a_folder_of_something_else_is_one_line(tmp_path):
    lines = [(*line[:4], None) for line in LINES]
    with pytest.raises(BadInput, match=r"'test' says for 0 occupations whether men or women are expected"):
        read(planted({"": 0.0}), Pronouns(sentences(lines)))
    with pytest.raises(BadInput, match="male_occupations"):
        make_probes("pronouns", data=tmp_path)
    table = tmp_path / "BEC.tsv"
    table.write_text("Sentence\tPerson\nHe is a cook.\tHe\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"BEC.tsv: no column 'Sent_TM'"):
        make_probes("pronouns", data=table)


def test_the_effect_follows_from_the_items():
    reading = read(planted({"cook": 0.5, "pilot": 2.0, "nurse": -1.0, "clerk": 1.0}), Pronouns(sentences()))
    assert effect_from_items(reading) == pytest.approx(reading.effect.value, abs=1e-9)
    assert [item.value for item in reading.items] == pytest.approx([-0.5, 2.0, 1.0, 1.0])
    assert [item.get("won") for item in reading.items] == [0.0, 1.0, 1.0, None]
    assert reading.poles == ("occupations → stereotype", "occupations → anti-stereotype")
