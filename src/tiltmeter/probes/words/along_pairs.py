"""Probes along the direction that pairs such as he/she span: RIPA, direct bias, clusters, neighbours."""

from __future__ import annotations

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Estimate, Kind, Measured
from tiltmeter.probes.wording import ALPHA, correlation_strength, interval_text, p_text
from tiltmeter.probes.words.sets import Answers, Query
from tiltmeter.stimuli import Pairs

DEFAULT = {"targets": ["occupations.all"], "pairs": "gender.definitional"}


def _pairs(query: Query) -> Pairs:
    if query.pairs is None:
        raise BadInput("this probe needs pairs of words, e.g. gender.definitional")
    return query.pairs


def _ripa(query: Query, answers: Answers, options: Options) -> Measured:
    pairs = _pairs(query)
    words = answers.of(query.targets[0], at_least=2)
    first, second = answers.of_pairs(pairs)
    found = measures.ripa(words.vectors, first, second, seed=options.seed)
    clear = 0.0 not in found.ci
    towards = pairs.label_1 if found.score > 0 else pairs.label_2
    return Measured(
        Estimate("mean inner product", found.score, 0.0, "nearer to 0 is better", found.ci),
        f"{words.label} → {towards}" if clear else "no clear lean",
        "",
        f"Along {pairs.label} {words.label} lean {f'to {towards}' if clear else 'neither way clearly'} "
        f"({found.score:+.3f}, {interval_text(found.ci, digits=3)}).",
        _items(words.inputs, words.label, found.by_word, "inner_product"),
        len(words),
        len(words),
    )


def _direct(query: Query, answers: Answers, options: Options) -> Measured:
    pairs = _pairs(query)
    words = answers.of(query.targets[0], at_least=2)
    first, second = answers.of_pairs(pairs)
    found = measures.direct_bias(words.vectors, measures.bias_direction(first, second), seed=options.seed)
    chance = float(np.sqrt(2 / (np.pi * words.vectors.shape[1])))
    extremes = sorted(zip(found.by_word, words.inputs, strict=True))
    return Measured(
        Estimate("direct bias", found.score, 0.0, "lower is better", found.ci),
        "",
        "",
        f"On average {words.label} have {found.score:.3f} of their direction in common with {pairs.label} "
        f"({interval_text(found.ci, digits=3)}); unrelated directions of {words.vectors.shape[1]} dimensions have "
        f"about {chance:.3f}. Most to {pairs.label_1}: {extremes[-1][1]}; most to {pairs.label_2}: {extremes[0][1]}.",
        _items(words.inputs, words.label, found.by_word, "cosine"),
        len(words),
        len(words),
    )


def _cluster(query: Query, answers: Answers, options: Options) -> Measured:
    pairs = _pairs(query)
    words = answers.of(query.targets[0], at_least=8)
    bias = _lean(words.vectors, *answers.of_pairs(pairs))
    order = np.argsort(bias)
    low, high = np.array_split(order, 2)
    found = measures.cluster_bias(words.vectors[high], words.vectors[low], seed=options.seed)
    clear = found.p_value <= ALPHA
    return Measured(
        Estimate(
            "cluster accuracy",
            found.accuracy,
            0.5,
            "nearer to 0.5 is better",
            found.ci,
            found.p_value,
            "two-sided",
            True,
        ),
        "groups separate" if clear else "no clear lean",
        "",
        f"Words that lean to {pairs.label_1} and words that lean to {pairs.label_2} "
        f"{'fall' if clear else 'do not clearly fall'} into clusters of their own: two clusters made without "
        f"knowing the groups find them again for {found.accuracy:.0%} of {words.label} ({interval_text(found.ci)}, "
        f"{p_text(found.p_value)}).",
        _items(words.inputs, words.label, tuple(bias.tolist()), "lean"),
        len(words),
        len(words),
    )


def _neighbours(query: Query, answers: Answers, _options: Options) -> Measured:
    pairs = _pairs(query)
    words = answers.of(query.targets[0], at_least=8)
    bias = _lean(words.vectors, *answers.of_pairs(pairs))
    towards_1 = bias > np.median(bias)
    k = max(2, min(100, len(words) // 5))
    found = measures.neighbour_bias(words.vectors, bias, words.vectors[towards_1], words.vectors[~towards_1], k=k)
    r = found.correlation
    clear = r.p_value <= ALPHA
    return Measured(
        Estimate("correlation r", r.r, 0.0, "nearer to 0 is better", r.ci, r.p_value, "two-sided", False),
        "neighbours share the lean" if clear else "no clear lean",
        correlation_strength(r.r),
        f"A word's lean between {pairs.label_1} and {pairs.label_2} {'shows' if clear else 'does not clearly show'} in "
        f"which of the {words.label} are its {k} nearest neighbours (r = {r.r:.2f}, {interval_text(r.ci)}, "
        f"{p_text(r.p_value)}).",
        tuple(
            {"word": word, "group": words.label, "lean": lean, "neighbour_share": share}
            for word, lean, share in zip(words.inputs, bias.tolist(), found.shares, strict=True)
        ),
        len(words),
        len(words),
    )


def _lean(vectors: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.array(measures.direct_bias(vectors, measures.bias_direction(first, second)).by_word)


def _items(words: tuple[str, ...], label: str, scores: tuple[float, ...], column: str) -> tuple[dict[str, object], ...]:
    return tuple({"word": word, "group": label, column: score} for word, score in zip(words, scores, strict=True))


KINDS = (
    Kind(
        "ripa",
        "Relational inner product of words with pairs such as he/she",
        Question.WORDS,
        _ripa,
        (1, 1),
        (0, 0),
        DEFAULT,
        "Ethayarajh, Duvenaud & Hirst 2019, ACL",
        "neutral words should have no inner product with the relation that pairs of words share.",
        pairs=True,
    ),
    Kind(
        "direct_bias",
        "How much of neutral words lies along the direction of pairs such as he/she",
        Question.WORDS,
        _direct,
        (1, 1),
        (0, 0),
        DEFAULT,
        "Bolukbasi, Chang, Zou, Saligrama & Kalai 2016, NeurIPS",
        "neutral words should have no part in the direction that separates pairs of words.",
        pairs=True,
    ),
    Kind(
        "cluster_bias",
        "Do words that lean to two groups fall into clusters of their own?",
        Question.WORDS,
        _cluster,
        (1, 1),
        (0, 0),
        DEFAULT,
        "Gonen & Goldberg 2019, NAACL",
        "words should not be grouped by the lean they have.",
        pairs=True,
    ),
    Kind(
        "neighbour_bias",
        "Does a word's lean show in which words stand around it?",
        Question.WORDS,
        _neighbours,
        (1, 1),
        (0, 0),
        DEFAULT,
        "Gonen & Goldberg 2019, NAACL",
        "a word's neighbours should not tell its lean.",
        pairs=True,
    ),
)
