from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tiltmeter
from tiltmeter.errors import BadInput
from tiltmeter.lab.glove.glove import NEUTRAL, train_glove
from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.reference.planted_text import planted, sentences
from tiltmeter.measures import weat

LEANS = planted(0.9)
PAIRS = [["she", "he"], ["her", "his"], ["woman", "man"]]


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glove")
    text = folder / "text.txt"
    text.write_text("\n".join(made.text for made in sentences(LEANS, n=3_000, seed=0)) + "\n", encoding="utf-8")
    return text, train_glove([text], out=folder / "plain", size=30, iterations=15).models[0]


def lean(model) -> float:
    """Of occupations planted to be men's against women's, with he and she."""

    def vectors(words: list[str]) -> np.ndarray:
        return np.stack([row for row in model.embed_words(words) if row is not None])

    men, women = ([job for job, p in LEANS.items() if " " not in job and (p > 0.5) == side] for side in (True, False))
    return weat(vectors(men), vectors(women), vectors(["he", "his", "man"]), vectors(["she", "her", "woman"])).score


def test_vectors_are_trained_again_without_what_says_the_group_in_the_words_of_the_pairs(plain, tmp_path):
    text, spec = plain
    made = debias("neutral_glove", spec, out=tmp_path / "m", pairs=PAIRS, corpus=text)
    assert abs(lean(made)) < 0.5 * lean(tiltmeter.load(spec))
    assert set(made.fitted.fit_words) == {word for pair in PAIRS for word in pair}
    # What is taken away are the reserved dimensions: angles are those of the vectors without them.
    without = tiltmeter.load(f"static:{tmp_path / 'm/glove' / NEUTRAL}")
    words = ["nurse", "engineer", "teacher"]
    ours, theirs = (np.stack(model.embed_words(words)) for model in (made, without))
    assert np.allclose(ours @ ours.T, theirs @ theirs.T, rtol=1e-5)
    again = tiltmeter.load(f"debiased:{tmp_path / 'm'}")
    assert again.identity.revision == made.identity.revision
    # What is there already is trained no second time into something else.
    debias("neutral_glove", spec, out=tmp_path / "m", pairs=PAIRS, corpus=text)
    assert tiltmeter.load(f"debiased:{tmp_path / 'm'}").identity.revision == made.identity.revision


def test_other_vectors_and_neutral_ones_are_refused_and_nothing_is_written(plain, tmp_path):
    out = tmp_path / "m"

    def refused(spec: str, message: str, corpus: Path | None = None) -> None:
        with pytest.raises(BadInput, match=message):
            debias("neutral_glove", spec, out=out, pairs=PAIRS, corpus=corpus)
        assert not out.exists()

    refused(plain[1], "trains .* again on its own text: give text.txt with --corpus")
    (tmp_path / "other.vec").write_text("he 1 0\nshe 0 1\n")
    refused(f"static:{tmp_path / 'other.vec'}", "give vectors of tiltmeter train glove")
    (tmp_path / "text.txt").write_text("he said she said\n" * 50)
    neutral = train_glove(
        [tmp_path / "text.txt"], out=tmp_path / "n", neutral=["gender.male_terms", "gender.female_terms"], size=8,
        iterations=1,
    )  # fmt: skip
    refused(neutral.models[0], "neutral GloVe already")
