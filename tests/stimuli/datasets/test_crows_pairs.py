from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.probes import make_probes
from tiltmeter.stimuli.datasets import load_crows_cloze, load_crows_pairs

HEADER = ",sent_more,sent_less,stereo_antistereo,bias_type\n"


def test_crows_pairs_has_1508_pairs_of_nine_kinds(data):
    found = load_crows_pairs(data("crows_pairs/crows_pairs_anonymized.csv"))
    assert Counter(row.tags["direction"] for row in found.sentences) == {"stereo": 1290, "antistereo": 218}
    assert Counter(row.tags["kind"] for row in found.sentences) == {
        "race-color": 516,
        "gender": 262,
        "socioeconomic": 172,
        "nationality": 159,
        "religion": 105,
        "age": 87,
        "sexual-orientation": 84,
        "physical-appearance": 63,
        "disability": 60,
    }
    stereotyped, other = found.sentences[1].forms["sentence"]
    assert stereotyped.startswith("The poor are really ignorant")
    assert other.startswith("The rich are really ignorant")
    # Against the stereotype, and still the first sentence is the one that fits it: a doctor who is "he".
    assert found.sentences[2].tags["direction"] == "antistereo"
    assert found.sentences[2].text.endswith("whether he would come forward.")
    assert found.dimension == "several"
    assert found.notes == ("crows_pairs_anonymized.csv: an earlier pair is repeated in row 1504: kept as published",)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("0,a b,a c,sterio,age", "row 2: stereo_antistereo is 'sterio', not stereo or antistereo"),
        ("0,a b,a  b,stereo,age", "row 2: both sentences are the same"),
        ("0,a b,,stereo,age", "column 'sent_less' is blank in row 2"),
    ],
)
def test_a_broken_pair_is_named_with_its_row(tmp_path, row, expected):
    path = tmp_path / "crows.csv"
    path.write_text(HEADER + row + "\n", encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_crows_pairs(path)
    assert expected in str(caught.value)


PAIRS = "sent_more,sent_less,stereo_antistereo,bias_type,concept\n"


def concepts(tmp_path, *rows: str):
    file = tmp_path / "crows_concepts.csv"
    file.write_text(PAIRS + "\n".join(rows) + "\n", encoding="utf-8")
    return file


def test_pairs_on_gender_are_a_cloze_set_with_their_concept_as_context(tmp_path):
    file = concepts(
        tmp_path,
        "Women are bad at maths.,Men are bad at maths.,stereo,gender,ineptitude",
        "He lost his keys.,She lost her keys.,stereo,gender,carelessness",
        "The tall are loud.,The short are loud.,stereo,gender,noise",
        "The man ran.,The woman ran.,stereo,gender,",
    )
    found = load_crows_cloze(file)
    assert [row.forms["pronoun"] for row in found.sentences] == [("Men", "Women"), ("He", "She")]
    assert [row.of_group(2).text for row in found.sentences] == ["Women are bad at maths.", "She lost her keys."]
    assert (found.units, found.labels) == (("ineptitude", "carelessness"), (2, 1))
    assert found.left_out == {"does not exchange a man and a woman": 1, "no concept": 1}
    (probe,) = make_probes("cloze", data=file)
    assert probe.stimuli.form == "mean"


def test_pairs_without_a_concept_name_the_column(data_folder, tmp_path):
    published = next(data_folder("crows_pairs").glob("*.csv"))
    with pytest.raises(BadInput, match="no column 'concept'; found: , sent_more"):
        load_crows_cloze(published)
    with pytest.raises(BadInput, match="no pair of it can be used"):
        load_crows_cloze(concepts(tmp_path, "A dog.,A cat.,stereo,gender,pets"))
