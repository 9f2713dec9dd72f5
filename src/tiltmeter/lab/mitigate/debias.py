"""Fit a method on a model's vectors and store it beside them: from a model to one that leans less."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home
from tiltmeter.lab.inject.fine_tuning import Dosage
from tiltmeter.lab.mitigate.augmentation import USUAL, read_texts, taught
from tiltmeter.lab.mitigate.fit_words import (
    NOTHING,
    USUAL_PAIRS,
    HeldOut,
    WordSets,
    sentence_sets,
    word_sets,
    words_with_group,
)
from tiltmeter.lab.mitigate.methods import METHODS, Material, Method, Needs
from tiltmeter.lab.mitigate.retraining import NEUTRAL_GLOVE, begun, trained_again
from tiltmeter.mitigation.self_debias import DECAY, FLOOR, PROMPT
from tiltmeter.models import CachedModel, Question, VectorStore, load
from tiltmeter.models.debiased import ABOUT, SELF_DEBIAS, DebiasedModel, Fitted, open_debiased, save_debiased
from tiltmeter.run.probe import stored
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import Pairs, comparable

#: So many of the first words of a file are its vocabulary here.
VOCABULARY = 20_000
TEMPLATES = "seat.person"
#: Of a model of texts the words have no vector of their own.
_NOTHING: Floats = np.zeros(0)


def debias(
    method: str,
    model: str | object,
    *,
    out: str | Path,
    pairs: str | Pairs | Sequence[Sequence[str]] | WordSets = USUAL_PAIRS,
    keep: Sequence[str] | None = None,
    words: Sequence[str] | None = None,
    templates: str = TEMPLATES,
    rank: int | None = None,
    alpha: float | None = None,
    vocabulary: int = VOCABULARY,
    hold_out: HeldOut = NOTHING,
    seed: int = 0,
    cache: bool | VectorStore = True,
    budget: Any = None,
    corpus: Sequence[str] | Path | None = None,
    dosage: Dosage | None = None,
) -> Any:
    """Fit a method on a model, and write what it found into a folder: ``debiased:FOLDER`` is then a model.

    Args:
        method: its name, e.g. "hard"; ``METHODS`` has them all.
        model: a spec, or an object of your own (which the folder cannot name: load it with ``base`` again).
        out: the folder.
        pairs: words that differ in the group alone, by address or as lists; of three words for three groups.
        keep: words whose group is part of their meaning (hard, double_hard, hsr); by default those of the lexicon.
        words: the words that RAN changes; by default the most frequent ones.
        templates: sentences in which the pairs stand, for a model of texts.
        rank: directions to remove (hard, multi_class, inlp, sentence_debias).
        alpha: the penalty of hsr; the decay of self_debias.
        vocabulary: how many words of a file are looked at.
        hold_out: words that the method must not see, because they are to prove what it did.
        seed: of every random draw.
        cache: whether answers are stored, or where.
        budget: the most to spend at a paid API.
        corpus: texts to teach a language model (cda, dropout), which is then ``hf:FOLDER/model``, or a file of them;
            for neutral_glove the file that the vectors were trained on.
        dosage: how it is taught.

    >>> import tempfile
    >>> words = {"he": [1.0, 0.1, 0.2], "she": [-1.0, 0.1, 0.2], "nurse": [-0.6, 0.8, 0.1]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     made = debias("hard", words, out=folder + "/made", pairs=[["she", "he"]], cache=False)
    ...     abs(made.embed_words(["nurse"])[0][0]).round(3).item()
    0.0
    """
    chosen = find_method(method)
    folder = at_home(out)
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file: name a folder with --out")
    ours = (folder / ABOUT).is_file() or (folder / "text.json").is_file() or begun(folder)
    if folder.is_dir() and any(folder.iterdir()) and not ours:
        raise BadInput(f"{folder} holds something other than a debiased model: choose another --out")
    sets = pairs if isinstance(pairs, WordSets) else word_sets(pairs)
    if len(sets.groups) > 2 and not chosen.several:
        raise BadInput(f"{method} knows two groups, but got {len(sets.groups)}: use multi_class, inlp or leace")
    if method == SELF_DEBIAS:
        return _prompted(model, folder, sets, DECAY if alpha is None else alpha, budget)
    if method == NEUTRAL_GLOVE:
        return trained_again(model, out=folder, sets=sets, corpus=corpus if isinstance(corpus, Path) else None)
    if chosen.fit is None:
        texts = read_texts(corpus)
        if not isinstance(model, str) or not texts:
            raise BadInput(f"{method} fine-tunes a language model: give its spec, and a text with --corpus")
        used = dosage or dataclasses.replace(USUAL, seed=seed)
        return taught(method, model, out=folder, sets=sets, corpus=texts, dosage=used)[0]
    loaded = load(model, budget=budget)
    with stored(cache) as store:
        asked = CachedModel(loaded, store)
        kind = kind_of(asked, chosen)
        material = _material(asked, kind, sets, keep, templates, vocabulary, hold_out, words, rank, alpha, seed)
        eraser, fit_words = chosen.fit(material)
        base = asked.identity
    settings = {"rank": eraser.rank, "pairs": [list(members) for members in sets.sets]}
    settings |= {"vocabulary": vocabulary} if kind == "words" else {"templates": templates}
    settings |= {"alpha": alpha} if alpha is not None else {}
    spec = model if isinstance(model, str) else ""
    seen = tuple(dict.fromkeys(fit_words))
    held_out = tuple(sorted(hold_out.words))
    save_debiased(folder, eraser, Fitted(method, settings, seed, spec, base, seen, held_out))
    return DebiasedModel(folder, base=loaded)


def _prompted(model: Any, folder: Path, sets: WordSets, decay: float, budget: Any) -> Any:
    """Self-Debias: there is nothing to fit, so that the folder says how the model is to be asked."""
    loaded = load(model, budget=budget)
    asked = CachedModel(loaded)
    kind_of(asked, METHODS[SELF_DEBIAS])
    settings = {"prompts": [PROMPT.format(sets.dimension or "gender")], "decay": decay, "floor": FLOOR}
    fitted = Fitted(SELF_DEBIAS, settings, 0, model if isinstance(model, str) else "", asked.identity, ())
    save_debiased(folder, None, fitted)
    return open_debiased(folder, base=loaded)


def find_method(name: str) -> Method:
    if name not in METHODS:
        raise unknown("method", name, METHODS)
    return METHODS[name]


def kind_of(model: CachedModel, method: Method) -> Needs:
    """Whether the method is fitted on the model's words or texts; one that it cannot take is an error."""
    if "language" in method.needs:
        if getattr(model.model, "head", "none") == "none":
            raise BadInput(f"{method.name} is for language models, and {model.identity.name} is not one")
        return "language"
    if not model.answers_question(Question.WORDS):
        raise BadInput(f"{method.name} changes vectors, and {model.identity.name} gives none of words or texts")
    gives: Needs = "words" if model.asked_as(Question.WORDS) is Question.WORDS else "texts"
    if gives not in method.needs:
        fitting = ", ".join(each.name for each in METHODS.values() if gives in each.needs)
        raise BadInput(
            f"{method.name} is for vectors of {method.needs[0]}, and {model.identity.name} gives vectors of {gives}: "
            f"use {fitting}"
        )
    return gives


def _material(
    model: CachedModel,
    kind: Needs,
    sets: WordSets,
    keep: Sequence[str] | None,
    templates: str,
    vocabulary: int,
    hold_out: HeldOut,
    words: Sequence[str] | None,
    rank: int | None,
    alpha: float | None,
    seed: int,
) -> Material:
    # What is known to say a group is known whether or not it may be fitted on.
    stay = words_with_group(sets) if keep is None else tuple(keep)
    allowed = sets.only(members for members in sets.sets if hold_out.words.isdisjoint(map(comparable, members)))
    if not allowed.sets:
        raise BadInput(f"{sets.label}: no fit words are left, all of them are held out: give more pairs")
    known = word_vectors(model, [*allowed.words, *stay]) if kind == "words" else {}
    usable = [members for members in allowed.sets if kind == "texts" or known.keys() >= set(members)]
    if not usable:
        raise BadInput(f"{sets.label}: no set has all its words in the vocabulary of {model.identity.name}")
    sentences = list[Floats]()
    if kind == "texts":
        examples, _ = sentence_sets(allowed, templates)
        vectors = model.answers(Question.TEXTS, [text for texts in examples for text in texts])
        sentences = [np.stack([vectors[text] for text in texts]).astype(float) for texts in examples]
    return Material(
        [{word: known.get(word, _NOTHING) for word in members} for members in usable],
        {word: known[word] for word in stay if word in known},
        functools.cache(lambda: _vocabulary(model, vocabulary, hold_out)),
        functools.cache(lambda: _vocabulary(model, vocabulary, NOTHING)),
        sentences,
        words,
        rank,
        alpha,
        seed,
    )


def word_vectors(model: CachedModel, words: Sequence[str]) -> dict[str, Floats]:
    """The vectors of the words that a model knows."""
    answers = model.answers(Question.WORDS, list(dict.fromkeys(words)))
    return {word: np.asarray(vector, dtype=float) for word, vector in answers.items() if vector is not None}


def _vocabulary(model: CachedModel, n: int, hold_out: HeldOut) -> Mapping[str, Floats]:
    """The most frequent words of a file that are made of letters and may be seen."""
    return word_vectors(model, [word for word in known_words(model, n) if hold_out.allows(word)])


def known_words(model: CachedModel, n: int) -> list[str]:
    """The first words of a model's vocabulary that are made of letters."""
    first = getattr(model.model, "vocabulary", None)
    if not callable(first):
        raise BadInput(f"{model.identity.name} does not say which words it knows, which this method or test needs")
    return [word for word in first(n) if word.isalpha()]
