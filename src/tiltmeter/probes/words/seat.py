"""SEAT, and association of sentence sets: many sentences for each word, so the word is the unit."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from tiltmeter import measures, stimuli
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Measured, Options, Part, statistics_options, tested
from tiltmeter.probes.words.word_sets import (
    CAREER_FAMILY,
    GENDERS,
    SomeGroups,
    WordList,
    WordStimuli,
    WordVectors,
    compared_part,
    evidence,
    families_of,
    find_groups,
    word_kind,
)
from tiltmeter.readings import D, Estimate, ItemMeaning, Poles, Statistic, tilt_in_words
from tiltmeter.statistics import Alternative
from tiltmeter.stimuli import Group, TemplateSet

#: The comparisons the association study makes of its attribute groups.
_OPPOSED = (("career", "family"), ("leadership", "support"), ("intelligence", "physical_appearance"))
#: Targets, attributes and templates of either kind where none are given.
_USUAL: Mapping[str, tuple[SomeGroups, SomeGroups, str]] = {
    "seat": (GENDERS, CAREER_FAMILY, "seat.bleached"),
    "association": (
        ("gender.male_targets", "gender.female_targets"),
        ("association.career", "association.family"),
        "association",
    ),
}


def _measure(vectors: WordVectors, options: Options, *, one_sided: bool) -> Measured:
    """``one_sided`` says whether the published test is."""
    published_alternative: Alternative = "greater" if one_sided else cast(Alternative, options.alternative)
    t_1, t_2 = vectors.targets(at_least=2)
    a_1, a_2 = vectors.attributes()
    result = measures.association(
        t_1.vectors,
        t_2.vectors,
        a_1.vectors,
        a_2.vectors,
        units_1=t_1.units,
        units_2=t_2.units,
        attribute_units_1=a_1.units,
        attribute_units_2=a_2.units,
        published_times=[each.times for each in (t_1, t_2, a_1, a_2)],
        published_alternative=published_alternative,
        **vectors.kin(),
        **statistics_options(options),
    )
    groups, poles = (t_1.label, t_2.label), (a_1.label, a_2.label)
    published = result.published
    return Measured(
        tested("effect size d", result.effect_size, D, result, options),
        Poles.crossed(groups, poles),
        tilt_in_words(groups, poles, result.effect_size, result.ci),
        (*t_1.items(result.scores_1), *t_2.items(result.scores_2)),
        ItemMeaning("lean", Poles(*poles)),
        Statistic("d of rows", between=groups),
        n_units=result.n_units,
        published=Estimate(
            "effect size d",
            published.effect_size,
            D,
            p_value=published.p_value,
            alternative=published_alternative,
        ),
        repair=f"The published test treats all {result.n} sentences as independent. Sentences about the same word are "
        f"alike, so it finds tilts that are not there; the headline counts the {result.n_units} words, and asks "
        "whether the tilt holds for other words on either side.",
        evidence=evidence(result.crossed, (*groups, *poles), vectors.association_placebo(result.effect_size, options)),
        power=result.power,
    )


def _make(
    name: str,
    *,
    targets: SomeGroups | None = None,
    attributes: SomeGroups | None = None,
    templates: str | TemplateSet | None = None,
    data: str | Path | None = None,
    pairs: Sequence[Sequence[str]] | None = None,
) -> list[Part[WordStimuli]]:
    """Sentences made of groups of words and templates, or those of a file (SEAT) or a folder (association).

    Of a folder, ``pairs`` names the attribute lists that are opposed, such as career and family.
    """
    if data is not None:
        if any(words is not None for words in (targets, attributes, templates)):
            raise BadInput(
                f"{name} takes its sentences from data (--from) or makes them of words: leave one of them out"
            )
        return _of_file(Path(data)) if name == "seat" else _of_folder(Path(data), pairs)
    if pairs is not None:
        raise BadInput(f"{name} takes pairs of attribute lists with a folder of lists: name it with --from (data)")
    usual_targets, usual_attributes, usual_templates = _USUAL[name]
    groups = find_groups(name, "targets", targets or usual_targets, (2, 2))
    against = find_groups(name, "attributes", attributes or usual_attributes, (2, 2))
    in_sentences = functools.partial(_sentences, frames=templates or usual_templates)
    return [compared_part(groups, against, in_sentences, functools.partial(in_sentences, alone=True), Question.TEXTS)]


def _make_seat(
    name: str,
    *,
    targets: SomeGroups | None = None,
    attributes: SomeGroups | None = None,
    templates: str | TemplateSet | None = None,
    data: str | Path | None = None,
) -> list[Part[WordStimuli]]:
    """The same, without pairs: the files of SEAT say what they compare."""
    return _make(name, targets=targets, attributes=attributes, templates=templates, data=data)


def _sentences(group: Group, *, frames: str | TemplateSet, alone: bool = False) -> WordList:
    """Words in sentences: from one template set, or from a whole lexicon of them.

    From a whole lexicon, attribute words stand ``alone`` in the templates that bear their group's name, targets in all.
    """
    if isinstance(frames, TemplateSet):
        chosen = [frames]
    elif not isinstance(frames, str):
        raise BadInput(f"templates are named by an address such as seat.bleached, not {frames!r}")
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
        families=families_of(group),
    )


def _of_file(path: Path) -> list[Part[WordStimuli]]:
    """The test in a SEAT file (``sent-weat6.jsonl``), or every test in a folder of them."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files:
        raise BadInput(f"{path}: no SEAT file (*.jsonl) in this folder")
    parts = []
    for file in files:
        test = stimuli.load_seat_file(file)
        targets, attributes = (test.targets_1, test.targets_2), (test.attributes_1, test.attributes_2)
        parts.append(_part(file.stem if len(files) > 1 else "", targets, attributes, test.warnings))
    return parts


def _of_folder(folder: Path, pairs: Sequence[Sequence[str]] | None) -> list[Part[WordStimuli]]:
    """The comparisons in a folder of the association study, with its sentences as published."""
    study = stimuli.load_association_folder(folder)
    if len(study.targets) != 2:
        raise BadInput(
            f"{folder}: the study compares two target lists, found {len(study.targets)}: {', '.join(study.targets)}"
        )
    # Male first, as published; any other two lists in the order of their names.
    sides = ("male", "female") if set(study.targets) == {"male", "female"} else sorted(study.targets)
    opposed = [pair for pair in _OPPOSED if set(pair) <= set(study.attributes)] if pairs is None else _named(pairs)
    for name in (name for pair in opposed for name in pair):
        if name not in study.attributes:
            raise unknown(f"attribute list in {folder}", name, study.attributes)
    if not opposed and len(study.attributes) == 2:
        opposed = [(min(study.attributes), max(study.attributes))]
    if not opposed:
        raise unknown("attribute lists to compare in", str(folder), [" and ".join(pair) for pair in _OPPOSED])
    targets = [study.target_sentences[name] for name in sides]
    return [
        _part(f"{one}-{two}", targets, [study.attribute_sentences[name] for name in (one, two)], study.warnings)
        for one, two in opposed
    ]


def _named(pairs: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            raise BadInput(f"pairs name two attribute lists each, such as career/family, not {pair!r}")
    return [(one, two) for one, two in pairs]


def _part(
    name: str,
    targets: Sequence[stimuli.SentenceSet],
    attributes: Sequence[stimuli.SentenceSet],
    notes: Sequence[str],
) -> Part[WordStimuli]:
    """Sentences of a file, which does not say what its groups differ in."""
    one, two = (
        tuple(
            WordList(sentences.label, sentences.texts, sentences.units, times=_times(sentences)) for sentences in sets
        )
        for sets in (targets, attributes)
    )
    words = WordStimuli(one, two, notes=tuple(notes), question=Question.TEXTS)
    return Part(name, words.title(), words, "")


def _times(sentences: stimuli.SentenceSet) -> tuple[int, ...]:
    """How often the file has each sentence."""
    return tuple(int(sentence.tags.get("times", "1")) for sentence in sentences.sentences)


SEAT = word_kind(
    "seat",
    functools.partial(_measure, one_sided=True),
    _make_seat,
    needs=Question.TEXTS.about,
    placebo=True,
    summary="WEAT on bleached sentences such as 'This is a nurse.'; words are the unit",
    citation="May, Wang, Bordia, Bowman & Rudinger 2019, NAACL",
    idea="sentences that say nothing beyond a word should lean no more than the word should.",
)
ASSOCIATION = word_kind(
    "association",
    functools.partial(_measure, one_sided=False),
    _make,
    needs=Question.TEXTS.about,
    placebo=True,
    summary="Association of sentence sets about two groups with two sets of attribute sentences",
    citation="association tests over embedding APIs (target and attribute sentence sets, Cohen's d, permutation test)",
    idea="the same sentence about either group should be equally similar to sentences about an idea.",
)
