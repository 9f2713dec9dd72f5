"""What a probe is: stimuli, what is asked about them, and the measure. Put to a model, it gives a reading."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import platform
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar, cast

from tiltmeter.models.protocol import BOS_DECLARED, LAST_LAYER, USUAL_DTYPES, Identity, Question, Vector, installed
from tiltmeter.readings import (
    About,
    Details,
    Estimate,
    Evidence,
    Item,
    ItemMeaning,
    LeftOut,
    Poles,
    Power,
    Provenance,
    Reading,
    Scale,
    Statistic,
)
from tiltmeter.statistics import Alternative, plain

#: What a kind of probe shows: a frozen dataclass of its own.
S = TypeVar("S")
#: What a probe asks a model: inputs by question, in the order in which the measure will look at the answers.
Asked: TypeAlias = Mapping[Question, Sequence[Any]]
#: Whether a model answers a question.
CanAnswer: TypeAlias = Callable[[Question], bool]

# Caveats, said with every reading of a kind.
INTRINSIC = (
    "This is an intrinsic measure: it describes geometry inside the model. It does not show that a product built "
    "on the model harms anyone, and a small value does not show that none does (Goldfarb-Tarrant et al. 2021)."
)
WORD_LISTS = (
    "It is only as good as its word lists: they represent a group or an idea as their authors saw it, mostly in "
    "US English, and other lists can give different results."
)
VECTOR_HARM = (
    "If it carries over to search, ranking or matching, people of the group that leans towards the less valued side "
    "could be shown less often or described in stereotypes."
)
PROBABILITIES = (
    "It reads the probabilities of words that the model need never say: a lean here may show in generated text, "
    "ranking or completion, but it is not measured there (Goldfarb-Tarrant et al. 2021)."
)
TEMPLATES = (
    "It is only as good as its sentences: they represent situations as their authors saw them, and other sentences "
    "can give different results."
)
EXPECTATION_HARM = (
    "If the model completes or ranks text, people could be assumed to belong to the gender or group that it expects, "
    "and those who do not could be misnamed or passed over."
)
OF_VECTORS = (VECTOR_HARM, INTRINSIC, WORD_LISTS)
OF_PROBABILITIES = (EXPECTATION_HARM, PROBABILITIES, TEMPLATES)


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How the statistics are done. The same for every probe, and part of every reading."""

    alternative: str = "two-sided"
    permutations: int = 10_000
    seed: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class SideVectors:
    """Word vectors that a probe needs from a second model: its spec, or an object of the user's."""

    model: Any
    words: tuple[str, ...]
    #: Without a vector of each of these nothing can be measured; of a phrase, those of its words will do.
    required: tuple[str, ...] = ()

    @property
    def key(self) -> Any:
        return self.model if isinstance(self.model, str) else id(self.model)


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """What a measure found, before it becomes a reading (see ``Reading`` for the fields).

    ``n_items`` is the number of items, and ``n_units`` that number, unless the measure counts something else:
    ``counted`` says what.
    """

    effect: Estimate
    poles: Poles | None
    finding: str
    items: tuple[Item, ...]
    item_meaning: ItemMeaning | None
    statistic: Statistic | None
    n_items: int | None = None
    n_units: int | None = None
    published: Estimate | None = None
    repair: str = ""
    notes: tuple[str, ...] = ()
    details: Details | None = None
    evidence: Evidence | None = None
    power: Power | None = None
    counted: str = "words"


def statistics_options(options: Options) -> dict[str, Any]:
    """The options of a permutation test, as measures take them."""
    return {**dataclasses.asdict(options), "alternative": cast(Alternative, options.alternative)}


def tested(name: str, value: float, scale: Scale, result: Any, options: Options) -> Estimate:
    """The estimate of a measure whose result has an interval and a permutation test."""
    return Estimate(
        name, value, scale, result.ci, result.p_value, options.alternative, result.exact, result.standard_error
    )


class Replies:
    """What a model answered to a probe; collects what had to be left out."""

    def __init__(
        self,
        model: str,
        asked: Asked,
        answers: Mapping[Question, Mapping[Any, Any]],
        vectors: Mapping[str, Vector | None] | None = None,
    ) -> None:
        self.model = model
        self._asked = asked
        self._answers = answers
        self.vectors = vectors or {}
        self._left_out: dict[LeftOut, None] = {}
        self._unknown: dict[str, set[str]] = {}

    def answered(self, question: Question) -> bool:
        return question in self._asked

    def asked(self, question: Question) -> Sequence[Any]:
        """The inputs, in the order in which the probe asked about them."""
        return self._asked[question]

    def all(self, question: Question) -> list[Any]:
        """The answers to a question in the order in which the probe asked."""
        answers = self._answers[question]
        return [answers[item] for item in self._asked[question]]

    def of(self, question: Question, item: Any) -> Any:
        """The answer to one input: a vector (None for a word out of vocabulary), TokenScores, Filled or Chosen."""
        return self._answers[question][item]

    def leave_out(self, what: str, reason: str) -> None:
        self._left_out[LeftOut(what, reason)] = None

    def note_unknown(self, text: str, places: Sequence[tuple[int, int]]) -> None:
        """Name the words of a sentence that the model does not know; they are measured nevertheless."""
        for start, end in places:
            self._unknown.setdefault(text[start:end], set()).add(text)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        unknown = (
            LeftOut(f"'{word}' in {len(texts)} sentence(s)", f"unknown to {self.model}; read as an unknown word")
            for word, texts in self._unknown.items()
        )
        return (*self._left_out, *unknown)


@dataclasses.dataclass(frozen=True, slots=True)
class Part(Generic[S]):
    """What a kind makes of the options given: the whole (without a name) first, then parts of it, if it has any."""

    name: str
    title: str
    stimuli: S
    dimension: str = "gender"
    vectors: SideVectors | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Kind(Generic[S]):
    """A kind of probe.

    ``make`` turns options into stimuli; its keyword arguments are what the kind accepts, on the command line, in Python
    and in suite files alike. ``ask`` turns stimuli into what to ask a model that answers some questions, or None where
    none of them will do; ``measure`` turns the answers into what was found.
    """

    name: str
    summary: str
    citation: str
    idea: str
    needs: str
    make: Callable[..., Sequence[Part[S]]]
    ask: Callable[[S, CanAnswer], Asked | None]
    measure: Callable[[S, Replies, Options], Measured]
    caveats: tuple[str, ...]

    @property
    def accepts(self) -> tuple[str, ...]:
        """The options it takes, in the order in which it declares them."""
        return tuple(inspect.signature(self.make).parameters)


@dataclasses.dataclass(frozen=True, slots=True)
class Probe(Generic[S]):
    """One measurement, ready to be put to any model that answers its question."""

    id: str
    title: str
    kind: Kind[S]
    stimuli: S
    options: Options = dataclasses.field(default_factory=Options)
    vectors: SideVectors | None = None
    dimension: str = ""
    control: bool = False

    def __repr__(self) -> str:
        return f"<Probe {self.id}: {self.title}>"

    def asks(self, can: CanAnswer) -> Asked | None:
        """What to ask a model that answers these questions; None where it cannot be measured."""
        return self.kind.ask(self.stimuli, can)

    def read(
        self,
        identity: Identity,
        asked: Asked,
        answers: Mapping[Question, Mapping[Any, Any]],
        vectors: tuple[Identity, Mapping[str, Vector | None]] | None = None,
    ) -> Reading:
        """Measure the model's answers to what ``asks`` said; ``vectors`` come from the second model, if it has one."""
        replies = Replies(identity.name, asked, answers, vectors[1] if vectors else None)
        measured = self.kind.measure(self.stimuli, replies, self.options)
        kind, settings = self.kind, dataclasses.asdict(self.options)
        fields: dict[str, Any] = {field.name: getattr(measured, field.name) for field in dataclasses.fields(measured)}
        fields["n_items"] = measured.n_items or len(measured.items)
        fields["n_units"] = measured.n_units or fields["n_items"]
        return Reading(
            id=self.id,
            probe=kind.name,
            title=self.title,
            model=model_name(identity),
            dimension=self.dimension,
            control=self.control,
            family="control" if self.control else "bias",
            left_out=replies.left_out,
            about=About(kind.summary, kind.idea, kind.citation, kind.caveats),
            provenance=Provenance(
                identity,
                digest(self.stimuli),
                settings,
                {**versions(), **(vectors[0].versions if vectors else {}), **identity.versions},
                vectors[0] if vectors else None,
            ),
            **fields,
        )


def model_name(identity: Identity) -> str:
    """The model's name with the settings a user chose, as it stands in tables.

    >>> model_name(Identity("hf:some/folder", "1f0e", {"layer": "8", "pooling": "auto"}))
    'hf:some/folder?layer=8'

    A debiased model's file says which model it is of, so that it takes no settings of that one.

    >>> model_name(Identity("debiased:made", "1f0e", {"case": "lower"}))
    'debiased:made'
    """
    usual = {"case": ("exact",), "pooling": ("auto", "mean"), "layer": (LAST_LAYER,)}
    usual |= {"bos": BOS_DECLARED, "dtype": USUAL_DTYPES}
    chosen = [f"{k}={v}" for k, v in sorted(identity.settings.items()) if v not in usual.get(k, ())]
    if identity.name.startswith("debiased:"):
        return identity.name
    if identity.name.startswith(("bundled:", "chat:")):
        chosen = [one for one in chosen if one == "chat=yes"]
    return identity.name if not chosen else f"{identity.name}?{'&'.join(chosen)}"


def digest(stimuli: Any) -> str:
    """A short hash of everything that was shown; ``to_dict`` says what that is where not every field is."""
    values = stimuli.to_dict() if hasattr(stimuli, "to_dict") else plain(stimuli)
    return hashlib.sha256(json.dumps(values, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


@functools.cache
def versions() -> Mapping[str, str]:
    """Of what a number depends on."""
    packages = ("tiltmeter", "numpy", "scipy")
    return {"python": platform.python_version(), **dict.fromkeys(packages, "unknown"), **installed(*packages)}
