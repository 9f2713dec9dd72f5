"""Replies in the order of asking, and what identifies a model and its stimuli."""

from __future__ import annotations

import dataclasses

import pytest

from tiltmeter.models import Identity
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Options, Replies, SideVectors, digest, model_name, statistics_options, versions
from tiltmeter.readings import LeftOut


def replies() -> Replies:
    return Replies("own", {Question.WORDS: ("b", "a", "b")}, {Question.WORDS: {"a": [1.0], "b": None}})


def test_answers_come_in_the_order_of_asking() -> None:
    given = replies()
    assert given.answered(Question.WORDS)
    assert not given.answered(Question.TEXTS)
    assert list(given.asked(Question.WORDS)) == ["b", "a", "b"]
    assert given.all(Question.WORDS) == [None, [1.0], None]
    assert given.of(Question.WORDS, "a") == [1.0]


def test_what_is_left_out_is_named_once_and_unknown_words_with_the_number_of_their_sentences() -> None:
    given = replies()
    for _ in range(2):
        given.leave_out("'b'", "out of vocabulary")
        given.note_unknown("a zqx b", [(2, 5)])
    given.note_unknown("zqx", [(0, 3)])
    assert given.left_out == (
        LeftOut("'b'", "out of vocabulary"),
        LeftOut("'zqx' in 2 sentence(s)", "unknown to own; read as an unknown word"),
    )


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        (Identity("hf:x", "1", {"layer": "8", "pooling": "cls"}), "hf:x?layer=8&pooling=cls"),
        (Identity("hf:x", "1", {"layer": "-1", "pooling": "mean", "case": "exact"}), "hf:x"),
        (Identity("bundled:glove", "1", {"case": "lower"}), "bundled:glove"),
    ],
)
def test_the_name_of_a_model_has_the_settings_a_user_chose(identity: Identity, name: str) -> None:
    assert model_name(identity) == name


def test_a_digest_follows_the_content_that_is_shown() -> None:
    @dataclasses.dataclass
    class Shown:
        words: list[str]
        where: str

        def to_dict(self) -> dict[str, list[str]]:
            return {"words": self.words}

    assert digest(Shown(["a"], "here")) == digest(Shown(["a"], "there")) == digest({"words": ["a"]})
    assert digest(Shown(["b"], "here")) != digest(Shown(["a"], "here"))
    assert len(digest([])) == 16


def test_options_are_passed_to_measures_as_they_take_them() -> None:
    assert statistics_options(Options(seed=3)) == {"alternative": "two-sided", "permutations": 10_000, "seed": 3}
    assert {"python", "tiltmeter", "numpy", "scipy"} <= set(versions())


def test_a_second_model_is_known_by_its_spec_or_by_being_the_same_object() -> None:
    vectors: dict[str, list[float]] = {}
    assert SideVectors("bundled:glove", ()).key == SideVectors("bundled:glove", ("a",)).key
    assert SideVectors(vectors, ()).key == SideVectors(vectors, ("a",)).key != SideVectors({}, ()).key
