"""What a method costs: how good the vectors are afterwards at what they are used for, beside what they were."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.debias import known_words
from tiltmeter.measures.geometry import unit
from tiltmeter.models import CachedModel, Question, Span
from tiltmeter.readings.mitigation import Remainder, Utility
from tiltmeter.statistics import Interval
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator
from tiltmeter.stimuli.datasets import word_tasks

_DRAWS = 400
_ANALOGIES = 2_000
_FEWEST = 30
#: Texts that a language model is asked about; each of their tokens is a question.
_TEXTS = 150
#: Cosines that differ by less are the same.
_TIE = 1e-6
#: Of every sentence, so many nearest ones should stay.
_NEAREST = 10

Vectors = dict[str, Floats]


def words_utility(
    before: CachedModel, after: CachedModel, *, vocabulary: int, seed: int
) -> tuple[list[Utility], list[str]]:
    """Similar words, analogies and SemBias; and why some of them could not be measured."""
    utilities, left = list[Utility](), list[str]()
    tasks: list[Callable[[], Utility]] = [
        *(functools.partial(_similar, name, before, after, seed) for name in word_tasks.SIMILARITY),
        functools.partial(_analogies, before, after, vocabulary, seed),
        functools.partial(_sembias, before, after, seed),
    ]
    for task in tasks:
        try:
            utilities.append(task())
        except BadInput as error:
            left.append(str(error))
    return utilities, left


def _both(before: CachedModel, after: CachedModel, words: Sequence[str]) -> tuple[Vectors, Vectors]:
    """Unit vectors of the words that are known, before and after."""
    sides = [model.answers(Question.WORDS, list(dict.fromkeys(words))) for model in (before, after)]
    one, two = ({w: unit(np.asarray(v, dtype=float)) for w, v in side.items() if v is not None} for side in sides)
    return one, two


def _similar(name: str, before: CachedModel, after: CachedModel, seed: int) -> Utility:
    rated = word_tasks.similar_words(name)
    sides = _both(before, after, [word for pair in rated for word in (pair.one, pair.two)])
    known = [pair for pair in rated if sides[0].keys() >= {pair.one, pair.two}]
    if len(known) < _FEWEST:
        raise BadInput(f"{name}: {len(known)} of its pairs are in the vocabulary, and {_FEWEST} are needed")
    ratings = np.array([pair.rating for pair in known])
    cosines = [np.array([side[pair.one] @ side[pair.two] for pair in known]) for side in sides]

    def score(rows: NDArray[np.intp], side: int) -> Floats:
        return _spearman(ratings[rows], cosines[side][rows])

    return _scored(name, "rank correlation with what people say", score, len(known), seed)


def _spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's correlation of every row of x with the same row of y."""
    from scipy.stats import rankdata

    one, two = (rankdata(values, axis=-1) for values in (x, y))
    one, two = (ranks - ranks.mean(axis=-1, keepdims=True) for ranks in (one, two))
    correlations: Floats = (one * two).sum(-1) / np.sqrt((one**2).sum(-1) * (two**2).sum(-1))
    return correlations


def _scored(name: str, about: str, score: Callable[[NDArray[np.intp], int], Floats], n: int, seed: int) -> Utility:
    """The score before and after, and the share that is kept, by a bootstrap over the items that both share."""
    whole = np.arange(n)[None]
    one, two = (float(score(whole, side)[0]) for side in (0, 1))
    if one <= 0:
        raise BadInput(f"{name}: the model as it is scores {one:.3f}, so there is nothing to keep")
    drawn = generator(seed, "resample").integers(0, n, (_DRAWS, n))
    ratios = score(drawn, 1) / np.where(np.abs(below := score(drawn, 0)) < 1e-9, np.nan, below)
    low, high = np.nanquantile(ratios, [0.025, 0.975])
    return Utility(name, about, one, two, two / one, Interval(float(low), float(high), 0.95, "bootstrap"), n)


def _analogies(before: CachedModel, after: CachedModel, vocabulary: int, seed: int) -> Utility:
    name = "Google analogies"
    words = known_words(before, vocabulary)
    lower = sum(word == word.lower() for word in words) > 0.95 * len(words)
    asked = [[word.lower() if lower else word for word in row[:4]] for row in word_tasks.analogies()]
    place = {word: number for number, word in enumerate(words)}
    usable = [[place[word] for word in row] for row in asked if all(word in place for word in row)]
    if len(usable) < _FEWEST:
        raise BadInput(f"{name}: {len(usable)} of them have all their words in the vocabulary")
    chosen = generator(seed, "draw").permutation(len(usable))[:_ANALOGIES]
    rows = np.array(usable)[chosen]
    right = []
    for model in (before, after):
        answers = model.answers(Question.WORDS, words)
        matrix = unit(np.stack([answers[word] for word in words]).astype(float))
        right.append(_solved(matrix.astype(np.float32), rows))

    def score(some: NDArray[np.intp], side: int) -> Floats:
        share: Floats = right[side][some].mean(axis=-1)
        return share

    about = f"share solved among the {len(words):,} most frequent words"
    return _scored(name, about, score, len(rows), seed)


def _solved(matrix: NDArray[np.float32], rows: NDArray[np.intp]) -> Floats:
    """Whether b - a + c is nearest to d, of all words but the three (3CosAdd)."""
    right = np.zeros(len(rows))
    for start in range(0, len(rows), 250):
        a, b, c, d = rows[start : start + 250].T
        similar = (matrix[b] - matrix[a] + matrix[c]) @ matrix.T
        each = np.arange(len(a))
        for known in (a, b, c):
            similar[each, known] = -np.inf
        right[start : start + 250] = similar.argmax(axis=1) == d
    return right


def _sembias(before: CachedModel, after: CachedModel, seed: int) -> Utility:
    rows = word_tasks.sembias()
    pairs = [[row.definition, *row.none, row.stereotype] for row in rows]
    words = [word for row in pairs for pair in row for word in pair]
    sides = _both(before, after, [*words, "he", "she"])
    known = [row for row in pairs if all(word in sides[0] for pair in row for word in pair)]
    if len(known) < _FEWEST or not {"he", "she"} <= sides[0].keys():
        raise BadInput(f"SemBias: {len(known)} of its rows have all their words in the vocabulary")
    right = []
    for side in sides:
        differences = np.array([[side[one] - side[two] for one, two in row] for row in known])
        lengths = np.maximum(np.linalg.norm(differences, axis=2), 1e-12)
        cosines = differences @ unit(side["he"] - side["she"]) / lengths
        # Where a method has removed he - she from all four pairs, rounding must not decide: they share the place.
        nearest = cosines >= cosines.max(axis=1, keepdims=True) - _TIE
        right.append(nearest[:, 0] / nearest.sum(axis=1))

    def score(some: NDArray[np.intp], side: int) -> Floats:
        share: Floats = right[side][some].mean(axis=-1)
        return share

    return _scored(
        "SemBias definitions", "share in which he - she is nearest to the pair that it defines", score, len(known), seed
    )


def texts_utility(before: CachedModel, after: CachedModel, texts: Sequence[str], *, seed: int) -> list[Utility]:
    """Whether texts that were alike still are: rank agreement of their similarities, and their nearest neighbours."""
    if len(texts) < _FEWEST:
        raise BadInput(f"{len(texts)} texts are too few to compare: give at least {_FEWEST}")
    cosines = []
    for model in (before, after):
        answers = model.answers(Question.TEXTS, list(texts))
        matrix = unit(np.stack([answers[text] for text in texts]).astype(float))
        similar = matrix @ matrix.T
        np.fill_diagonal(similar, -np.inf)
        cosines.append(similar)
    others = ~np.eye(len(texts), dtype=bool)
    agree = _spearman(*(similar[others].reshape(len(texts), -1) for similar in cosines))
    nearest = [np.argpartition(-similar, _NEAREST, axis=1)[:, :_NEAREST] for similar in cosines]
    shared = np.array(
        [len(set(one) & set(two)) / _NEAREST for one, two in zip(*map(np.ndarray.tolist, nearest), strict=True)]
    )
    utilities = []
    for name, about, values in (
        ("similarity ranks", "rank agreement of a text's similarities with those before", agree),
        ("nearest texts", f"share of a text's {_NEAREST} nearest that are the same as before", shared),
    ):
        drawn = values[generator(seed, "resample").integers(0, len(values), (_DRAWS, len(values)))].mean(axis=1)
        low, high = map(float, np.quantile(drawn, [0.025, 0.975]))
        ci = Interval(low, high, 0.95, "bootstrap")
        utilities.append(Utility(name, about, 1.0, float(values.mean()), float(values.mean()), ci, len(values)))
    return utilities


def language_utility(
    before: CachedModel, after: CachedModel, texts: Mapping[str, Sequence[str]], *, seed: int
) -> list[Utility]:
    """How well a language model still knows the language: its perplexity, by masking each token where it is masked.

    What is kept is the perplexity before over that after, so that less than 1 is a loss as for other scores.
    """
    masked = before.answers_question(Question.PSEUDO)
    question = Question.PSEUDO if masked else Question.TOKENS
    utilities = []
    for name, some in texts.items():
        asked = list(dict.fromkeys(some))[:_TEXTS]
        inputs = [Span(text, 0, len(text)) for text in asked] if masked else asked
        scores = [model.answers(question, inputs) for model in (before, after)]
        sums = [np.array([side[item].total for item in inputs]) for side in scores]
        tokens = np.array([len(scores[0][item]) for item in inputs])
        utilities.append(_perplexity(name, sums, tokens, "pseudo-perplexity" if masked else "perplexity", seed))
    return utilities


def _perplexity(name: str, sums: Sequence[Floats], tokens: NDArray[np.intp], about: str, seed: int) -> Utility:
    def per_token(rows: NDArray[np.intp], side: int) -> Floats:
        values: Floats = sums[side][rows].sum(axis=-1) / tokens[rows].sum(axis=-1)
        return values

    whole, n = np.arange(len(tokens))[None], len(tokens)
    one, two = (float(np.exp(-per_token(whole, side)[0])) for side in (0, 1))
    drawn = generator(seed, "resample").integers(0, n, (_DRAWS, n))
    low, high = np.quantile(np.exp(per_token(drawn, 1) - per_token(drawn, 0)), [0.025, 0.975])
    interval = Interval(float(low), float(high), 0.95, "bootstrap")
    return Utility(name, f"{about}, lower is better", one, two, one / two, interval, n)


def mean_kept(utility: Sequence[Utility]) -> Remainder | None:
    """The mean share that is kept; its interval takes the scores for independent."""
    if not utility:
        return None
    value = float(np.mean([measured.kept for measured in utility]))
    reach = np.sqrt(sum(((measured.ci.high - measured.ci.low) / 2) ** 2 for measured in utility)) / len(utility)
    return Remainder(value, Interval(value - float(reach), value + float(reach), 0.95, "combined"))
