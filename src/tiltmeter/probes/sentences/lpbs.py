"""Log-probability bias: how much an attribute changes which gendered term is likely (LPBS)."""

from __future__ import annotations

import dataclasses
import itertools
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_yaml
from tiltmeter.models.protocol import Fill, Filled, Question
from tiltmeter.probes.kind import (
    OF_PROBABILITIES,
    Asked,
    CanAnswer,
    Kind,
    Measured,
    Options,
    Part,
    Replies,
    statistics_options,
    tested,
)
from tiltmeter.probes.sentences.fills import fill_at, hide_mentions
from tiltmeter.readings import Cell, Estimate, Evidence, Item, ItemMeaning, Poles, Power, Statistic
from tiltmeter.readings.details.sentences import LpbsDetails, MeanAssociation
from tiltmeter.readings.scale import DIFFERENCE, D, interval_text, tilt_in_words
from tiltmeter.statistics import Alternative, CrossedTest, power_of_mean
from tiltmeter.stimuli import Group, SomeWords
from tiltmeter.stimuli import group as find_group
from tiltmeter.stimuli.datasets import find, load_bangla_traits, load_bec_pro
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import occupation_set, trait_set
from tiltmeter.stimuli.sentences.target_frames import target_frames

_NEITHER = "neither group"


@dataclasses.dataclass(frozen=True, slots=True)
class Attributes:
    """Sentences with a gendered term in the slot ``target`` and what is said of its bearer in ``attribute``.

    The tag ``group`` names the attribute's group. Attributes of another group than the two in ``labels`` are measured
    and not compared.
    """

    sentences: SentenceSet
    target: str
    attribute: str
    noun: str
    labels: tuple[str, str]
    #: The terms of either group where they are no pairs; otherwise the forms of the target are pairs of terms.
    sides: tuple[Group, Group] | None = None
    #: By group of attributes the family of every word of it, where a lexicon names them.
    families: Mapping[str, Mapping[str, str]] = dataclasses.field(default_factory=dict)

    @property
    def poles(self) -> tuple[str, str]:
        """What the two terms of a pair stand for."""
        first, second = self.sentences.groups
        return first, second


def load_attributes(data: str | Path | None) -> Attributes:
    """The shipped occupations, a shipped or public set by name, or a file or folder of the user's.

    >>> attributes = load_attributes(None)
    >>> attributes.labels, attributes.sentences.sentences[0].text
    (("men's occupations", "women's occupations"), 'The technician said that he was tired.')
    """
    name = "occupations_en" if data is None else str(data)
    if name in _NAMED:
        return _NAMED[name]()
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        occupations = isinstance(content, dict) and "frames" in content
        return _occupations(occupation_set(path)) if occupations else _traits(trait_set(path))
    if path.is_dir():
        return _traits(load_bangla_traits(path))
    raise unknown("data of lpbs", name, [*_NAMED, "a YAML file", "the folder of the Bangla traits"])


def _of_words(targets: Sequence[Group], attributes: Sequence[Group], frames: Sequence[str] | None) -> Attributes:
    """Every attribute word in a few plain sentences, in which the words of both targets take turns."""
    for name, groups in (("targets", targets), ("attributes", attributes)):
        if len(groups) != 2:
            raise BadInput(f"lpbs compares two groups of {name}, but got {len(groups)}")
    sentences = target_frames(targets, attributes, frames)
    one, two = (attribute.label for attribute in attributes)
    named = {
        attribute.label: dict(zip(attribute.texts, attribute.families, strict=True))
        for attribute in attributes
        if attribute.families
    }
    noun, sides = f"words for {one} and {two}", (targets[0], targets[1])
    return Attributes(sentences, "target", "attribute", noun, (one, two), sides, named)


def _traits(source: SentenceSet) -> Attributes:
    tagged = tuple(row.tagged(group=f"{row.tags['group']} traits") for row in source.sentences)
    first, second = dict.fromkeys(row.tags["group"] for row in tagged)
    return Attributes(dataclasses.replace(source, sentences=tagged), "target", "trait", "traits", (first, second))


def _occupations(source: SentenceSet, noun: str = "occupations") -> Attributes:
    labels = {group: f"{group}'s {noun}" for group in source.groups}
    tagged = tuple(row.tagged(group=labels.get(row.tags.get("expected", ""), _NEITHER)) for row in source.sentences)
    first, second = labels.values()
    return Attributes(dataclasses.replace(source, sentences=tagged), "pronoun", "occupation", noun, (first, second))


def _bec_pro() -> Attributes:
    """A sentence for each frame (He, This man, My brother), template and profession, with all persons of the frame.

    Balanced professions belong to neither group and are left out.
    """
    source = load_bec_pro(find("bec_pro"))
    frames: dict[str, list[Sentence]] = {}
    for row in source.sentences:
        frames.setdefault(row.around("pronoun")[0], []).append(row)
    sentences = []
    for rows in frames.values():
        persons = tuple(dict.fromkeys(form for row in rows for form in row.forms["pronoun"]))
        sentences += [
            dataclasses.replace(row, forms={"pronoun": persons}).tagged(structure=row.tags["kind"])
            for row in rows
            if "expected" in row.tags and row.word("pronoun") == persons[0]
        ]
    balanced = {row.unit for row in source.sentences if "expected" not in row.tags}
    note = f"{len(balanced)} balanced professions belong to neither group: left out"
    notes = (note,) if balanced else ()
    return _occupations(dataclasses.replace(source, sentences=tuple(sentences), notes=notes), "professions")


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "occupations_en": lambda: _occupations(occupation_set("occupations_en")),
    "traits_en": lambda: _traits(trait_set("traits_en")),
    "traits_bn": lambda: _traits(trait_set("traits_bn")),
    "bangla_traits": lambda: _traits(load_bangla_traits(find("bangla_traits"))),
    "bec_pro": _bec_pro,
}


class Unit(NamedTuple):
    """What is resampled: an attribute. One that stands in both groups is two."""

    attribute: str
    group: str


@dataclasses.dataclass(frozen=True, slots=True)
class Scores:
    """Mean log-probabilities of masculine and feminine terms in sentences: both with the attribute, then without.

    The last two are those without it as published, where only one mention of it is hidden.
    """

    logprobs: tuple[float, ...]
    pairs: frozenset[tuple[str, str]]
    sentences: int = 1
    #: Where terms are no pairs: of each, the log-probability with the attribute less that without it.
    by_term: tuple[float, ...] = ()

    @property
    def fill_bias(self) -> float:
        return self.logprobs[0] - self.logprobs[1]

    @property
    def prior_bias(self) -> float:
        return self.logprobs[2] - self.logprobs[3]

    @property
    def association(self) -> float:
        return self.fill_bias - self.prior_bias

    @property
    def mentioned_again(self) -> bool:
        """Whether some sentence names its attribute more than once."""
        return self.logprobs[2:4] != self.logprobs[4:]


def mean_of(some: Sequence[Scores], *, by_pairs: bool = False) -> Scores:
    """The mean of scores, each counting once, or as often as it has pairs of terms."""
    weights = [len(row.pairs) for row in some] if by_pairs else None
    means = np.average([row.logprobs for row in some], axis=0, weights=weights).tolist()
    pairs = frozenset[tuple[str, str]]().union(*(row.pairs for row in some))
    by_term = [
        np.average(of_term, weights=weights).item() for of_term in zip(*(row.by_term for row in some), strict=True)
    ]
    return Scores(tuple(means), pairs, sum(row.sentences for row in some), tuple(by_term))


#: By attribute, and within it by structure.
Table: TypeAlias = Mapping[Unit, Mapping[str, Scores]]


def read_scores(stimuli: Attributes, replies: Replies) -> Table:
    """The scores of each attribute in each structure: the mean over its sentences and their pairs of terms."""
    scores: dict[Unit, dict[str, list[Scores]]] = {}
    asked = iter(replies.asked(Question.FILLS))
    for sentence in stimuli.sentences.sentences:
        shown, hidden = next(asked), next(asked)
        fills = shown, hidden, next(asked) if len(hidden.hidden) > 1 else hidden
        answers = [replies.of(Question.FILLS, fill) for fill in fills]
        if answers[0].unknown:
            replies.note_unknown(fills[0].text, [answers[0].unknown])
        forms = sentence.forms[stimuli.target]
        sides = _terms(stimuli.sides) if stimuli.sides else (forms[::2], forms[1::2])
        pairs = frozenset(zip(*sides, strict=stimuli.sides is None))
        read = [_by_term(fill, answer, sides) for fill, answer in zip(fills, answers, strict=True)]
        logprobs = tuple(float(np.mean(side)) for of_sides in read for side in of_sides)
        seen, without = (itertools.chain(*of_sides) for of_sides in read[:2])
        by_term = tuple(map(operator.sub, seen, without)) if stimuli.sides else ()
        of_unit = scores.setdefault(Unit(sentence.unit, sentence.tags["group"]), {})
        of_unit.setdefault(sentence.tags.get("structure", ""), []).append(Scores(logprobs, pairs, by_term=by_term))
    table = {
        unit: {name: mean_of(some, by_pairs=True) for name, some in parts.items()} for unit, parts in scores.items()
    }
    # The measure compares the group that it meets first with the other.
    order = {group: number for number, group in enumerate(stimuli.labels)}
    return dict(sorted(table.items(), key=lambda entry: order.get(entry[0].group, len(order))))


def _terms(sides: tuple[Group, Group]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    one, two = (tuple(side.texts) for side in sides)
    return one, two


def _by_term(fill: Fill, answer: Filled, sides: tuple[tuple[str, ...], tuple[str, ...]]) -> list[list[float]]:
    """The log-probabilities of the masculine and of the feminine terms."""
    logprobs = dict(zip(fill.fillers, answer.logprobs, strict=True))
    return [[logprobs[term] for term in side] for side in sides]


def _make(
    *,
    data: str | Path | None = None,
    targets: Sequence[SomeWords] | None = None,
    attributes: Sequence[SomeWords] | None = None,
    templates: Sequence[str] | None = None,
) -> list[Part[Attributes]]:
    """The whole set first, then each sentence structure where there are several.

    Args:
        data: A shipped or public set by name, a YAML file, or the folder of the Bangla traits.
        targets: Two groups of words between which the attributes may lean, in place of data.
        attributes: The two groups of words that stand beside them.
        templates: Sentences with {target} and {attribute}; by default those of the language.
    """
    if targets is None and attributes is None and templates is None:
        stimuli = load_attributes(data)
    elif data is not None or targets is None or attributes is None:
        raise BadInput("lpbs takes sentences from data (--from), or makes them of targets and attributes: give either")
    else:
        stimuli = _of_words([find_group(one) for one in targets], [find_group(one) for one in attributes], templates)
    title, dimension = f"Log-probability bias of {stimuli.noun}", stimuli.sentences.dimension
    parts = [Part("", title, stimuli, dimension)]
    structures = dict.fromkeys(row.tags.get("structure", "") for row in stimuli.sentences.sentences)
    for number, structure in enumerate(structures if len(structures) > 1 else (), 1):
        # A structure may be named by a whole template, which is not an id.
        name = structure if structure.isalnum() else str(number)
        only = dataclasses.replace(stimuli, sentences=stimuli.sentences.where(structure=structure))
        parts.append(Part(name, f"{title}, {structure}", only, dimension))
    return parts


def _ask(stimuli: Attributes, can: CanAnswer) -> Asked | None:
    if not can(Question.FILLS):
        return None
    rows = (_fills(stimuli, row) for row in stimuli.sentences.sentences)
    return {Question.FILLS: list(itertools.chain.from_iterable(rows))}


def _fills(stimuli: Attributes, sentence: Sentence) -> tuple[Fill, ...]:
    """The terms at their place; with every mention of the attribute hidden; and, as published, with one of several.

    All are read at the place of the term, whichever of the two comes first. All terms are asked about at once: those
    of one token are then read off one pass.
    """
    published = fill_at(sentence, stimuli.target, stimuli.attribute)
    hidden = hide_mentions(published, stimuli.sentences.language)
    shown = fill_at(sentence, stimuli.target)
    return (shown, hidden) if hidden is published else (shown, hidden, published)


def _lpbs(
    stimuli: Attributes, scores: dict[Unit, Scores], options: Options, *, groups: bool, published: bool = False
) -> measures.LpbsResult:
    """As published only the attributes count, each for itself, and not which terms stand for either side."""
    columns = np.array([row.logprobs for row in scores.values()]).T[:, :, None]
    fill_1, fill_2, prior_1, prior_2 = columns[[0, 1, 4, 5] if published else [0, 1, 2, 3]]
    named = [unit.group for unit in scores] if groups else None
    words = {} if published or not groups else _by_words(stimuli, scores)
    return measures.lpbs(fill_1, prior_1, fill_2, prior_2, groups=named, **words, **statistics_options(options))


def _by_words(stimuli: Attributes, scores: dict[Unit, Scores]) -> dict[str, Any]:
    """Families of attributes, and the scores of every term where terms are words that could have been others."""
    of_words = [stimuli.families.get(unit.group, {}).get(unit.attribute, unit.attribute) for unit in scores]
    if stimuli.sides is None:
        return {"families": (of_words, None, None)}
    table = np.array([row.by_term for row in scores.values()])
    one, two = stimuli.sides
    return {
        "families": (of_words, one.families or None, two.families or None),
        "by_term": (table[:, : len(one.texts)], table[:, len(one.texts) :]),
    }


def _measure(stimuli: Attributes, replies: Replies, options: Options) -> Measured:
    table = read_scores(stimuli, replies)
    # Each structure counts once, however many sentences it has.
    scores = {unit: mean_of(list(parts.values())) for unit, parts in table.items()}
    every = _lpbs(stimuli, scores, options, groups=False)
    grouped = {unit: mean for unit, mean in scores.items() if unit.group in stimuli.labels}
    two = len({unit.group for unit in grouped}) == 2
    compared = _lpbs(stimuli, grouped, options, groups=True) if two else None
    again = sum(row.mentioned_again for parts in table.values() for row in parts.values())
    repairs = [_REPAIR.format(again=again)] if again else []
    if compared and compared.crossed:
        repairs.append(_REPAIR_OF_TERMS.format(*stimuli.poles))
    effect, poles, words, power = (
        _compare(stimuli, grouped, compared, options) if compared else _average(stimuli, every, options)
    )
    return Measured(
        effect,
        poles,
        f"{words} {_without_prior(stimuli, every)}",
        tuple(_item(unit, structure, part) for unit, parts in table.items() for structure, part in parts.items()),
        ItemMeaning("association (log-odds with the attribute, less those without)", Poles(*stimuli.poles)),
        Statistic("d of units", between=stimuli.labels) if compared else Statistic("mean of units"),
        sum(part.sentences for parts in table.values() for part in parts.values()),
        len(table),
        published=_as_published(stimuli, grouped if two else scores, options, groups=two) if repairs else None,
        repair=" ".join(repairs),
        notes=stimuli.sentences.notes,
        details=_details(table, every, compared),
        evidence=_evidence(stimuli, compared.crossed) if compared and compared.crossed else None,
        power=power,
    )


def _evidence(stimuli: Attributes, crossed: CrossedTest) -> Evidence:
    """What p rests on where other terms could have stood for either side."""
    p_values = [(f"other {stimuli.noun}", crossed.by_targets.p_value)]
    if crossed.by_attributes is not None:
        p_values.append((f"other terms for {' and '.join(stimuli.poles)}", crossed.by_attributes.p_value))
    return Evidence(tuple(p_values), tuple(zip((*stimuli.labels, *stimuli.poles), crossed.families, strict=True)))


_REPAIR = (
    "In {again} cases a sentence names its attribute more than once. As published, only one mention is masked for the "
    "prior, which still sees the other; repaired, all whole words that begin with it are masked."
)
_REPAIR_OF_TERMS = (
    "The published test takes the terms for {} and {} for the only ones there are. The headline asks whether the tilt "
    "holds for other terms too."
)


def _as_published(stimuli: Attributes, scores: dict[Unit, Scores], options: Options, *, groups: bool) -> Estimate:
    """The same with the prior of the published code, which hides one mention of the attribute, and fixed terms."""
    result = _lpbs(stimuli, scores, options, groups=groups, published=True)
    if result.effect_size is None:
        return tested("mean association", result.mean.value, DIFFERENCE, result.mean, options)
    return tested("effect size d", result.effect_size, D, result, options)


def _item(unit: Unit, structure: str, part: Scores) -> Item:
    columns: dict[str, Cell] = {"structure": structure, "fill_bias": part.fill_bias, "prior_bias": part.prior_bias}
    columns |= {"sentences": part.sentences, "term_pairs": len(part.pairs)}
    return Item(unit.attribute, *unit, part.association, columns)


def _compare(
    stimuli: Attributes, scores: dict[Unit, Scores], result: measures.LpbsResult, options: Options
) -> tuple[Estimate, Poles, str, Power | None]:
    """The headline where there are two groups of attributes."""
    d, ci, p = result.effect_size, result.ci, result.p_value
    assert d is not None  # two groups were named
    assert ci is not None
    assert p is not None
    effect = Estimate("effect size d", d, D, ci, p, options.alternative, result.exact, result.standard_error)
    one, two = stimuli.poles
    parts = [[mean for unit, mean in scores.items() if unit.group == group] for group in stimuli.labels]
    words = tilt_in_words(stimuli.labels, stimuli.poles, d, ci)
    means = [mean_of(part).association for part in parts]
    by_label = ", ".join(f"{label} {mean:+.2f}" for label, mean in zip(stimuli.labels, means, strict=True))
    # Leaning towards different poles is meant relative to each other, which must be said where it is not so outright.
    same = f"; both lean towards {one if means[0] > 0 else two}" if means[0] * means[1] > 0 else ""
    poles = Poles.crossed(stimuli.labels, stimuli.poles)
    return effect, poles, f"{words} Mean associations: {by_label}{same}.", result.power


def _average(
    stimuli: Attributes, result: measures.LpbsResult, options: Options
) -> tuple[Estimate, Poles, str, Power | None]:
    """The headline where there is nothing to compare."""
    mean, (one, two) = result.mean, stimuli.poles
    numbers = f"mean association {mean.value:+.2f}, {interval_text(mean.ci)}"
    lean = f"lean towards {one if mean.value > 0 else two}"
    return (
        tested("mean association", mean.value, DIFFERENCE, mean, options),
        Poles(f"{stimuli.noun} → {one}", f"{stimuli.noun} → {two}"),
        f"On average these {stimuli.noun} {lean} ({numbers}); there are no two groups of them to compare.",
        power_of_mean(
            result.associations,
            alternative=cast(Alternative, options.alternative),
            permutations=options.permutations,
        ),
    )


def _without_prior(stimuli: Attributes, every: measures.LpbsResult) -> str:
    """What the attributes add to what the sentences expect without them, in words."""
    first, second = stimuli.poles
    return (
        f"Over all {every.n} {stimuli.noun}, seeing one multiplies the odds of a term for {first} against one for "
        f"{second} by {math.exp(every.mean.value):.2f} (association {every.mean.value:+.2f}: log-odds of "
        f"{every.fill_bias:+.2f} with it and {every.prior_bias:+.2f} with it masked); 0 is level, and nearer to 0 is "
        "better."
    )


def _details(table: Table, every: measures.LpbsResult, compared: measures.LpbsResult | None) -> LpbsDetails:
    structures: dict[str, list[Scores]] = {}
    groups: dict[str, list[Scores]] = {}
    for unit, parts in table.items():
        groups.setdefault(unit.group, []).append(mean_of(list(parts.values())))
        for structure, part in parts.items():
            structures.setdefault(structure, []).append(part)
    return LpbsDetails(
        association=every.mean,
        fill_bias=every.fill_bias,
        prior_bias=every.prior_bias,
        fill_effect_size=compared.uncorrected_effect_size if compared else None,
        by_group={name: _summary(some) for name, some in groups.items()},
        by_structure={name: _summary(some) for name, some in structures.items() if name},
    )


def _summary(some: Sequence[Scores]) -> MeanAssociation:
    mean = mean_of(some)
    return MeanAssociation(mean.fill_bias, mean.prior_bias, mean.association, len(some))


KIND = Kind(
    "lpbs",
    "How much a trait or an occupation changes whether the model expects a man or a woman",
    "Kurita, Vyas, Pareek, Black & Tsvetkov 2019, GeBNLP; Sadhu, Khan, Bhattacharjee & Shahriyar 2024 (structures)",
    "a trait or an occupation should not change which gender the model expects in a sentence.",
    Question.FILLS.about,
    _make,
    _ask,
    _measure,
    (
        *OF_PROBABILITIES,
        "The prior is taken with the attribute masked, so what the rest of the sentence expects is removed: a model "
        "that expects men everywhere can still be level here. See fill_bias and prior_bias for both parts.",
    ),
)
