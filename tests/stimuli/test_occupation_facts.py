"""Occupations beside the words of two groups, counted in a text of one's own."""

from __future__ import annotations

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.probes import make_probes
from tiltmeter.stimuli.mining import mine
from tiltmeter.stimuli.occupation_facts import LabelFile, in_corpus, read_occupation_labels

TEXT = """\
The nurse said that she was tired. The plumber came late, and he had no tools.
He asked the nurse about her shift.
A nurse works at night.
The teacher praised him, and the plumber praised her.
"""


@pytest.fixture(scope="module")
def sentences():
    (made,) = make_probes("cabm")
    return made.stimuli.sentences


def mined(tmp_path, text: str):
    (tmp_path / "corpus.txt").write_text(text, encoding="utf-8")
    mine([tmp_path / "corpus.txt"], lexicon=["occupations.all"], out=tmp_path / "mined", lengths=["sentence"])
    return tmp_path / "mined"


def test_an_occupation_counts_for_the_groups_whose_words_stand_in_its_sentence(tmp_path, sentences):
    found, name = in_corpus(sentences, mined(tmp_path, TEXT))
    assert name == "'mined' (sentence)"
    assert found.counts["nurse"] == (1, 2)
    assert found.counts["plumber"] == (2, 1)
    assert found.counts["teacher"] == (1, 1)
    assert found.counts["lawyer"] == (0, 0)
    assert found.versions == sentences.versions


def test_a_text_without_words_of_the_groups_is_one_clear_line(tmp_path, sentences):
    with pytest.raises(BadInput, match="has no occupation beside he"):
        in_corpus(sentences, mined(tmp_path, "A nurse works at night.\n"))


def test_labels_of_men_and_women_may_be_written_as_in_a_table_of_sentences(tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("occupation,label\nnurse,female\nplumber,M\nclerk,neither\njudge,\n", encoding="utf-8")
    labels = {"nurse": 2, "plumber": 1, "clerk": 0}
    assert read_occupation_labels(file, groups=("men", "women")) == LabelFile("labels.csv", labels)
    with pytest.raises(BadInput, match="'female' is not a label: write young, old or neither"):
        read_occupation_labels(file, groups=("young", "old"))
