from __future__ import annotations

import numpy as np
import pytest

from tests.lab.mitigate.word_model import planted_words
from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.fit_words import halves, word_sets
from tiltmeter.lab.mitigate.traces import Groups, leaning_words, look_for_groups, told_sentences
from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half
from tiltmeter.models import CachedModel, Question
from tiltmeter.models.objects import WordMap


def groups(vectors: np.ndarray) -> Groups:
    names = tuple(f"w{number}" for number in range(len(vectors)))
    return Groups(names, np.arange(len(vectors)) % 2, names, Question.WORDS)


def by_name(vectors_before: np.ndarray, vectors_after: np.ndarray) -> dict[str, object]:
    tests = look_for_groups(groups(vectors_before), vectors_before, vectors_after, seed=0)
    return {test.name: test for test in tests}


def test_groups_that_are_gone_are_found_by_none_and_groups_that_are_there_by_all():
    rng = np.random.default_rng(0)
    nothing = rng.normal(size=(1_200, 10))
    there = nothing + 4 * np.outer(np.where(np.arange(1_200) % 2, 1, -1), np.eye(10)[0])
    tests = by_name(there, nothing)
    assert list(tests) == ["clusters", "neighbours", "linear", "kernel"]
    assert all(test.before > 0.95 for test in tests.values())
    assert {test.trace for test in tests.values()} <= {"gone", "undecided"}
    assert all(abs(test.after - 0.5) < 0.06 for test in tests.values())


def test_a_trace_that_no_line_finds_is_found_by_the_kernel():
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(1_200, 4))
    vectors[np.arange(1_200) % 2 == 1, :2] *= 6  # one group is wider, and has the same mean
    tests = by_name(vectors, vectors)
    assert tests["kernel"].trace == "hidden"
    assert tests["linear"].after < 0.6


def test_words_that_lean_are_of_the_held_out_half_and_say_no_group():
    words = planted_words()
    model = CachedModel(WordMap(words))
    fit, _ = halves(word_sets("gender.gender"), seed=3)
    found = leaning_words(model, fit, vocabulary=5_000, not_these=WordForms(["career"]), seed=3)
    assert len(found.inputs) == 2 * int(found.labels.sum())
    assert not any(in_first_half(word, 3) for word in found.inputs)
    assert "career" not in found.inputs
    leans = np.array([words[word][0] for word in found.inputs])
    # The first group of the pairs are women, who lean to the negative side.
    assert (leans[found.labels == 0] < 0).all()
    assert (leans[found.labels == 1] > 0).all()


def test_sentences_are_told_by_held_out_words_and_names():
    _, test = halves(word_sets("gender.gender"), seed=0)
    found = told_sentences(test)
    assert {"Mary", "James"} <= set(found.units)
    assert set(found.units) <= set(test.words) | {unit for unit in found.units if unit != unit.lower()}
    assert found.labels[found.units.index("Mary")] == 0
    assert len(found.inputs) > 500


def test_a_model_that_names_no_words_cannot_be_looked_into():
    class Silent:
        def embed_words(self, words):
            return [[float(ord(word[0])), float(ord(word[-1]))] for word in words]

    with pytest.raises(BadInput, match="does not say which words it knows"):
        leaning_words(CachedModel(Silent()), word_sets("gender.gender"), vocabulary=9, not_these=frozenset(), seed=0)
