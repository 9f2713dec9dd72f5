from __future__ import annotations

import collections

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import word_tasks


def test_the_sets_of_gensim_are_whole():
    pytest.importorskip("gensim")
    assert {name: len(word_tasks.similar_words(name)) for name in word_tasks.SIMILARITY} == {
        "SimLex-999": 999,
        "WordSim-353": 353,
    }
    questions = word_tasks.analogies()
    assert len(questions) == 19_544
    assert len({each.section for each in questions}) == 14
    assert questions[0] == ("Athens", "Greece", "Baghdad", "Iraq", "capital-common-countries")


def test_sembias_has_the_definition_first_and_the_stereotype_last(data_folder):
    data_folder("sembias")
    rows = word_tasks.sembias()
    assert len(rows) == 440
    assert rows[0].definition == ("priest", "nun")
    assert rows[0].stereotype == ("doctor", "nurse")
    assert collections.Counter(row.definition for row in rows)[("waiter", "waitress")] >= 1


def test_a_broken_row_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path))
    (tmp_path / "sembias").mkdir()
    (tmp_path / "sembias" / "SemBias").write_text("a:b\tc:d\te:f\n")
    with pytest.raises(BadInput, match="line 1 does not hold four pairs"):
        word_tasks.sembias()


def test_without_gensim_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(word_tasks, "find_spec", lambda _: None)
    with pytest.raises(BadInput, match="pip install gensim"):
        word_tasks.analogies()
