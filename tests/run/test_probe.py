"""Running probes on one model: what is asked first, and what is refused before anything is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.planted import gendered
from tiltmeter import audit
from tiltmeter.errors import BadInput
from tiltmeter.models.registry import KINDS, ModelKind
from tiltmeter.probes import Options, make_probes
from tiltmeter.probes.kind import Kind, Measured, Part, SideVectors
from tiltmeter.readings import DIFFERENCE, Estimate
from tiltmeter.run.audit import dry_run
from tiltmeter.run.probe import probe, run_probes
from tiltmeter.run.suite import Suite
from tiltmeter.stimuli import Group


class Counts:
    """Embeds any text, and counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        self.asked += texts
        return np.ones((len(texts), 2))


def _measure(words: tuple[str, ...], _replies: Any, _options: Options) -> Measured:
    return Measured(Estimate("x", 0.0, DIFFERENCE), None, "", (), None, None, len(words), len(words))


def beside(vectors: object, *, required: tuple[str, ...] = ()) -> Any:
    """A probe that shows texts to one model and needs word vectors of another."""
    side = SideVectors(vectors, ("king", "truck driver", "truck", "driver"), required)
    kind = Kind(
        name="beside",
        summary="",
        citation="",
        idea="",
        needs="vectors of texts",
        make=lambda: [Part("", "beside", ("one text",), vectors=side)],
        ask=lambda texts, _can: {KIND_OF_TEXTS: texts},
        measure=_measure,
        caveats=(),
    )
    (part,) = kind.make()
    (weat,) = make_probes("weat")
    return dataclasses.replace(weat, id="beside", kind=kind, stimuli=part.stimuli, vectors=part.vectors)


KIND_OF_TEXTS = make_probes("seat")[0].stimuli.question
SIDE = {"truck": [1.0, 0.0], "driver": [0.0, 1.0]}


@pytest.mark.parametrize(
    ("vectors", "required", "missing"),
    [
        ({"other": [1.0, 0.0]}, (), "king"),
        (SIDE, ("king",), "king"),
        ({"truck": [1.0, 0.0]}, ("truck driver",), "truck driver"),
    ],
    ids=["none is known", "a required word", "a word of a required phrase"],
)
def test_vectors_that_will_not_do_are_refused_before_the_model_is_asked(vectors, required, missing):
    model = Counts()
    says = f"'{missing}' has no word vector in own:dict, so no similarity can be computed: use other vectors"
    with pytest.raises(BadInput, match=says):
        run_probes([beside(vectors, required=required)], model, cache=False)
    with pytest.raises(BadInput, match=says):
        audit(model, suite=Suite("mine", "", (beside(vectors, required=required),)), cache=False)
    assert model.asked == []


def test_a_phrase_has_a_vector_where_its_words_have():
    model = Counts()
    (reading,) = run_probes([beside(SIDE, required=("truck", "truck driver"))], model, cache=False)
    assert reading.provenance.vectors.name == "own:dict"
    assert model.asked == ["one text"]


def test_a_probe_whose_vectors_will_not_do_does_not_stop_the_others():
    (weat,) = make_probes("weat")
    bad = beside({"other": [1.0, 0.0]})
    model = gendered(0.3, -0.3)

    class Both(Counts):
        def embed_words(self, words: Sequence[str]) -> list[Any]:
            return [model.get(word) for word in words]

    both = Both()
    found = audit(both, suite=Suite("mine", "", (bad, weat)), cache=False)
    assert [reading.id for reading in found.readings] == ["weat"]
    assert [(skipped.probe, "use other vectors" in skipped.reason) for skipped in found.skipped] == [("beside", True)]
    assert both.asked == []


def test_the_second_model_is_given_the_budget_and_stands_in_what_a_dry_run_would_ask(monkeypatch):
    budgets = []

    class Paid:
        def embed_words(self, words: Sequence[str]) -> list[list[float]]:
            return [[1.0, float(len(word))] for word in words]

    def load(_name: str, *, budget: Any) -> Paid:
        budgets.append(budget)
        return Paid()

    monkeypatch.setitem(KINDS, "paid", ModelKind("", "paid:x", {}, load))
    limit: Any = object()
    run_probes([beside("paid:x")], Counts(), cache=False, budget=limit)
    assert budgets == [limit]
    audit(Counts(), suite=Suite("mine", "", (beside("paid:x"),)), cache=False, budget=limit)
    assert budgets == [limit, limit]
    rows = dry_run([Counts(), Counts()], suite=Suite("mine", "", (beside("paid:x"),)))
    assert [(row["asked for"], row["inputs"]) for row in rows] == [("texts", 1), ("texts", 1), ("words", 4)]


def test_a_dry_run_leaves_out_what_an_audit_would_leave_out_for_want_of_a_second_model(tmp_path):
    class Both(Counts):
        def embed_words(self, _words: Sequence[str]) -> list[Any]:
            raise AssertionError("the model was asked")

    absent, weat = beside(f"static:{tmp_path / 'none.vec'}"), make_probes("weat")[0]
    rows = dry_run([Both()], suite=Suite("mine", "", (absent, weat)))
    assert [row["asked for"] for row in rows] == ["words"]
    with pytest.raises(BadInput, match="no such file"):
        dry_run([Both()], suite=Suite("mine", "", (absent,)))


def test_japanese_sentences_are_not_shown_to_a_model_whose_vectors_are_english(data_folder):
    class Causal:
        def continue_with(self, _items: Sequence[Any]) -> list[Any]:
            raise AssertionError("the model was asked")

        score = continue_with

    data_folder("genderlex")
    probes = make_probes("cloze", data="genderlex_ja", vectors={"chef": [1.0, 0.0]})
    with pytest.raises(BadInput, match="has no word vector in own:dict"):
        run_probes(probes, Causal(), cache=False)


def test_ready_made_probes_are_run_on_one_model_in_order():
    probes = [*make_probes("weat"), *make_probes("rnd")]
    assert [reading.probe for reading in run_probes(probes, gendered(0.3, -0.3), cache=False)] == ["weat", "rnd"]


def test_a_reading_says_the_dimension_and_whether_it_is_a_control():
    probes = [*make_probes("weat", control=True, dimension="rank"), *make_probes("rnd")]
    readings = run_probes(probes, gendered(0.3, -0.3), cache=False)
    assert [(r.dimension, r.control, r.family) for r in readings] == [
        ("rank", True, "control"),
        ("gender", False, "bias"),
    ]


@pytest.mark.parametrize(
    "targets",
    [
        [["he", "him"], ["she", "her"]],
        {"he, him": ["he", "him"], "she, her": ["she", "her"]},
        [Group.of("he, him", ["he", "him"]), Group.of("she, her", ["she", "her"])],
        [{"label": "he, him", "words": ["he", "him"]}, {"label": "she, her", "words": ["she", "her"]}],
        {"he, him": Group.of("x", ["he", "him"]), "she, her": {"words": ["she", "her"]}},
    ],
)
def test_words_given_inline_in_any_form_are_the_same_stimuli(targets: Any) -> None:
    words = {"he": [1, 0.1], "him": [1, 0], "she": [0.1, 1], "her": [0, 1], "job": [0.9, 0.2], "home": [0.1, 0.9]}
    reading = probe("weat", words, targets=targets, attributes={"job": ["job"], "home": ["home"]}, cache=False)
    assert reading.title == "he, him / she, her × job / home"
    assert reading.effect.value == pytest.approx(1.7, abs=0.1)
    assert reading.poles is not None
    assert reading.poles.positive == "he, him → job, she, her → home"
