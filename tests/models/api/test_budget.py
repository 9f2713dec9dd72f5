"""What APIs cost: budgets, estimates and prices."""

from __future__ import annotations

import pytest

from tests.models import provider as wire
from tests.models.api.loopback import MANY, PROVIDERS, TEXTS, AskedApi
from tests.models.provider import LoopbackProvider, refuse
from tiltmeter.errors import BadInput, BudgetSpent
from tiltmeter.models.api import ApiEmbedder, Budget, estimate_cost
from tiltmeter.models.protocol import Question


@pytest.mark.parametrize(
    ("text", "tokens", "requests"),
    [
        ("100000tokens", 100_000, None),
        ("50requests", None, 50),
        ("100k tokens", 100_000, None),
        ("1 request", None, 1),
        ("1.5M tokens and 20 requests", 1_500_000, 20),
        ("100,000 tokens, 1_000 requests", 100_000, 1000),
        ("0 requests", None, 0),
    ],
)
def test_a_budget_is_read_as_people_write_it(text: str, tokens: int | None, requests: int | None) -> None:
    budget = Budget.parse(text)
    assert (budget.tokens, budget.requests) == (tokens, requests)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "100",
        "tokens",
        "5 dollars",
        "1.5 requests",
        "-5 tokens",
        "5 tokens 6 tokens",
        "k tokens",
        "9" * 400 + " tokens",
        "1." + "0" * 400 + " tokens",
    ],
)
def test_a_budget_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="cannot read the budget"):
        Budget.parse(text)


def test_a_budget_of_requests_stops_before_the_request_that_is_too_many(server: LoopbackProvider) -> None:
    kept: list[int] = []
    stream = AskedApi(server, budget=Budget(requests=2)).model.stream(Question.TEXTS, MANY)
    with pytest.raises(BudgetSpent) as caught:
        kept.extend(place for places, _ in stream for place in places)
    assert kept == list(range(64))
    assert server.texts == MANY[:64]
    assert str(caught.value) == (
        "the next request to openai:small (about 12 tokens) would go over the budget: "
        "2 of 2 requests spent, 0 remain; everything bought is kept: raise the budget and run again to resume"
    )


def test_a_budget_of_tokens_counts_what_was_billed_and_reserves_by_estimate(server: LoopbackProvider) -> None:
    # 'w00' is estimated at 2 tokens and billed at 1: 64 are reserved for a request of 32, 32 are billed.
    texts = [f"w{i:02}" for i in range(96)]
    budget = Budget(tokens=100)
    with pytest.raises(BudgetSpent, match="64 of 100 tokens spent, 36 remain"):
        AskedApi(server, budget=budget).embed(texts)
    assert server.texts == texts[:64]
    assert (budget.spent_tokens, budget.spent_requests) == (64, 2)


def test_a_budget_is_shared_by_the_models_of_a_run(server: LoopbackProvider) -> None:
    budget = Budget(requests=2)
    AskedApi(server, "openai", budget=budget).embed()
    AskedApi(server, "cohere", budget=budget).embed()
    with pytest.raises(BudgetSpent, match="voyage:small"):
        AskedApi(server, "voyage", budget=budget).embed()
    assert len(server.requests) == 2


def test_a_refused_request_costs_no_tokens_and_one_that_may_have_been_billed_does(
    server: LoopbackProvider,
) -> None:
    budget = Budget()
    server.script(refuse(429), wire.FEWER)
    AskedApi(server, budget=budget).embed(["nurse", "doctor"])
    # Estimated 3 + 3 tokens for the answer that was too short, billed 1 + 1 for the good one.
    assert (budget.spent_requests, budget.spent_tokens) == (3, 8)


def test_tries_stop_when_the_budget_is_spent(server: LoopbackProvider) -> None:
    server.script(refuse(500), refuse(500), refuse(500))
    with pytest.raises(BudgetSpent):
        AskedApi(server, budget=Budget(requests=2)).embed()
    assert len(server.requests) == 2


@pytest.mark.parametrize("name", PROVIDERS)
def test_without_a_bill_the_estimate_counts(name: str) -> None:
    budget = Budget()
    with LoopbackProvider(reports_usage=False) as server:
        AskedApi(server, name, budget=budget).embed(["nurse", "doctor"])
    assert budget.spent_tokens == 6


def test_the_estimate_is_the_price_of_the_estimated_tokens() -> None:
    # 1 + 16/3 -> 7 tokens and 1 + 17/3 -> 7; the second text twice, bought once.
    estimate = ApiEmbedder("openai", "text-embedding-3-large").estimate([TEXTS[0], TEXTS[1], TEXTS[1]])
    assert (estimate.requests, estimate.tokens) == (1, 14)
    assert estimate.dollars == pytest.approx(14 * 0.13 / 1e6)
    assert estimate.to_dict() == {"requests": 1, "tokens": 14, "dollars": estimate.dollars}


def test_no_price_is_made_up() -> None:
    assert ApiEmbedder("openai", "never-heard-of").estimate(TEXTS).dollars is None
    own = ApiEmbedder("openai", "text-embedding-3-small", base_url="http://localhost:1/v1")
    assert own.estimate(TEXTS).dollars is None
    assert estimate_cost("voyage:voyage-4", 2_000_000) == pytest.approx(0.12)


def test_the_estimate_foresees_the_requests_that_are_made(server: LoopbackProvider) -> None:
    asked = AskedApi(server)
    asked.embed(MANY)
    assert asked.model.estimate(MANY).requests == len(server.requests) == 3
