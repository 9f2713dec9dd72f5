"""The sets for language models that come with tiltmeter, written for it; each is one YAML file in ``sets/``.

A set of your own has the form of the shipped one of its kind and is named by its path: ``trait_set("mine.yaml")``.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_yaml
from tiltmeter.stimuli.lexicon.lexicon import Group, group
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_by_lexicon
from tiltmeter.stimuli.sentences.sentence import MASK, SentenceSet, expected_by_share, fill_frame, sentence_pair

if TYPE_CHECKING:
    from tiltmeter.files import Shape
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile, PairsFile

_GENDERS = ("men", "women")


def set_names(kind: str) -> tuple[str, ...]:
    """The shipped sets of a kind: cloze, pairs, traits or occupations.

    >>> set_names("traits")
    ('traits_bn', 'traits_en')
    """
    files = (file.name for file in (resources.files(__package__) / "sets").iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in files if name.startswith(f"{kind}_")))


def pair_set(name: str | Path | None = None) -> SentenceSet:
    """Sentences with the pronoun that fits a stereotype and with the other one; the tag ``kind`` is the topic.

    Without a name, the shipped English sentences that end in him or her; those that nothing is expected of are left
    out.

    >>> pair_set().sentences[0].forms["sentence"][1]
    'The engineer confirmed that the bridge was designed by her.'
    >>> pair_set("pairs_ja").sentences[0].tags
    {'kind': 'salaryman spirit', 'number': '1'}
    """
    file, frames = _english_frames() if name is None else _topic_frames(name)
    pairs = []
    for number, (frame, topic, expected) in enumerate(frames, 1):
        if expected is not None:
            first, second = (fill_frame(frame, {"pronoun": word}).text for word in file.pronouns)
            versions = (first, second) if expected == 1 else (second, first)
            pairs.append(sentence_pair(*versions, kind=topic, number=str(number)))
    return file.sentence_set(pairs, name="pairs_en" if name is None else file.name)


#: A frame with a place for the pronoun, what it is about, and the group that people expect in it.
_PairFrame: TypeAlias = tuple[str, str, int | None]


def _english_frames() -> tuple[ClozeFile, list[_PairFrame]]:
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile

    file = read_shipped("cloze", "cloze_en", ClozeFile)
    person, shares = file.variants["all"], occupation_shares(group("occupations.all"))
    return file, [(f"{row.frame(person)}.", "occupation", row.expected_group(shares)) for row in file.rows]


def _topic_frames(name: str | Path) -> tuple[PairsFile, list[_PairFrame]]:
    from tiltmeter.stimuli.sentences.shipped_file import PairsFile

    file = read_shipped("pairs", name, PairsFile)
    return file, [(frame, topic.topic, topic.group) for topic in file.topics for frame in topic.sentences]


def trait_set(name: str | Path = "traits_bn") -> SentenceSet:
    """Traits of two groups in every frame of every structure; a suffix stays outside the place of its word.

    The forms of the slot ``target`` are all terms: those of the first group and of the second by turns.

    >>> sentence = trait_set("traits_en").sentences[0]
    >>> sentence.text, sentence.word("target"), sentence.word("trait"), sentence.tags
    ('The men are honest.', 'men', 'honest', {'group': 'positive', 'structure': 'S1'})
    """
    from tiltmeter.stimuli.sentences.shipped_file import TraitsFile

    file = read_shipped("traits", name, TraitsFile)
    forms = {"target": tuple(term for pair in file.terms for term in pair)}
    sentences = (
        fill_frame(
            frame,
            {"target": file.terms[0][0], "trait": trait},
            unit=trait,
            forms=forms,
            tags={"group": group_name, "structure": structure},
            capital=False,
        )
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
    from tiltmeter.stimuli.sentences.shipped_file import OccupationsFile

    file = read_shipped("occupations", name, OccupationsFile)
    try:
        occupations = group(file.occupations)
    except BadInput as error:
        raise BadInput(f"{file.name}: occupations: {error}") from None
    shares = {occupation: share / 100 for occupation, share in occupation_shares(occupations).items()}
    groups = {word: expected_by_share(shares.get(word)) for word in occupations.texts}
    expected = {word: {"expected": group_name} if group_name else {} for word, group_name in groups.items()}
    frames = [(word, frame) for word in occupations.texts for frame in file.frames]
    sentences = [
        fill_frame(
            frame.text.replace(MASK, "{pronoun}"),
            {"pronoun": frame.fillers[0], "occupation": word},
            unit=word,
            forms={"pronoun": frame.fillers},
            tags={"kind": "/".join(frame.fillers).lower(), "id": str(number), **expected[word]},
        )
        for number, (word, frame) in enumerate(frames, 1)
    ]
    return file.sentence_set(sentences, groups=_GENDERS, shares=shares)


def group_set(addresses: tuple[str, str], name: str | Path = "groups_en") -> MarkedSet:
    """Every occupation of a lexicon beside every word of two groups, in every frame for words of its kind.

    >>> marked = group_set(("identity.young_terms", "identity.old_terms"))
    >>> marked.groups, marked.sentences[0][0].text
    (('words for young people', 'words for old people'), 'The young technician came to the office.')
    """
    from tiltmeter.stimuli.sentences.shipped_file import GroupsFile

    file = read_shipped("groups", name, GroupsFile)
    one, two = map(group, addresses)
    return marked_by_lexicon(file.frames, (one, two), group(file.occupations).texts, name=" / ".join(addresses))


def occupation_shares(occupations: Group) -> dict[str, float]:
    """What a group of a lexicon says of the percentage of women in each occupation, where it says it."""
    shares = ((word.text, word.properties.get("female_share")) for word in occupations.words)
    return {text: share for text, share in shares if isinstance(share, float)}


def read_shipped(kind: str, name: str | Path, shape: type[Shape]) -> Shape:
    """A shipped set of a kind by its name, or a file of that form by its path."""
    from tiltmeter.files import check

    path: Path | Traversable = Path(name)
    if not isinstance(name, Path) and not name.endswith((".yaml", ".yml")):
        if name not in set_names(kind):
            raise unknown(f"{kind} set", name, set_names(kind))
        path = resources.files(__package__) / "sets" / f"{name}.yaml"
    return check(path.name, read_yaml(path), shape)
