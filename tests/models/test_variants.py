"""Harmless variants: the same model a little changed, known by a revision of its own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel, Identity, Question, load
from tiltmeter.models.protocol import Fill
from tiltmeter.models.variants import AskedAgain, Variation, variations, vary


def matrix() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(40, 500)).astype(np.float32)


def test_noise_has_the_size_asked_for_and_differs_by_seed_and_matrix() -> None:
    values, noise = matrix(), Variation("noise", 0.02, 1)
    changed = noise.applied(values, "a")
    assert (changed - values).std() == pytest.approx(0.02 * values.std(), rel=0.02)
    assert np.array_equal(changed, noise.applied(values, "a"))
    for other in (noise.applied(values, "b"), Variation("noise", 0.02, 2).applied(values, "a")):
        assert abs(np.corrcoef((changed - values).ravel(), (other - values).ravel())[0, 1]) < 0.03


def test_rounding_lies_on_the_grid_of_each_row_and_is_right_on_average() -> None:
    values = matrix() * np.linspace(0.1, 10, 40, dtype=np.float32)[:, None]
    step = np.abs(values).max(axis=1, keepdims=True) / 127
    rounded = [Variation("rounding", 8, seed).applied(values, "a") for seed in range(50)]
    assert np.abs(rounded[0] / step - np.round(rounded[0] / step)).max() < 1e-3
    assert np.abs(rounded[0] - values).max() <= step.max() * 1.001
    # A rounding has an SD of at most half a step, so the mean of fifty one of a fourteenth.
    assert (np.abs(np.mean(rounded, axis=0) - values) / step).max() < 6 * 0.5 / np.sqrt(50)
    assert not Variation("rounding", 8, 0).applied(np.zeros((2, 3)), "a").any()


def test_matrix_rounding_lies_on_one_grid() -> None:
    values = matrix() * np.linspace(0.1, 10, 40, dtype=np.float32)[:, None]
    step = np.abs(values).max() / 127
    rounded = Variation("matrix-rounding", 8, 0).applied(values, "a")
    assert np.abs(rounded / step - np.round(rounded / step)).max() < 1e-3
    assert 0 < np.abs(rounded - values).max() <= step * 1.001


def test_weights_are_rounded_in_every_way_and_vectors_in_those_that_need_one_of_them_alone() -> None:
    model = load(f"hf:{reference_model(0.9)}")
    kinds = [f"{each.kind} {each.size:g}" for each in variations(8, of=model)]
    assert sorted(kinds) == sorted([*3 * ["noise 0.02"], *2 * ["rounding 8"], *2 * ["rounding 6"], "matrix-rounding 8"])
    assert {each.kind for each in variations(8, of=load({"he": np.ones(3)}))} == {"noise", "rounding"}


def test_word_vectors_stay_near_and_unknown_words_unknown() -> None:
    words = {"he": np.ones(300), "she": np.arange(300.0)}
    for variation in variations(8, of=load(words)):
        variant = vary(load(words), variation)
        he, she, nobody = variant.embed_words(["he", "she", "nobody"])
        assert nobody is None
        for vector, word in ((he, "he"), (she, "she")):
            cosine = vector @ words[word] / np.linalg.norm(vector) / np.linalg.norm(words[word])
            assert cosine > 0.998
        assert variant.identity.revision.endswith(f"+{variation.name}")
    assert not np.array_equal(she, words["she"])


def test_a_masked_model_moves_a_little_the_same_way_each_time_and_stays_itself() -> None:
    model = load(f"hf:{reference_model(0.9)}")
    fills = [Fill("He is a nurse.", 0, 2, ("He", "She"))]
    before = model.fill(fills)[0].logprobs
    variant = vary(model, Variation("noise", 0.02, 1))
    moved = variant.fill(fills)[0].logprobs
    assert moved != before
    assert moved == pytest.approx(before, abs=0.5)
    assert vary(model, Variation("noise", 0.02, 1)).fill(fills)[0].logprobs == moved
    assert model.fill(fills)[0].logprobs == before
    assert variant.identity.revision == f"{model.identity.revision}+noise-0.02-1"
    vectors = [np.asarray(one.embed_texts(["a nurse"]))[0] for one in (model, variant)]
    assert not np.array_equal(*vectors)
    # The vectors and the log-probabilities are those of the same changed weights.
    weights = [part.model.get_input_embeddings().weight for part in (variant._loaded, variant._language._loaded)]
    assert bool((weights[0] == weights[1]).all())


class Api:
    """Answers a text by its place in the request: what an API must not do, and what asking again shows."""

    words_are_texts = True
    identity = Identity("api:one", "1")

    def estimate(self, texts: Sequence[str]) -> int:
        return len(texts)

    def embed_texts(self, _texts: Sequence[str]) -> Any:
        raise AssertionError("it streams")

    def stream(self, question: Question, inputs: Sequence[str], *, known: Collection[int] = ()) -> Iterator[Any]:
        assert question is Question.TEXTS
        for place, text in enumerate(inputs):
            if place not in known:
                yield [place], [[float(len(text)), float(place + 1)]]


def test_an_api_is_asked_again_in_another_order_and_answers_go_to_their_texts() -> None:
    texts = ["a" * length for length in range(1, 21)]
    orders = []
    for variation in variations(3, of=Api()):
        assert variation.kind == "again"
        model = CachedModel(vary(Api(), variation))
        answers = model.answers(Question.TEXTS, texts)
        assert all(answers[text][0] == len(text) for text in texts)
        orders.append([int(answers[text][1]) for text in texts])
        assert sorted(orders[-1]) == list(range(1, 21))
    assert orders[0] != orders[1] != orders[2]
    batches = AskedAgain(Api(), variation).stream(Question.TEXTS, texts, known={3, 5})
    assert sorted(position for positions, _ in batches for position in positions) == [*range(3), 4, *range(6, 20)]


def test_what_cannot_be_perturbed_says_so_in_one_line() -> None:
    class Mine:
        def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
            return [[1.0, 2.0] for _ in texts]

    with pytest.raises(BadInput, match=r"a Mine cannot be perturbed .*: run tiltmeter audit instead"):
        variations(8, of=Mine())
