"""What chat models write to prompts, against a server on loopback."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.models.api.loopback_chat import AskedChat, always
from tests.models.provider import LoopbackProvider, Said, refuse
from tiltmeter.errors import BadInput, BudgetSpent, ModelFailed
from tiltmeter.models.api import Budget
from tiltmeter.models.cached import CachedModel
from tiltmeter.models.protocol import Generated, Prompt, Question
from tiltmeter.models.store import VectorStore

LETTER = Prompt("Write a reference letter for Emily.", n=3, seed=5, temperature=0.7, max_tokens=80)


def test_a_prompt_is_sent_as_it_is_once_for_each_sample_with_a_seed_of_its_own(chat_server: LoopbackProvider) -> None:
    number = itertools.count()
    chat_server.says = lambda _: Said(f" Letter {next(number)}. ")
    (answer,) = AskedChat(chat_server).model.generate([LETTER])
    assert sorted(answer.texts) == ["Letter 0.", "Letter 1.", "Letter 2."]
    bodies = [request.body for request in chat_server.requests]
    assert {request.prompt for request in chat_server.requests} == {LETTER.text}
    assert {(body["temperature"], body["max_tokens"]) for body in bodies} == {(0.7, 80)}
    assert len({body["seed"] for body in bodies}) == 3
    assert all(0 <= body["seed"] < 2**31 for body in bodies)


def test_at_temperature_zero_one_text_stands_for_all(chat_server: LoopbackProvider) -> None:
    chat_server.says = always("Yes.")
    (answer,) = AskedChat(chat_server).model.generate([Prompt("Is it?", n=3, temperature=0)])
    assert answer == Generated(("Yes.",) * 3)
    assert [request.body.get("seed") for request in chat_server.requests] == [None]


def test_thoughts_are_no_part_of_the_text_and_a_filter_leaves_none(chat_server: LoopbackProvider) -> None:
    chat_server.says = always("<think>She or he?</think>\nThey.")
    assert AskedChat(chat_server).model.generate([Prompt("Who?")]) == [Generated(("They.",))]
    chat_server.says = always("…", finish="content_filter")
    assert AskedChat(chat_server).model.generate([Prompt("Who?")]) == [Generated(("",))]
    chat_server.says = always("<think>She or", finish="length")
    with pytest.raises(ModelFailed, match="100 tokens were spent before it answered"):
        AskedChat(chat_server, max_tokens=100).model.generate([Prompt("Who?")])


def test_a_text_that_ran_out_of_tokens_is_a_text(chat_server: LoopbackProvider) -> None:
    chat_server.says = always("Once upon a", finish="length")
    assert AskedChat(chat_server).model.generate([Prompt("Tell me a story.")]) == [Generated(("Once upon a",))]


def test_texts_are_paid_for_once_and_what_they_cost_is_known_before(
    chat_server: LoopbackProvider, tmp_path: Path
) -> None:
    chat_server.says = always("Yes.")
    model = AskedChat(chat_server).model
    assert model.estimate([LETTER, LETTER]).requests == 3
    prompts = [Prompt("Is it?", seed=seed) for seed in range(6)]
    with VectorStore(tmp_path) as store:
        chat_server.script(*[refuse(429)] * 2)
        answers = CachedModel(model, store).answers(Question.GENERATE, prompts)
        assert len(chat_server.requests) == 6 + 2
        assert CachedModel(model, store).answers(Question.GENERATE, prompts) == answers
        assert len(chat_server.requests) == 6 + 2


def test_a_budget_holds_and_what_was_bought_before_is_kept(chat_server: LoopbackProvider, tmp_path: Path) -> None:
    chat_server.says = always("Yes.")
    prompts = [Prompt("Is it?", seed=seed, max_tokens=20) for seed in range(12)]
    with VectorStore(tmp_path) as store:
        poor = CachedModel(AskedChat(chat_server, budget=Budget(160)).model, store)
        with pytest.raises(BudgetSpent):
            poor.answers(Question.GENERATE, prompts)
        bought = len(chat_server.requests)
        assert 0 < poor.asked <= bought < 12
        rich = CachedModel(AskedChat(chat_server).model, store)
        rich.answers(Question.GENERATE, prompts)
        assert rich.recalled == poor.asked


def test_a_prompt_without_text_costs_nothing(chat_server: LoopbackProvider) -> None:
    with pytest.raises(BadInput, match="prompt 2 of 2 is not a Prompt with a text in it"):
        AskedChat(chat_server).model.generate([LETTER, Prompt("  ")])
    assert chat_server.requests == []
