from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import tiltmeter
from tests.planted import Named, Sentences
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import Eraser
from tiltmeter.models import CachedModel, Identity, Question, VectorStore
from tiltmeter.models.debiased import ABOUT, MAP, DebiasedModel, Fitted, save_debiased
from tiltmeter.models.variants import variations, vary

WORDS = {"he": np.array([1.0, 2.0, 0.0]), "she": np.array([-1.0, 2.0, 0.0]), "nurse": np.array([-0.5, 0.0, 2.0])}
NAMED = Identity("own:named", "1")
ERASER = Eraser(np.eye(3)[:, :1], np.eye(3)[:1], np.zeros(3), replaced={"she": np.array([-1.0, 1.0, 0.0])})


def made(folder: Path, base: Identity = NAMED, eraser: Eraser = ERASER) -> Path:
    save_debiased(folder, eraser, Fitted("hard", {"rank": 1}, 3, "", base, ("she", "he"), ("nurse",)))
    return folder


def test_vectors_go_through_the_map_and_words_of_their_own_do_not(tmp_path):
    model = DebiasedModel(made(tmp_path / "m"), base=Named(WORDS))
    he, she, unknown = model.embed_words(["he", "she", "other"])
    assert (he.tolist(), she.tolist(), unknown) == ([0.0, 2.0, 0.0], [-1.0, 1.0, 0.0], None)


def test_the_file_is_applied_in_one_line_of_numpy(tmp_path):
    e = load_file(made(tmp_path / "m") / MAP)
    v = np.array([[3.0, 4.0, 5.0]])
    assert (v - (v @ e["left"]) @ e["right"] + e["shift"]).tolist() == [[0.0, 4.0, 5.0]]


def test_what_is_stored_are_the_vectors_below(tmp_path):
    base = Named(WORDS)
    with VectorStore(tmp_path / "cache") as store:
        CachedModel(base, store).answers(Question.WORDS, ["he", "nurse"])
        asked = CachedModel(DebiasedModel(made(tmp_path / "m"), base=base), store)
        assert asked.unknown_inputs(Question.WORDS, ["he", "she"]) == ["she"]
        assert asked.answers(Question.WORDS, ["he", "nurse"])["he"].tolist() == [0.0, 2.0, 0.0]
        assert (asked.asked, asked.recalled) == (0, 2)
    assert base.asked == ["he", "nurse"]


def test_it_says_where_it_comes_from(tmp_path):
    model = DebiasedModel(made(tmp_path / "m"), base=Named(WORDS))
    assert model.identity.name == "debiased:m"
    assert model.identity.revision.startswith("1+hard-")
    assert model.note == "debiased:m is own:named (1) after hard, fitted on she, he; seed 3"
    other = made(tmp_path / "other", eraser=Eraser.projection([[0.0, 1.0, 0.0]]))
    assert DebiasedModel(other, base=Named(WORDS)).identity.revision != model.identity.revision


@pytest.mark.parametrize(
    "base", [Identity("own:named", "2"), Identity("own:named", "1", {"layer": "8"})], ids=["revision", "settings"]
)
def test_another_model_than_the_one_it_was_fitted_on_is_refused(tmp_path, base):
    model = DebiasedModel(made(tmp_path / "m", base), base=Named(WORDS))
    with pytest.raises(BadInput, match="debiased:m belongs to own:named of revision"):
        model.embed_words(["he"])


def test_a_vocabulary_in_lower_case_knows_a_word_of_its_own_by_any_spelling(tmp_path):
    base = Named(WORDS)
    base.identity = Identity("own:named", "1", {"case": "lower"})
    base.embed_words = lambda words: [WORDS.get(word.lower()) for word in words]
    model = DebiasedModel(made(tmp_path / "m", base.identity), base=base)
    assert model.embed_words(["She"])[0].tolist() == [-1.0, 1.0, 0.0]


def test_a_model_of_texts_gives_texts_and_words_as_texts(tmp_path):
    base = Sentences({"a text": np.array([1.0, 2.0, 3.0]), "she": np.array([1.0, 2.0, 3.0])})
    model = DebiasedModel(made(tmp_path / "m", Identity("own:Sentences", "unknown")), base=base)
    assert model.embed_texts(["a text"])[0].tolist() == [0.0, 2.0, 3.0]
    # A word that is asked as a text has no vector of its own.
    assert CachedModel(model).embed_words(["she"])[0].tolist() == [0.0, 2.0, 3.0]


def test_a_vector_of_which_nothing_is_left_is_one_clear_line(tmp_path):
    model = DebiasedModel(made(tmp_path / "m"), base=Named({"along": np.array([2.0, 0.0, 0.0])}))
    with pytest.raises(tiltmeter.TiltmeterError, match="the vector of 'along' is all zeros"):
        model.embed_words(["along"])


def test_a_spec_loads_it_with_the_base_that_it_names(tmp_path):
    vectors = tmp_path / "tiny.vec"
    vectors.write_text("he 1 2 0\nshe -1 2 0\nnurse -0.5 0 2\n", encoding="utf-8")
    base = tiltmeter.load(f"static:{vectors}").identity
    fitted = Fitted("hard", {}, 0, f"static:{vectors}", base, ("she", "he"))
    save_debiased(tmp_path / "m", ERASER, fitted)
    assert tiltmeter.load(f"debiased:{tmp_path / 'm'}").embed_words(["nurse"])[0].tolist() == [0.0, 0.0, 2.0]
    moved = vectors.rename(tmp_path / "moved.vec")
    again = tiltmeter.load(f"debiased:{tmp_path / 'm'}?base=static:{moved}")
    assert again.embed_words(["nurse"])[0].tolist() == [0.0, 0.0, 2.0]
    assert again.vocabulary(2) == ["he", "she"]


def damage(folder: Path, **changes: object) -> None:
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    (folder / ABOUT).write_text(json.dumps({**about, **changes}), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (lambda folder: (folder / ABOUT).unlink(), "holds no debiased model"),
        (lambda folder: (folder / MAP).unlink(), "eraser.safetensors is missing"),
        (lambda folder: (folder / MAP).write_bytes(b"nothing"), "is not the file that debiased.json describes"),
        (lambda folder: damage(folder, schema_version=99), "written by another version"),
        (lambda folder: damage(folder, seed="many"), "is damaged"),
        (lambda folder: damage(folder, replaced=["a", "b"]), "is damaged"),
    ],
)
def test_a_damaged_folder_is_one_clear_line(tmp_path, harm, message):
    folder = made(tmp_path / "m")
    harm(folder)
    with pytest.raises(BadInput, match=message):
        DebiasedModel(folder, base=Named(WORDS))


def test_a_stored_map_may_not_name_a_model_that_runs_code(tmp_path):
    folder = tmp_path / "m"
    save_debiased(folder, ERASER, Fitted("hard", {}, 0, "python:os:abort", NAMED, ("she", "he"), ()))
    with pytest.raises(BadInput, match=r"names python:os:abort, and a file may not run code: name it with \?base="):
        DebiasedModel(folder)


def test_a_harmless_variant_of_it_is_the_same_map_on_a_variant_of_the_model_below(tmp_path):
    words = {"he": np.array([3.0, 4.0, 1.0]), "she": np.array([-3.0, 4.0, 2.0])}
    base = tiltmeter.load(words)
    eraser = Eraser.projection([[1.0, 0.0, 0.0]])
    model = DebiasedModel(made(tmp_path / "m", CachedModel(base).identity, eraser), base=base)
    some = variations(3, of=model)
    assert some == variations(3, of=base)
    changed = vary(model, some[0])
    row = changed.embed_words(["he"])[0]
    assert row[0] == pytest.approx(0.0, abs=1e-6)
    assert not np.allclose(row, model.embed_words(["he"])[0])
    assert np.allclose(row, [0.0, 4.0, 1.0], atol=0.5)
    assert changed.identity.revision != model.identity.revision
