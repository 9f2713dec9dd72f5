"""The sets for language models that come with tiltmeter, written for it; each is one YAML file in ``sets/``.

A set of your own has the form of the shipped one of its kind and is named by its path: ``cloze_sets("mine.yaml")``.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import BadInput, unknown
from tiltmeter.stimuli.lexicon.lexicon import Group, group
from tiltmeter.stimuli.sentences.marked import MarkedSet
from tiltmeter.stimuli.sentences.marked_by_lexicon import marked_by_lexicon
from tiltmeter.stimuli.sentences.sets import (
    ClozeRow,
    ClozeSet,
    MaskedSentence,
    MaskedSet,
    PairSet,
    SentencePair,
    TraitSentence,
    TraitSet,
)
from tiltmeter.stimuli.text import capitalise, indefinite

if TYPE_CHECKING:
    from tiltmeter.stimuli.sentences.shipped_file import ClozeEntry, PairsFile, Shape, TopicEntry

#: Below the first percentage of women people are taken to expect a man, above the second a woman.
_EXPECTED = (40.0, 60.0)


def set_names(kind: str) -> tuple[str, ...]:
    """The shipped sets of a kind: cloze, pairs, traits or occupations.

    >>> set_names("traits")
    ('traits_bn', 'traits_en')
    """
    files = (file.name for file in (resources.files(__package__) / "sets").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.startswith(f"{kind}_")))


def cloze_sets(name: str | Path = "cloze_en") -> tuple[ClozeSet, ...]:
    """Sentences that end in a pronoun: one set for each variant and each context word.

    The label is the one in the file, or else follows from the share of women in the occupation: the share in the
    file, or that of the lexicon ``occupations``.

    >>> first = cloze_sets()[0]
    >>> first.name, first.rows[0].text_1, first.rows[0].contexts, first.rows[0].label
    ('cloze_en-all-noun', 'The engineer confirmed that the bridge was designed by him', ('bridge', 'bridge'), 1)
    """
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile

    file = _read("cloze", name, ClozeFile)
    shares = _shares(group("occupations.all"))
    return tuple(
        ClozeSet(
            f"{file.name}-{variant}-{context}",
            variant,
            context,
            file.groups,
            tuple(
                _cloze_row(
                    _with_person(entry, person),
                    file.pronouns,
                    getattr(entry, context),
                    _label(entry, shares),
                    number,
                )
                for number, entry in enumerate(file.rows, 1)
            ),
            file.language,
            tuple(file.warnings),
        )
        for variant, person in file.variants.items()
        for context in ("noun", "verb", "occupation")
    )


def _cloze_row(frame: str, pronouns: tuple[str, str], context: str, label: int | None, number: int) -> ClozeRow:
    text_1, text_2 = (capitalise(frame.replace("{pronoun}", pronoun)) for pronoun in pronouns)
    return ClozeRow(text_1, text_2, pronouns, (context, context), label, number)


def _with_person(entry: ClozeEntry, person: str) -> str:
    return entry.sentence.replace("{person}", person.replace("{occupation}", entry.occupation))


def _label(entry: ClozeEntry, shares: dict[str, float]) -> int | None:
    share = shares.get(entry.occupation) if entry.female_share is None else entry.female_share
    if "label" in entry.model_fields_set or share is None:
        return entry.label
    low, high = _EXPECTED
    return 1 if share < low else 2 if share > high else None


def japanese_pairs(name: str | Path = "pairs_ja") -> PairSet:
    """Minimal pairs on stereotypes of Japanese culture; ``kind`` is the topic.

    >>> japanese_pairs().rows[0].kind, japanese_pairs().rows[-1].stereotyped[:7]
    ('salaryman spirit', '着物姿の彼女は')
    """
    from tiltmeter.stimuli.sentences.shipped_file import PairsFile

    file = _read("pairs", name, PairsFile)
    rows = tuple(
        SentencePair(*(row.texts if row.label == 1 else row.texts[::-1]), topic.topic, row.number)
        for topic, row in _topic_rows(file)
    )
    return PairSet(file.name, rows, file.language, tuple(file.warnings))


def japanese_cloze(name: str | Path = "pairs_ja") -> ClozeSet:
    """The same sentences with both pronouns, and the topic as the context word that is said to decide.

    >>> row = japanese_cloze().rows[0]
    >>> row.pronouns, row.contexts, row.label
    (('彼', '彼女'), ('サラリーマン', 'サラリーマン'), 1)
    """
    from tiltmeter.stimuli.sentences.shipped_file import PairsFile

    file = _read("pairs", name, PairsFile)
    rows = tuple(row for _, row in _topic_rows(file))
    return ClozeSet(file.name, "all", "topic", file.groups, rows, file.language, tuple(file.warnings))


def _topic_rows(file: PairsFile) -> list[tuple[TopicEntry, ClozeRow]]:
    sentences = [(topic, sentence) for topic in file.topics for sentence in topic.sentences]
    return [
        (topic, _cloze_row(sentence, file.pronouns, topic.context, topic.group, number))
        for number, (topic, sentence) in enumerate(sentences, 1)
    ]


def trait_set(name: str | Path = "traits_bn") -> TraitSet:
    """Traits of two groups in every frame of every structure; a suffix stays outside the place of its word.

    >>> row = trait_set("traits_en").rows[0]
    >>> row.text, row.text[slice(*row.target)], row.text[slice(*row.attribute)], row.group, row.structure
    ('The men are honest.', 'men', 'honest', 'positive', 'S1')
    """
    from tiltmeter.stimuli.sentences.shipped_file import TraitsFile

    file = _read("traits", name, TraitsFile)
    first, second = file.traits
    rows = tuple(
        _trait_sentence(frame, {"{target}": file.terms[0][0], "{trait}": trait}, group_name, structure)
        for structure, frames in file.structures.items()
        for frame in frames
        for group_name, traits in file.traits.items()
        for trait in traits
    )
    return TraitSet(file.name, rows, tuple(file.terms), (first, second), file.language, tuple(file.warnings))


def _trait_sentence(frame: str, words: dict[str, str], group_name: str, structure: str) -> TraitSentence:
    text, spans = "", dict[str, tuple[int, int]]()
    for part in re.split(r"(\{\w+\})", frame):
        word = words.get(part, part)
        spans[part] = len(text), len(text) + len(word)
        text += word
    return TraitSentence(text, spans["{target}"], spans["{trait}"], words["{trait}"], group_name, structure)


def masked_set(name: str | Path = "occupations_en") -> MaskedSet:
    """Every occupation of a lexicon in every frame with one masked pronoun.

    >>> rows = masked_set().rows
    >>> len(rows), rows[0].text, rows[0].fillers
    (480, 'The technician said that [MASK] was tired.', ('he', 'she'))
    """
    from tiltmeter.stimuli.sentences.shipped_file import OccupationsFile

    file = _read("occupations", name, OccupationsFile)
    try:
        occupations = group(file.occupations)
    except BadInput as error:
        raise BadInput(f"{file.name}: occupations: {error}") from None
    rows = tuple(
        MaskedSentence(_with_occupation(frame.text, occupation), frame.fillers, occupation)
        for occupation in occupations.texts
        for frame in file.frames
    )
    return MaskedSet(
        file.name,
        rows,
        {occupation: share / 100 for occupation, share in _shares(occupations).items()},
        file.language,
        tuple(file.warnings),
    )


def group_set(addresses: tuple[str, str], name: str | Path = "groups_en") -> MarkedSet:
    """Every occupation of a lexicon beside every word of two groups, in every frame for words of its kind.

    >>> marked = group_set(("identity.young_terms", "identity.old_terms"))
    >>> marked.groups, marked.sentences[0][0].text
    (('words for young people', 'words for old people'), 'The young technician came to the office.')
    """
    from tiltmeter.stimuli.sentences.shipped_file import GroupsFile

    file = _read("groups", name, GroupsFile)
    one, two = map(group, addresses)
    return marked_by_lexicon(file.frames, (one, two), group(file.occupations).texts, name=" / ".join(addresses))


def _with_occupation(frame: str, occupation: str) -> str:
    return capitalise(frame.replace("{a occupation}", indefinite(occupation)).replace("{occupation}", occupation))


def _shares(occupations: Group) -> dict[str, float]:
    """What a group of a lexicon says of the percentage of women in each occupation, where it says it."""
    known = ((word.text, word.properties.get("female_share")) for word in occupations.words)
    return {text: share for text, share in known if isinstance(share, float)}


def _read(kind: str, name: str | Path, shape: type[Shape]) -> Shape:
    from tiltmeter.stimuli.sentences.shipped_file import read_set

    if isinstance(name, Path) or name.endswith((".yaml", ".yml")):
        return read_set(Path(name), shape)
    if name not in set_names(kind):
        raise unknown(f"{kind} set", name, set_names(kind))
    return read_set(resources.files(__package__) / "sets" / f"{name}.yaml", shape)
