from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_bec_pro


def test_the_5400_published_bec_pro_sentences_have_their_counterparts(data):
    found = load_bec_pro(data("bec_pro/BEC-Pro_EN.tsv"))
    assert Counter(row.forms["pronoun"] for row in found.sentences) == dict.fromkeys(
        [
            ("He", "She"), ("man", "woman"), ("brother", "sister"), ("son", "daughter"), ("husband", "wife"),
            ("boyfriend", "girlfriend"), ("father", "mother"), ("uncle", "aunt"), ("dad", "mom"),
        ],
        600,
    )  # fmt: skip
    assert Counter(row.tags.get("expected") for row in found.sentences) == {"men": 1800, "women": 1800, None: 1800}
    versions = {row.version("pronoun", group).text for row in found.sentences for group in (1, 2)}
    assert versions == set(found.texts)
    assert all(row.word("occupation").lower() == row.unit.lower() for row in found.sentences)
    # "This man is a lodging manager." is published as "This [MASK] is a lodging [MASK]ager."
    manager = found.sentences[3625]
    assert (manager.text, manager.slots["pronoun"]) == ("This man is a lodging manager.", (5, 8))
    assert manager.version("pronoun", 2).text == "This woman is a lodging manager."
    assert "BEC-Pro_EN.tsv: Sent_TM masks more than the person in" in found.notes[0]


BEC = (
    "\tSentence\tSent_TM\tTemplate\tPerson\tGender\tProfession\tProf_Gender\n"
    "0\tMy son is a cook.\tMy [MASK] is a cook.\t<p> is a <o>.\tson\tmale\tcook\tbalanced\n"
    "1\tMy daughter is a cook.\tMy [MASK] is a cook.\t<p> is a <o>.\tdaughter\tfemale\tcook\tbalanced\n"
)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("\tmale\t", "\tm\t", "row 2: Gender is 'm', not male or female"),
        ("\tbalanced", "\teven", "row 2: Prof_Gender is 'even', not male, female or balanced"),
        ("\tfemale\t", "\tmale\t", "2 men and 0 women with 'cook' in '<p> is a <o>.'"),
        ("0\tMy son is", "0\tMy sun is", "row 2: Sent_TM should be the sentence with [MASK] in place of 'son'"),
        ("My daughter is a cook.", "My daughter is a good cook.", "row 2: row 3 should be the same sentence with"),
        ("\tcook\t", "\tbaker\t", "row 2: the sentence does not hold the profession 'baker'"),
    ],
)
def test_a_broken_bec_pro_row_is_named(tmp_path, old, new, expected):
    path = tmp_path / "bec.tsv"
    path.write_text(BEC.replace(old, new), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        load_bec_pro(path)
    assert expected in str(caught.value)
