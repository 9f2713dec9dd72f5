"""Templates and words made into sentences; each knows the word it stands for and where that word is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group, TemplateSet, Word
from tiltmeter.stimuli.text import article, capitalise

#: Kinds that stand as a noun phrase, so that the subject frame can take them.
_PHRASES = frozenset({"name", "noun", "plural", "mass", "adjective"})
#: Kinds whose own frame takes the word alone: "It seemed {}." clever, "It could {}." kill.
_BARE = frozenset({"adjective", "verb", "adverb"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, its unit (the word it stands for), the characters of that word, and its template."""

    text: str
    unit: str
    start: int
    end: int
    template: int


@dataclass(frozen=True, slots=True)
class SentenceSet:
    """Sentences that stand for one group. Words, not sentences, are the unit of every statistic on them."""

    label: str
    sentences: tuple[Sentence, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.sentences)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each sentence, in order."""
        return tuple(sentence.unit for sentence in self.sentences)


def fill_templates(group: Group, template_set: TemplateSet) -> SentenceSet:
    """Every word of the group in every template that has a frame for it.

    A pronoun stands only in the frame of its role. Another word stands in the frame of its kind, or else, as
    a noun phrase, in the subject frame: "a nurse", "a clever person", "Paul".

    >>> from tiltmeter.stimuli import Group, TemplateSet
    >>> frames = {"subject": "{} came late.", "object": "we waited for {}."}
    >>> late = TemplateSet("mine.late", "late", (frames,))
    >>> fill_templates(Group.of("mine.workers", ["engineer"], kind="noun"), late).texts
    ('An engineer came late.',)
    >>> fill_templates(Group.of("mine.pronouns", ["her"], kind="object"), late).texts
    ('We waited for her.',)
    """
    made: list[Sentence] = []
    for word in group.words:
        own = [
            _sentence(word, placed, number)
            for number, template in enumerate(template_set.templates)
            if (placed := _place(word, template, group)) is not None
        ]
        if not own:
            raise BadInput(
                f"{group.name}: '{word.text}' ({word.kind or 'of no kind'}) fits no frame of "
                f"{template_set.name}: give the word a kind, or the templates a frame for it"
            )
        made += own
    return SentenceSet(group.label, tuple(made))


def _sentence(word: Word, placed: tuple[str, str, str], template: int) -> Sentence:
    before, inserted, after = placed
    end = len(before) + len(inserted)
    return Sentence(capitalise(before + inserted + after), word.text, len(before), end, template)


def _place(word: Word, template: Mapping[str, str], group: Group) -> tuple[str, str, str] | None:
    """What stands before the word, the word, and what stands after it; None without a frame for it."""
    if word.kind is not None and word.kind in template:
        frame, bare = template[word.kind], word.kind in _BARE
    elif word.kind in _PHRASES and "subject" in template:
        frame, bare = template["subject"], False
    else:
        return None
    left, _, right = frame.partition("{}")
    before, inserted, after = ("", word.text, "") if bare else _phrase(word, group)
    return left + before, inserted, after + right


def _phrase(word: Word, group: Group) -> tuple[str, str, str]:
    """The noun phrase around the word. Articles and "person" are English; other languages say theirs."""
    if word.phrase is not None:
        before, inserted, after = word.phrase.partition(word.text)
        # Where a phrase inflects the word, all of it counts as the word.
        return (before, inserted, after) if inserted else ("", word.phrase, "")
    english = group.language.partition("-")[0].lower() == "en"
    if word.kind == "adjective" and not english:
        raise BadInput(f"{group.name}: '{word.text}' needs a phrase to stand in a subject frame ({group.language})")
    if word.kind in ("noun", "adjective") and english:
        return article(word.text) + " ", word.text, " person" if word.kind == "adjective" else ""
    return "", word.text, ""
