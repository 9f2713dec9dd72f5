"""What CABM tells of occupations beyond the score: weights, validation, data."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tiltmeter.measures.cabm.validation import ScoreAgreement, Validation
from tiltmeter.readings.reading import Details

#: The category of an occupation that leans to neither group, and of one whose interval reaches beyond its own.
NEUTRAL, CLOSE = "neutral", "too close to call"
#: The weights that a user gave, among ways to weigh.
GIVEN = "given"
#: Ways to weigh the features, in the order in which they are shown.
WEIGHTINGS = ("pca", "pca_rf", "shap_rf", "lime_rf", "equal", GIVEN)

Point: TypeAlias = tuple[float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class FeatureWeights:
    """The weights of PMI, cosine and context by one method, and their SDs over seeds."""

    values: tuple[float, float, float]
    method: str
    spread: tuple[float, float, float]


@dataclasses.dataclass(frozen=True, slots=True)
class CabmForm:
    """The score in one form, as published or repaired; ``scores`` are those of the items by every weighting.

    ``method`` is how the headline is weighed, ``not_weighed`` why some weightings could not be had.
    """

    method: str
    categories: Mapping[str, int]
    weights: Mapping[str, FeatureWeights]
    not_weighed: Mapping[str, str]
    scores: Mapping[str, tuple[float, ...]]
    between_weightings: tuple[ScoreAgreement, ...]
    validation: Validation


@dataclasses.dataclass(frozen=True, slots=True)
class LeaningSentence:
    """A masked sentence, and how far it leans towards the first group."""

    sentence: str
    lean: float


@dataclasses.dataclass(frozen=True, slots=True)
class SentenceCounts:
    """What was kept and what was dropped: lines of the source, by group in it, and the sentences made of them."""

    read: int
    used: int
    left_out: Mapping[str, int]
    in_source: Mapping[str, int]
    sentences: int
    neutral_sentences: int
    by_group: Mapping[str, int]
    by_kind: Mapping[str, Mapping[str, int]]
    by_occupation: Mapping[str, Mapping[str, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class CabmDetails(Details, kind="cabm"):
    """Weights, scores by every weighting, validation, explanations and what the data are.

    ``labels_from`` is where labels of occupations come from, None where there are none; ``projection`` where an
    occupation's sentences stand with either group, on the two main axes of them all.
    """

    groups: tuple[str, str]
    threshold: float
    labels_from: str | None
    pmi_from: str
    explained_by: str | None
    units: Mapping[str, float]
    repaired: CabmForm
    published: CabmForm
    between_forms: ScoreAgreement
    sentences: Mapping[str, tuple[LeaningSentence, ...]]
    projection: Mapping[str, tuple[Point, Point]]
    data: SentenceCounts

    @property
    def forms(self) -> dict[str, CabmForm]:
        """The form that counts, then the other."""
        return {"repaired": self.repaired, "published": self.published}

    @property
    def categories(self) -> list[str]:
        return [*self.groups, NEUTRAL, CLOSE]

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        data, lines = values["data"], values["data"]["lines"]
        counted = {name: count for name, count in data.items() if name != "lines"}
        source = {"in_source" if name == "by_group" else name: count for name, count in lines.items()}
        kept = ("groups", "threshold", "pmi_from", "explained_by", "units", "sentences", "projection")
        return {
            **{name: values[name] for name in kept},
            "labels_from": None if values["labels_from"] == "none" else values["labels_from"],
            "repaired": _form_of_schema_1(values["corrected"]),
            "published": _form_of_schema_1(values["published"]),
            "between_forms": _renamed(values["published_and_corrected"][0], {"corrected": "repaired"}),
            "data": {**counted, **source},
        }


def in_order(weightings: Iterable[str]) -> list[str]:
    """Ways to weigh in their usual order, which a reading on disk does not keep.

    >>> in_order(["given", "equal", "pca", "pca"])
    ['pca', 'equal', 'given']
    """
    return sorted(set(weightings), key=WEIGHTINGS.index)


def _form_of_schema_1(form: Mapping[str, Any]) -> dict[str, Any]:
    """Weights that a user gave stood under the text in which they were given."""
    names = {name: name if name in WEIGHTINGS else GIVEN for part in ("weights", "not_weighed") for name in form[part]}
    parts = ("weights", "not_weighed", "scores")
    by_weighting = {part: {names[name]: value for name, value in form[part].items()} for part in parts}
    between = [_renamed(agreement, names) for agreement in form["between_weightings"]]
    return {**form, **by_weighting, "between_weightings": between}


def _renamed(agreement: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {**agreement, **{side: names.get(agreement[side], agreement[side]) for side in ("first", "second")}}
