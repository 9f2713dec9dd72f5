"""People beside each other, an expert and models: every number as computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tiltmeter
from tests.command import environment
from tests.command import tiltmeter as run
from tests.labelled import ALPHA, FLEISS, GROUPS, KAPPA, PEOPLE, draft_file, labels_table
from tiltmeter.compare.agreement import Agreement, agreement
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Filled, Identity
from tiltmeter.readings import Audit
from tiltmeter.stimuli.annotation.labels import Labels, LabelTask, write_person


class Speaker:
    """A causal model that expects him in the first six sentences, and her in the others."""

    identity = Identity("own:speaker", "1")

    def __init__(self, task: LabelTask) -> None:
        self.him = {item.before.strip() for item in task.items[:6]}

    def continue_with(self, asked: list) -> list[Filled]:
        return [Filled(tuple(self._chance(each.stem, ending) for ending in each.endings), (1,) * len(each.endings))
                for each in asked]  # fmt: skip

    def _chance(self, stem: str, ending: str) -> float:
        male = stem.strip() in self.him
        return -0.5 if ("him" in ending) == male else -3.0


@pytest.fixture
def task(tmp_path: Path) -> LabelTask:
    return LabelTask.of(draft_file(tmp_path / "draft.csv"))


@pytest.fixture
def folder(task: LabelTask, tmp_path: Path) -> Path:
    """Labels of three people in stage 1; in stage 2 Cem thinks as Ann does, and Ben sees women everywhere but once."""
    second = {**PEOPLE, "cem": PEOPLE["ann"], "ben": "MWWWWWWW"}
    place = tmp_path / "labels"
    task.store(place)
    for person in PEOPLE:
        given = {
            (stage, item.id): GROUPS[label]
            for stage, people in ((1, PEOPLE), (2, second))
            for item, label in zip(task.items, people[person], strict=True)
        }
        write_person(place, task, Labels(person, given))
    return place


def test_alpha_fleiss_and_every_two_people_by_hand(folder: Path) -> None:
    first = agreement(folder).stages[0]
    assert first.alpha is not None
    assert first.fleiss is not None
    assert first.alpha.value == pytest.approx(ALPHA)
    assert first.fleiss.value == pytest.approx(FLEISS)
    assert {(pair.first, pair.second): pair.kappa.value for pair in first.pairs} == pytest.approx(KAPPA)
    assert [pair.same for pair in first.pairs] == [6 / 8, 4 / 8, 6 / 8]
    assert all(pair.kappa.ci is not None and pair.kappa.value in pair.kappa.ci for pair in first.pairs)


def test_a_table_of_ones_own_gives_the_same(folder: Path, tmp_path: Path) -> None:
    ours, theirs = agreement(folder).stages[0], agreement(labels_table(tmp_path / "mine.csv")).stages[0]
    assert (theirs.alpha, theirs.pairs) == (ours.alpha, ours.pairs)


def test_people_beside_the_expert_and_the_majority_of_the_others_by_hand(folder: Path) -> None:
    rows = {row.name: row for row in agreement(folder, expert="ann").stages[0].rows}
    assert "expert" not in rows["ann"].matches
    assert rows["ben"].matches["expert"].kappa.value == pytest.approx(0.5)
    assert rows["cem"].matches["expert"].same == 4 / 8
    # Ben and Cem agree on items 1, 2, 4, 5, 6 and 8 (M M W W W M), Ann says M M M W W W there without 3 and 7:
    # MM MM MW WW WW WM: 4 of 6 agree, both say M three times of six.
    against = rows["ann"].matches["majority"]
    assert (against.kappa.items, against.same) == (6, 4 / 6)
    assert against.kappa.value == pytest.approx((4 / 6 - 1 / 2) / (1 / 2))
    assert {row.to_1 for row in rows.values()} == {0.5}


def test_two_stages_and_how_the_share_changes(folder: Path) -> None:
    found = agreement(folder)
    assert [stage.stage for stage in found.stages] == [1, 2]
    # Ann .5, Ben 1 of 8, Cem .5.
    assert found.change == pytest.approx((0.5 + 0.125 + 0.5) / 3 - 0.5)
    assert "Krippendorff's alpha" in repr(found)


def test_people_beside_a_models_reading_of_the_same_sentences(folder: Path, task: LabelTask, tmp_path: Path) -> None:
    reading = tiltmeter.probe("cloze", Speaker(task), data=tmp_path / "draft.csv", vectors=Flat(), cache=False)
    found = tiltmeter.agreement(folder, reading)
    assert isinstance(found, Agreement)
    rows = {row.name: row for row in found.stages[0].rows}
    model = rows["own:speaker, combined"]
    assert (model.kind, model.items, model.to_1) == ("model", 8, 6 / 8)
    # The model: MMMMMMWW. Ann: MMMMWWWW: 6 of 8, chance 6/8 * 4/8 + 2/8 * 4/8 = 1/2.
    against = rows["ann"].matches["own:speaker, combined"]
    assert (against.same, against.kappa.value) == (6 / 8, pytest.approx(0.5))
    frame = found.to_frame()
    assert frame[frame["kind"] == "person"]["kappa with own:speaker, combined"].iloc[0] == pytest.approx(0.5)


class Flat:
    """Word vectors in which no word is nearer to him than to her."""

    identity = Identity("own:flat", "1")

    def embed_words(self, words: list[str]) -> list[list[float]]:
        turns = {"him": 0.0, "her": 0.0}
        return [[1.0, turns.get(word, 1.0 + len(word) / 10)] for word in words]


def test_bad_input_is_one_clear_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"'dora' is none of the people \(ann, ben, cem\)"):
        agreement(folder, expert="dora")
    with pytest.raises(BadInput, match="no file or folder"):
        agreement(tmp_path / "nowhere")
    with pytest.raises(BadInput, match="only ann has given labels"):
        agreement(labels_table(tmp_path / "one.csv", {"ann": "MW"}))
    with pytest.raises(BadInput, match="not a folder of results"):
        agreement(folder, tmp_path / "nothing")
    empty = Audit("s", (), (), (), 0, 0)
    assert agreement(folder, empty).stages[0].rows[-1].name == "majority"


def test_the_command_prints_the_table_and_the_same_numbers_as_json(folder: Path, tmp_path: Path) -> None:
    env = environment(tmp_path / "cache")
    shown = run("agreement", folder, "--expert", "ann", env=env)
    assert (shown.code, shown.stderr) == (0, "")
    assert "Krippendorff's alpha: 0.36" in shown.stdout
    assert "ann (expert)" in shown.stdout
    told = json.loads(run("agreement", folder, "--expert", "ann", "--json", env=env).stdout)
    assert told["stages"][0]["alpha"]["value"] == pytest.approx(ALPHA)
    (folder / "ben.csv").write_text("item,label\n1,hello\n")
    complaint = run("agreement", folder, env=env).complaint
    assert complaint == "ben.csv: row 2: unknown label 'hello': known: men, women"
