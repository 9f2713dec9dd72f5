from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_crows_pairs

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
