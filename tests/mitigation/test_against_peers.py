"""Every method that WEFE or concept-erasure has too, on the same vectors."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def peers():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))  # where the scripts find each other
        yield importlib.import_module("mitigation_peers")


@pytest.fixture(scope="module")
def answers(peers):
    if not peers.peers.python().exists():
        pytest.skip("no environment with WEFE: run `make peers`")
    return peers.ask()


def test_every_method_agrees_with_its_peer(peers, answers):
    compared = peers.compare(answers)
    assert {"hard", "multi_class", "hsr", "double_hard", "leace", "leace, shrunk", "ran, put right"} == set(compared)
    assert {name: difference for name, (difference, allowed) in compared.items() if difference > allowed} == {}


def test_ran_of_wefe_is_another_vector_than_the_one_it_minimises_for(peers, answers):
    assert peers.ran_as_wefe_has_it(answers) > 0.05
