"""A sentence with slots: places that can be filled otherwise. Here, and nowhere else, a word is exchanged."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tiltmeter.stimuli.text import article, capitalise

#: Characters of a text, from the first to the one behind the last.
Place: TypeAlias = tuple[int, int]

#: Stands at a place whose word is hidden.
MASK = "[MASK]"

_SLOT = re.compile(r"\{(a )?(\w+)\}")
#: Below the first share of women people are taken to expect a man, above the second a woman.
_EXPECTED = (0.4, 0.6)


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the places in it that can be filled otherwise, and what it stands for.

    ``slots`` are places by name, none of which overlap. ``unit`` is the word that the sentence is an observation of.
    ``forms`` are by slot the words of the groups in that place (the first group's first), with the case they have
    there. ``tags`` say what else is known of the sentence: its group, its structure, what people expect of it.

    >>> sentence = Sentence("He is a nurse.", {"pronoun": (0, 2), "occupation": (8, 13)}, "nurse",
    ...     {"pronoun": ("He", "She")})
    >>> other = sentence.put("pronoun", "She")
    >>> other.text, other.slots["occupation"], other.word("occupation")
    ('She is a nurse.', (9, 14), 'nurse')
    >>> sentence.masked("pronoun", "occupation").text
    '[MASK] is a [MASK].'
    """

    text: str
    slots: Mapping[str, Place] = dataclasses.field(default_factory=dict)
    unit: str = ""
    forms: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def word(self, slot: str) -> str:
        """What stands in a slot."""
        start, end = self.slots[slot]
        return self.text[start:end]

    def around(self, slot: str) -> tuple[str, str]:
        """What stands before a slot and after it."""
        start, end = self.slots[slot]
        return self.text[:start], self.text[end:]

    def put(self, slot: str, word: str) -> Sentence:
        """The sentence with another word in a slot; the slots behind it move."""
        start, end = self.slots[slot]
        longer = len(word) - (end - start)
        moved = {
            name: (first + longer, last + longer) if first >= end and name != slot else (first, last)
            for name, (first, last) in self.slots.items()
        }
        text = self.text[:start] + word + self.text[end:]
        return dataclasses.replace(self, text=text, slots={**moved, slot: (start, start + len(word))})

    def version(self, slot: str, group: int) -> Sentence:
        """The sentence with the form of group 1, 2, ... in a slot."""
        return self.put(slot, self.forms[slot][group - 1])

    def of_group(self, group: int) -> Sentence:
        """The sentence with the form of group 1, 2, ... in every slot that has forms."""
        return functools.reduce(lambda sentence, slot: sentence.version(slot, group), self.forms, self)

    def masked(self, *slots: str) -> Sentence:
        """The sentence with a mask in each of the slots."""
        return functools.reduce(lambda sentence, slot: sentence.put(slot, MASK), slots, self)

    def tagged(self, **tags: str) -> Sentence:
        """The sentence with further tags."""
        return dataclasses.replace(self, tags={**self.tags, **tags})

    def __hash__(self) -> int:
        return hash((self.text, self.unit, tuple(self.slots.items())))


@dataclasses.dataclass(frozen=True, slots=True)
class SentenceSet:
    """Sentences of one source.

    ``label`` is how it is called in a table. ``groups`` are whom the forms stand for, ``shares`` what is known of the
    units (such as the share of women, 0 to 1). ``left_out`` counts the lines of the source that could not be used, by
    reason; ``notes`` are remarks that travel with every reading.
    """

    name: str
    sentences: tuple[Sentence, ...]
    label: str = ""
    groups: tuple[str, ...] = ()
    dimension: str = "gender"
    language: str = "en"
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.sentences)

    def where(self, **tags: str) -> SentenceSet:
        """The sentences that have these tags."""
        chosen = tuple(sentence for sentence in self.sentences if tags.items() <= sentence.tags.items())
        return dataclasses.replace(self, sentences=chosen)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each sentence, in order."""
        return tuple(sentence.unit for sentence in self.sentences)


def fill_frame(
    frame: str, words: Mapping[str, str], *, unit: str = "", forms: Mapping[str, tuple[str, ...]] | None = None,
    tags: Mapping[str, str] | None = None, capital: bool = True,
) -> Sentence:  # fmt: skip
    """The sentence that a frame makes of words: each at its ``{slot}``, at ``{a slot}`` with its English article.

    A place that ``words`` does not name stays as it is. With ``capital``, the sentence begins with one whatever the
    frame has.

    >>> sentence = fill_frame("we met {a occupation}.", {"occupation": "engineer"})
    >>> sentence.text, sentence.slots
    ('We met an engineer.', {'occupation': (10, 18)})
    """
    text, end, slots = "", 0, dict[str, Place]()
    for place in _SLOT.finditer(frame):
        with_article, name = place.groups()
        if name in words:
            text += frame[end : place.start()] + (f"{article(words[name])} " if with_article else "")
            slots[name] = len(text), len(text) + len(words[name])
            text, end = text + words[name], place.end()
    text += frame[end:]
    return Sentence(capitalise(text) if capital else text, slots, unit, forms or {}, tags or {})


def fill_trait(frame: str, trait: str, terms: Sequence[tuple[str, str]], **tags: str) -> Sentence:
    """A trait, which is the unit, in a frame with ``{target}`` and ``{trait}``.

    The forms of the slot "target" are all terms: those of the first group and of the second by turns.
    """
    forms = {"target": tuple(term for pair in terms for term in pair)}
    return fill_frame(frame, {"target": terms[0][0], "trait": trait}, unit=trait, forms=forms, tags=tags, capital=False)


def pronoun_sentence(text: str, place: Place, forms: tuple[str, str], occupation: str, **tags: str | None) -> Sentence:
    """A sentence with a gendered word (mostly a pronoun) beside an occupation, which is its unit.

    The slot "pronoun" is the ``place`` of the gendered word, with its masculine and its feminine form. The slot
    "occupation" is where the occupation first stands as a word of its own; a sentence that only inflects it has none.
    A tag that is None is not known.

    >>> nurse = pronoun_sentence("The nurse said he left.", (15, 17), ("he", "she"), "nurse", expected="women")
    >>> nurse.version("pronoun", 2).text, nurse.word("occupation"), nurse.tags
    ('The nurse said she left.', 'nurse', {'expected': 'women'})
    """
    slots = {"pronoun": place}
    for mention in re.finditer(rf"(?<!\w){re.escape(occupation)}(?!\w)", text, re.IGNORECASE):
        if mention.end() <= place[0] or mention.start() >= place[1]:
            slots["occupation"] = mention.span()
            break
    said = {name: value for name, value in tags.items() if value is not None}
    return Sentence(text, slots, occupation, {"pronoun": forms}, said)


def sentence_pair(stereotyped: str, other: str, **tags: str) -> Sentence:
    """Two sentences that may differ in more than a word, as the forms of one slot that is the whole sentence.

    >>> sentence_pair("Men are strong.", "Women, too, are strong.").forms["sentence"]
    ('Men are strong.', 'Women, too, are strong.')
    """
    whole = {"sentence": (0, len(stereotyped))}
    return Sentence(stereotyped, whole, stereotyped, {"sentence": (stereotyped, other)}, tags)


def expected_by_share(female_share: float | None) -> str | None:
    """Whom people are taken to expect in an occupation with this share of women, men or women; None: either.

    >>> expected_by_share(0.1), expected_by_share(0.5), expected_by_share(0.9)
    ('men', None, 'women')
    """
    low, high = _EXPECTED
    if female_share is None:
        return None
    return "men" if female_share < low else "women" if female_share > high else None


def joint_dimension(dimensions: Iterable[str]) -> str:
    """What the groups of a set differ in: the one dimension of all its sentences, or several."""
    different = set(dimensions)
    return different.pop() if len(different) == 1 else "several"
