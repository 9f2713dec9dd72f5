"""Speed of CEAT with interval and p-value, against a loop over the draws. Run: make bench

The loop is timed on some of the draws and set against ours for as many: as published, one call of scikit-learn's cosine
similarity for each word and set; and as numpy does it best, one WEAT a draw.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from language import seconds
from row import Row, show
from tiltmeter.measures import ceat, draw_contexts
from tiltmeter.measures.geometry import leans
from weat import median

WORDS, CONTEXTS, DIM, DRAWS = (27, 27, 24, 24), 50, 1024, 5000
#: Draws that the loops are timed on.
AS_PUBLISHED, BY_NUMPY = 5, 200
Sets = list[list[NDArray[np.float64]]]


def bench() -> list[Row]:
    rng = np.random.default_rng(0)
    sets: Sets = [[rng.normal(size=(CONTEXTS, DIM)) for _ in range(n)] for n in WORDS]
    ours = median(lambda: ceat(*sets), calls=5)
    return [_against_loops(sets, ours), _numpy(sets, ours), _growth(sets)]


def _against_loops(sets: Sets, ours: float) -> Row:
    _as_published(_drawn(sets, 1)[0])  # imports scikit-learn
    loop = DRAWS / AS_PUBLISHED * seconds(lambda: [_as_published(drawn) for drawn in _drawn(sets, AS_PUBLISHED)])
    what = f"CEAT, {'/'.join(map(str, WORDS))} words x {CONTEXTS} contexts x {DIM}, {DRAWS:,} draws"
    met = ours < 1 and loop / ours >= 20
    return Row(what, f"{ours:.2f} s", f"{loop:.0f} s (loop as published)", loop / ours, "< 1 s, >= 20 x", met)


def _numpy(sets: Sets, ours: float) -> Row:
    loop = DRAWS / BY_NUMPY * seconds(lambda: [_by_numpy(drawn) for drawn in _drawn(sets, BY_NUMPY)])
    what = "the same against a loop with one matrix product a draw, effects only"
    return Row(what, f"{ours:.2f} s", f"{loop:.1f} s (numpy loop)", loop / ours)


def _growth(sets: Sets) -> Row:
    """Four times as many further draws take four times as long: what does not depend on draws falls out."""
    five, twenty, eighty = (_fastest(sets, draws) for draws in (5_000, 20_000, 80_000))
    times = (eighty - twenty) / (twenty - five)
    what = f"CEAT, 5,000, 20,000, 80,000 draws: {times:.1f} x for 4 x the further draws"
    return Row(what, f"{five:.1f} {twenty:.1f} {eighty:.1f} s", target="linear: about 4 x", met=3 < times < 5.3)


def _fastest(sets: Sets, draws: int) -> float:
    """Seconds of the processor, which others on the machine cannot take away."""
    found = []
    for _ in range(3):
        start = time.process_time()
        ceat(*sets, draws=draws)
        found.append(time.process_time() - start)
    return min(found)


def _drawn(sets: Sets, draws: int) -> list[list[NDArray[np.float64]]]:
    picks = draw_contexts([len(word) for words in sets for word in words], draws=draws)
    ends = np.cumsum([len(words) for words in sets])[:-1]
    return [
        [
            np.array([word[place] for word, place in zip(words, places, strict=True)])
            for words, places in zip(sets, np.split(pick, ends), strict=True)
        ]
        for pick in picks
    ]


def _as_published(drawn: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    from sklearn.metrics.pairwise import cosine_similarity

    x, y, a, b = drawn

    def association(word: NDArray[np.float64]) -> float:
        row = word.reshape(1, -1)
        return float(cosine_similarity(row, a).mean() - cosine_similarity(row, b).mean())

    difference = np.mean([association(word) for word in x]) - np.mean([association(word) for word in y])
    sd = np.std([association(word) for word in np.concatenate([x, y])], ddof=1)
    return float(difference / sd), float(sd**2)


def _by_numpy(drawn: Sequence[NDArray[np.float64]]) -> tuple[float, float]:
    x, y, a, b = drawn
    s_x, s_y = leans(x, a, b), leans(y, a, b)
    sd = np.concatenate([s_x, s_y]).std(ddof=1)
    return float((s_x.mean() - s_y.mean()) / sd), float(sd**2)


def main() -> None:
    show(bench())


if __name__ == "__main__":
    main()
