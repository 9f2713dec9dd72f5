"""Templates and words made into sentences; each knows the word it stands for and where that word is."""

from __future__ import annotations

from collections.abc import Mapping

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group, TemplateSet, Word
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, fill_frame

#: Kinds that stand as a noun phrase, so that the subject frame can take them.
_PHRASES = frozenset({"name", "noun", "plural", "mass", "adjective"})
#: Kinds whose own frame takes the word alone: "It seemed {}." clever, "It could {}." kill.
_BARE = frozenset({"adjective", "verb", "adverb"})


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
    sentences: list[Sentence] = []
    for word in group.words:
        fitting = [
            fill_frame(frame.replace("{}", phrase, 1), {"word": text}, unit=word.text, tags={"template": str(number)})
            for number, template in enumerate(template_set.templates)
            for frame, phrase, text in _frame(word, group, template)
        ]
        if not fitting:
            problem = f"'{word.text}' ({word.kind or 'of no kind'}) fits no frame of {template_set.name}"
            raise BadInput(f"{group.name}: {problem}: give the word a kind, or the templates a frame for it")
        sentences += fitting
    return SentenceSet(group.name, tuple(sentences), group.label, language=group.language)


def _frame(word: Word, group: Group, template: Mapping[str, str]) -> list[tuple[str, str, str]]:
    """The frame for the word, if there is one, and the phrase and the word that go into it."""
    if word.kind is not None and word.kind in template:
        return [(template[word.kind], *(("{word}", word.text) if word.kind in _BARE else _phrase(word, group)))]
    return [(template["subject"], *_phrase(word, group))] if word.kind in _PHRASES and "subject" in template else []


def _phrase(word: Word, group: Group) -> tuple[str, str]:
    """The noun phrase around the word, and the word. Articles and "person" are English; other languages say theirs."""
    if word.phrase is not None:
        # Where a phrase inflects the word, all of it counts as the word.
        if word.text not in word.phrase:
            return "{word}", word.phrase
        return word.phrase.replace(word.text, "{word}", 1), word.text
    english = group.language.partition("-")[0].lower() == "en"
    if word.kind == "adjective" and not english:
        raise BadInput(f"{group.name}: '{word.text}' needs a phrase to stand in a subject frame ({group.language})")
    if word.kind in ("noun", "adjective") and english:
        return ("{a word} person" if word.kind == "adjective" else "{a word}"), word.text
    return "{word}", word.text
