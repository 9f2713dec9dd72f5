"""Log-probability bias: how much an attribute changes which gendered term is likely (LPBS)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Asked, Estimate, Measured
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.sentences.lpbs_scores import Scores, Table, Unit, asked, mean_of, read
from tiltmeter.probes.sentences.lpbs_sets import Attributes, attributes
from tiltmeter.probes.wording import ALPHA, interval_text, p_text, tilt
from tiltmeter.statistics import Alternative, minimum_detectable_effect


def make(
    *, data: str | Path | None = None, vectors: str | None = None, method: str | None = None, options: Options
) -> list[LanguageProbe]:
    """The whole set first, then each sentence structure where there are several.

    >>> [probe.id for probe in make(data="traits_en", options=Options())]
    ['lpbs', 'lpbs-S1', 'lpbs-S2', 'lpbs-S3', 'lpbs-S4', 'lpbs-S5']
    """
    if vectors is not None or method is not None:
        raise BadInput(f"lpbs takes no {'method' if vectors is None else 'vectors'}: leave it out; it takes data")
    stimuli = attributes(data)
    title = f"Log-probability bias of {stimuli.noun}"
    whole = LanguageProbe("lpbs", title, KIND, stimuli, options)
    structures = stimuli.structures
    if len(structures) < 2:
        return [whole]
    return [
        whole,
        *(
            LanguageProbe(
                # A structure may be named by a whole template, which is no id.
                f"lpbs-{structure if structure.isalnum() else number}",
                f"{title}, {structure}",
                KIND,
                stimuli.only(structure),
                options,
            )
            for number, structure in enumerate(structures, 1)
        ),
    ]


def _ask(stimuli: Attributes, answers: Callable[[Question], bool]) -> Asked | None:
    if not answers(Question.FILLS):
        return None
    return {Question.FILLS: [each for _, _, *both in asked(stimuli) for each in both]}


def _lpbs(scores: dict[Unit, Scores], options: Options, *, groups: bool) -> measures.LpbsResult:
    rows = list(scores.values())
    return measures.lpbs(
        [[each.fill[0]] for each in rows],
        [[each.prior[0]] for each in rows],
        [[each.fill[1]] for each in rows],
        [[each.prior[1]] for each in rows],
        groups=[unit.group for unit in scores] if groups else None,
        alternative=cast(Alternative, options.alternative),
        permutations=options.permutations,
        seed=options.seed,
    )


def _measure(stimuli: Attributes, replies: Replies, options: Options) -> Measured:
    table = read(stimuli, replies)
    # Each structure counts once, however many sentences it has.
    scores = {unit: mean_of(list(parts.values())) for unit, parts in table.items()}
    every = _lpbs(scores, options, groups=False)
    grouped = {unit: each for unit, each in scores.items() if unit.group in stimuli.groups}
    two = len({unit.group for unit in grouped}) == 2
    compared = _lpbs(grouped, options, groups=True) if two else None
    effect, leans, strength, words = (
        _compare(stimuli, grouped, compared, options) if compared else _average(stimuli, every, options)
    )
    return Measured(
        effect,
        leans,
        strength,
        f"{words} {_correction(stimuli, every)}",
        tuple(
            {
                "word": unit.attribute,
                "group": stimuli.label(unit.group),
                "structure": structure,
                "fill_bias": each.fill_bias,
                "prior_bias": each.prior_bias,
                "association": each.association,
                "sentences": each.sentences,
                "term_pairs": len(each.pairs),
            }
            for unit, parts in table.items()
            for structure, each in parts.items()
        ),
        sum(each.sentences for parts in table.values() for each in parts.values()),
        len(table),
        details=_details(stimuli, table, every, compared),
    )


def _compare(
    stimuli: Attributes, scores: dict[Unit, Scores], found: measures.LpbsResult, options: Options
) -> tuple[Estimate, str, str, str]:
    """The headline where there are two groups of attributes."""
    d, ci, p = found.effect_size, found.ci, found.p_value
    assert d is not None  # two groups were named
    assert ci is not None
    assert p is not None
    effect = Estimate(
        "effect size d",
        d,
        0.0,
        "nearer to 0 is better",
        ci,
        p,
        options.alternative,
        found.exact,
        found.standard_error,
    )
    parts = [[each for unit, each in scores.items() if unit.group == group] for group in stimuli.groups]
    one, two = len(parts[0]), len(parts[1])
    labels = stimuli.labels
    leans, strength, words = tilt(
        labels, stimuli.poles, d, ci, p, (one, two), detectable=minimum_detectable_effect(one, two)
    )
    means = [mean_of(part).association for part in parts]
    said = ", ".join(f"{label} {mean:+.2f}" for label, mean in zip(labels, means, strict=True))
    # Leaning towards different poles is meant relative to each other, which must be said where it is not so outright.
    same = f"; both are on the side of {stimuli.poles[0 if means[0] > 0 else 1]}" if means[0] * means[1] > 0 else ""
    return effect, leans, strength, f"{words} The tilt is between the mean associations: {said}{same}."


def _average(stimuli: Attributes, found: measures.LpbsResult, options: Options) -> tuple[Estimate, str, str, str]:
    """The headline where there is nothing to compare."""
    mean = found.mean
    effect = Estimate(
        "mean association",
        mean.value,
        0.0,
        "nearer to 0 is better",
        mean.ci,
        mean.p_value,
        options.alternative,
        mean.exact,
        mean.standard_error,
    )
    clear = mean.p_value <= ALPHA
    towards = stimuli.poles[0 if mean.value > 0 else 1]
    numbers = f"mean association {mean.value:+.2f}, {interval_text(mean.ci)}, {p_text(mean.p_value)}"
    said = f"lean towards {towards}" if clear else f"show no clear lean to {stimuli.poles[0]} or {stimuli.poles[1]}"
    return (
        effect,
        f"{stimuli.noun} → {towards}" if clear else "no clear lean",
        "",
        f"On average {stimuli.noun} {said} ({numbers}); there are no two groups of them to compare.",
    )


def _correction(stimuli: Attributes, every: measures.LpbsResult) -> str:
    """What the attributes add to what the sentences expect without them, in words."""
    first, second = stimuli.poles
    return (
        f"Over all {every.n} {stimuli.noun}, seeing one multiplies the odds of a term for {first} against one for "
        f"{second} by {math.exp(every.mean.value):.2f} (association {every.mean.value:+.2f}: log-odds of "
        f"{every.fill_bias:+.2f} with it and {every.prior_bias:+.2f} with it masked); 0 is level, and nearer to 0 is "
        "better."
    )


def _details(
    stimuli: Attributes, table: Table, every: measures.LpbsResult, compared: measures.LpbsResult | None
) -> dict[str, Any]:
    structures: dict[str, list[Scores]] = {}
    groups: dict[str, list[Scores]] = {}
    for unit, parts in table.items():
        groups.setdefault(stimuli.label(unit.group), []).append(mean_of(list(parts.values())))
        for structure, each in parts.items():
            structures.setdefault(structure, []).append(each)
    return {
        "poles": list(stimuli.poles),
        "association": every.mean.to_dict(),
        "fill_bias": every.fill_bias,
        "prior_bias": every.prior_bias,
        "uncorrected_effect_size": compared.uncorrected_effect_size if compared else None,
        "by_group": {name: _summary(some) for name, some in groups.items()},
        "by_structure": {name: _summary(some) for name, some in structures.items() if name},
        "warnings": list(dict.fromkeys(warning for each in stimuli.sets for warning in each.warnings)),
    }


def _summary(some: Sequence[Scores]) -> dict[str, float]:
    mean = mean_of(some)
    return {
        "fill_bias": mean.fill_bias,
        "prior_bias": mean.prior_bias,
        "association": mean.association,
        "n": len(some),
    }


KIND = LanguageKind(
    "lpbs",
    "How much a trait or an occupation changes whether the model expects a man or a woman",
    "Kurita, Vyas, Pareek, Black & Tsvetkov 2019, GeBNLP; Sadhu, Khan, Bhattacharjee & Shahriyar 2024 (structures)",
    "a trait or an occupation should not change which gender the model expects in a sentence.",
    Question.FILLS.about,
    _ask,
    _measure,
    (
        "The prior is taken with the attribute masked: what the rest of the sentence expects is taken out, so a model "
        "that expects men everywhere can still be level here. See fill_bias and prior_bias for both parts.",
    ),
)
