"""Hidden or gone: can the groups be found again in vectors that no longer lean? (Gonen & Goldberg 2019)

The words are none that a method was fitted on. Which group they lean to is known from the model as it was.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter import measures, stimuli
from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.debias import known_words, word_vectors
from tiltmeter.lab.mitigate.fit_words import WordSets, families, sentence_sets, word_sets
from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half
from tiltmeter.lab.reference.planted_text import frames, pronoun_sentence, with_occupation
from tiltmeter.measures.geometry import unit
from tiltmeter.mitigation import subspace
from tiltmeter.models import CachedModel, Question, Span
from tiltmeter.models.protocol import Continuation, Fill
from tiltmeter.readings.mitigation import TraceTest
from tiltmeter.statistics.estimates import wilson
from tiltmeter.statistics.families import Labels
from tiltmeter.statistics.groups import Floats

#: The words that lean most to each side; the published study takes as many.
_EACH = 500
#: A share of words on each side is too few to be tested.
_FEWEST = 20
#: Sentences that no method is fitted on.
_TEMPLATES = "seat.bleached"
_NAMES = ("gender.female_names", "gender.male_names")


@dataclasses.dataclass(frozen=True, slots=True)
class Groups:
    """Words, sentences or words in them, of two groups: ``labels`` are 0 and 1, ``units`` the words they stand for.

    A classifier that is taught some words is asked about others of which none is a form of one that it was taught:
    ``families`` name each unit's, and are the units themselves where these begin as their forms do.
    """

    inputs: tuple[Any, ...]
    labels: Labels
    units: tuple[str, ...]
    question: Question
    families: tuple[str, ...] = ()

    @property
    def n_units(self) -> int:
        return len(set(self.units))

    def vectors(self, model: CachedModel) -> Floats:
        answers = model.answers(self.question, list(self.inputs))
        return np.stack([answers[each] for each in self.inputs]).astype(float)


def leaning_words(model: CachedModel, fit: WordSets, *, vocabulary: int, not_these: WordForms, seed: int) -> Groups:
    """The words of the held-out half of a vocabulary that lean most, along the pairs that methods are fitted on.

    Along others it could not be told whether a method hides a lean or whether the two lists of pairs differ.
    """
    pairs = word_vectors(model, fit.words)
    known = [members for members in fit.sets if pairs.keys() >= set(members)]
    if not known:
        raise BadInput("no pair is in the vocabulary")
    direction = subspace([[pairs[word] for word in members] for members in known], rank=1)[0]
    words = word_vectors(
        model,
        [word for word in known_words(model, vocabulary) if not in_first_half(word, seed) and word not in not_these],
    )
    n = min(_EACH, len(words) // 4)
    if n < _FEWEST:
        raise BadInput(f"{len(words)} held-out words of the vocabulary are too few to look for groups among them")
    names = np.array(list(words))
    order = np.argsort(unit(np.stack(list(words.values()))) @ direction, kind="stable")
    chosen = tuple(names[np.concatenate([order[-n:], order[:n]])].tolist())
    return Groups(chosen, np.repeat([0, 1], n), chosen, Question.WORDS)


def told_sentences(test: WordSets) -> Groups:
    """Sentences with words of the held-out pairs and, for gender, with names."""
    sets = [test]
    if test.dimension == "gender":
        names = zip(*(stimuli.group(address).texts for address in _NAMES), strict=True)
        sets.append(word_sets([list(pair) for pair in names]))
    rows = []
    for some in sets:
        for family in families(some):
            for members in family:
                try:
                    filled, _ = sentence_sets(some.only([members]), _TEMPLATES)
                except BadInput:
                    continue  # a pronoun of two roles
                rows += [
                    (text, side, members[side], family[0][0]) for texts in filled for side, text in enumerate(texts)
                ]
    texts, labels, units, kin = zip(*rows, strict=True)
    return Groups(texts, np.array(labels), units, Question.TEXTS, kin)


def leaning_occupations(model: CachedModel, sets: WordSets) -> Groups:
    """Occupations that a language model as it was takes for one group's and for the other's, as words in sentences.

    Its own answers say which one it leans towards: the half of the occupations after which it expects he rather than
    she, and the other half. What is looked at are the model's vectors of these words where no group is named.
    """
    if sets.dimension != "gender" or sets.language.partition("-")[0] != "en":
        raise BadInput("what a language model hides is looked for in English, for gender alone")
    if not model.answers_question(Question.SPANS):
        raise BadInput(f"{model.identity.name} gives no vectors of words in context")
    jobs = stimuli.group("occupations.all").texts
    leans = _pronoun_leans(model, jobs)
    rows = [(span, job) for job in jobs for span in _in_sentences(job)]
    labels = dict(zip(jobs, (leans < np.median(leans)).astype(int).tolist(), strict=True))
    inputs, units = zip(*rows, strict=True)
    return Groups(inputs, np.array([labels[job] for job in units]), units, Question.SPANS)


def _pronoun_leans(model: CachedModel, jobs: Sequence[str]) -> Floats:
    """ln P(he) - ln P(she) of each occupation, where a sentence continues with a pronoun; mean over some sentences."""
    sentences = [pronoun_sentence(frame, job) for job in jobs for frame in frames().masked["subject"]]
    places = [sentence.slots["pronoun"] for sentence in sentences]
    items: list[Any]
    if model.answers_question(Question.FILLS):
        question = Question.FILLS
        items = [Fill(one.text, *place, one.forms["pronoun"]) for one, place in zip(sentences, places, strict=True)]
    else:
        question = Question.CONTINUATIONS
        items = [
            Continuation(one.text[: start - 1], tuple(f" {form}" for form in one.forms["pronoun"]))
            for one, (start, _) in zip(sentences, places, strict=True)
        ]
    answers = model.answers(question, items)
    values = np.array([np.subtract(*answers[item].logprobs) for item in items])
    leans: Floats = values.reshape(len(jobs), -1).mean(axis=1)
    return leans


def _in_sentences(job: str) -> list[Span]:
    """The occupation in sentences that say nobody's group."""
    texts = [with_occupation(frame, job) for some in frames().plain.values() for frame in some]
    return [Span(text, at := text.index(job), at + len(job)) for text in texts]


def look_for_groups(groups: Groups, before: Floats, after: Floats, *, seed: int) -> list[TraceTest]:
    """Clusters, neighbours, and classifiers that learn from half of the words and are asked about the others."""
    one, two = groups.labels == 0, groups.labels == 1
    n = groups.n_units

    def clusters(vectors: Floats) -> float:
        return measures.cluster_bias(vectors[one], vectors[two], seed=seed).accuracy

    tests = [_test("clusters", "two clusters made without knowing the groups", clusters(before), clusters(after), n)]
    k = min(100, int(one.sum()) - 1)
    one_near, two_near = (_neighbours(vectors, groups.labels, groups.units, k) for vectors in (before, after))
    tests.append(_test("neighbours", f"the majority of the {k} nearest neighbours", one_near, two_near, n))
    learn = np.array([in_first_half(family, seed + 1) for family in groups.families or groups.units])
    for name, about in (("linear", "a linear classifier"), ("kernel", "a classifier with a kernel")):
        first, second = (_classified(name, vectors, groups.labels, learn) for vectors in (before, after))
        asked = len({unit for unit, taught in zip(groups.units, learn, strict=True) if not taught})
        tests.append(
            _test(name, f"{about}, trained on half of the words and tested on the others,", first, second, asked)
        )
    return tests


def _test(name: str, about: str, before: float, after: float, n: int) -> TraceTest:
    return TraceTest(name, about, 0.5, before, after, wilson(after, n), n)


def _neighbours(vectors: Floats, labels: Labels, units: Sequence[str], k: int) -> float:
    """How often most of the nearest neighbours are of a word's own group; sentences on the same word are none."""
    similar = unit(vectors) @ unit(vectors).T
    names = np.unique(np.array(units), return_inverse=True)[1]
    similar[names[:, None] == names[None, :]] = -np.inf
    nearest = np.argpartition(-similar, k, axis=1)[:, :k]
    share = (labels[nearest] == labels[:, None]).mean(axis=1)
    return float((share > 0.5).mean() + (share == 0.5).mean() / 2)


def _classified(name: str, vectors: Floats, labels: Labels, learn: Labels) -> float:
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    kind = LogisticRegression(C=0.1, max_iter=2_000) if name == "linear" else SVC()
    classifier = make_pipeline(StandardScaler(), kind)
    rows = unit(vectors)
    return float(classifier.fit(rows[learn], labels[learn]).score(rows[~learn], labels[~learn]))
