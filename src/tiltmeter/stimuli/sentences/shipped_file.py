"""The YAML forms of the sets in ``sets/``: shape and content checked by pydantic, every complaint one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictStr, ValidationError, model_validator

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_yaml
from tiltmeter.stimuli.sentences.sentence import MASK, expected_by_share
from tiltmeter.stimuli.text import comparable, normalise

Shape = TypeVar("Shape", bound="SetFile")

_PLACE = re.compile(r"\{[^{}]*\}|[{}]|\[MASK\]")


def _text(text: str) -> str:
    clean = normalise(text)
    if not clean:
        raise ValueError("is empty: fill it in or remove it")
    return clean


Text = Annotated[StrictStr, AfterValidator(_text)]


def _check_places(frame: str, *places: str) -> None:
    """Each of the places stands in the frame once, and no other does: a misspelt one would end up in a sentence."""
    found = Counter(_PLACE.findall(frame))
    for place in found:
        if place not in places:
            raise ValueError(f"'{frame}': {unknown('place', place, places)}")
    for place in places:
        if found[place] != 1:
            raise ValueError(f"'{frame}' needs {place} once, not {found[place]} times")


def _check_distinct(texts: Iterable[str]) -> None:
    seen: set[str] = set()
    for text in texts:
        if comparable(text) in seen:
            raise ValueError(f"'{text}' is there twice: remove one")
        seen.add(comparable(text))


def _different(pair: tuple[str, str]) -> tuple[str, str]:
    _check_distinct(pair)
    return pair


Two = Annotated[tuple[Text, Text], AfterValidator(_different)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SetFile(_Strict):
    """What every set says of itself; ``warnings`` go with each reading, ``dimension`` is what its groups differ in."""

    name: Text
    language: Text
    dimension: Text = "gender"
    licence: StrictStr = ""
    citation: StrictStr = ""
    notes: StrictStr = ""
    warnings: list[Text] = []


class ClozeEntry(_Strict):
    occupation: Text
    noun: Text
    verb: Text
    sentence: Text
    label: Literal[1, 2] | None = None
    female_share: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_places(self.sentence, "{person}", "{pronoun}")
        if not self.sentence.endswith(" {pronoun}"):
            raise ValueError(f"'{self.sentence}' needs {{pronoun}} as its last word, without a full stop")
        for word in (self.noun, self.verb):
            if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.sentence):
                raise ValueError(f"'{self.sentence}' does not hold the word '{word}'")
        return self

    def frame(self, person: str) -> str:
        """The sentence about a person of some form, with its place for the pronoun."""
        return self.sentence.replace("{person}", person.replace("{occupation}", self.occupation))

    def expected_group(self, percentages: Mapping[str, float]) -> int | None:
        """The group that people expect: as the entry says, or else by the percentage of women in the occupation."""
        percentage = percentages.get(self.occupation) if self.female_share is None else self.female_share
        if "label" in self.model_fields_set or percentage is None:
            return self.label
        return {"men": 1, "women": 2}.get(expected_by_share(percentage / 100) or "")


class ClozeFile(SetFile):
    groups: Two
    pronouns: Two
    variants: dict[StrictStr, Text] = Field(min_length=1)
    rows: list[ClozeEntry] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for person in self.variants.values():
            _check_places(person, *(["{occupation}"] if "{" in person else []))
        _check_distinct(row.sentence for row in self.rows)
        return self


class TopicEntry(_Strict):
    topic: Text
    group: Literal[1, 2]
    context: Text
    sentences: list[Text] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        for sentence in self.sentences:
            _check_places(sentence, "{pronoun}")
        return self


class PairsFile(SetFile):
    groups: Two
    pronouns: Two
    topics: list[TopicEntry] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_distinct(sentence for topic in self.topics for sentence in topic.sentences)
        return self


class TraitsFile(SetFile):
    terms: list[Two] = Field(min_length=1)
    traits: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=2, max_length=2)
    structures: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        frames = [frame for structure in self.structures.values() for frame in structure]
        for frame in frames:
            _check_places(frame, "{target}", "{trait}")
        _check_distinct(frames)
        _check_distinct(trait for group in self.traits.values() for trait in group)
        _check_distinct(" / ".join(pair) for pair in self.terms)
        return self


class FrameEntry(_Strict):
    text: Text
    fillers: Two

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_places(self.text, "{a occupation}" if "{a " in self.text else "{occupation}", MASK)
        return self


class OccupationsFile(SetFile):
    occupations: Text
    frames: list[FrameEntry] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_distinct(frame.text for frame in self.frames)
        return self


class GroupsFile(SetFile):
    occupations: Text
    frames: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=1)

    @model_validator(mode="after")
    def _check(self) -> Self:
        frames = [frame for own in self.frames.values() for frame in own]
        for frame in frames:
            _check_places(
                frame, *(f"{{a {x}}}" if f"{{a {x}}}" in frame else f"{{{x}}}" for x in ("group", "occupation"))
            )
        _check_distinct(frames)
        return self


def read_set(path: Path | Traversable, shape: type[Shape]) -> Shape:
    """Read and check one file of the given form."""
    raw = read_yaml(path)
    try:
        return shape.model_validate(raw)
    except ValidationError as error:
        raise BadInput(f"{path.name}: {_complaint(error, raw, shape)}") from None


def _complaint(error: ValidationError, raw: Any, shape: type[SetFile]) -> str:
    """The first complaint of pydantic as one line that names the entry."""
    complaints = error.errors()
    # A misspelt key is also missing under its right name; the misspelling is the more useful thing to say.
    first = next((each for each in complaints if each["type"] == "extra_forbidden"), complaints[0])
    place, here = list[str](), raw
    for step in first["loc"]:
        here = _inside(here, step)
        place.append(_entry(here, step) if isinstance(step, int) else step)
    if first["type"] == "extra_forbidden":
        *above, key = place
        return ": ".join([*above, str(unknown("key", key, _keys(shape, above)))])
    if first["type"] == "string_type" and isinstance(first["input"], bool | int | float):
        return f"{': '.join(place)}: {first['input']!r} is not text to YAML: put it in quotes"
    if first["type"] == "missing" and isinstance(first["loc"][-1], int):
        return f"{': '.join(place[:-1])}: needs two words"
    plain = {"missing": "is missing", "model_type": "should be a mapping"}
    message = str(first["ctx"]["error"]) if first["type"] == "value_error" else plain.get(first["type"], first["msg"])
    return f"{': '.join(place)}: {message}" if place else message


def _inside(here: Any, step: int | str) -> Any:
    try:
        return here[step]
    except (KeyError, IndexError, TypeError):
        return None


def _entry(entry: Any, number: int) -> str:
    """An entry of a list by what it is about, or else by its number."""
    names = (entry.get(key) for key in ("occupation", "topic", "text")) if isinstance(entry, dict) else (entry,)
    return next((f"'{name}'" for name in names if isinstance(name, str)), f"entry {number + 1}")


def _keys(shape: type[SetFile], above: list[str]) -> Iterable[str]:
    entries: dict[str, type[BaseModel]] = {"rows": ClozeEntry, "topics": TopicEntry, "frames": FrameEntry}
    return (entries[above[0]] if above else shape).model_fields
