from __future__ import annotations

import numpy as np
import pytest

import tiltmeter
from tests.planted import Sentences, vector
from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.mitigate.fit_words import HeldOut, sentence_sets, word_sets
from tiltmeter.lab.mitigate.methods import METHODS
from tiltmeter.lab.mitigate.word_forms import WordForms

PAIRS = [["woman", "man"], ["girl", "boy"], ["queen", "king"], ["aunt", "uncle"], ["bride", "groom"]]


def letters(number: int) -> str:
    return "w" + "".join(chr(97 + int(digit)) for digit in str(number))


def vectors(n: int = 400) -> dict[str, np.ndarray]:
    """Pairs at the ends of the first axis, and words that lean along it by a known amount."""
    made = {word: vector(word, lean) for pair in PAIRS for word, lean in zip(pair, (-0.7, 0.7), strict=True)}
    leans = np.linspace(-0.6, 0.6, n)
    return made | {letters(number): vector(letters(number), lean) for number, lean in enumerate(leans)}


def leans(rows: list[np.ndarray]) -> np.ndarray:
    matrix = np.stack(rows)
    return matrix[:, 0] / np.linalg.norm(matrix, axis=1)


OF_WORDS = [method.name for method in METHODS.values() if "words" in method.needs and method.fit]


@pytest.mark.parametrize("method", OF_WORDS)
def test_every_method_makes_words_lean_less(method, tmp_path):
    model, words = vectors(), [letters(number) for number in range(0, 400, 8)]
    made = debias(method, model, out=tmp_path / "m", pairs=PAIRS, keep=["king"], cache=False)
    before, after = leans([model[word] for word in words]), leans(made.embed_words(words))
    assert np.abs(after).mean() < 0.6 * np.abs(before).mean()


def texts() -> Sentences:
    made, _ = sentence_sets(word_sets(PAIRS), "seat.person")
    return Sentences({text: vector(text, lean) for pair in made for text, lean in zip(pair, (-0.7, 0.7), strict=True)})


@pytest.mark.parametrize("method", ["sentence_debias", "inlp", "leace"])
def test_every_method_for_texts_takes_the_direction_away(method, tmp_path):
    model = texts()
    made = debias(method, model, out=tmp_path / "m", pairs=PAIRS, cache=False)
    probe = [vector(f"text {number}", 0.8) for number in range(20)]
    model.vectors.update({f"text {number}": row for number, row in enumerate(probe)})
    after = leans(made.embed_texts([f"text {number}" for number in range(20)]))
    assert np.abs(after).mean() < 0.25


@pytest.mark.parametrize("method", ["double_hard", "inlp", "leace"])
def test_words_that_are_held_out_are_never_fitted_on_nor_forms_of_them(method, tmp_path):
    held_out = HeldOut(frozenset({letters(number) for number in range(0, 400, 20)} | {"king", "queen"}))
    made = debias(method, vectors(), out=tmp_path / "m", pairs=PAIRS, hold_out=held_out, cache=False)
    fitted = WordForms(made.fitted.fit_words)
    assert not [word for word in held_out.words if word in fitted]
    assert "woman" in made.fitted.fit_words


def test_ran_moves_words_one_by_one_and_is_fitted_on_the_pairs_alone(tmp_path):
    words = [letters(number) for number in range(0, 400, 40)]
    model, held_out = vectors(), HeldOut(frozenset(words))
    made = debias("ran", model, out=tmp_path / "m", pairs=PAIRS, hold_out=held_out, words=words, cache=False)
    assert set(made.eraser.replaced) == set(words)
    assert set(made.fitted.fit_words) == {word for pair in PAIRS for word in pair}
    before, after = leans([model[word] for word in words]), leans(made.embed_words(words))
    assert np.abs(after).mean() < 0.6 * np.abs(before).mean()


def test_the_same_seed_gives_the_same_map(tmp_path):
    one, two = (debias("inlp", vectors(), out=tmp_path / name, pairs=PAIRS, seed=4, cache=False) for name in ("a", "b"))
    assert (tmp_path / "a/eraser.safetensors").read_bytes() == (tmp_path / "b/eraser.safetensors").read_bytes()
    assert one.identity.revision == two.identity.revision


def test_three_groups_lose_two_directions(tmp_path):
    rng = np.random.default_rng(0)
    sets = [["church", "mosque", "synagogue"], ["bible", "quran", "torah"], ["priest", "imam", "rabbi"]]
    model = {
        word: np.eye(12)[place] * 2 + np.eye(12)[5] + 0.1 * rng.normal(size=12)
        for members in sets
        for place, word in enumerate(members)
    }
    model["terror"] = np.eye(12)[1] + np.eye(12)[6]
    made = debias("multi_class", model, out=tmp_path / "m", pairs=sets, cache=False)
    assert made.eraser.rank == 2
    church, mosque, synagogue, terror = made.embed_words(["church", "mosque", "synagogue", "terror"])
    assert [church @ terror, mosque @ terror] == pytest.approx([synagogue @ terror] * 2, abs=1e-5)


def refused(tmp_path, method, model, message, **options):
    with pytest.raises(BadInput, match=message):
        debias(method, model, out=tmp_path / "m", cache=False, **{"pairs": PAIRS, **options})
    assert not (tmp_path / "m").exists()


def test_bad_input_is_one_line_and_nothing_is_written(tmp_path):
    refused(tmp_path, "hrad", vectors(), "unknown method 'hrad': did you mean 'hard'")
    refused(tmp_path, "hard", vectors(), "no set has all its words in the vocabulary", pairs=[["xx", "yy"]])
    everything = HeldOut(frozenset(word for pair in PAIRS for word in pair))
    refused(tmp_path, "hard", vectors(), "no fit words are left", hold_out=everything)
    refused(tmp_path, "hard", texts(), "hard is for vectors of words, and own:Sentences gives vectors of texts")
    refused(tmp_path, "sentence_debias", vectors(), "sentence_debias is for vectors of texts")
    refused(tmp_path, "hard", vectors(), "a rank of 9 is too high", rank=9)
    refused(tmp_path, "double_hard", vectors(), "knows two groups", pairs=[["a", "b", "c"]])
    refused(tmp_path, "inlp", vectors(9), "too few to be fitted on")
    refused(tmp_path, "double_hard", tiltmeter.load("reference:vectors-0.9"), "is for vectors of words|which words")


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(BadInput, match="holds something other than a debiased model"):
        debias("hard", vectors(), out=tmp_path, pairs=PAIRS, cache=False)
    with pytest.raises(BadInput, match=r"thesis.txt is a file: name a folder"):
        debias("hard", vectors(), out=tmp_path / "thesis.txt", pairs=PAIRS, cache=False)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_reading_on_fitting_words_is_marked_as_such(tmp_path):
    model = vectors()
    made = debias("hard", model, out=tmp_path / "m", pairs=PAIRS, cache=False)
    groups = [[pair[1] for pair in PAIRS], [pair[0] for pair in PAIRS]]
    others = [[letters(n) for n in range(8)], [letters(n) for n in range(20, 28)]]
    reading = tiltmeter.probe("weat", made, targets=groups, attributes=others, cache=False)
    assert any(
        "Measured on fitting words: debiased:m was fitted on 10 of these words" in note for note in reading.notes
    )
    more = [[letters(n) for n in range(40, 48)], [letters(n) for n in range(60, 68)]]
    unseen = tiltmeter.probe("weat", made, targets=others, attributes=more, cache=False)
    assert not any("fitting words" in note for note in unseen.notes)
