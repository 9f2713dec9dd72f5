"""What is wrong in a file, as one line that names the entry."""

from __future__ import annotations

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictStr

from tiltmeter.errors import BadInput
from tiltmeter.files import check


def red(colour: str) -> str:
    if colour != "red":
        raise ValueError(f"'{colour}' is not red")
    return colour


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Lamp(Strict):
    word: StrictStr
    colour: Annotated[StrictStr, AfterValidator(red)] = "red"
    watts: int = Field(default=1, alias="with")


class Room(Strict):
    lamps: list[Lamp] = []
    others: dict[StrictStr, list[Lamp]] = {}
    pair: tuple[StrictStr, StrictStr] = ("a", "b")


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("a list", "the file: should be a mapping"),
        ({"lamp": []}, "unknown key 'lamp': did you mean 'lamps'?"),
        ({"lamps": [{"word": "desk", "color": "red"}]}, "lamps: 'desk': unknown key 'color': did you mean 'colour'?"),
        ({"others": {"hall": [{"word": "a", "wit": 2}]}}, "others: hall: 'a': unknown key 'wit': did you mean 'with'?"),
        ({"lamps": [{"word": "a"}, {"colour": "red"}]}, "lamps: entry 2: word: is missing"),
        ({"lamps": [{"word": True}]}, "lamps: entry 1: word: True is not text to YAML: put it in quotes"),
        ({"lamps": [{"word": "a", "colour": "blue"}]}, "lamps: 'a': colour: 'blue' is not red"),
        ({"lamps": ["desk"]}, "lamps: 'desk': should be a mapping"),
        ({"pair": ["a"]}, "pair: needs two words"),
        ({"lamp": [], "lamps": [{}]}, "unknown key 'lamp': did you mean 'lamps'?"),
    ],
)
def test_the_first_complaint_names_its_place(raw: Any, says: str):
    with pytest.raises(BadInput) as caught:
        check("room.yaml", raw, Room)
    assert str(caught.value) == f"room.yaml: {says}"


def test_what_is_in_order_becomes_the_model():
    assert check("room.yaml", {"lamps": [{"word": "desk", "with": 40}]}, Room).lamps[0].watts == 40
