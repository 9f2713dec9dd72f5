"""The sets for language models that come with tiltmeter, written for it; each is one YAML file in ``sets/``.

A set of your own has the form of the shipped one of its kind and is named by its path: ``trait_set("mine.yaml")``.
"""

from __future__ import annotations

import itertools
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import check, is_yaml_path, read_yaml, yaml_names
from tiltmeter.stimuli.lexicon.lexicon import Group, group
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_by_lexicon
from tiltmeter.stimuli.sentences.sentence import SentenceSet, expected_by_share, fill_frame, fill_trait, sentence_pair

if TYPE_CHECKING:
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile, GroupsFile, OccupationsFile, PairsFile, TraitsFile

_GENDERS = ("men", "women")
_SETS = resources.files(__package__) / "sets"


def set_names(kind: str) -> tuple[str, ...]:
    """The shipped sets of a kind: cloze, pairs, traits, occupations or groups.

    >>> set_names("traits")
    ('traits_bn', 'traits_en')
    """
    return tuple(name for name in yaml_names(_SETS) if name.startswith(f"{kind}_"))


def pair_set(name: str | Path | None = None) -> SentenceSet:
    """Sentences with the pronoun that fits a stereotype and with the other one; the tag ``kind`` is the topic.

    Without a name, the shipped English sentences that end in him or her; those that nothing is expected of are left
    out.

    >>> pair_set().sentences[0].forms["sentence"][1]
    'The engineer confirmed that the bridge was designed by her.'
    >>> pair_set("pairs_ja").sentences[0].tags
    {'kind': 'salaryman spirit', 'number': '1', 'cluster': 'salaryman spirit'}
    """
    frames: list[tuple[str, str, int | None]]
    if name is None:
        cloze: ClozeFile = read_shipped("cloze", "cloze_en")
        person, shares = cloze.variants["all"], occupation_shares(group("occupations.all"))
        frames = [(f"{row.frame(person)}.", "occupation", row.expected_group(shares)) for row in cloze.rows]
    else:
        topics: PairsFile = read_shipped("pairs", name)
        frames = [(frame, topic.topic, topic.group) for topic in topics.topics for frame in topic.sentences]
    file = cloze if name is None else topics
    pairs = []
    for number, (frame, topic_name, expected) in enumerate(frames, 1):
        if expected is not None:
            first, second = (fill_frame(frame, {"pronoun": word}).text for word in file.pronouns)
            versions = (first, second) if expected == 1 else (second, first)
            # All sentences about one topic speak of the same thing; those of occupations each speak of another.
            cluster = str(number) if name is None else topic_name
            pairs.append(sentence_pair(*versions, kind=topic_name, number=str(number), cluster=cluster))
    return file.sentence_set(pairs, name="pairs_en" if name is None else file.name)


def trait_set(name: str | Path = "traits_bn") -> SentenceSet:
    """Traits of two groups in every frame of every structure; a suffix stays outside the place of its word.

    >>> sentence = trait_set("traits_en").sentences[0]
    >>> sentence.text, sentence.word("target"), sentence.word("trait"), sentence.tags
    ('The men are honest.', 'men', 'honest', {'group': 'positive', 'structure': 'S1'})
    """
    file: TraitsFile = read_shipped("traits", name)
    sentences = (
        fill_trait(frame, trait, file.terms, group=group_name, structure=structure)
        for structure, frames in file.structures.items()
        for frame in frames
        for group_name, traits in file.traits.items()
        for trait in traits
    )
    return file.sentence_set(sentences, groups=_GENDERS if name in set_names("traits") else file.terms[0])


def occupation_set(name: str | Path = "occupations_en") -> SentenceSet:
    """Every occupation of a lexicon in every frame with a pronoun, of which the masculine form stands there.

    >>> sentence = occupation_set().sentences[2]
    >>> sentence.text, sentence.masked("pronoun").text, sentence.forms["pronoun"]
    ('He works as a technician.', '[MASK] works as a technician.', ('He', 'She'))
    """
    file: OccupationsFile = read_shipped("occupations", name)
    try:
        occupations = group(file.occupations)
    except BadInput as error:
        raise BadInput(f"{file.name}: occupations: {error}") from None
    shares = {occupation: share / 100 for occupation, share in occupation_shares(occupations).items()}
    sentences = []
    for number, (word, frame) in enumerate(itertools.product(occupations.texts, file.frames), 1):
        words = {"pronoun": frame.fillers[0], "occupation": word}
        tags = {"kind": "/".join(frame.fillers).lower(), "id": str(number)}
        if expected := expected_by_share(shares.get(word)):
            tags["expected"] = expected
        sentences.append(fill_frame(frame.frame, words, unit=word, forms={"pronoun": frame.fillers}, tags=tags))
    return file.sentence_set(sentences, groups=_GENDERS, shares=shares)


def group_set(addresses: tuple[str, str], name: str | Path = "groups_en") -> MarkedSet:
    """Every occupation of a lexicon beside every word of two groups, in every frame for words of its kind.

    >>> marked = group_set(("identity.young_terms", "identity.old_terms"))
    >>> marked.groups, marked.sentences[0][0].text
    (('words for young people', 'words for old people'), 'The young technician came to the office.')
    """
    file: GroupsFile = read_shipped("groups", name)
    one, two = map(group, addresses)
    return marked_by_lexicon(file.frames, (one, two), group(file.occupations).texts, name=" / ".join(addresses))


def occupation_shares(occupations: Group) -> dict[str, float]:
    """What a group of a lexicon says of the percentage of women in each occupation, where it says it."""
    shares = ((word.text, word.properties.get("female_share")) for word in occupations.words)
    return {text: share for text, share in shares if isinstance(share, float)}


def read_shipped(kind: str, name: str | Path) -> Any:
    """A shipped set of a kind by its name, or a file of that form by its path, as its shape in ``shipped_file``."""
    from tiltmeter.stimuli.sentences.shipped_file import SHAPES

    path: Path | Traversable = Path(name)
    if not is_yaml_path(name):
        if name not in set_names(kind):
            raise unknown(f"{kind} set", str(name), set_names(kind))
        path = _SETS / f"{name}.yaml"
    return check(path.name, read_yaml(path), SHAPES[kind])
