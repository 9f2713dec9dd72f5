"""The command that compares models, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import Outcome, environment, tiltmeter
from tests.compare.result_folders import jitter, leaning, write_results


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    write_results(folder / "one", [leaning(id="same"), leaning(id="grown")])
    write_results(folder / "two", [leaning(id="same"), leaning(*jitter(0.04, 1, shift=0.5), id="grown")])
    write_results(folder / "both", [leaning(model="a:1"), leaning(*jitter(0.04, 1, shift=0.5), model="b")])
    return folder


def run(here: Path, *arguments: str, fresh: bool = False) -> Outcome:
    return tiltmeter(*arguments, env=environment(here / "cache"), folder=here, fresh=fresh)


def test_two_folders_are_compared_with_the_clearest_difference_first(here: Path) -> None:
    done = run(here, "compare", "one", "two", fresh=True)
    assert done.code == 0, done.stderr
    assert done.stdout.index("Title of grown") < done.stdout.index("Title of same")
    assert "really different: further from" in done.stdout
    assert "p is Holm-corrected for all 2 tests" in done.stderr


def test_json_holds_the_numbers_of_every_pair_and_rows_for_charts(here: Path) -> None:
    found = json.loads(run(here, "compare", "both", "--json").stdout)
    (row,) = found["rows"]
    assert (row["first_model"], row["second_model"], row["really_different"]) == ("a:1", "b", True)
    assert row["ci_low"] < row["difference"] < row["ci_high"]
    assert row["growth"] == pytest.approx(row["difference"])
    assert found["pairs"][0]["differences"][0]["method"] == "paired"


def test_a_model_of_a_folder_is_chosen_by_name_even_with_a_colon_in_it(here: Path) -> None:
    done = run(here, "compare", "both:a:1", "both:b")
    assert done.code == 0, done.stderr
    assert "a:1  →  b" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one",), "one holds one model: name a second folder to compare it with"),
        (("one", "three"), "three is no folder of results"),
        (("both:c", "both:b"), "unknown model of both 'c'"),
        (("one", "."), ". holds no finished audit"),
    ],
)
def test_what_cannot_be_compared_is_one_line(here: Path, arguments: tuple[str, ...], message: str) -> None:
    assert run(here, "compare", *arguments).complaint.startswith(message)
