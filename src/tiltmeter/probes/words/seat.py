"""SEAT, and association of sentence sets: many sentences for each word, so the word is the unit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from tiltmeter import measures, stimuli
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    CAREER_FAMILY,
    GENDERS,
    WordList,
    WordStimuli,
    WordVectors,
    dimension_of,
    find_groups,
    shared_words,
    statistics_options,
    tested,
    word_kind,
)
from tiltmeter.readings import D, Estimate, ItemMeaning, Poles, Statistic
from tiltmeter.readings.wording import tilt_in_words
from tiltmeter.statistics import by_unit, minimum_detectable_effect
from tiltmeter.stimuli import Group, SomeWords, TemplateSet

#: The comparisons the association study makes of its attribute groups.
_OPPOSED = (("career", "family"), ("leadership", "support"), ("intelligence", "physical_appearance"))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    t_1, t_2 = vectors.targets(at_least=2)
    a_1, a_2 = vectors.attributes()
    found = measures.association(
        t_1.vectors,
        t_2.vectors,
        a_1.vectors,
        a_2.vectors,
        units_1=t_1.units,
        units_2=t_2.units,
        **statistics_options(options),
    )
    n_words = len(set(t_1.units)), len(set(t_2.units))
    # d is in SDs of sentences; what can be found depends on how words vary, which is less.
    means = [by_unit(found.scores_1, t_1.units).means, by_unit(found.scores_2, t_2.units).means]
    narrower = float(np.concatenate(means).std() / np.std(found.scores_1 + found.scores_2))
    poles, sentence = tilt_in_words(
        (t_1.label, t_2.label),
        (a_1.label, a_2.label),
        found.effect_size,
        found.ci,
        found.p_value,
        n_words,
        detectable=narrower * minimum_detectable_effect(*n_words),
    )
    published = found.published
    return Measured(
        tested("effect size d", found.effect_size, D, found, options),
        poles,
        sentence,
        (*t_1.items(found.scores_1), *t_2.items(found.scores_2)),
        ItemMeaning("lean", Poles(a_1.label, a_2.label)),
        Statistic("d of rows", between=(t_1.label, t_2.label)),
        n_items=found.n,
        n_units=found.n_units,
        published=Estimate(
            "effect size d",
            published.effect_size,
            D,
            p_value=published.p_value,
            alternative=options.alternative,
        ),
        repair=f"The published test takes all {found.n} sentences as independent. Sentences about one word are alike, "
        f"so it finds tilts that are not there; the headline counts the {found.n_units} words.",
    )


def _maker(
    name: str,
    default: tuple[Sequence[str], Sequence[str], str],
    read: Callable[[Path], list[tuple[str, WordStimuli]]],
) -> Callable[..., list[Part[WordStimuli]]]:
    default_targets, default_attributes, default_templates = default

    def make(
        *,
        targets: Sequence[SomeWords] | None = None,
        attributes: Sequence[SomeWords] | None = None,
        templates: str | TemplateSet | None = None,
        data: str | Path | None = None,
    ) -> list[Part[WordStimuli]]:
        if data is not None:
            if not targets is attributes is templates is None:
                raise BadInput(f"{name} takes its sentences either from a file or from words: leave one of them out")
            return [Part(part, words.title(), words, "") for part, words in read(Path(data))]
        frames = default_templates if templates is None else templates
        groups = find_groups(name, "targets", default_targets if targets is None else targets, (2, 2))
        against = find_groups(name, "attributes", default_attributes if attributes is None else attributes, (2, 2))
        words = WordStimuli(
            tuple(_sentences(group, frames, alone=False) for group in groups),
            tuple(_sentences(group, frames, alone=True) for group in against),
            notes=shared_words([*groups, *against]),
            question=Question.TEXTS,
        )
        return [Part("", words.title(), words, dimension_of(*groups, *against))]

    return make


def _sentences(group: Group, frames: str | TemplateSet, *, alone: bool) -> WordList:
    """Words in sentences: from one template set, or from a whole lexicon of them.

    From a whole lexicon, attribute words stand ``alone`` in the templates that bear their group's name, targets in all.
    """
    if isinstance(frames, TemplateSet):
        chosen = [frames]
    elif "." in frames and not frames.endswith((".yaml", ".yml")):
        chosen = [stimuli.templates(frames)]
    else:
        sets = stimuli.load_lexicon(frames).templates
        if not sets:
            raise BadInput(f"lexicon '{frames}' holds no templates")
        name = group.name.rpartition(".")[2]
        chosen = [sets[name]] if alone and name in sets else list(sets.values())
    filled = [stimuli.fill_templates(group, templates) for templates in chosen]
    return WordList(
        group.label,
        tuple(text for sentences in filled for text in sentences.texts),
        tuple(unit for sentences in filled for unit in sentences.units),
    )


def _of_file(path: Path) -> list[tuple[str, WordStimuli]]:
    """The test in a SEAT file (``sent-weat6.jsonl``)."""
    test = stimuli.load_seat_file(path)
    targets, attributes = (test.targets_1, test.targets_2), (test.attributes_1, test.attributes_2)
    return [("", _of_sentences(targets, attributes, test.warnings))]


def _of_folder(folder: Path) -> list[tuple[str, WordStimuli]]:
    """The comparisons in a folder of the association study, with its sentences as published."""
    study = stimuli.load_association_folder(folder)
    if len(study.targets) != 2:
        raise BadInput(
            f"{folder}: the study compares two target lists, found {len(study.targets)}: {', '.join(study.targets)}"
        )
    # Male first, as published; any other two lists in the order of their names.
    sides = ("male", "female") if set(study.targets) == {"male", "female"} else sorted(study.targets)
    opposed = [pair for pair in _OPPOSED if set(pair) <= set(study.attributes)]
    if not opposed and len(study.attributes) == 2:
        opposed = [(min(study.attributes), max(study.attributes))]
    if not opposed:
        raise unknown("attribute lists to compare in", str(folder), [" and ".join(pair) for pair in _OPPOSED])
    targets = [study.target_sentences[name] for name in sides]
    return [
        (
            f"{one}-{two}",
            _of_sentences(targets, [study.attribute_sentences[name] for name in (one, two)], study.warnings),
        )
        for one, two in opposed
    ]


def _of_sentences(
    targets: Sequence[stimuli.SentenceSet], attributes: Sequence[stimuli.SentenceSet], notes: Sequence[str]
) -> WordStimuli:
    one, two = (
        tuple(WordList(sentences.label, sentences.texts, sentences.units) for sentences in sets)
        for sets in (targets, attributes)
    )
    return WordStimuli(one, two, notes=tuple(notes), question=Question.TEXTS)


SEAT = word_kind(
    "seat",
    _measure,
    _maker("seat", (GENDERS, CAREER_FAMILY, "seat.bleached"), _of_file),
    needs=Question.TEXTS.about,
    summary="WEAT on bleached sentences such as 'This is a nurse.'; words are the unit",
    citation="May, Wang, Bordia, Bowman & Rudinger 2019, NAACL",
    idea="sentences that say nothing but a word should lean as little as the word should.",
)
ASSOCIATION = word_kind(
    "association",
    _measure,
    _maker(
        "association",
        (
            ("gender.male_targets", "gender.female_targets"),
            ("association.career", "association.family"),
            "association",
        ),
        _of_folder,
    ),
    needs=Question.TEXTS.about,
    summary="Association of sentence sets about two groups with two sets of attribute sentences",
    citation="association tests over embedding APIs (target and attribute sentence sets, Cohen's d, permutation test)",
    idea="the same sentence about one group or another should be equally similar to sentences about an idea.",
)
