"""What is put to people, the order in which they meet it, and their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.labelled import PEOPLE, draft_file, labels_table
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.annotation.labels import (
    Labels,
    LabelTask,
    check_people,
    expected_labels,
    read_labels,
    read_person,
    write_person,
)


@pytest.fixture
def task(tmp_path: Path) -> LabelTask:
    return LabelTask.of(draft_file(tmp_path / "draft.csv"))


def test_everybody_meets_every_item_once_in_an_order_of_their_own_that_stays(task: LabelTask) -> None:
    orders = {(person, stage): [item.id for item in task.order(person, stage)] for person in PEOPLE for stage in (1, 2)}
    assert len({tuple(order) for order in orders.values()}) == 6
    assert {frozenset(order) for order in orders.values()} == {frozenset(item.id for item in task.items)}
    assert [item.id for item in task.order("Ann", 1)] == orders["ann", 1]
    assert {task.first_group(0), task.first_group(1)} == {0, 1}


def test_an_item_hides_the_pronoun(task: LabelTask) -> None:
    first = task.items[0]
    assert (first.before, first.after) == ("The engineer told everybody that the bridge was designed by ", "")
    assert (first.words, first.context) == (("him", "her"), "engineer")


def test_labels_come_back_and_a_task_is_not_mixed_with_another(task: LabelTask, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    task.store(folder)
    task.store(folder)
    given = Labels("ann", {(1, task.items[0].id): "men", (2, task.items[0].id): "women"})
    write_person(folder, task, given)
    assert read_person(folder, task, "ann") == given
    assert read_labels(folder) == ((given,), task)
    with pytest.raises(BadInput, match="holds labels of other sentences"):
        task.model_copy(update={"seed": 1}).store(folder)


def test_shipped_sets_say_what_people_expect() -> None:
    assert set(expected_labels("cloze_en").values()) == {"men", "women"}


@pytest.mark.parametrize(
    ("names", "complaint"),
    [
        (["ann", "Ann"], "two people are called 'ann'"),
        (["ann", "ann"], "two people are called 'ann'"),
        (["../ann"], "cannot be the name of a person"),
        (["links"], "cannot be the name of a person"),
        ([], "nobody is named"),
    ],
)
def test_names_are_files_and_nobody_elses(names: list[str], complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        check_people(names)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text.replace("ann,0,M", "ann,0,man"), "row 2: unknown label 'man': did you mean 'men'"),
        (lambda text: text.replace("ann,1,M", "ann,0,M"), "row 3: ann has labelled '0' before"),
        (lambda text: text.replace("label", "answer", 1), "no column 'label'"),
        (lambda text: text.replace("ann,0,M", "ann,0,"), "column 'label' is blank in row 2"),
        (lambda text: text.replace("ben,0", "Ann,0", 1), "two people are called 'ann'"),
    ],
)
def test_broken_labels_are_one_clear_line(tmp_path: Path, change: object, complaint: str) -> None:
    file = labels_table(tmp_path / "labels.csv")
    file.write_text(change(file.read_text()))  # type: ignore[operator]
    with pytest.raises(BadInput, match=complaint):
        read_labels(file)


def test_two_files_of_people_with_one_name_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text("person,item,label\nann,1,M\n")
    with pytest.raises(BadInput, match="two people are called 'ann'"):
        read_labels(tmp_path)
