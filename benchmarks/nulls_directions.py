"""Measures along a direction where there is nothing to find: how often do they find it? Run:
python benchmarks/nulls_directions.py [RUNS] [SEED]

Bundled occupations on the GloVe sample with arbitrary words in place of she/he; words in clusters; words and pairs that
both vary; and how often the 95% interval holds the true lean. Every row is (what, nominal, published form, repaired).
The methods were chosen with seeds below 10; the default is another. ``benchmarks/nulls.py`` prints all of these rows;
here follows one situation that looks like nothing and is not: words less one of their nearest.
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterator

import numpy as np

import tiltmeter
from tiltmeter import measures
from tiltmeter.models.registry import SAMPLES
from tiltmeter.statistics import Correlation, bootstrap_interval
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.two_way import TwoWay
from tiltmeter.stimuli import group

Row = tuple[str, float, float, float]
#: Of one run: whether the published form found something (or held the truth), and whether the repaired one did.
Outcome = tuple[bool, bool]
ALPHA = 0.05
#: Dimensions of simulated vectors.
WIDTH = 50


def rows(runs: int, seed: int, *, only: str = "") -> Iterator[Row]:
    """Every null whose name holds ``only``, with so many runs each."""
    for block in (placebo_rows, wefat_rows, near_rows, clustered_rows, crossed_rows, coverage_rows):
        # One run tells the names of a block.
        if any(only in row[0] for row in block(1, seed)):
            yield from (row for row in block(runs, seed) if only in row[0])


def placebo_rows(runs: int, seed: int) -> list[Row]:
    """Occupations along ten pairs of arbitrary words."""
    tests = {f"occupations, arbitrary words for she/he: {name}": test for name, test in (SIGNED | DEALT).items()}
    rng, (occupations, _) = np.random.default_rng([seed, 0]), _occupations()
    return _rates(runs, lambda i: _all(tests, occupations, *np.split(_arbitrary(rng, 20), 2), seed=i))


def wefat_rows(runs: int, seed: int) -> list[Row]:
    """Occupations between two sets of eight arbitrary words."""
    rng, (occupations, women) = np.random.default_rng([seed, 5]), _occupations()

    def once(_: int) -> dict[str, Outcome]:
        a, b = np.split(_arbitrary(rng, 16), 2)
        return {"occupations, arbitrary attributes: wefat": _wefat(occupations, a, b, women)}

    return _rates(runs, once)


def near_rows(runs: int, seed: int) -> list[Row]:
    """Pairs whose words are near, as she and he are: arbitrary words and one of their nearest, either of them first."""
    tests = {
        f"occupations, arbitrary words and near ones of theirs: {name}": test
        for name, test in (MATCHED | DEALT).items()
    }
    rng, (occupations, _) = np.random.default_rng([seed, 4]), _occupations()

    def once(run: int) -> dict[str, Outcome]:
        words, near = _near_pairs(rng, 10)
        turned = rng.random((10, 1)) < 0.5
        return _all(tests, occupations, np.where(turned, near, words), np.where(turned, words, near), seed=run)

    return _rates(runs, once)


def hub_rows(runs: int, seed: int) -> list[Row]:
    """The same with the near word always second. No null: nearest neighbours are more frequent words than those whose
    neighbours they are, and nearer to the middle of the vocabulary, so that the pairs do have a direction in common.
    """
    tests = {f"near ones always second: {name}": test for name, test in (MATCHED | DEALT).items()}
    rng, (occupations, _) = np.random.default_rng([seed, 6]), _occupations()
    return _rates(runs, lambda i: _all(tests, occupations, *_near_pairs(rng, 10), seed=i))


def hub_direction(seed: int) -> str:
    """What words less their near ones have in common."""
    words, near = _near_pairs(np.random.default_rng([seed, 7]), len(_vocabulary()))
    steps = words - near
    mean = (steps / np.linalg.norm(steps, axis=1, keepdims=True)).mean(axis=0)
    centre = _vocabulary().mean(axis=0)
    length = float(np.linalg.norm(mean))
    along = float(mean @ centre) / length / float(np.linalg.norm(centre))
    return (
        f"the mean of {len(steps)} unit steps from a near word to its word is {length:.3f} long (by chance "
        f"{len(steps) ** -0.5:.3f}), its cosine with the mean of the vocabulary {along:.2f}"
    )


def clustered_rows(runs: int, seed: int) -> list[Row]:
    """60 words in clusters of 4 that do not lean, along pairs or poles that do differ."""
    rng = np.random.default_rng([seed, 1])

    def once(_: int) -> dict[str, Outcome]:
        words, values = _in_clusters(rng, 60, 0.5), _in_clusters(rng, 60, 0.8, width=1)[:, 0]
        one, two = _sides(rng, 8)
        return {
            "60 words in clusters of 4: wefat": _wefat(words, one, two, values),
            "60 words in clusters of 4: ripa": _ripa(words, one, two, 0),
            "60 words in clusters of 4: semaxis": _semaxis(words, one, two, 0),
        }

    return _rates(runs, once)


def crossed_rows(runs: int, seed: int) -> list[Row]:
    """Words around a mean of their own, pairs around a direction of their own, and the two at right angles."""
    rng = np.random.default_rng([seed, 2])

    def once(_: int) -> dict[str, Outcome]:
        found, larger = {}, {}
        for n, pairs in ((60, 10), (20, 10), (8, 5)):
            words, one, two = _crossed(rng, n, pairs)
            outcome, test = _ripa(words, one, two, 0), measures.ripa(words, one, two).test
            by_pairs = 1.0 if test.by_others is None else test.by_others
            found[f"{n} words and {pairs} pairs that both vary: ripa"] = outcome
            # The larger of the two p-values, beside the test over both.
            what = f"{n} words and {pairs} pairs that both vary: the larger p by words and by pairs, and ripa"
            larger[what] = max(test.by_words, by_pairs) <= ALPHA, outcome[1]
        return found | larger

    return _rates(runs, once)


def coverage_rows(runs: int, seed: int) -> list[Row]:
    """How often the interval of RIPA, and that of WEFAT's r, hold the truth."""
    rng = np.random.default_rng([seed, 3])

    def once(_: int) -> dict[str, Outcome]:
        found = {}
        for n, pairs in ((3, 10), (8, 10), (20, 10)):
            one, two = _sides(rng, pairs)
            along = one - two
            # A lean of one unit along every pair, whatever else the pairs have.
            mean = np.linalg.pinv(along / np.linalg.norm(along, axis=1, keepdims=True)) @ np.ones(pairs)
            words = mean + rng.normal(size=(n, WIDTH))
            ripa = measures.ripa(words, one, two)
            old = bootstrap_interval(ripa.by_word)
            found[f"interval of ripa holds the lean of {n} words"] = 1.0 in old, 1.0 in ripa.ci
        for r in (0.0, 0.5):
            values, words, one, two = _related(rng, r)
            old_r, new_r = _correlated(words, one, two, values)
            found[f"interval of wefat holds r = {r}, 60 words"] = r in old_r.ci, r in new_r.ci
        return found

    return _rates(runs, once, nominal=0.95)


def _rates(runs: int, once: Callable[[int], dict[str, Outcome]], *, nominal: float = ALPHA) -> list[Row]:
    """The share of runs in which the two forms said yes, for every label."""
    outcomes = [once(i) for i in range(runs)]

    def share(label: str, form: int) -> float:
        return sum(outcome[label][form] for outcome in outcomes) / runs

    return [(label, nominal, share(label, 0), share(label, 1)) for label in outcomes[0]]


def _all(tests: dict[str, Callable[..., Outcome]], *vectors: Floats, seed: int) -> dict[str, Outcome]:
    return {label: test(*vectors, seed) for label, test in tests.items()}


def _ripa(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    found = measures.ripa(words, one, two)
    return 0.0 not in bootstrap_interval(found.by_word, seed=seed), found.p_value <= ALPHA


def _semaxis(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    found = measures.semaxis(words, one, two)
    return 0.0 not in bootstrap_interval(found.scores, seed=seed), found.p_value <= ALPHA


def _same(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    found = measures.same(words, [one, two], permutations=499, seed=seed)
    return 0.0 not in bootstrap_interval(np.abs(found.by_word), seed=seed), found.p_value <= ALPHA


def _skew(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    found = measures.same(words, [one, two], permutations=1, seed=seed)
    assert found.skew_test is not None  # there are two groups
    return 0.0 not in bootstrap_interval(found.by_word, seed=seed), found.skew_test.p_value <= ALPHA


def _matched_semaxis(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    found = measures.semaxis(words, one, two, partners=[(i, i) for i in range(len(one))])
    return 0.0 not in bootstrap_interval(found.scores, seed=seed), found.p_value <= ALPHA


def _neighbours(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    k = len(words) // 5
    lean = np.array(measures.direct_bias(words, measures.bias_direction(one, two)).by_word)
    upper = lean > np.median(lean)
    old = measures.neighbour_bias(words, lean, words[upper], words[~upper], k=k).correlation
    found = measures.neighbour_deal_test(words, _dealt(words, one, two, seed), k=k)
    return old.p_value <= ALPHA, found.correlation.p_value <= ALPHA


def _clusters(words: Floats, one: Floats, two: Floats, seed: int) -> Outcome:
    lean = np.array(measures.direct_bias(words, measures.bias_direction(one, two)).by_word)
    low, high = np.array_split(np.argsort(lean), 2)
    old = measures.cluster_bias(words[high], words[low])
    found = measures.cluster_deal_test(words, _dealt(words, one, two, seed))
    return old.p_value <= ALPHA, found.p_value <= ALPHA


def _dealt(words: Floats, one: Floats, two: Floats, seed: int) -> Floats:
    return measures.dealt_leans(words, one, two, deals=499, seed=seed)


def _wefat(words: Floats, a: Floats, b: Floats, values: Floats) -> Outcome:
    published, repaired = _correlated(words, a, b, values)
    return published.p_value <= ALPHA, repaired.p_value <= ALPHA


def _correlated(words: Floats, a: Floats, b: Floats, values: Floats) -> tuple[Correlation, TwoWay]:
    found = measures.wefat(words, a, b, property=values, permutations=1)
    assert found.correlation is not None  # a property was given
    assert found.test is not None
    return found.correlation, found.test


#: Tests of a mean with a sign; of a size or of neighbours, against deals; and of pairs whose words are near.
SIGNED = {"ripa": _ripa, "semaxis": _semaxis, "same, skew": _skew}
DEALT = {"same": _same, "neighbour_bias": _neighbours, "cluster_bias": _clusters}
MATCHED = {"ripa": _ripa, "semaxis, matched": _matched_semaxis}


@functools.cache
def _occupations() -> tuple[Floats, Floats]:
    words = group("occupations.all").words
    vectors = tiltmeter.load("bundled:glove").embed_words([word.text for word in words])
    known = [(vector, word) for vector, word in zip(vectors, words, strict=True) if vector is not None]
    women = [float(word.properties["female_share"]) for _, word in known]
    return np.array([vector for vector, _ in known], dtype=np.float64), np.array(women)


@functools.cache
def _vocabulary() -> Floats:
    """6,000 frequent words of the sample, in the order of their frequency, without the most frequent."""
    import pandas as pd

    folder = SAMPLES["glove"].folder()
    assert folder is not None, "the GloVe sample is not installed: see requirements-samples.txt"
    (index,), (vectors,) = folder.rglob("*.parquet"), folder.rglob("*.npy")
    words = pd.read_parquet(index)
    texts = next(words[column] for column in words.columns if isinstance(words[column].iloc[0], str)).tolist()[:12_000]
    places = [i for i, text in enumerate(texts) if text.isalpha() and len(text) > 2][300:6_300]
    return np.asarray(np.load(vectors, mmap_mode="r")[places], dtype=np.float64)


def _arbitrary(rng: np.random.Generator, n: int) -> Floats:
    return _vocabulary()[rng.choice(len(_vocabulary()), n, replace=False)]


def _near_pairs(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Arbitrary words, each with one of its nine nearest."""
    vocabulary = _vocabulary()
    unit = vocabulary / np.linalg.norm(vocabulary, axis=1, keepdims=True)
    first = rng.choice(len(unit), n, replace=False)
    nearest = np.argsort(-(unit[first] @ unit.T), axis=1)
    return vocabulary[first], vocabulary[nearest[np.arange(n), rng.integers(1, 10, size=n)]]


def _in_clusters(rng: np.random.Generator, n: int, alike: float, *, width: int = WIDTH) -> Floats:
    """Words in clusters of 4 whose members have so much in common."""
    shared = np.repeat(rng.normal(size=(n // 4, width)), 4, axis=0)
    words: Floats = np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.normal(size=(n, width))
    return words


def _sides(rng: np.random.Generator, n: int, direction: Floats | None = None) -> tuple[Floats, Floats]:
    """Two sides that differ in a direction by half the length that words have, and at random besides."""
    axis = rng.normal(size=WIDTH) if direction is None else direction
    axis = axis / np.linalg.norm(axis) * np.sqrt(WIDTH) / 2
    return rng.normal(size=(n, WIDTH)) + axis, rng.normal(size=(n, WIDTH)) - axis


def _crossed(rng: np.random.Generator, n: int, pairs: int) -> tuple[Floats, Floats, Floats]:
    axis, mean = np.linalg.qr(rng.normal(size=(WIDTH, 2)))[0].T
    return rng.normal(size=(n, WIDTH)) + mean * np.sqrt(WIDTH) / 2, *_sides(rng, pairs, axis)


def _related(rng: np.random.Generator, r: float) -> tuple[Floats, Floats, Floats, Floats]:
    """60 words whose effects between two sides of 100 attributes correlate with a property by r."""
    axis = np.eye(WIDTH)[0]
    one, two = _sides(rng, 100, axis)
    values = rng.normal(size=60)
    words = rng.normal(size=(60, WIDTH))
    # The lean is a word's part in the mean difference of the sides, of which the property is to be a part.
    towards = (one / np.linalg.norm(one, axis=1, keepdims=True)).mean(axis=0)
    towards = towards - (two / np.linalg.norm(two, axis=1, keepdims=True)).mean(axis=0)
    towards = towards / np.linalg.norm(towards)
    lean = r * values + np.sqrt(1 - r**2) * rng.normal(size=60)
    return values, words + np.outer(lean - words @ towards, towards), one, two


def main(runs: int = 500, seed: int = 20_261) -> None:
    """Print the rows."""
    print(f"{'nothing to find, or a truth to hold':84} nominal  published  repaired")
    for label, nominal, published, repaired in itertools.chain(rows(runs, seed), hub_rows(runs, seed)):
        print(f"{label:84} {nominal:7.2f}  {published:9.3f}  {repaired:8.3f}", flush=True)
    print(hub_direction(seed))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
