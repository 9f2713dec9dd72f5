"""The YAML forms of the sets in ``sets/``: shape and content checked by pydantic, every complaint one line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, Field, StrictStr, model_validator

from tiltmeter.errors import unknown
from tiltmeter.stimuli.sentences.sentence import MASK, Sentence, SentenceSet, expected_by_share
from tiltmeter.stimuli.text import normalise, repeated

Texts = TypeVar("Texts", bound=Iterable[str])
_PLACE = re.compile(r"\{[^{}]*\}|[{}]|\[MASK\]")


def _text(text: str) -> str:
    clean = normalise(text)
    if not clean:
        raise ValueError("is empty: fill it in or remove it")
    return clean


Text = Annotated[StrictStr, AfterValidator(_text)]


def _check_places(frame: str, *places: str) -> None:
    """Each of the places stands in the frame once, and no other does: a misspelt one would end up in a sentence."""
    counts = Counter(_PLACE.findall(frame))
    for place in counts:
        if place not in places:
            raise ValueError(f"'{frame}': {unknown('place', place, places)}")
    for place in places:
        if counts[place] != 1:
            raise ValueError(f"'{frame}' needs {place} once, not {counts[place]} times")


def _check_distinct(texts: Texts) -> Texts:
    for text in repeated(texts):
        raise ValueError(f"'{text}' appears twice: remove one")
    return texts


Two = Annotated[tuple[Text, Text], AfterValidator(_check_distinct)]


class _SetPart(BaseModel, extra="forbid"):
    @model_validator(mode="after")
    def _checked(self) -> Self:
        self.check()
        return self

    def check(self) -> None:
        """Complain of what the shape alone allows."""


class SetFile(_SetPart):
    """What every set says of itself; ``warnings`` go with each reading, ``dimension`` is what its groups differ in."""

    name: Text
    language: Text
    dimension: Text = "gender"
    licence: StrictStr = ""
    citation: StrictStr = ""
    notes: StrictStr = ""
    warnings: list[Text] = []

    def sentence_set(self, sentences: Iterable[Sentence], **fields: Any) -> SentenceSet:
        """Sentences of this file with what it says of itself; ``fields`` are the others of a sentence set."""
        about = {"name": self.name, "dimension": self.dimension, "language": self.language}
        return SentenceSet(**{**about, "notes": tuple(self.warnings), **fields}, sentences=tuple(sentences))


class ClozeEntry(_SetPart):
    occupation: Text
    noun: Text
    verb: Text
    sentence: Text
    label: Literal[1, 2] | None = None
    female_share: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None

    def check(self) -> None:
        _check_places(self.sentence, "{person}", "{pronoun}")
        if not self.sentence.endswith(" {pronoun}"):
            raise ValueError(f"'{self.sentence}' needs {{pronoun}} as its last word, without a full stop")
        for word in (self.noun, self.verb):
            if not re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.sentence):
                raise ValueError(f"'{self.sentence}' does not hold the word '{word}'")

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

    def check(self) -> None:
        for person in self.variants.values():
            _check_places(person, *(["{occupation}"] if "{" in person else []))
        _check_distinct(row.sentence for row in self.rows)


class TopicEntry(_SetPart):
    topic: Text
    group: Literal[1, 2]
    context: Text
    sentences: list[Text] = Field(min_length=1)

    def check(self) -> None:
        for sentence in self.sentences:
            _check_places(sentence, "{pronoun}")


class PairsFile(SetFile):
    groups: Two
    pronouns: Two
    topics: list[TopicEntry] = Field(min_length=1)

    def check(self) -> None:
        _check_distinct(sentence for topic in self.topics for sentence in topic.sentences)


class TraitsFile(SetFile):
    terms: list[Two] = Field(min_length=1)
    traits: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=2, max_length=2)
    structures: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=1)

    def check(self) -> None:
        frames = [frame for structure in self.structures.values() for frame in structure]
        for frame in frames:
            _check_places(frame, "{target}", "{trait}")
        _check_distinct(frames)
        _check_distinct(trait for group in self.traits.values() for trait in group)
        _check_distinct(" / ".join(pair) for pair in self.terms)


class FrameEntry(_SetPart):
    text: Text
    fillers: Two

    def check(self) -> None:
        _check_places(self.text, "{a occupation}" if "{a " in self.text else "{occupation}", MASK)

    @property
    def frame(self) -> str:
        return self.text.replace(MASK, "{pronoun}")


class OccupationsFile(SetFile):
    occupations: Text
    frames: list[FrameEntry] = Field(min_length=1)

    def check(self) -> None:
        _check_distinct(frame.text for frame in self.frames)


class GroupsFile(SetFile):
    occupations: Text
    frames: dict[StrictStr, Annotated[list[Text], Field(min_length=1)]] = Field(min_length=1)

    def check(self) -> None:
        frames = [frame for some in self.frames.values() for frame in some]
        for frame in frames:
            _check_places(
                frame, *(f"{{a {x}}}" if f"{{a {x}}}" in frame else f"{{{x}}}" for x in ("group", "occupation"))
            )
        _check_distinct(frames)


def _one_person(prompt: str) -> str:
    _check_places(prompt, "{person}")
    return prompt


class ScenarioEntry(BaseModel, extra="forbid"):
    id: Annotated[StrictStr, Field(min_length=1)]
    kind: StrictStr
    prompt: Annotated[StrictStr, AfterValidator(_one_person)]
    options: tuple[StrictStr, StrictStr] | None = None


class ScenariosFile(BaseModel, extra="forbid"):
    name: StrictStr
    language: StrictStr = "en"
    licence: StrictStr = ""
    citation: StrictStr = ""
    notes: StrictStr = ""
    scenarios: Annotated[list[ScenarioEntry], Field(min_length=2)]


#: The form of a set by its kind.
SHAPES: dict[str, type[SetFile]] = {
    "cloze": ClozeFile, "pairs": PairsFile, "traits": TraitsFile, "occupations": OccupationsFile, "groups": GroupsFile,
}  # fmt: skip
