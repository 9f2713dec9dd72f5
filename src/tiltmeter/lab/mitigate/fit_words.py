"""The words that a method is fitted on, and those that it must not see because they prove what it did."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from tiltmeter import stimuli
from tiltmeter.errors import BadInput
from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half
from tiltmeter.models import Question
from tiltmeter.probes.kind import Probe
from tiltmeter.probes.words.word_sets import WordList, WordStimuli
from tiltmeter.readings.mitigation import WITHOUT_FIT_WORDS
from tiltmeter.stimuli import Group, Pairs, Word, comparable, fill_templates

#: Pairs that every method is fitted on where none are given, and words whose group is part of their meaning.
USUAL_PAIRS = "gender.gender"
_SAY_GENDER = ("gender.male_terms", "gender.female_terms")
#: A list of fewer words than this measures nothing.
_FEWEST = 4


@dataclasses.dataclass(frozen=True, slots=True)
class WordSets:
    """Words that differ in the group alone, set by set and in one order of groups: (she, he), (woman, man), ..."""

    label: str
    groups: tuple[str, ...]
    sets: tuple[tuple[str, ...], ...]
    language: str = "en"
    dimension: str = ""

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(word for members in self.sets for word in members))

    def only(self, sets: Iterable[tuple[str, ...]]) -> WordSets:
        return dataclasses.replace(self, sets=tuple(sets))


def word_sets(words: str | Pairs | Sequence[Sequence[str]]) -> WordSets:
    """Sets by the address of pairs, or the words themselves; sets of three words and more are for several groups.

    >>> word_sets("gender.definitional").sets[0], word_sets([["church", "mosque", "synagogue"]]).groups
    (('woman', 'man'), ('church', 'mosque', 'synagogue'))
    """
    if isinstance(words, str | Pairs):
        pairs = stimuli.pairs(words)
        return WordSets(pairs.label, (pairs.label_1, pairs.label_2), pairs.pairs, pairs.language, pairs.dimension)
    sets = tuple(tuple(map(stimuli.normalise, map(str, members))) for members in words)
    sizes = {len(members) for members in sets}
    if len(sizes) != 1 or min(sizes) < 2 or any(len(set(members)) < len(members) for members in sets):
        raise BadInput("sets of words must have the same number of different words, two or more: she/he,woman/man")
    columns = [", ".join(dict.fromkeys(column)) for column in zip(*sets, strict=True)]
    return WordSets(" / ".join(columns), tuple(columns), sets)


def halves(sets: WordSets, *, seed: int) -> tuple[WordSets, WordSets]:
    """The sets to fit on and those to prove it with; families of words (mother, grandmother) stay on one side.

    >>> fit, test = halves(word_sets([["mother", "father"], ["grandmother", "grandfather"], ["she", "he"]]), seed=0)
    >>> sorted(map(len, (fit.sets, test.sets)))
    [1, 2]
    """
    by_family = families(sets)
    if len(by_family) < 2:
        raise BadInput(f"{sets.label}: all words belong to one family, so none can be held out: give more sets")
    first, *others = (by_family[place] for place in np.random.default_rng(seed).permutation(len(by_family)).tolist())
    fit = [*first]
    for family in others[:-1]:
        if len(fit) + len(family) <= (len(sets.sets) + 1) // 2:
            fit += family
    return sets.only(pair for pair in sets.sets if pair in fit), sets.only(e for e in sets.sets if e not in fit)


def families(sets: WordSets) -> list[list[tuple[str, ...]]]:
    """The sets, those together of which some words are kin.

    >>> families(word_sets([["mom", "dad"], ["she", "he"], ["moms", "dads"], ["her", "his"]]))
    [[('mom', 'dad'), ('moms', 'dads')], [('she', 'he'), ('her', 'his')]]
    """
    joined_sets: list[list[tuple[str, ...]]] = []
    for members in sets.sets:
        kin = [family for family in joined_sets if any(word in WordForms(itertools.chain(*family)) for word in members)]
        joined = [*itertools.chain(*kin), members]
        joined_sets = [family for family in joined_sets if family not in kin] + [joined]
    return sorted(joined_sets, key=lambda family: sets.sets.index(family[0]))


@dataclasses.dataclass(frozen=True)
class HeldOut:
    """Words that a method must not be fitted on: these, and a half of the vocabulary where ``seed`` is given."""

    words: frozenset[str] = frozenset()
    seed: int | None = None

    def allows(self, word: str) -> bool:
        """Whether a word of the vocabulary may be fitted on: it is none of these and no form of one."""
        return word not in self._kin and (self.seed is None or in_first_half(word, self.seed))

    @functools.cached_property
    def _kin(self) -> WordForms:
        return WordForms(self.words)


NOTHING = HeldOut()


def words_with_group(sets: WordSets) -> tuple[str, ...]:
    """Words for which the group is part of the meaning, which no method should remove."""
    more = [word for address in _SAY_GENDER for word in stimuli.group(address).texts]
    return tuple(dict.fromkeys([*sets.words, *(more if sets.dimension == "gender" else ())]))


def probe_words(probes: Iterable[Probe[Any]]) -> frozenset[str]:
    """Every word that probes of words look at."""
    return frozenset(comparable(word) for probe in probes for word in _looked_at(probe))


def _looked_at(probe: Probe[Any]) -> Iterator[str]:
    shown = probe.stimuli
    if isinstance(shown, WordStimuli):
        yield from (unit for some in _lists(shown) for unit in some.units)
        yield from (word for pair in (shown.pairs.pairs if shown.pairs else ()) for word in pair)
    else:
        asked = probe.asks(lambda question: question in (Question.WORDS, Question.TEXTS)) or {}
        yield from asked.get(Question.WORDS, ())


def _lists(shown: WordStimuli) -> tuple[WordList, ...]:
    return (*shown.targets, *shown.attributes)


def held_out_probe(probe: Probe[Any], fit_words: Iterable[str]) -> Probe[Any] | None:
    """The probe without the words that a method was fitted on, and forms of them; None where it has none of them, or
    too few others."""
    seen = WordForms(fit_words)
    shown = probe.stimuli
    if not isinstance(shown, WordStimuli) or not any(unit in seen for some in _lists(shown) for unit in some.units):
        return None
    targets, attributes = (tuple(_without(some, seen) for some in lists) for lists in (shown.targets, shown.attributes))
    if any(len(set(some.units)) < _FEWEST for some in (*targets, *attributes)):
        return None
    partners = tuple(pair for pair in shown.partners if not any(word in seen for word in pair))
    left = dataclasses.replace(shown, targets=targets, attributes=attributes, partners=partners)
    return dataclasses.replace(probe, id=f"{probe.id}-held-out", title=probe.title + WITHOUT_FIT_WORDS, stimuli=left)


def _without(some: WordList, seen: WordForms) -> WordList:
    places = [place for place, unit in enumerate(some.units) if unit not in seen]
    return dataclasses.replace(
        some, inputs=tuple(some.inputs[i] for i in places), units=tuple(some.units[i] for i in places)
    )


#: English pronouns by their role; her is two words, and is left out.
_ROLES = {"she": "subject", "he": "subject", "him": "object", "his": "owner", "hers": "owner"}
_REFLEXIVE = frozenset({"her", "herself", "himself", "themselves"})


def sentence_sets(sets: WordSets, templates: str) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Sentences that differ in the group alone, and the sets that stand in none.

    >>> made, left = sentence_sets(word_sets([["she", "he"], ["her", "his"]]), "seat.person")
    >>> made[0], left
    (('She came in.', 'He came in.'), [('her', 'his')])
    """
    frames = stimuli.templates(templates)
    if frames.language.partition("-")[0] != sets.language.partition("-")[0]:
        raise BadInput(f"{templates} is in {frames.language}, the words in {sets.language}: give other templates")
    filled, left = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for members in sets.sets:
        kinds = {_kind(word) for word in members}
        if len(kinds) > 1 or kinds & {""}:
            left.append(members)
            continue
        groups = [Group(word, word, (Word(word, kinds.copy().pop()),), sets.language) for word in members]
        filled += zip(*(fill_templates(group, frames).texts for group in groups), strict=True)
    if not filled:
        raise BadInput(f"none of the words of {sets.label} fits the sentences of {templates}: give other words")
    return filled, left


def _kind(word: str) -> str:
    lower = word.lower()
    if lower in _REFLEXIVE:
        return ""
    if word != lower:
        return "name"
    if lower in _ROLES:
        return _ROLES[lower]
    plural = lower.endswith("men") or (lower.endswith("s") and not lower.endswith("ss") and len(lower) > 3)
    return "plural" if plural else "noun"
