"""Log-probability bias: how much an attribute changes which gendered term is likely (LPBS)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tiltmeter import measures
from tiltmeter.models.protocol import Question
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
from tiltmeter.probes.sentences.lpbs_scores import (
    Attributes,
    Scores,
    Table,
    Unit,
    fills,
    load_attributes,
    mean_of,
    read_scores,
)
from tiltmeter.readings import (
    ALPHA,
    DIFFERENCE,
    D,
    Estimate,
    Item,
    ItemMeaning,
    Poles,
    Statistic,
    interval_text,
    p_text,
    tilt_in_words,
)
from tiltmeter.readings.details.sentences import LpbsDetails, MeanAssociation
from tiltmeter.statistics import minimum_detectable_effect


def _make(*, data: str | Path | None = None) -> list[Part[Attributes]]:
    """The whole set first, then each sentence structure where there are several."""
    stimuli = load_attributes(data)
    title, dimension = f"Log-probability bias of {stimuli.noun}", stimuli.sentences.dimension
    structures = stimuli.structures
    return [
        Part("", title, stimuli, dimension),
        *(
            # A structure may be named by a whole template, which is no id.
            Part(
                structure if structure.isalnum() else str(number),
                f"{title}, {structure}",
                stimuli.only(structure),
                dimension,
            )
            for number, structure in enumerate(structures, 1)
            if len(structures) > 1
        ),
    ]


def _ask(stimuli: Attributes, can: CanAnswer) -> Asked | None:
    return {Question.FILLS: fills(stimuli)} if can(Question.FILLS) else None


def _lpbs(scores: dict[Unit, Scores], options: Options, *, groups: bool) -> measures.LpbsResult:
    rows = list(scores.values())
    return measures.lpbs(
        [[row.fill[0]] for row in rows],
        [[row.prior[0]] for row in rows],
        [[row.fill[1]] for row in rows],
        [[row.prior[1]] for row in rows],
        groups=[unit.group for unit in scores] if groups else None,
        **statistics_options(options),
    )


def _measure(stimuli: Attributes, replies: Replies, options: Options) -> Measured:
    table = read_scores(stimuli, replies)
    # Each structure counts once, however many sentences it has.
    scores = {unit: mean_of(list(parts.values())) for unit, parts in table.items()}
    every = _lpbs(scores, options, groups=False)
    grouped = {unit: mean for unit, mean in scores.items() if unit.group in stimuli.labels}
    two = len({unit.group for unit in grouped}) == 2
    compared = _lpbs(grouped, options, groups=True) if two else None
    effect, poles, words = (
        _compare(stimuli, grouped, compared, options) if compared else _average(stimuli, every, options)
    )
    return Measured(
        effect,
        poles,
        f"{words} {_without_prior(stimuli, every)}",
        tuple(
            Item(
                unit.attribute,
                unit.attribute,
                unit.group,
                part.association,
                {
                    "structure": structure,
                    "fill_bias": part.fill_bias,
                    "prior_bias": part.prior_bias,
                    "sentences": part.sentences,
                    "term_pairs": len(part.pairs),
                },
            )
            for unit, parts in table.items()
            for structure, part in parts.items()
        ),
        ItemMeaning("association (log-odds with the attribute, less those without)", Poles(*stimuli.poles)),
        Statistic("d of units", between=stimuli.labels) if compared else Statistic("mean of units"),
        sum(part.sentences for parts in table.values() for part in parts.values()),
        len(table),
        notes=stimuli.sentences.notes,
        details=_details(table, every, compared),
    )


def _compare(
    stimuli: Attributes, scores: dict[Unit, Scores], result: measures.LpbsResult, options: Options
) -> tuple[Estimate, Poles, str]:
    """The headline where there are two groups of attributes."""
    d, ci, p = result.effect_size, result.ci, result.p_value
    assert d is not None  # two groups were named
    assert ci is not None
    assert p is not None
    effect = Estimate("effect size d", d, D, ci, p, options.alternative, result.exact, result.standard_error)
    one, two = stimuli.poles
    parts = [[mean for unit, mean in scores.items() if unit.group == group] for group in stimuli.labels]
    counts = len(parts[0]), len(parts[1])
    detectable = minimum_detectable_effect(*counts)
    words = tilt_in_words(stimuli.labels, stimuli.poles, d, ci, p, counts, detectable=detectable)
    means = [mean_of(part).association for part in parts]
    by_label = ", ".join(f"{label} {mean:+.2f}" for label, mean in zip(stimuli.labels, means, strict=True))
    # Leaning towards different poles is meant relative to each other, which must be said where it is not so outright.
    same = f"; both are on the side of {one if means[0] > 0 else two}" if means[0] * means[1] > 0 else ""
    poles = Poles.crossed(stimuli.labels, stimuli.poles)
    return effect, poles, f"{words} The tilt is between the mean associations: {by_label}{same}."


def _average(stimuli: Attributes, result: measures.LpbsResult, options: Options) -> tuple[Estimate, Poles, str]:
    """The headline where there is nothing to compare."""
    mean, (one, two) = result.mean, stimuli.poles
    effect = tested("mean association", mean.value, DIFFERENCE, mean, options)
    numbers = f"mean association {mean.value:+.2f}, {interval_text(mean.ci)}, {p_text(mean.p_value)}"
    towards = one if mean.value > 0 else two
    lean = f"lean towards {towards}" if mean.p_value <= ALPHA else f"show no clear lean to {one} or {two}"
    return (
        effect,
        Poles(f"{stimuli.noun} → {one}", f"{stimuli.noun} → {two}"),
        f"On average {stimuli.noun} {lean} ({numbers}); there are no two groups of them to compare.",
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
        "The prior is taken with the attribute masked: what the rest of the sentence expects is taken out, so a model "
        "that expects men everywhere can still be level here. See fill_bias and prior_bias for both parts.",
    ),
)
