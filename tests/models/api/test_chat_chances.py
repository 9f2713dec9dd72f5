"""How sure a chat model is: log-probabilities where they are offered, else answers counted over seeds."""

from __future__ import annotations

import math

import pytest

from tests.models.api.loopback_chat import CHEF, NURSE, AskedChat, shown
from tests.models.provider import LoopbackProvider, Said, refuse
from tiltmeter.errors import BadInput
from tiltmeter.models import CachedModel, Question, VectorStore
from tiltmeter.models.registry import load
from tiltmeter.run.probe import probe


def _sure(prompt: str) -> Said:
    """P(him) is .6 / .8 where him is shown first and .3 / .9 where her is: the choice turns, and yet it leans."""
    if shown(prompt)[0] == "him":
        return Said("him", top={"him": math.log(0.5), " Him": math.log(0.1), "her": math.log(0.2), "h": math.log(0.1)})
    return Said("her", top={"Her": math.log(0.6), "him": math.log(0.3), "The": math.log(0.1)})


def test_chances_are_those_of_the_first_token_in_either_order(chat_server: LoopbackProvider) -> None:
    chat_server.says = _sure
    asked = AskedChat(chat_server, logprobs="yes")
    (chosen,) = asked.choose(NURSE)
    assert (chosen.first, chosen.second) == (1, 2)
    assert chosen.chances == pytest.approx((0.75, 1 / 3))
    assert {request.body["logprobs"] for request in chat_server.requests} == {True}
    assert {request.body["top_logprobs"] for request in chat_server.requests} == {20}
    assert asked.model.identity.settings["logprobs"] == "yes"


def test_chances_are_kept_and_not_bought_again(chat_server: LoopbackProvider, tmp_path) -> None:
    chat_server.says = _sure
    with VectorStore(tmp_path) as store:
        answers = [
            CachedModel(AskedChat(chat_server, logprobs="yes").model, store).answers(Question.CHOICES, [NURSE])[NURSE]
            for _ in range(2)
        ]
    assert len(chat_server.requests) == 2
    assert answers[0].chances == pytest.approx(answers[1].chances)


@pytest.mark.parametrize("refused", [False, True])
def test_a_server_without_log_probabilities_names_what_counts(chat_server: LoopbackProvider, refused) -> None:
    chat_server.says = lambda _: Said("him")
    if refused:
        chat_server.script(*[refuse(400, "logprobs is not supported")] * 2)
    line = AskedChat(chat_server, logprobs="yes").failure(NURSE)
    assert "leave logprobs out, or count its answers by samples=10" in line


def test_answers_are_counted_over_seeds(chat_server: LoopbackProvider) -> None:
    chat_server.says = lambda prompt: Said("him" if "nurse" in prompt else shown(prompt)[0])
    asked = AskedChat(chat_server, samples=3)
    nurse, chef = asked.choose(NURSE, CHEF)
    assert (nurse.first, nurse.second, nurse.chances) == (1, 1, (1.0, 1.0))
    assert (chef.first, chef.second, chef.chances) == (1, 2, (1.0, 0.0))
    assert len(chat_server.requests) == 12
    assert len({request.body["seed"] for request in chat_server.requests}) == 3
    assert {request.body["temperature"] for request in chat_server.requests} == {1.0}
    assert asked.model.estimate([NURSE]).requests == 6


def test_what_names_neither_word_has_no_chance(chat_server: LoopbackProvider) -> None:
    chat_server.says = lambda _: Said("I would rather not.", top={"I": -0.1, "Sorry": -2.0})
    (chosen,) = AskedChat(chat_server, logprobs="yes").choose(NURSE)
    assert (chosen.first, chosen.second, chosen.chances) == (0, 0, None)


def test_a_choice_that_turns_with_the_order_goes_to_the_likelier_word(chat_server: LoopbackProvider) -> None:
    chat_server.says = lambda prompt: Said(
        shown(prompt)[0], top={shown(prompt)[0]: math.log(0.7 if shown(prompt)[0] == "him" else 0.6), "him": -1.2}
    )
    asked = AskedChat(chat_server, logprobs="yes")
    reading = probe("cloze", asked.model, cache=False)
    assert reading.effect.value == 1.0  # mean of .7 / 1 and .30 / .90 lies above one half
    assert {item.columns["chance"] > 0.5 for item in reading.items} == {True}
    assert "its choice depended on the order" in reading.finding


@pytest.mark.parametrize("options", ["logprobs=maybe", "samples=0", "samples=3&logprobs=yes"])
def test_options_are_checked(options: str) -> None:
    with pytest.raises(BadInput):
        load(f"chat:m?base_url=http://127.0.0.1:1/v1&{options}")
