"""What a reading of CABM holds behind its number: one item per occupation, and everything else that was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from tiltmeter import measures
from tiltmeter.measures import CabmIntervals
from tiltmeter.measures.cabm.weights import FEATURES
from tiltmeter.probes.cabm.occupation_features import Features
from tiltmeter.probes.cabm.weighting import Scored, WeighedForm
from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CLOSE, NEUTRAL, CabmDetails, CabmForm, FeatureWeights, SentenceCounts
from tiltmeter.stimuli.sentences.marked import MarkedSet

_ENDS = (0.025, 0.975)


def named(scores: CabmIntervals, groups: tuple[str, str]) -> list[str]:
    """The category of each occupation in words."""
    names = (NEUTRAL, *groups)
    both = zip(scores.result.categories.tolist(), scores.too_close.tolist(), strict=True)
    return [CLOSE if close else names[category] for category, close in both]


def make_items(features: Features, scored: Scored, sentences: MarkedSet) -> tuple[Item, ...]:
    """One item per occupation; its value is the repaired score."""
    repaired, published = scored.repaired.headline, scored.published.headline
    names = (NEUTRAL, *sentences.groups)
    categories = named(repaired, sentences.groups)
    often = count_sentences(sentences).by_occupation
    items = []
    for i, word in enumerate(features.words):
        label, parts = scored.labels[i], repaired.result.contributions[i].tolist()
        columns = {
            "low": float(repaired.low[i]),
            "high": float(repaired.high[i]),
            "published": float(published.result.scores[i]),
            "published_low": float(published.low[i]),
            "published_high": float(published.high[i]),
            "published_group": names[int(published.result.categories[i])],
            **{name: values[i] for name, values in features.raw.items()},
            **_intervals(features, i),
            **{f"part_{name}": part for name, part in zip(FEATURES, parts, strict=True)},
            **{f"moved_{name}": part for name, part in zip(FEATURES, _moved(scored, i), strict=True)},
            "unmasking": None if features.unmasking is None else float(features.unmasking[i]),
            "known_label": None if label is None else names[label],
            "share_men": 1 - sentences.shares[word] if word in sentences.shares else None,
            **{f"sentences_{number}": n for number, n in enumerate(often[word].values(), 1)},
        }
        items.append(Item(word, word, categories[i], float(repaired.result.scores[i]), columns))
    return tuple(items)


def _moved(scored: Scored, i: int) -> list[float | None]:
    """What each feature adds to P(group 1) - P(group 2) of the forest, by SHAP or in its place."""
    return [None] * len(FEATURES) if scored.explained is None else scored.explained.parts[i].tolist()


def _intervals(features: Features, i: int) -> dict[str, float]:
    """Intervals of the features, before they were divided."""
    draws = {
        "cosine": features.repaired.draws[:, i, 1] * features.units[1],
        "signed_context": features.repaired.draws[:, i, 2] * features.units[2],
        "pmi": features.published.draws[:, i, 0],
        "context": features.published.draws[:, i, 2],
    }
    ends = {name: np.quantile(values, _ENDS).tolist() for name, values in draws.items()}
    return {
        f"{name}_{end}": value for name, both in ends.items() for end, value in zip(("low", "high"), both, strict=True)
    }


def make_details(features: Features, scored: Scored, sentences: MarkedSet, *, pmi_from: str) -> CabmDetails:
    """Weights, scores by every weighting, validation, explanations and what the data are."""
    threshold = scored.repaired.headline.result.threshold
    forms = {"repaired": scored.repaired, "published": scored.published}
    scores = {name: form.headline.result.scores for name, form in forms.items()}
    return CabmDetails(
        groups=sentences.groups,
        threshold=threshold,
        labels_from=scored.source,
        pmi_from=pmi_from,
        explained_by=None if scored.explained is None else scored.explained.by,
        units=dict(zip(FEATURES, features.units, strict=True)),
        repaired=_form(scored.repaired, sentences.groups, threshold),
        published=_form(scored.published, sentences.groups, threshold),
        between_forms=measures.compare(scores, threshold=threshold)[0],
        sentences=features.loudest,
        projection=features.projection,
        data=count_sentences(sentences),
    )


def _form(form: WeighedForm, groups: tuple[str, str], threshold: float) -> CabmForm:
    return CabmForm(
        method=form.headline.result.weights.method,
        categories=dict(Counter(named(form.headline, groups))),
        weights={
            name: FeatureWeights(_three(weights.values), weights.method, _three(weights.spread))
            for name, weights in form.weights.items()
        },
        not_weighed=form.missing,
        scores={name: tuple(scores.tolist()) for name, scores in form.scores.items()},
        between_weightings=measures.compare(form.scores, threshold=threshold),
        validation=form.validation,
    )


def _three(values: Iterable[float]) -> tuple[float, float, float]:
    pmi, cosine, context = map(float, values)
    return pmi, cosine, context


def count_sentences(sentences: MarkedSet) -> SentenceCounts:
    """What was kept of the source and what was dropped."""
    by_kind: dict[str, Counter[str]] = {}
    by_occupation: dict[str, Counter[str]] = {}
    for group, side in zip(sentences.groups, sentences.sentences, strict=True):
        for sentence in side:
            by_kind.setdefault(sentence.tags["kind"], Counter())[group] += 1
            by_occupation.setdefault(sentence.unit, Counter())[group] += 1

    def by_group(counts: Mapping[str, int]) -> dict[str, int]:
        return {group: counts[group] for group in sentences.groups}

    sizes = {group: len(side) for group, side in zip(sentences.groups, sentences.sentences, strict=True)}
    in_source = map(sum, zip(*sentences.counts.values(), strict=True))
    return SentenceCounts(
        read=sentences.read,
        used=sentences.read - sum(sentences.left_out.values()),
        left_out=sentences.left_out,
        in_source=dict(zip(sentences.groups, in_source, strict=True)),
        sentences=sum(sizes.values()),
        neutral_sentences=len({(row.neutral.text, *row.neutral.slots.values()) for row in sentences.versions}),
        by_group=sizes,
        by_kind={kind: by_group(counts) for kind, counts in by_kind.items()},
        by_occupation={word: by_group(counts) for word, counts in by_occupation.items()},
    )
