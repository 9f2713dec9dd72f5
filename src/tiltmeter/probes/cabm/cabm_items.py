"""What a reading of CABM holds behind its number: a row an occupation, and everything else that was found."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.measures import CabmIntervals
from tiltmeter.measures.cabm.weights import FEATURES
from tiltmeter.probes.cabm.occupation_features import Features
from tiltmeter.probes.cabm.scores import Form, Scored
from tiltmeter.stimuli.sentences.marked import MarkedSet

NEUTRAL, CLOSE = "neutral", "too close to call"
_ENDS = (0.025, 0.975)


def named(scores: CabmIntervals, groups: tuple[str, ...]) -> list[str]:
    """The category of each occupation in words."""
    names = (NEUTRAL, *groups)
    found = zip(scores.result.categories.tolist(), scores.too_close.tolist(), strict=True)
    return [CLOSE if close else names[category] for category, close in found]


def items(features: Features, found: Scored, sentences: MarkedSet) -> tuple[dict[str, Any], ...]:
    """One row an occupation; ``lean`` is the corrected score."""
    corrected, published = found.corrected.headline, found.published.headline
    names = (NEUTRAL, *sentences.groups)
    categories = named(corrected, sentences.groups)
    table = sentences.table()["by_occupation"]
    rows = []
    for i, word in enumerate(features.words):
        label, parts = found.labels[i], corrected.result.contributions[i].tolist()
        rows.append(
            {
                "word": word,
                "group": categories[i],
                "lean": float(corrected.result.scores[i]),
                "low": float(corrected.low[i]),
                "high": float(corrected.high[i]),
                "published": float(published.result.scores[i]),
                "published_low": float(published.low[i]),
                "published_high": float(published.high[i]),
                "published_group": names[int(published.result.categories[i])],
                **{name: values[i] for name, values in features.raw.items()},
                **_intervals(features, i),
                **{f"part_{name}": part for name, part in zip(FEATURES, parts, strict=True)},
                **{f"moved_{name}": part for name, part in zip(FEATURES, _moved(found, i), strict=True)},
                "unmasking": None if features.unmasking is None else float(features.unmasking[i]),
                "label": None if label is None else names[label],
                "share_men": 1 - sentences.shares[word] if word in sentences.shares else None,
                **{f"sentences_{number}": n for number, n in enumerate(table[word].values(), 1)},
            }
        )
    return tuple(rows)


def _moved(found: Scored, i: int) -> list[float | None]:
    """What each feature adds to P(group 1) - P(group 2) of the forest, by SHAP or in its place."""
    return [None] * len(FEATURES) if found.explained is None else found.explained.parts[i].tolist()


def _intervals(features: Features, i: int) -> dict[str, float]:
    """Intervals of the features, before they were divided."""
    draws = {
        "cosine": features.corrected.draws[:, i, 1] * features.units[1],
        "signed_context": features.corrected.draws[:, i, 2] * features.units[2],
        "pmi": features.published.draws[:, i, 0],
        "context": features.published.draws[:, i, 2],
    }
    ends = {name: np.quantile(values, _ENDS).tolist() for name, values in draws.items()}
    return {
        f"{name}_{end}": value for name, both in ends.items() for end, value in zip(("low", "high"), both, strict=True)
    }


def details(features: Features, found: Scored, sentences: MarkedSet, *, pmi_from: str) -> dict[str, Any]:
    """Weights, scores by every weighting, validation, explanations and the table of the data."""
    threshold = found.corrected.headline.result.threshold
    forms = {"corrected": found.corrected, "published": found.published}
    scores = {name: form.headline.result.scores for name, form in forms.items()}
    return {
        "groups": list(sentences.groups),
        "threshold": threshold,
        "labels_from": found.source,
        "pmi_from": pmi_from,
        "explained_by": None if found.explained is None else found.explained.by,
        "units": dict(zip(FEATURES, features.units, strict=True)),
        **{name: _form(form, sentences.groups, threshold) for name, form in forms.items()},
        "published_and_corrected": [pair.to_dict() for pair in measures.compare(scores, threshold=threshold)],
        "sentences": features.loudest,
        "projection": features.projection,
        "data": sentences.table(),
        "warnings": list(sentences.warnings),
    }


def _form(form: Form, groups: tuple[str, ...], threshold: float) -> dict[str, Any]:
    return {
        "method": form.headline.result.weights.method,
        "categories": dict(Counter(named(form.headline, groups))),
        "weights": {name: weights.to_dict() for name, weights in form.weights.items()},
        "not_weighed": dict(form.missing),
        "scores": {name: scores.tolist() for name, scores in form.scores.items()},
        "between_weightings": [pair.to_dict() for pair in measures.compare(form.scores, threshold=threshold)],
        "validation": form.validation.to_dict(),
    }
