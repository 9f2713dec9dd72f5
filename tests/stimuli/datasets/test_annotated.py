"""Annotated sentences in a table: which word is the pronoun, what it is for the other group, and what is left out."""

from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.probes import make_probes
from tiltmeter.stimuli.datasets import load_annotated
from tiltmeter.stimuli.sentences.marked import marked_sentences


def table(tmp_path, *rows: str, header: str = "sentence,occupation,group"):
    file = tmp_path / "own.csv"
    file.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("sentence", "group", "forms"),
    [
        ("The nurse said he left.", "men", ("he", "she")),
        ("She is a nurse.", "female", ("He", "She")),
        ("The nurse lost her keys.", "F", ("his", "her")),
        ("We saw the nurse and called her.", "women", ("him", "her")),
        ("We told the nurse and her to go.", "women", ("him", "her")),
        ("The nurse lost his keys.", "M", ("his", "her")),
        ("The nurse said it was his.", "he", ("his", "hers")),
        ("The nurse hurt herself badly.", "she", ("himself", "herself")),
    ],
)
def test_the_pronoun_and_its_other_form_are_found(tmp_path, sentence, group, forms):
    (found,) = load_annotated(table(tmp_path, f"{sentence},nurse,{group}")).sentences
    assert found.forms["pronoun"] == forms
    assert (found.word("occupation"), found.unit) == ("nurse", "nurse")
    assert found.version("pronoun", 1 + (found.word("pronoun") == forms[1])).text == sentence


def test_a_sentence_that_says_a_gender_twice_or_not_at_all_is_left_out_and_counted(tmp_path):
    file = table(
        tmp_path, "The nurse said he lost his keys.,nurse,men", "The nurse left.,nurse,men", "He is a nurse.,nurse,men"
    )
    found = load_annotated(file)
    assert len(found.sentences) == 1
    assert found.left_out == {
        "another word in the sentence says a gender": 1, "the pronoun is not in the sentence": 1,
    }  # fmt: skip


def test_places_may_be_given(tmp_path):
    file = table(tmp_path, "The nurse said he left.,nurse,men,15,17", header="sentence,occupation,group,start,end")
    assert load_annotated(file).sentences[0].slots["pronoun"] == (15, 17)


@pytest.mark.parametrize(
    ("row", "header", "complaint"),
    [
        (
            "The nurse said he left.,nurse,people",
            "sentence,occupation,group",
            "row 2: group is 'people', not men or women",
        ),
        ("He left.,nurse", "sentence,occupation", "no column 'group' or 'pronoun'"),
        ("He left.,men", "sentence,group", "no column 'occupation'"),
        ("He left.,nurse,women,0,2", "sentence,occupation,group,start,end", "row 2: 'He' does not stand for women"),
        ("He left.,nurse,men,3,6", "sentence,occupation,group,start,end", "row 2: 'lef' at 3 to 6 is not a gendered"),
        ("He left.,nurse,men,a,2", "sentence,occupation,group,start,end", "start and end should be whole numbers"),
        ("It left.,nurse,men", "sentence,occupation,group", "no sentence of it can be used"),
    ],
)
def test_what_cannot_be_read_is_one_clear_line(tmp_path, row, header, complaint):
    with pytest.raises(BadInput) as error:
        load_annotated(table(tmp_path, row, header=header))
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_bug_is_read_by_its_own_columns(data_folder):
    found = load_annotated(data_folder("bug"))
    assert (found.name, len(found.sentences) + sum(found.left_out.values())) == ("gold_BUG", 1717)
    assert found.left_out["another word in the sentence says a gender"] > 100
    assert len(found.sentences) > 900
    assert (
        Counter(row.word("pronoun").lower() in ("she", "her", "hers", "herself") for row in found.sentences)[True] > 100
    )
    # The gold file says which sentences follow a stereotype.
    assert {row.tags.get("expected") for row in found.sentences} == {"men", "women", None}


def test_cabm_takes_a_table_and_bug(tmp_path, data_folder):
    rows = [
        f"The {job} said {word} left{where}.,{job},{group}"
        for job in ("nurse", "cook", "pilot")
        for where in ("", " early")
        for word, group in (("he", "men"), ("she", "women"))
    ]
    own = make_probes("cabm", data=str(table(tmp_path, *rows)))[0].stimuli.sentences
    assert own.counts == dict.fromkeys(("nurse", "cook", "pilot"), (2, 2))
    assert [dict(side) for side in own.mark_counts["nurse"]] == [{"he": 2}, {"she": 2}]
    data_folder("bug")
    bug = make_probes("cabm", data="bug")[0].stimuli.sentences
    assert bug.counts == marked_sentences(load_annotated(data_folder("bug"))).counts
    assert len([word for word, both in bug.counts.items() if sum(both) > 1]) > 30


def test_a_table_that_lacks_one_of_its_columns_is_told_of_that_column(tmp_path):
    with pytest.raises(BadInput, match="no column 'occupation'; found: sentence, job, group"):
        make_probes("cabm", data=str(table(tmp_path, "He left.,nurse,men", header="sentence,job,group")))
