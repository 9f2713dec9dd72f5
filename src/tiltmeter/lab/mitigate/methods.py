"""The methods by name: what each needs of a model, and how it is fitted."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.retraining import NEUTRAL_GLOVE
from tiltmeter.measures.geometry import unit
from tiltmeter.mitigation import Eraser, double_hard, half_sibling, hard, inlp, leace, ran, sentence_debias, subspace
from tiltmeter.models.debiased import SELF_DEBIAS
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import comparable

#: Words that lean most to each side: for the choice of a component, and as examples of a classifier.
_LEANING, _EXAMPLES = 1_000, 2_500
#: The paper's penalty in squared lengths of its vectors, which are 5.5 long.
_PENALTY = 2.0
#: Words that RAN moves where none are given: it takes a second for a few hundred.
_MOVED = 2_000

Needs: TypeAlias = Literal["words", "texts", "language"]


@dataclasses.dataclass(frozen=True, slots=True)
class Material:
    """What a method may be fitted on. Words and vectors are those that it is allowed to see, but for ``all_words``:
    those that it may change."""

    sets: Sequence[Mapping[str, Floats]]
    keep: Mapping[str, Floats]
    vocabulary: Callable[[], Mapping[str, Floats]]
    all_words: Callable[[], Mapping[str, Floats]]
    sentences: Sequence[Floats]
    words: Sequence[str] | None
    rank: int | None
    alpha: float | None
    seed: int

    @property
    def of_texts(self) -> bool:
        return bool(self.sentences)

    def direction(self) -> Floats:
        axis: Floats = subspace([list(members.values()) for members in self.sets], rank=1)[0]
        return axis

    def leaning(self, n: int) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """The words of the vocabulary that lean most to the first and to the second group."""
        known = {comparable(word) for members in self.sets for word in members} | set(map(comparable, self.keep))
        words = {word: vector for word, vector in self.vocabulary().items() if comparable(word) not in known}
        n = min(n, len(words) // 4)
        if n < 10:
            raise BadInput(f"{len(words)} words of the vocabulary are too few to be fitted on: give more vectors")
        order = np.argsort(unit(np.stack(list(words.values()))) @ self.direction(), kind="stable")
        names = list(words)
        low, high = ([names[place] for place in places] for places in (order[:n], order[-n:]))
        return {word: words[word] for word in reversed(high)}, {word: words[word] for word in low}

    def examples(self) -> tuple[Floats, list[str]]:
        """Vectors of two groups and more, with their labels, for a classifier."""
        if self.of_texts:
            groups = len(self.sentences[0])
            return np.concatenate(list(self.sentences)), [str(g) for _ in self.sentences for g in range(groups)]
        if len(self.sets[0]) > 2:
            rows = [(vector, str(place)) for members in self.sets for place, vector in enumerate(members.values())]
            return np.stack([vector for vector, _ in rows]), [label for _, label in rows]
        first, second = self.leaning(_EXAMPLES)
        first |= {word: vector for members in self.sets for word, vector in list(members.items())[:1]}
        second |= {word: vector for members in self.sets for word, vector in list(members.items())[1:]}
        return np.stack([*first.values(), *second.values()]), ["1"] * len(first) + ["2"] * len(second)


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A method: for vectors of words, of texts, or of both; ``several`` where it takes more than two groups.

    Where there is nothing to fit, the model is taught (``augmentation``), trained again (``retraining``), or asked in
    another way.
    """

    name: str
    summary: str
    citation: str
    needs: tuple[Needs, ...]
    fit: Callable[[Material], tuple[Eraser, Sequence[str]]] | None
    several: bool = True


def _words(sets: Sequence[Mapping[str, Any]]) -> list[str]:
    return [word for members in sets for word in members]


def _hard(material: Material, *, groups: bool = False) -> tuple[Eraser, Sequence[str]]:
    rank = material.rank or (len(material.sets[0]) - 1 if groups else 1)
    return hard(material.sets, rank=rank, keep=material.keep), _words(material.sets)


def _double_hard(material: Material) -> tuple[Eraser, Sequence[str]]:
    first, second = material.leaning(_LEANING)
    leaning = np.stack(list(first.values())), np.stack(list(second.values()))
    vocabulary = np.stack(list(material.vocabulary().values()))
    result = double_hard(material.sets, vocabulary, leaning=leaning, keep=material.keep, seed=material.seed)
    return result, [*_words(material.sets), *first, *second]


def _half_sibling(material: Material) -> tuple[Eraser, Sequence[str]]:
    words = {word: vector for members in material.sets for word, vector in members.items()}
    squares = float(np.mean([vector @ vector for vector in words.values()]))
    result = half_sibling(words, alpha=_PENALTY * squares if material.alpha is None else material.alpha)
    return dataclasses.replace(result, replaced={**material.keep, **result.replaced}), _words(material.sets)


def _ran(material: Material) -> tuple[Eraser, Sequence[str]]:
    # Each word is moved by itself, along pairs that it is none of: nothing is learned from the words that are moved.
    known, kept = material.all_words(), {comparable(word) for word in (*material.keep, *_words(material.sets))}
    chosen = [word for word in (known if material.words is None else material.words) if word in known]
    free = [word for word in chosen if comparable(word) not in kept][: _MOVED if material.words is None else None]
    pool = np.stack(list(known.values()))
    result = ran({word: known[word] for word in free}, pool, material.direction(), neighbours=min(100, len(pool)))
    return result, _words(material.sets)


def _examples(method: Callable[..., Eraser], material: Material) -> tuple[Eraser, Sequence[str]]:
    vectors, labels = material.examples()
    options = {"rank": material.rank, "seed": material.seed} if method is inlp else {}
    # Vectors of words differ in length by how frequent the words are, which is nothing that a classifier should use.
    eraser = method(vectors if material.of_texts else unit(vectors), labels, **options)
    if material.of_texts or len(material.sets[0]) > 2:
        return dataclasses.replace(eraser, unit_length=not material.of_texts), _words(material.sets)
    leaning = [word for side in material.leaning(_EXAMPLES) for word in side]
    return dataclasses.replace(eraser, unit_length=True), [*_words(material.sets), *leaning]


def _sentence_debias(material: Material) -> tuple[Eraser, Sequence[str]]:
    return sentence_debias(material.sentences, rank=material.rank or len(material.sentences[0]) - 1), _words(
        material.sets
    )


METHODS: Mapping[str, Method] = {
    method.name: method
    for method in (
        Method(
            "hard",
            "remove the direction of the pairs, and make pairs equidistant from every other word",
            "Bolukbasi et al. 2016, NeurIPS",
            ("words",),
            _hard,
        ),
        Method(
            "multi_class",
            "hard for three groups and more: as many directions as groups less one",
            "Manzini et al. 2019, NAACL",
            ("words",),
            functools.partial(_hard, groups=True),
        ),
        Method(
            "double_hard",
            "first remove a direction of word frequency, which hides the bias, then that of the pairs",
            "Wang et al. 2020, ACL",
            ("words",),
            _double_hard,
            several=False,
        ),
        Method(
            "hsr",
            "half-sibling regression: remove from other words what group words explain",
            "Yang & Feng 2020, AAAI",
            ("words",),
            _half_sibling,
        ),
        Method(
            "ran",
            "push words away from neighbours that they share a bias with; changes single words",
            "Kumar et al. 2020, TACL",
            ("words",),
            _ran,
            several=False,
        ),
        Method(
            "inlp",
            "remove what linear classifiers of the group use, one after another, until none finds it",
            "Ravfogel et al. 2020, ACL",
            ("words", "texts"),
            functools.partial(_examples, inlp),
        ),
        Method(
            "leace",
            "the smallest change after which no linear classifier finds the group",
            "Belrose et al. 2023, NeurIPS",
            ("words", "texts"),
            functools.partial(_examples, leace),
        ),
        Method(
            "sentence_debias",
            "remove the directions in which sentences of the groups differ",
            "Liang et al. 2020, ACL",
            ("texts",),
            _sentence_debias,
        ),
        Method(
            NEUTRAL_GLOVE,
            "retrain GloVe on its text with group information in dimensions of its own, and drop these",
            "Zhao et al. 2018, EMNLP",
            ("words",),
            None,
        ),
        Method(
            "cda",
            "counterfactual data augmentation: fine-tune on your text and on the same text about the other group",
            "Zhao et al. 2018, NAACL; Lu et al. 2020",
            ("language",),
            None,
            several=False,
        ),
        Method(
            SELF_DEBIAS,
            "ask a language model a second time after a prompt that announces bias, and subtract what that adds",
            "Schick et al. 2021, TACL",
            ("language",),
            None,
        ),
        Method(
            "dropout",
            "fine-tune a language model on your text with higher dropout, so that it relies less on single words",
            "Webster et al. 2020",
            ("language",),
            None,
            several=False,
        ),
    )
}
