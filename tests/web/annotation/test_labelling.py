"""Who may judge what, and that nothing of it is lost."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.labelled import draft_file
from tests.web.annotation.client import client_of
from tiltmeter.errors import BadInput
from tiltmeter.stimuli.annotation.labels import LabelTask
from tiltmeter.web.annotation.labelling import Labelling, labelling_app
from tiltmeter.web.security import DashboardSettings


@pytest.fixture
def task(tmp_path: Path) -> LabelTask:
    return LabelTask.of(draft_file(tmp_path / "draft.csv"), either=True)


@pytest.fixture
def labelling(task: LabelTask, tmp_path: Path) -> Labelling:
    made = Labelling.start(tmp_path / "labels", task, ["ann", "ben"])
    made.write_links("http://127.0.0.1:8765/")
    return made


@pytest.fixture
def client(labelling: Labelling) -> Iterator[TestClient]:
    with client_of(labelling_app(labelling, DashboardSettings(labelling.folder, by_link=True))) as made:
        yield made


def _link(labelling: Labelling, person: str) -> str:
    return next(f"/label/{token}" for token, name in labelling.people.items() if name == person)


def test_a_label_is_stored_at_once_and_the_next_sentence_asked_for(client: TestClient, labelling: Labelling) -> None:
    link, first = _link(labelling, "ann"), labelling.task.order("ann", 1)[0]
    assert first.before in client.get(link).text
    after = client.post(link, data={"item": first.id, "label": "men"})
    assert "1 of 8 answered" in after.text
    assert labelling.given("ann").given == {(1, first.id): "men"}
    client.post(link, data={"item": first.id, "label": "either"})
    assert labelling.given("ann").given == {(1, first.id): "either"}
    assert labelling.given("ben").given == {}
    # A new server over the folder continues with the same links and answers.
    again = Labelling.start(labelling.folder, labelling.task, ["cem"])
    assert again.people.items() >= labelling.people.items()
    assert again.given("ann").given == {(1, first.id): "either"}
    assert Labelling.start(labelling.folder, labelling.task, ["ann"], stage=2).given("ann").stage(2) == {}


def test_links_cannot_be_guessed_and_are_nobody_elses_to_read(client: TestClient, labelling: Labelling) -> None:
    tokens = list(labelling.people)
    assert len(set(tokens)) == 2
    assert min(map(len, tokens)) >= 32
    assert client.get("/label/ann").status_code == 404
    assert client.get(f"/label/{tokens[0][:-1]}").status_code == 404
    assert client.get("/").status_code == 404
    assert all(token not in client.get("/").text for token in tokens)
    assert stat.S_IMODE((labelling.folder / "links.csv").stat().st_mode) == 0o600


def test_what_is_no_answer_changes_nothing(client: TestClient, labelling: Labelling) -> None:
    link, first = _link(labelling, "ann"), labelling.task.items[0]
    assert client.post(link, data={"item": first.id, "label": "everyone"}).status_code == 400
    assert client.post(link, data={"item": "no", "label": "men"}).status_code == 400
    elsewhere = {"origin": "https://evil.example"}
    assert client.post(link, data={"item": first.id, "label": "men"}, headers=elsewhere).status_code == 403
    assert client.get(link, headers={"host": "evil.example"}).status_code == 400
    assert client.post(link, content=b"x" * 600_000).status_code == 413
    assert not (labelling.folder / "ann.csv").exists()


def test_people_see_the_two_words_in_turned_order_and_no_group(client: TestClient, labelling: Labelling) -> None:
    item = labelling.task.items[0]
    ann, ben = (labelling.choices(person, item) for person in ("ann", "ben"))
    assert ann[:2] == ben[1::-1]
    page = client.get(_link(labelling, "ann")).text
    assert "expected" not in page
    assert "either" in page


def test_only_a_person_of_another_name_may_join(task: LabelTask, labelling: Labelling) -> None:
    with pytest.raises(BadInput, match="two people are called 'ann'"):
        Labelling.start(labelling.folder, task, ["Ann"])
    with pytest.raises(BadInput, match="stage is 1"):
        Labelling.start(labelling.folder, task, [], stage=3)


def test_labels_need_no_token_elsewhere_but_a_draft_does(tmp_path: Path) -> None:
    assert DashboardSettings(tmp_path, "0.0.0.0", by_link=True).token is None
    with pytest.raises(BadInput, match="give a --token"):
        DashboardSettings(tmp_path, "0.0.0.0")
