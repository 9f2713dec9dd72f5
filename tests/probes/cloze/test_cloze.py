"""ClozeGender as a probe: what is asked, and that the table's numbers are those of the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.probes.cloze.reader import READER, ROWS, VECTORS, Reader, measure, written
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes import make_probes
from tiltmeter.probes.cloze import cloze
from tiltmeter.readings import Poles


def test_a_stem_is_read_once_for_all_pronouns_contexts_and_races(tmp_path: Path) -> None:
    reader = Reader(READER.chances, READER.stops)
    written(tmp_path, "GenderLex_noun.csv", ROWS)
    written(tmp_path, "GenderLex_verb.csv", ROWS)
    (tmp_path / "GenderLex_W_B.csv").write_text(
        "sent,context,race_A1,race_B1\nIt was drilled by them,miner,white,black african\n"
        "It was baked by them,baker,white,black african\n",
        encoding="utf-8",
    )
    readings = measure(reader, tmp_path, VECTORS)
    assert sorted(reader.stems) == ["It was baked by", "It was drilled by"]
    race = readings[-1]
    assert race.details.context == "white/black+african"
    assert [reading.dimension for reading in readings] == ["gender"] * 3 + ["race"]
    assert race.poles == Poles("sentences → white", "sentences → black+african")
    item = race.items[0]
    assert item.get("similarity_1") == pytest.approx(1.0)
    assert item.get("similarity_2") == pytest.approx(0.6 / math.hypot(0.6, 1.8), abs=1e-6)
    assert item.get("published_2") == pytest.approx(0.1 ** (1 - item.get("similarity_2")), abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"data": "genderlexx"}, "no cloze data 'genderlexx'"),
        ({"method": "first"}, "unknown method 'first'"),
    ],
)
def test_what_cannot_be_measured_is_said_in_one_line(given: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        cloze.make(**given)
    assert "\n" not in str(error.value)


def test_the_public_files_give_every_cell_of_the_table(data_folder: Callable[[str], Path]) -> None:
    folder = data_folder("genderlex") / "Genderlex"
    probes = make_probes("cloze", data=folder)
    assert probes[0].id == "cloze"
    assert len(probes) == 3 * 4 + 4
    (person,) = [probe for probe in probes if probe.id == "cloze-person-noun"]
    asked = person.asks(lambda question: question is Question.CONTINUATIONS)
    assert asked is not None
    stems = {item.stem for item in asked[Question.CONTINUATIONS]}
    assert not any("  " in stem or stem.endswith(" ") for stem in stems)
    assert {item.endings[0] for item in asked[Question.CONTINUATIONS]} == {" him"}
