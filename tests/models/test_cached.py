"""A model with its stored answers: what is known is not asked again, what is new is stored batch by batch."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.command import needs_sample
from tests.models.provider import LoopbackProvider, vector_of
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models import CachedModel, Identity, Question, Span, VectorStore, load

VOCABULARY = ["nurse", "doctor", "he", "she"]


class Words:
    """A model that knows four words, says who it is, and counts what it is asked."""

    identity = Identity("mine", "1")

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed_words(self, words: Sequence[str]) -> Any:
        self.calls.append(list(words))
        return [vector_of(word) if word in VOCABULARY else None for word in words]


class Texts:
    """A model that reads texts only."""

    identity = Identity("reader", "1")

    def __init__(self) -> None:
        self.calls: list[list[str]] = []

    def embed_texts(self, texts: Sequence[str]) -> Any:
        self.calls.append(list(texts))
        return np.stack([vector_of(text) for text in texts])


class Both(Texts):
    """A model to which a word alone is another input than the same letters as a text."""

    def embed_words(self, words: Sequence[str]) -> Any:
        return [-vector_of(word) for word in words]


class OneAndTheSame(Both):
    words_are_texts = True


class Streaming:
    """Answers from the last input to the first, two at a time; ``breaks_after`` so many batches."""

    identity = Identity("streaming", "1")

    def __init__(self, *, breaks_after: int | None = None) -> None:
        self.breaks_after = breaks_after
        self.asked: list[str] = []

    def embed_texts(self, _texts: Sequence[str]) -> Any:
        raise AssertionError("a model that streams is asked through stream")

    def stream(self, _question: Question, inputs: Sequence[str], *, known: Collection[int] = ()) -> Iterator[Any]:
        places = [place for place in reversed(range(len(inputs))) if place not in known]
        for number, start in enumerate(range(0, len(places), 2)):
            if number == self.breaks_after:
                raise ModelFailed("the connection broke")
            some = places[start : start + 2]
            self.asked += [inputs[place] for place in some]
            yield some, [vector_of(inputs[place]) for place in some]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[VectorStore]:
    with VectorStore(tmp_path) as opened:
        yield opened


def same(vectors: Any, texts: Sequence[str]) -> None:
    np.testing.assert_array_equal(np.stack(list(vectors)), np.stack([vector_of(text) for text in texts]))


# Nothing is asked twice


def test_a_second_run_asks_nothing_and_finds_the_same(store: VectorStore) -> None:
    first = CachedModel(Words(), store)
    found = first.answers(Question.WORDS, [*VOCABULARY, "xyzzy"])
    model = Words()
    again = CachedModel(model, store)
    recalled = again.answers(Question.WORDS, [*VOCABULARY, "xyzzy"])
    assert model.calls == []
    assert (first.asked, first.recalled, again.asked, again.recalled) == (5, 0, 0, 5)
    assert found["xyzzy"] is None
    assert recalled["xyzzy"] is None
    same((recalled[word] for word in VOCABULARY), VOCABULARY)
    same((found[word] for word in VOCABULARY), VOCABULARY)


def test_only_what_is_new_is_asked_and_once_each(store: VectorStore) -> None:
    model = Words()
    cached = CachedModel(model, store)
    cached.answers(Question.WORDS, ["he", "she", "he"])
    cached.answers(Question.WORDS, ["she", "nurse", "doctor", "nurse"])
    assert model.calls == [["he", "she"], ["nurse", "doctor"]]


def test_what_would_be_asked_is_known_before_it_is_asked(store: VectorStore) -> None:
    model = Words()
    cached = CachedModel(model, store)
    cached.answers(Question.WORDS, ["he"])
    assert cached.unknown_inputs(Question.WORDS, ["she", "he", "she"]) == ["she"]
    assert model.calls == [["he"]]


def test_progress_counts_recalled_and_asked_inputs(store: VectorStore) -> None:
    CachedModel(Words(), store).answers(Question.WORDS, ["he", "she"])
    steps: list[int] = []
    CachedModel(Words(), store).answers(Question.WORDS, VOCABULARY, progress=steps.append)
    assert steps == [2, 2]


@settings(max_examples=30)
@given(st.lists(st.text(max_size=5), max_size=12), st.lists(st.text(max_size=5), max_size=12))
def test_answers_are_those_of_the_model_whatever_was_known_before(
    tmp_path_factory: Any, before: list[str], now: list[str]
) -> None:
    with VectorStore(tmp_path_factory.mktemp("store")) as store:
        CachedModel(Texts(), store).answers(Question.TEXTS, before)
        cached = CachedModel(Texts(), store)
        rows = cached.embed_texts(now)
        assert [row.tobytes() for row in rows if row is not None] == [vector_of(text).tobytes() for text in now]
        assert cached.asked == len(set(now) - set(before))
        assert cached.recalled == len(set(now) & set(before))


# Batch by batch


def test_a_model_that_breaks_loses_no_batch_it_has_answered(store: VectorStore) -> None:
    texts = [f"text {i}" for i in range(7)]
    with pytest.raises(ModelFailed, match="the connection broke"):
        CachedModel(Streaming(breaks_after=2), store).answers(Question.TEXTS, texts)
    model = Streaming()
    found = CachedModel(model, store).answers(Question.TEXTS, texts)
    assert model.asked == ["text 2", "text 1", "text 0"]
    same((found[text] for text in texts), texts)


def test_a_model_that_does_not_stream_is_asked_in_parts(store: VectorStore) -> None:
    texts = [f"text {i}" for i in range(300)]
    model = Texts()
    found = CachedModel(model, store).answers(Question.TEXTS, texts)
    assert [len(call) for call in model.calls] == [128, 128, 44]
    same((found[text] for text in texts), texts)


def test_a_transformer_that_was_stopped_goes_on_to_the_very_same_numbers(tmp_path: Path) -> None:
    """The last digits of a vector depend on the other texts of its batch, so the batches must not change."""
    needs_sample("minilm")
    texts = [" ".join(["He is a nurse."] * (1 + i % 7)) + f" {i}" for i in range(100)]

    class Stopping(VectorStore):
        batches = 2

        def put(self, *answers: Any) -> None:
            if not self.batches:
                raise KeyboardInterrupt
            self.batches -= 1
            super().put(*answers)

    whole = CachedModel(load("bundled:minilm")).embed_texts(texts)
    with Stopping(tmp_path) as store, pytest.raises(KeyboardInterrupt):
        CachedModel(load("bundled:minilm"), store).embed_texts(texts)
    with VectorStore(tmp_path) as store:
        again = CachedModel(load("bundled:minilm"), store)
        resumed = again.embed_texts(texts)
    assert 0 < again.recalled < len(texts)
    assert [row.tobytes() for row in resumed if row is not None] == [row.tobytes() for row in whole if row is not None]


def test_a_model_that_leaves_an_input_out_is_found_out(store: VectorStore) -> None:
    class Forgetful(Streaming):
        def stream(self, question: Question, inputs: Sequence[str], **known: Any) -> Iterator[Any]:
            yield from list(super().stream(question, inputs, **known))[:-1]

    with pytest.raises(ModelFailed, match=r"streaming left 1 inputs unanswered, e.g. 'a': it must answer each"):
        CachedModel(Forgetful(), store).answers(Question.TEXTS, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ([[1.0, 2.0]], "gave 1 vectors for 2 inputs"),
        ([[1.0, 2.0], [1.0]], "vectors of 2 and of 1 numbers"),
        ([[1.0, 2.0], [1.0, float("nan")]], "the vector of 'she' holds NaN or infinity"),
        ([[1.0, 2.0], [0.0, 0.0]], "the vector of 'she' is all zeros"),
        ([[1.0, 2.0], "words"], "the answer for 'she' is not a list of numbers"),
        ([[1.0, 2.0], [[1.0, 2.0]]], "the answer for 'she' is not a vector"),
    ],
)
def test_a_bad_answer_is_one_clear_line_and_is_not_stored(store: VectorStore, answer: Any, complaint: str) -> None:
    class Bad(Words):
        def embed_words(self, _words: Sequence[str]) -> Any:
            return answer

    with pytest.raises(ModelFailed, match=complaint) as error:
        CachedModel(Bad(), store).answers(Question.WORDS, ["he", "she"])
    assert "\n" not in str(error.value)
    assert store.contents() == []


def test_vectors_of_another_width_than_the_stored_ones_are_refused(store: VectorStore) -> None:
    class Wider(Words):
        def embed_words(self, words: Sequence[str]) -> Any:
            return [[1.0] * 9 for _ in words]

    CachedModel(Words(), store).answers(Question.WORDS, ["he"])
    with pytest.raises(ModelFailed, match="mine gave vectors of 8 and of 9 numbers"):
        CachedModel(Wider(), store).answers(Question.WORDS, ["he", "she"])
    assert [row["entries"] for row in store.contents()] == [1]


def test_a_damaged_entry_is_asked_again(store: VectorStore) -> None:
    CachedModel(Words(), store).answers(Question.WORDS, VOCABULARY)
    with closing(sqlite3.connect(store.path)) as db, db:
        db.execute("UPDATE vectors SET vector = zeroblob(32) WHERE rowid = 3")
    model = Words()
    found = CachedModel(model, store).answers(Question.WORDS, VOCABULARY)
    assert model.calls == [["he"]]
    same((found[word] for word in VOCABULARY), VOCABULARY)
    assert len(store.notes) == 1


# Who may be cached


def test_a_model_that_does_not_say_who_it_is_is_never_cached(store: VectorStore) -> None:
    class Anonymous:
        def __init__(self) -> None:
            self.calls = 0

        def embed_words(self, words: Sequence[str]) -> Any:
            self.calls += 1
            return [vector_of(word) for word in words]

    model = Anonymous()
    for _ in range(2):
        CachedModel(model, store).answers(Question.WORDS, ["he"])
    assert model.calls == 2
    assert store.contents() == []
    assert CachedModel(model, store).identity.revision == "unknown"
    assert CachedModel(model, store).unknown_inputs(Question.WORDS, ["he"]) == ["he"]


def test_an_identity_that_is_none_is_one_clear_line(store: VectorStore) -> None:
    class Named(Words):
        identity = "just a name"  # type: ignore[assignment]

    with pytest.raises(BadInput, match=r"the identity of .*Named is a str: make it a tiltmeter.models.Identity"):
        CachedModel(Named(), store).answers(Question.WORDS, ["he"])


def test_a_model_is_not_asked_who_it_is_before_it_must(store: VectorStore) -> None:
    """Otherwise a model whose files are missing would stop the other models of an audit."""

    class Missing(Words):
        @property
        def identity(self) -> Identity:  # type: ignore[override]
            raise ModelFailed("no such folder")

    cached = CachedModel(Missing(), store)
    with pytest.raises(ModelFailed, match="no such folder"):
        cached.answers(Question.WORDS, ["he"])


# Which question is put


def test_a_model_of_texts_can_be_asked_for_words(store: VectorStore) -> None:
    model = Texts()
    same(CachedModel(model, store).embed_words(["nurse", "he"]), ["nurse", "he"])
    assert model.calls == [["nurse", "he"]]


def test_a_model_of_texts_keeps_a_word_and_the_text_of_the_same_letters_once(store: VectorStore) -> None:
    model = Texts()
    cached = CachedModel(model, store)
    cached.embed_words(["nurse"])
    cached.embed_texts(["nurse"])
    assert model.calls == [["nurse"]]


def test_words_and_texts_share_answers_only_where_the_model_says_that_they_are_the_same(store: VectorStore) -> None:
    apart, shared = Both(), OneAndTheSame()
    same(CachedModel(apart, store).embed_texts(["nurse"]), ["nurse"])
    (word,) = CachedModel(apart, store).embed_words(["nurse"])
    assert word is not None
    np.testing.assert_array_equal(word, -vector_of("nurse"))
    same(CachedModel(shared, store).embed_words(["nurse"]), ["nurse"])
    assert shared.calls == []


def test_an_api_is_asked_once_for_a_word_and_the_same_text(store: VectorStore, monkeypatch: Any) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with LoopbackProvider() as server:
        spec = f"openai:small?base_url={server.base_url('openai')}"
        same(CachedModel(load(spec), store).embed_words(["nurse"]), ["nurse"])
        same(CachedModel(load(spec), store).embed_texts(["nurse", "He is a nurse."]), ["nurse", "He is a nurse."])
        assert server.texts == ["nurse", "He is a nurse."]


@pytest.mark.parametrize(
    ("model", "answered"),
    [
        (Words(), {Question.WORDS}),
        (Texts(), {Question.WORDS, Question.TEXTS}),
        (Both(), {Question.WORDS, Question.TEXTS}),
    ],
)
def test_a_model_answers_what_it_has_methods_for(model: object, answered: set[Question]) -> None:
    cached = CachedModel(model)
    assert {question for question in Question if cached.answers_question(question)} == answered
    with pytest.raises(BadInput, match="does not give vectors of words in context"):
        cached.embed_spans([Span("a nurse", 2, 7)])


def test_words_in_context_are_kept_apart_by_their_place(store: VectorStore) -> None:
    class Spans:
        identity = Identity("spans", "1")

        def embed_spans(self, spans: Sequence[Span]) -> Any:
            return [vector_of(f"{span.start}:{span.word}") for span in spans]

    spans = [Span("a nurse and a nurse", 2, 7), Span("a nurse and a nurse", 14, 19)]
    for _ in range(2):
        same(CachedModel(Spans(), store).embed_spans(spans), ["2:nurse", "14:nurse"])


class Wide:
    """Vectors of a width that the test sets."""

    identity = Identity("wide", "1")
    width = 3

    def embed_words(self, words: Sequence[str]) -> np.ndarray:
        return np.ones((len(words), self.width), np.float32)


def test_a_wrong_width_in_the_store_is_told_with_the_way_out(store: VectorStore) -> None:
    model = Wide()
    cached = CachedModel(model, store)
    cached.answers(Question.WORDS, ["he"])
    model.width = 4
    for words in (["he", "she"], ["she"], ["he", "she"]):
        if words == ["she"]:
            cached.answers(Question.WORDS, words)  # alone it is as good as the first
            continue
        with pytest.raises(ModelFailed, match=r"of 3 and of 4 numbers: .*: tiltmeter cache --clear --model 'wide'$"):
            cached.answers(Question.WORDS, words)
    assert store.clear("wide") == 2
    assert set(cached.answers(Question.WORDS, ["he", "she"])) == {"he", "she"}
