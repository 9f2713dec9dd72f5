"""The sets for language models that come with tiltmeter, written for it; each is one YAML file in ``sets/``.

A set of your own has the form of the shipped one of its kind and is named by its path: ``trait_set("mine.yaml")``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import BadInput, unknown
from tiltmeter.stimuli.lexicon.lexicon import Group, group
from tiltmeter.stimuli.sentences.marked import MarkedSet
from tiltmeter.stimuli.sentences.marked_by_lexicon import marked_by_lexicon
from tiltmeter.stimuli.sentences.sets import (
    MaskedSentence,
    MaskedSet,
    PairSet,
    SentencePair,
    TraitSentence,
    TraitSet,
)
from tiltmeter.stimuli.text import capitalise, indefinite

if TYPE_CHECKING:
    from tiltmeter.stimuli.sentences.shipped_file import Shape


def set_names(kind: str) -> tuple[str, ...]:
    """The shipped sets of a kind: cloze, pairs, traits or occupations.

    >>> set_names("traits")
    ('traits_bn', 'traits_en')
    """
    files = (file.name for file in (resources.files(__package__) / "sets").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.startswith(f"{kind}_")))


def japanese_pairs(name: str | Path = "pairs_ja") -> PairSet:
    """Minimal pairs on stereotypes of Japanese culture; ``kind`` is the topic.

    >>> japanese_pairs().rows[0].kind, japanese_pairs().rows[-1].stereotyped[:7]
    ('salaryman spirit', '着物姿の彼女は')
    """
    from tiltmeter.stimuli.sentences.shipped_file import PairsFile

    file = read_shipped("pairs", name, PairsFile)
    frames = [(topic, frame) for topic in file.topics for frame in topic.sentences]
    rows = tuple(
        SentencePair(
            capitalise(frame.replace("{pronoun}", file.pronouns[topic.group - 1])),
            capitalise(frame.replace("{pronoun}", file.pronouns[2 - topic.group])),
            topic.topic,
            number,
        )
        for number, (topic, frame) in enumerate(frames, 1)
    )
    return PairSet(file.name, rows, file.language, tuple(file.warnings))


def trait_set(name: str | Path = "traits_bn") -> TraitSet:
    """Traits of two groups in every frame of every structure; a suffix stays outside the place of its word.

    >>> row = trait_set("traits_en").rows[0]
    >>> row.text, row.text[slice(*row.target)], row.text[slice(*row.attribute)], row.group, row.structure
    ('The men are honest.', 'men', 'honest', 'positive', 'S1')
    """
    from tiltmeter.stimuli.sentences.shipped_file import TraitsFile

    file = read_shipped("traits", name, TraitsFile)
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

    file = read_shipped("occupations", name, OccupationsFile)
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
        {occupation: share / 100 for occupation, share in occupation_shares(occupations).items()},
        file.language,
        tuple(file.warnings),
    )


def group_set(addresses: Sequence[str], name: str | Path = "groups_en") -> MarkedSet:
    """Every occupation of a lexicon beside every word of two or more groups, in every frame for words of its kind.

    >>> made = group_set(["identity.young_terms", "identity.old_terms"])
    >>> made.groups, made.rows[0].text
    (('words for young people', 'words for old people'), 'The young technician came to the office.')
    """
    from tiltmeter.stimuli.sentences.shipped_file import GroupsFile

    file = read_shipped("groups", name, GroupsFile)
    occupations, groups = group(file.occupations), [group(address) for address in addresses]
    return marked_by_lexicon(file.frames, groups, occupations.texts, name=" / ".join(addresses))


def _with_occupation(frame: str, occupation: str) -> str:
    return capitalise(frame.replace("{a occupation}", indefinite(occupation)).replace("{occupation}", occupation))


def occupation_shares(occupations: Group) -> dict[str, float]:
    """What a group of a lexicon says of the percentage of women in each occupation, where it says it."""
    known = ((word.text, word.properties.get("female_share")) for word in occupations.words)
    return {text: share for text, share in known if isinstance(share, float)}


def read_shipped(kind: str, name: str | Path, shape: type[Shape]) -> Shape:
    """A shipped set of a kind by its name, or a file of that form by its path."""
    from tiltmeter.stimuli.sentences.shipped_file import read_set

    if isinstance(name, Path) or name.endswith((".yaml", ".yml")):
        return read_set(Path(name), shape)
    if name not in set_names(kind):
        raise unknown(f"{kind} set", name, set_names(kind))
    return read_set(resources.files(__package__) / "sets" / f"{name}.yaml", shape)
