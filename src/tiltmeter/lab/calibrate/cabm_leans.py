"""What CABM says of every occupation, in each weighting."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.leans import Form, Leans, by_words, without_test
from tiltmeter.lab.reference.frames import frames, marked_set
from tiltmeter.measures import Weights
from tiltmeter.models import CachedModel
from tiltmeter.probes.cabm.occupation_features import Features, read_features
from tiltmeter.probes.cabm.occupation_sentences import asked_of
from tiltmeter.probes.cabm.weighting import Labels, independent_labels
from tiltmeter.probes.kind import Replies
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.marked import MarkedSet

Weighting = Callable[[Floats], Weights]


def cabm_leans(
    model: CachedModel, occupations: Sequence[str], shares: Mapping[str, float], *, forests: bool = True
) -> list[Leans]:
    """CABM as published and corrected; ``shares`` (of women) are what the forests of the latter learn.

    Without ``forests`` only the weightings that need none, in a fifth of the time.
    """
    whole = marked_set(occupations, shares, frames().masked)
    asked = asked_of(whole, words=False, fills=False)
    answers = {question: model.answers(question, inputs) for question, inputs in asked.items()}

    def features_of(sentences: MarkedSet) -> Features:
        replies = Replies(model.identity.name, asked_of(sentences, words=False, fills=False), answers)
        return read_features(sentences, replies, seed=0)

    features = features_of(whole)
    of_sets = {
        name: features_of(marked_set(occupations, shares, {name: rows})) for name, rows in frames().masked.items()
    }
    # As published the labels are cut from the score itself.
    own = features.published.values
    cut = measures.cabm(own, measures.pca_weights(own)).categories.tolist()
    labels, _ = independent_labels(features, whole)
    return [
        *_form("published", features, of_sets, _weightings(cut, forests)),
        *_form("corrected", features, of_sets, _weightings(labels, forests)),
    ]


def _form(
    form: Form, features: Features, of_sets: Mapping[str, Features], weightings: Mapping[str, Weighting]
) -> list[Leans]:
    table = _table(form, features)
    found = []
    for name, weigh in weightings.items():
        try:
            weights = weigh(table)
        except BadInput:
            continue  # a forest has nothing to learn where all occupations fall into one category
        values, *by_set = (
            measures.cabm(_table(form, each), weights).scores[:, None] for each in (features, *of_sets.values())
        )
        judge = without_test(values) if form == "published" else by_words(values)
        sets = dict(zip(of_sets, by_set, strict=True))
        found.append(Leans(f"CABM ({name})", form, "score", values, sets, False, judge))
    return found


def _table(form: Form, features: Features) -> Floats:
    return (features.published if form == "published" else features.repaired).values


def _weightings(labels: Labels, forests: bool) -> dict[str, Weighting]:
    plain: dict[str, Weighting] = {"equal": lambda _: measures.equal_weights(), "pca": measures.pca_weights}
    if not forests:
        return plain
    with_shap = importlib.util.find_spec("shap") is not None
    explained = measures.shap_weights if with_shap else measures.local_linear_weights
    return {
        **plain,
        "pca_rf": lambda table: measures.pca_forest_weights(table, labels, seed=0, seeds=2),
        "shap_rf" if with_shap else "lime_rf": lambda table: explained(table, labels, seed=0, seeds=2),
    }
