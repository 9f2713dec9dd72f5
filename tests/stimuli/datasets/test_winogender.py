from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_winogender

SENTENCES = (
    "sentid\tsentence\n"
    "nurse.patient.0.male.txt\tHis shift over, the nurse left the patient.\n"
    "nurse.patient.0.female.txt\tHer shift over, the nurse left the patient.\n"
    "nurse.patient.0.neutral.txt\tTheir shift over, the nurse left the patient.\n"
)
STATS = "occupation\tbergsma_pct_female\tbls_pct_female\tbls_year\nnurse\t1\t90.5\t2015\n"


def winogender(tmp_path, sentences=SENTENCES, stats=STATS):
    (tmp_path / "all_sentences.tsv").write_text(sentences, encoding="utf-8")
    (tmp_path / "occupations-stats.tsv").write_text(stats, encoding="utf-8")
    return load_winogender(tmp_path)


def test_the_720_published_winogender_sentences_are_used_or_accounted_for(data):
    found = load_winogender(data("winogender"))
    assert len(found.sentences) == 480
    assert found.notes == ("all_sentences.tsv: 240 sentences with they, them or their not used",)
    assert Counter(row.tags["kind"] for row in found.sentences) == {"occupation": 240, "participant": 240}
    # 144 + 34 schemas with he, 54 with his, 8 with him.
    assert Counter(row.forms["pronoun"] for row in found.sentences) == {
        ("he", "she"): 356,
        ("his", "her"): 108,
        ("him", "her"): 16,
    }
    assert len(found.shares) == 60
    assert found.shares["technician"] == pytest.approx(0.4034)
    assert set(found.units) == set(found.shares)
    by_id = {row.tags["id"]: row for row in found.sentences}
    for identity, row in by_id.items():
        pair = identity.removesuffix("male").removesuffix("fe")
        assert row.version("pronoun", 1).text == by_id[f"{pair}male"].text
        assert row.version("pronoun", 2).text == by_id[f"{pair}female"].text


def test_the_forms_keep_the_case_they_have_in_the_sentence(tmp_path):
    found = winogender(tmp_path)
    assert [(row.word("pronoun"), row.forms["pronoun"], row.tags["kind"]) for row in found.sentences] == [
        ("His", ("His", "Her"), "occupation"),
        ("Her", ("His", "Her"), "occupation"),
    ]
    assert not any("expected" in row.tags for row in found.sentences)
    assert found.shares == {"nurse": 0.905}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("nurse.patient.0.male.txt", "nurse.male", "row 2: sentid 'nurse.male' should look like"),
        ("0.female", "0.male", "row 3: sentid 'nurse.patient.0.male.txt' appears twice"),
        ("0.female", "1.female", "no female sentence of nurse.patient.0"),
        ("Her shift", "Her day", "the male and female sentence of nurse.patient.0 should differ in one pronoun"),
        ("Her shift", "Her long shift", "should differ in one pronoun"),
        ("nurse.patient", "cook.patient", "occupations-stats.tsv: no row for 'cook'"),
    ],
)
def test_a_broken_schema_is_named(tmp_path, old, new, expected):
    with pytest.raises(BadInput) as caught:
        winogender(tmp_path, SENTENCES.replace(old, new))
    assert expected in str(caught.value)


@pytest.mark.parametrize("share", ["many", "905", "nan"])
def test_a_share_that_is_no_percentage_is_refused(tmp_path, share):
    with pytest.raises(BadInput, match=rf"row 2: bls_pct_female is '{share}', not a number from 0 to 100"):
        winogender(tmp_path, stats=STATS.replace("90.5", share))
